import llama3 from "llama3-tokenizer-js"
import { describe, expect, test } from "vitest"
import { parseVocabulary } from "../../../mask/tokenizers/tokenizerjson.ts"
import type { Vocabulary } from "../../../mask/vocabulary.ts"

const text = (vocabulary: Vocabulary, id: number): string =>
  Buffer.from(vocabulary.bytes(id)).toString("latin1")
const added = (id: number, content: string, special: boolean) => ({ id, content, special })
const isFree = (vocabulary: Vocabulary, id: number): boolean =>
  ((vocabulary.freeRow[id >>> 5] >>> (id & 31)) & 1) === 1

function byteLevel(vocab: Record<string, number>, addedTokens: unknown[] = []) {
  return {
    model: { type: "BPE", vocab, merges: [] },
    decoder: { type: "ByteLevel" },
    pre_tokenizer: { type: "ByteLevel" },
    added_tokens: addedTokens,
  }
}

describe("byte-level BPE", () => {
  test("the 68 moved bytes and the 188 printable ones come back", () => {
    const cases: [piece: string, byte: number][] = [
      ["Ā", 0x00],
      ["Ċ", 0x0a],
      ["Ġ", 0x20],
      ["ġ", 0x7f],
      ["Ģ", 0x80],
      ["ł", 0xa0],
      ["Ń", 0xad],
      ["!", 0x21],
      ["~", 0x7e],
      ["¡", 0xa1],
      ["®", 0xae],
      ["ÿ", 0xff],
    ]
    const vocab = Object.fromEntries([...cases.map(([piece], id) => [piece, id]), ["<end>", 12]])
    const vocabulary = parseVocabulary(byteLevel(vocab), null, { endIds: [12] })
    for (const [id, [piece, byte]] of cases.entries()) {
      expect([piece, ...vocabulary.bytes(id)]).toEqual([piece, byte])
    }
  })

  test("half a character is a token", () => {
    const vocabulary = parseVocabulary(byteLevel({ Ã: 0, "©": 1, e: 2 }), null, { endIds: [2] })
    expect([...vocabulary.bytes(0), ...vocabulary.bytes(1)]).toEqual([0xc3, 0xa9])
  })

  test("an added token and a piece outside the map are their own UTF-8", () => {
    // In the map "Ġ" is a space and "é" is the byte E9; as an added token both are text.
    const json = byteLevel({ "a b": 0, 日: 1, Ġ: 2, é: 3 }, [
      added(4, "Ġé", false),
      added(5, "<|end|>", true),
    ])
    const vocabulary = parseVocabulary(json, null, { endIds: [5] })
    expect(Buffer.from(vocabulary.bytes(0)).toString()).toBe("a b")
    expect(Buffer.from(vocabulary.bytes(1)).toString()).toBe("日")
    expect(text(vocabulary, 2)).toBe(" ")
    expect([...vocabulary.bytes(3)]).toEqual([0xe9])
    expect(Buffer.from(vocabulary.bytes(4)).toString()).toBe("Ġé")
  })
})

describe("byte fallback", () => {
  const json = {
    model: {
      type: "BPE",
      byte_fallback: true,
      unk_token: "<unk>",
      vocab: { "<unk>": 0, "<s>": 1, "</s>": 2, "<0x41>": 3, A: 4, "▁the": 5, "<0xE6>": 6, é: 7, "<0x4>": 8 },
    },
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: "▁" }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        { type: "Strip", content: " ", start: 1, stop: 0 },
      ],
    },
    added_tokens: [added(1, "<s>", true), added(2, "</s>", true)],
  }
  const vocabulary = parseVocabulary(json, null, { endIds: [2] })

  test("two ids may spell the same bytes, and both are allowed", () => {
    expect([text(vocabulary, 3), text(vocabulary, 4)]).toEqual(["A", "A"])
    expect([isFree(vocabulary, 3), isFree(vocabulary, 4)]).toEqual([true, true])
  })

  test("spaces, single bytes, text", () => {
    expect(text(vocabulary, 5)).toBe(" the")
    expect([...vocabulary.bytes(6)]).toEqual([0xe6])
    expect([...vocabulary.bytes(7)]).toEqual([0xc3, 0xa9])
    expect(text(vocabulary, 8)).toBe("<0x4>")
  })

  test("the unknown token has no bytes although it is not listed as added", () => {
    expect(vocabulary.isSpecial(0)).toBe(true)
    expect(vocabulary.bytes(0).length).toBe(0)
    expect(isFree(vocabulary, 0)).toBe(false)
  })

  test("the space character is read from the decoder, not hard-coded", () => {
    const other = parseVocabulary(
      {
        model: {
          type: "Unigram",
          unk_id: 0,
          vocab: [
            ["<unk>", 0],
            ["_a", -1],
            ["▁", -2],
            ["<e>", 0],
          ],
        },
        decoder: { type: "Metaspace", replacement: "_" },
        added_tokens: [],
      },
      null,
      { endIds: [3] },
    )
    expect(text(other, 1)).toBe(" a")
    expect(Buffer.from(other.bytes(2)).toString()).toBe("▁")
    expect(other.isSpecial(0)).toBe(true)
  })
})

test("WordPiece: a continuation is bare, a word starts with a space, the first space may be dropped", () => {
  const json = {
    model: { type: "WordPiece", unk_token: "[UNK]", vocab: { "[UNK]": 0, play: 1, "##ing": 2, "[SEP]": 3 } },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    added_tokens: [added(0, "[UNK]", true), added(3, "[SEP]", true)],
  }
  const vocabulary = parseVocabulary(json, null, { endIds: [3] })
  expect([text(vocabulary, 1), text(vocabulary, 2)]).toEqual([" play", "ing"])
  expect(vocabulary.dropsFirstSpace).toBe(true)
})

describe("added, special, holes, end ids", () => {
  const json = byteLevel({ a: 0, b: 1 }, [
    added(3, "<tool_call>", false),
    added(5, "<|eot|>", true),
    added(6, "<|eom|>", true),
    added(7, "<|begin|>", true),
  ])
  const config = { added_tokens_decoder: { 8: { content: "<|extra|>", special: true }, 3: { content: "?" } } }
  const vocabulary = parseVocabulary(json, config, { width: 40, endIds: [6, 5, 5] })

  test("added is not special: a tool tag is text, a control token is not", () => {
    expect([text(vocabulary, 3), vocabulary.isSpecial(3)]).toEqual(["<tool_call>", false])
    expect([vocabulary.bytes(7).length, vocabulary.isSpecial(7), vocabulary.name(7)]).toEqual([
      0,
      true,
      "<|begin|>",
    ])
    expect(vocabulary.specials.get("<|extra|>")).toBe(8)
  })

  test("holes and padding have no bytes and are not free; all end ids are", () => {
    expect(vocabulary.endIds).toEqual([5, 6])
    const free = Array.from({ length: 64 }, (_, id) => id).filter((id) => isFree(vocabulary, id))
    expect(free).toEqual([0, 1, 3, 5, 6])
    expect([vocabulary.width, vocabulary.words, vocabulary.tokenCount]).toEqual([40, 2, 7])
    expect(vocabulary.bytes(39).length).toBe(0)
  })

  test("a special token for which the logits have no column is none of the model's; a text is refused", () => {
    const wide = byteLevel({ a: 0, b: 1 }, [added(2, "<e>", true), added(3, "<image_soft_token>", true)])
    const narrow = parseVocabulary(wide, null, { width: 3, endIds: [2] })
    expect([narrow.width, [...narrow.specials.keys()], narrow.name(3)]).toEqual([3, ["<e>"], undefined])
    expect(narrow.hash).toBe(
      parseVocabulary(byteLevel({ a: 0, b: 1 }, [added(2, "<e>", true)]), null, { endIds: [2] }).hash,
    )
    const text = byteLevel({ a: 0, b: 1 }, [added(2, "<e>", true), added(3, "<tool>", false)])
    expect(() => parseVocabulary(text, null, { width: 3, endIds: [2] })).toThrow(
      "token: id 3 is outside the 3",
    )
  })

  test("an end id of the ordinary vocabulary is special all the same", () => {
    const plain = parseVocabulary(byteLevel({ a: 0, "<|endoftext|>": 1 }), null, { endIds: [1] })
    expect([plain.isSpecial(1), plain.bytes(1).length]).toEqual([true, 0])
    expect(plain.specials.get("<|endoftext|>")).toBe(1)
  })
})

test("refused: no end id, an id outside the logits, an unknown decoder, no vocabulary", () => {
  const json = byteLevel({ a: 0, b: 1 }, [added(2, "<e>", true)])
  expect(() => parseVocabulary(json, null, { endIds: [] })).toThrow(/no end-of-sequence id/)
  expect(() => parseVocabulary(json, null, { endIds: [3] })).toThrow("end of sequence: id 3 is outside the 3")
  expect(() => parseVocabulary(json, null, { width: 2, endIds: [2] })).toThrow(/"<e>": id 2 is outside the 2/)
  expect(() => parseVocabulary(json, null, { width: 1, endIds: [0] })).toThrow(RangeError)
  expect(() => parseVocabulary({ ...json, decoder: { type: "CTC" } }, null, { endIds: [2] })).toThrow(/CTC/)
  expect(() => parseVocabulary({}, null, { endIds: [2] })).toThrow(/model\.vocab is missing/)
})

test("Llama 3: 128,256 ids, three ends, and the bytes that its own decoder writes", () => {
  const { vocabById } = llama3 as unknown as { vocabById: string[] }
  const isSpecial = (piece: string, id: number) => id >= 128_000 || /^<\|.*\|>$/.test(piece)
  const first = vocabById.findIndex(isSpecial)
  const json = byteLevel(
    Object.fromEntries(vocabById.slice(0, first).map((piece, id) => [piece, id])),
    vocabById.flatMap((content, id) => (isSpecial(content, id) ? [added(id, content, true)] : [])),
  )
  const vocabulary = parseVocabulary(json, null, { width: 128_256, endIds: [128_009, 128_001, 128_008] })
  expect([vocabulary.words, vocabulary.endIds]).toEqual([4_008, [128_001, 128_008, 128_009]])
  expect(vocabulary.maxTokenBytes).toBe(128)
  const sentence = 'Größe: 東京 12345 \t{"a": [1, 2.5e3]}\r\n'
  const ids = (llama3 as unknown as { encode(text: string, options: object): number[] }).encode(sentence, {
    bos: false,
    eos: false,
  })
  expect(Buffer.concat(ids.map((id) => vocabulary.bytes(id))).toString()).toBe(sentence)
})
