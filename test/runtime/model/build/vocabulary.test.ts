/**
 * Vocabularies of GGUF files. `vocabularies.json.gz` holds a published vocabulary a name, cut to what some 40 texts need, and the ids
 * that both llama.cpp and Python's `tokenizers` give these texts with it. For Hindi the two differ by tekken and gpt-4o, where
 * llama.cpp cuts before vowel signs: there the ids are those of Python.
 */

import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { byteOfCodePoint, parseVocabulary } from "../../../../mask/tokenizers/tokenizerjson.ts"
import { ModelError } from "../../../../runtime/errors.ts"
import { pretokenizers } from "../../../../runtime/model/build/pretokenizers.ts"
import { buildVocabulary } from "../../../../runtime/model/build/vocabulary.ts"
import { Tokenizer } from "../../../../runtime/model/tokenizer.ts"
import type { MetadataValue } from "../../../../runtime/model/weights/gguf.ts"

type Values = Readonly<Record<string, MetadataValue>>
interface Case {
  readonly name: string
  readonly metadata: Values
  /** Texts of this case behind those of all. */
  readonly own: readonly string[]
  readonly ids: readonly (readonly number[])[]
}

const file = new URL("vocabularies.json.gz", import.meta.url)
const { texts, cases }: { texts: readonly string[]; cases: readonly Case[] } = JSON.parse(
  gunzipSync(readFileSync(file)).toString(),
)

function open(values: Values): Tokenizer {
  const { files, endIds, width } = buildVocabulary(new Map(Object.entries(values)))
  const read = (name: string) => JSON.parse(files.get(name)!)
  const tokenizerJson = read("tokenizer.json")
  const tokenizerConfig = read("tokenizer_config.json")
  const vocabulary = parseVocabulary(tokenizerJson, tokenizerConfig, { width, endIds })
  const template = files.get("chat_template.jinja")
  const chatTemplates = new Map(template === undefined ? [] : [["default", template]])
  return new Tokenizer({ path: "", tokenizerJson, tokenizerConfig, chatTemplates }, vocabulary)
}

test.each(cases)("$name: ids are llama.cpp's, and their bytes are the text", ({ metadata, own, ids }) => {
  const tokenizer = open(metadata)
  const { vocabulary } = tokenizer
  const normalizes = pretokenizers.get(String(metadata["tokenizer.ggml.pre"]))?.normalizer
  const prefix =
    metadata["tokenizer.ggml.model"] === "llama" && metadata["tokenizer.ggml.add_space_prefix"] !== false
  for (const [at, text] of [...texts, ...own].entries()) {
    const found = tokenizer.encode(text, { addSpecialTokens: false })
    expect(found, JSON.stringify(text)).toEqual(ids[at])
    if (at >= texts.length) continue
    const bytes = Buffer.concat(found.map((id) => vocabulary.bytes(id))).toString()
    const written = normalizes ? text.normalize("NFC") : text
    expect(bytes).toBe(prefix && text !== "" ? ` ${written}` : written)
  }
})

test.each(cases)("$name: accents are composed only where its tokenizer does so", ({ metadata }) => {
  const normalizes = pretokenizers.get(String(metadata["tokenizer.ggml.pre"]))?.normalizer
  const tokenizer = open(metadata)
  const [composed, apart] = ["\u00e9", "e\u0301"].map((text) => tokenizer.encode(text))
  if (normalizes) expect(apart).toEqual(composed)
  else expect(apart).not.toEqual(composed)
})

test("every name is held to texts, or cuts as one that is", () => {
  const held = cases.map(({ metadata }) =>
    JSON.stringify(pretokenizers.get(String(metadata["tokenizer.ggml.pre"]))?.steps),
  )
  for (const { steps } of pretokenizers.values()) expect(held).toContain(JSON.stringify(steps))
})

const bytePieces = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
)
const same = (count: number, type: number): number[] => new Array(count).fill(type)

/** The other bytes of a byte-level vocabulary that has tokens for "abc[", behind its first 11 tokens. */
const byteTexts = [...byteOfCodePoint.entries()].flatMap(([point, byte]) => {
  const text = String.fromCodePoint(point)
  return byte < 0 || "abc[".includes(text) ? [] : [text]
})
const idOfByte = (byte: number) =>
  11 + byteTexts.findIndex((text) => byteOfCodePoint[text.charCodeAt(0)] === byte)

/** Byte-level: five letters and a piece, two control tokens, one of a user, padding as converters write it. */
const gpt2: Values = {
  "tokenizer.ggml.model": "gpt2",
  "tokenizer.ggml.pre": "gpt-2",
  "tokenizer.ggml.tokens": [
    ..."abc[",
    "ab",
    "<|s|>",
    "<|im_end|>",
    "<tool>",
    "[PAD8]",
    "[PAD9]",
    "<|end|>",
  ].concat(byteTexts),
  "tokenizer.ggml.token_type": [1, 1, 1, 1, 1, 3, 3, 4, 5, 4, 1, ...same(252, 1)],
  "tokenizer.ggml.merges": ["a b"],
  "tokenizer.ggml.bos_token_id": 5,
  "tokenizer.ggml.eos_token_id": 6,
}
/** SentencePiece: three special tokens, 256 bytes, pieces and their scores. */
const pieces: readonly [string, number][] = [
  ["▁", -9],
  ["a", -8],
  ["b", -7],
  ["ab", -1],
  ["▁a", -2],
  ["ba", -3],
]
const llama: Values = {
  "tokenizer.ggml.model": "llama",
  "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", ...bytePieces, ...pieces.map(([piece]) => piece)],
  "tokenizer.ggml.token_type": [2, 3, 3, ...same(256, 6), ...same(pieces.length, 1)],
  "tokenizer.ggml.scores": [...same(259, 0), ...pieces.map(([, score]) => score)],
}
const built = (values: Values) => buildVocabulary(new Map(Object.entries(values)))
const without = (values: Values, key: string): Values =>
  Object.fromEntries(Object.entries(values).filter(([each]) => each !== `tokenizer.ggml.${key}`))
const set = (values: Values, key: string, value: MetadataValue): Values => ({
  ...values,
  [`tokenizer.ggml.${key}`]: value,
})
/** With the value of a list at an index. */
const put = (values: Values, key: string, index: number, value: string | number): Values =>
  set(values, key, (values[`tokenizer.ggml.${key}`] as readonly (string | number)[]).with(index, value))

test("control tokens are special, a user's are text, padding is neither", () => {
  const tokenizer = open(gpt2)
  const { vocabulary } = tokenizer
  expect([...vocabulary.specials]).toEqual([
    ["<|s|>", 5],
    ["<|im_end|>", 6],
  ])
  expect(new TextDecoder().decode(vocabulary.bytes(7))).toBe("<tool>")
  expect([8, 9].map((id) => vocabulary.bytes(id).length)).toEqual([0, 0])
  expect(vocabulary.width).toBe(263)
  expect(tokenizer.encode("[PAD8]ab<tool>c<|im_end|>")).toEqual([
    3,
    ...[..."PAD8]"].map((each) => idOfByte(each.charCodeAt(0))),
    4,
    7,
    2,
    6,
  ])
})

test.each<[string, Values, readonly number[]]>([
  ["by its id", gpt2, [6]],
  ["by the ids of turns and messages too", set(set(gpt2, "eot_token_id", 7), "eom_token_id", 4), [4, 6, 7]],
  ["by its text", without(gpt2, "eos_token_id"), [6]],
  ["by its text where it is no mere piece", put(gpt2, "token_type", 10, 3), [6, 10]],
  ["of a message, not of the answer", put(put(gpt2, "token_type", 10, 3), "tokens", 7, "<|return|>"), [6, 7]],
  ["where SentencePiece has it", llama, [2]],
])("the end is found %s", (_, values, endIds) => {
  expect(built(values).endIds).toEqual(endIds)
})

test.each<[string, Values, readonly number[]]>([
  ["no", gpt2, [4]],
  ["the file's", set(gpt2, "add_bos_token", true), [5, 4]],
  ["the name's", set(gpt2, "pre", "llama-bpe"), [5, 4]],
  ["not the name's", set(set(gpt2, "pre", "llama-bpe"), "add_bos_token", false), [4]],
  ["a begin and an end", set(set(gpt2, "add_bos_token", true), "add_eos_token", true), [5, 4, 6]],
  ["SentencePiece's", llama, [1, 259, 262]],
  ["SentencePiece's, no space", set(llama, "add_space_prefix", false), [1, 262]],
])("raw texts get %s token", (_, values, ids) => {
  expect(open(values).encode("ab")).toEqual(ids)
})

test("a template that writes the begin token is given one, not two", () => {
  const template = "{{ bos_token }}{% for message in messages %}{{ message.content }}{% endfor %}"
  const values = { ...set(gpt2, "add_bos_token", true), "tokenizer.chat_template": template }
  expect(open(values).encodeMessages([{ role: "user", content: "abc" }])).toEqual([5, 4, 2])
})

test("pieces are merged by score, and other text is bytes", () => {
  const tokenizer = open(llama)
  expect(tokenizer.encode("aab ba é", { addSpecialTokens: false })).toEqual([
    263,
    262,
    259,
    264,
    259,
    3 + 0xc3,
    3 + 0xa9,
  ])
  expect(tokenizer.encode("<s>a\ud800", { addSpecialTokens: false })).toEqual([
    1,
    263,
    3 + 0xef,
    3 + 0xbf,
    3 + 0xbd,
  ])
})

test("white space behind Phi-3's control tokens belongs to them", () => {
  const values = { ...put(llama, "tokens", 1, "<|user|>"), "general.architecture": "phi3" }
  expect(open(values).encode("<|user|> \n b", { addSpecialTokens: false })).toEqual([1, 259, 261])
})

test("templates are files of their names", () => {
  const key = "tokenizer.chat_template"
  const { files } = built({
    ...gpt2,
    [key]: "a",
    [`${key}.tool_use`]: "b",
    [`${key}.empty`]: "",
    "tokenizer.chat_templates": ["tool_use"],
  })
  expect([...files].slice(2)).toEqual([
    ["chat_template.jinja", "a"],
    ["additional_chat_templates/tool_use.jinja", "b"],
  ])
})

test("a vocabulary without a template refuses messages", () => {
  expect(() => open(gpt2).encodeMessages([{ role: "user", content: "a" }])).toThrow(
    "this model has no chat template: send a raw prompt, or add chat_template.jinja to its directory",
  )
})

const names = [...pretokenizers.keys()].join(", ")
const again = "The file is damaged: download it again"
test.each<[message: string, Values]>([
  [`"tokenizer.ggml.model" is missing. ${again}`, without(gpt2, "model")],
  ['"tokenizer.ggml.model" is "bert", and only "gpt2" and "llama" are served', set(gpt2, "model", "bert")],
  ['"tokenizer.ggml.model" is "toString", and only', set(gpt2, "model", "toString")],
  [`"tokenizer.ggml.model" is a number, not a string. ${again}`, set(gpt2, "model", 1)],
  [
    `"tokenizer.ggml.pre" is missing, so it is not known how texts are cut; served are ${names}. `,
    without(gpt2, "pre"),
  ],
  ['"tokenizer.ggml.pre" is "default", so it is not known', set(gpt2, "pre", "default")],
  ['"tokenizer.ggml.tokens" is missing.', without(gpt2, "tokens")],
  ['"tokenizer.ggml.tokens" is a string, not a list.', set(gpt2, "tokens", "a")],
  ['"tokenizer.ggml.tokens" has 0 values, and 1 to 1048576 are read.', set(gpt2, "tokens", [])],
  ['"tokenizer.ggml.tokens[1]" is a number, not a string.', put(gpt2, "tokens", 1, 5)],
  ['"tokenizer.ggml.tokens[1]" is "a", as is token 0.', put(gpt2, "tokens", 1, "a")],
  ['"tokenizer.ggml.tokens[6]" is "", which cannot begin or end a text.', put(gpt2, "tokens", 6, "")],
  ['"tokenizer.ggml.token_type" has 3 values for 263 tokens.', set(gpt2, "token_type", [1, 1, 1])],
  ['"tokenizer.ggml.token_type[2]" is 7, and types are 1 to 6.', put(gpt2, "token_type", 2, 7)],
  [
    `"tokenizer.ggml.tokens" has no token for byte 0a, so that not every text could be written. ${again}`,
    put(gpt2, "tokens", idOfByte(0x0a), "aa"),
  ],
  [
    `"tokenizer.ggml.tokens[${idOfByte(0x41)}]" is "A" of type 3 instead of 1, the only token for byte 41, so`,
    put(gpt2, "token_type", idOfByte(0x41), 3),
  ],
  ['"tokenizer.ggml.tokens" has no token for byte e9', put(gpt2, "token_type", idOfByte(0xe9), 5)],
  ['"tokenizer.ggml.merges" is missing.', without(gpt2, "merges")],
  ['"tokenizer.ggml.merges[0]" is "ab", which does not name two tokens', put(gpt2, "merges", 0, "ab")],
  [
    '"tokenizer.ggml.merges[0]" is "a c", which does not name two tokens that make a third.',
    put(gpt2, "merges", 0, "a c"),
  ],
  ['"tokenizer.ggml.merges[1]" is "a b", as one before it.', set(gpt2, "merges", ["a b", "a b"])],
  ['"tokenizer.ggml.eos_token_id" is 263, and ids of tokens are 0 to 262.', set(gpt2, "eos_token_id", 263)],
  [
    '"tokenizer.ggml.eos_token_id" is 18446744073709551615, and ids',
    set(gpt2, "eos_token_id", 2n ** 64n - 1n),
  ],
  [
    '"tokenizer.ggml.eos_token_id" is missing, so that no answer could end.',
    put(without(gpt2, "eos_token_id"), "tokens", 6, "<|x|>"),
  ],
  [
    '"tokenizer.ggml.bos_token_id" is missing, and texts are to have this token.',
    set(without(gpt2, "bos_token_id"), "add_bos_token", true),
  ],
  ['"tokenizer.ggml.add_bos_token" is 1, not true or false.', set(gpt2, "add_bos_token", 1)],
  [
    '"tokenizer.ggml.remove_extra_whitespaces" is true, which is not served.',
    set(llama, "remove_extra_whitespaces", true),
  ],
  ['"tokenizer.ggml.scores" is missing.', without(llama, "scores")],
  ['"tokenizer.ggml.scores" has 1 values for 265 tokens.', set(llama, "scores", [1])],
  ['"tokenizer.ggml.scores[3]" is NaN, not a finite number.', put(llama, "scores", 3, Number.NaN)],
  [
    '"tokenizer.ggml.scores" does not give the order in which tokens are merged.',
    set(llama, "scores", same(265, -1000)),
  ],
  [
    '"tokenizer.ggml.tokens" has no token "<0x41>" of type 6 for a byte.',
    put(llama, "token_type", 3 + 0x41, 1),
  ],
  [
    '"tokenizer.ggml.tokens[263]" has 300 characters, and 256 are read.',
    put(llama, "tokens", 263, "a".repeat(300)),
  ],
  [
    '"tokenizer.ggml.tokens[264]" is "c\\n", and "c" is no token, so that no merges make it.',
    put(llama, "tokens", 264, "c\n"),
  ],
  ['"tokenizer.chat_template" is a number, not a string.', { ...gpt2, "tokenizer.chat_template": 1 }],
  [
    '"tokenizer.chat_template.../x" is a chat template whose name',
    { ...gpt2, "tokenizer.chat_template.../x": "a" },
  ],
])("refused: metadata %s", (message, values) => {
  const refused = (): never => {
    try {
      built(values)
    } catch (error) {
      if (error instanceof ModelError && !error.message.includes("\n")) throw error
    }
    throw new Error("not refused in one line")
  }
  expect(refused).toThrow(`metadata ${message}`)
})

test("a template of more bytes than are read is refused", () => {
  const values = { ...gpt2, "tokenizer.chat_template": "é".repeat(2 ** 20) }
  expect(() => built(values)).toThrow(
    "chat_template.jinja would have 2097152 bytes, above the limit of 1048576",
  )
})

const odd: readonly MetadataValue[] = [
  ...[0, 1, -1, 1.5, Number.NaN, 2n ** 64n, true, "", "x", "\n", "__proto__"],
  ...[[], [1], [2n ** 64n], ["a"], [true], ["a b", "a b"], ["__proto__", "constructor", "0"]],
]

test.each([
  ["gpt2", gpt2],
  ["llama", llama],
])("%s: any value of any key makes a tokenizer that opens, or is refused in one line", (_, values) => {
  const keys = [
    ...Object.keys(values),
    "tokenizer.ggml.add_eos_token",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.chat_template",
  ]
  const made = (changed: Values): string => {
    try {
      return open(changed).encode("ab").length >= 0 ? "opens" : ""
    } catch (error) {
      return error instanceof ModelError ? error.message : String(error)
    }
  }
  for (const key of keys) {
    for (const value of odd) {
      expect(made({ ...values, [key]: value }), `${key} = ${String(value)}`).toMatch(
        /^(opens$|metadata ".*$)/,
      )
    }
    const list = values[key]
    if (!Array.isArray(list)) continue
    for (const value of odd) {
      const changed = { ...values, [key]: list.with(list.length - 2, value as string) }
      expect(made(changed), `${key} holds ${String(value)}`).toMatch(/^(opens$|metadata ".*$)/)
    }
  }
})
