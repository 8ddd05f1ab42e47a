/** Rank files as they come with models, small and made here. */
import { describe, expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { countAllowed, Matcher, TokenFsm } from "../../../mask/index.ts"
import { parseTekken, parseTiktoken } from "../../../mask/tokenizers/ranks.ts"
import { tekkenFile, tiktokenFile } from "../../support/rankfiles.ts"

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")

describe("tiktoken", () => {
  const added = [
    { id: 262, content: "<|end|>", special: true },
    { id: 263, content: "<tool>é", special: false },
  ]
  const vocabulary = parseTiktoken(tiktokenFile(), { width: 270, endIds: [262], added })

  test("an id is its rank, its bytes are exact, gaps are holes", () => {
    for (let byte = 0; byte < 256; byte++) expect([...vocabulary.bytes(byte)]).toEqual([byte])
    expect([256, 257, 258].map((id) => textOf(vocabulary.bytes(id)))).toEqual([" a", "\xe3\x81", "\xff\xfe"])
    expect([259, 260, 261].map((id) => textOf(vocabulary.bytes(id)))).toEqual(["", "12", ""])
    expect([vocabulary.width, vocabulary.tokenCount, vocabulary.maxTokenBytes]).toEqual([270, 262, 8])
  })

  test("special tokens have no bytes, other added ones are their UTF-8", () => {
    expect([vocabulary.isSpecial(262), vocabulary.specials.get("<|end|>")]).toEqual([true, 262])
    expect(Buffer.from(vocabulary.bytes(263)).toString()).toBe("<tool>é")
  })

  test("a mask over it: half characters and pairs of digits", () => {
    const row = new Uint32Array(vocabulary.words)
    const allowed = (pattern: string, flags?: string) => {
      new Matcher(new TokenFsm(compile({ kind: "regex", pattern, flags }).grammar, vocabulary)).fillMask(row)
      return countAllowed(row)
    }
    expect(allowed("[0-9]{2}")).toBe(11)
    expect(allowed("あ", "u")).toBe(2)
  })

  test("line ends of any kind, and empty lines", () => {
    const other = parseTiktoken(`\r\n${tiktokenFile().replaceAll("\n", "\r\n")}\n\n`, {
      width: 270,
      endIds: [262],
      added,
    })
    expect(other.hash).toBe(vocabulary.hash)
  })

  test.each<[what: string, text: string, message: RegExp]>([
    ["not base64", "YQ== 0\n!!!! 1", /^line 2: "!!!!" is not base64$/],
    ["cut base64", "YWI 0", /^line 1: "YWI" is not base64$/],
    ["no rank", "YQ==", /^line 1: "YQ==" is not base64, a space and a rank$/],
    ["a rank that is none", "YQ== -1", /^line 1: /],
    [
      "a rank out of all bounds",
      "YQ== 99999999999999",
      /^line 1: id 99999999999999 is not an integer from 0 to \d+$/,
    ],
    ["a rank twice", "YQ== 0\nYg== 0", /^line 2: id 0 occurs twice$/],
    ["a SentencePiece model", "\n\u000e\n\u0005<unk>\u0015\u0000", /^line 2: /],
    ["more ranks than columns", tiktokenFile(), /token: id \d+ is outside the 8 columns/],
  ])("refused: %s", (_, text, message) => {
    expect(() => parseTiktoken(text, { width: 8, endIds: [7] })).toThrow(message)
    expect(() => parseTiktoken(text, { width: 8, endIds: [7] })).toThrow(RangeError)
  })

  test("refused: an added token where a rank is", () => {
    const taken = [{ id: 3, content: "<x>", special: true }]
    expect(() => parseTiktoken(tiktokenFile(), { endIds: [3], added: taken })).toThrow(
      'added token "<x>": id 3 occurs twice',
    )
  })
})

describe("tekken", () => {
  test("special tokens come first, ranks behind them, and what is above the size is cut", () => {
    const vocabulary = parseTekken(tekkenFile())
    expect([vocabulary.width, vocabulary.endIds]).toEqual([264, [2]])
    expect([vocabulary.name(0), vocabulary.name(2), vocabulary.name(4)]).toEqual([
      "<unk>",
      "</s>",
      "<SPECIAL_4>",
    ])
    expect([...vocabulary.bytes(5)]).toEqual([0])
    expect([...vocabulary.bytes(260)]).toEqual([255])
    expect([261, 262, 263].map((id) => textOf(vocabulary.bytes(id)))).toEqual([" a", "\xe3\x81", "\xff\xfe"])
    expect(vocabulary.tokenCount).toBe(264)
  })

  test("the table of older files is known; a wider row is padded", () => {
    const { special_tokens: _, ...older } = tekkenFile()
    const vocabulary = parseTekken(
      { ...older, config: { ...older.config, default_num_special_tokens: 22 } },
      { width: 300 },
    )
    expect([vocabulary.width, vocabulary.name(3), vocabulary.name(21)]).toEqual([
      300,
      "[INST]",
      "<SPECIAL_21>",
    ])
    expect([...vocabulary.bytes(22)]).toEqual([0])
  })

  test("end ids that the caller knows", () => {
    expect(parseTekken(tekkenFile(), { endIds: [1, 2] }).endIds).toEqual([1, 2])
  })

  const file = tekkenFile()
  test.each<[what: string, json: unknown, message: RegExp]>([
    ["no object", null, /^config.default_vocab_size: undefined is not an integer/],
    ["no size", { ...file, config: {} }, /^config.default_vocab_size: undefined is not an integer/],
    ["no vocabulary", { ...file, vocab: undefined }, /^vocab is missing/],
    [
      "too many special tokens",
      { ...file, config: { ...file.config, default_num_special_tokens: 999 } },
      /999 special tokens exceed/,
    ],
    [
      "a rank that is none",
      { ...file, vocab: [{ rank: 1.5, token_bytes: "YQ==" }] },
      /^vocab\[0\].rank: 1.5 is not an integer/,
    ],
    ["no bytes", { ...file, vocab: [{ rank: 0 }] }, /^vocab\[0\].token_bytes is not a string/],
    [
      "bytes that are none",
      { ...file, vocab: [{ rank: 0, token_bytes: "a" }] },
      /^vocab\[0\].token_bytes: "a" is not base64/,
    ],
    ["a rank twice", { ...file, vocab: [...file.vocab, file.vocab[7]] }, /^vocab\[\d+\]: id 12 occurs twice/],
    [
      "a special rank too high",
      { ...file, special_tokens: [{ rank: 5, token_str: "x" }] },
      /is not below the 5/,
    ],
    [
      "a special name twice",
      { ...file, special_tokens: [0, 1].map((rank) => ({ rank, token_str: "x" })) },
      /name occurs twice/,
    ],
    ["a special without a name", { ...file, special_tokens: [{ rank: 0 }] }, /token_str is not a string/],
    ["no end", { ...file, special_tokens: [] }, /no end-of-sequence id/],
  ])("refused: %s", (_, json, message) => {
    expect(() => parseTekken(json)).toThrow(message)
    expect(() => parseTekken(json)).toThrow(RangeError)
  })
})
