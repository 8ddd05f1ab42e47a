/** Text → ids → bytes, over the kinds of vocabulary: what is encoded is what the token bytes spell. */

import { readFileSync } from "node:fs"
import fc from "fast-check"
import llama3 from "llama3-tokenizer-js"
import { expect, test } from "vitest"
import { parseVocabulary } from "../../mask/tokenizerjson.ts"
import type { ModelDirectory } from "../../runtime/directory.ts"
import { packageFile } from "../../runtime/files.ts"
import { Tokenizer } from "../../runtime/tokenizer.ts"

type Json = Record<string, unknown>

function open(tokenizerJson: Json, tokenizerConfig: Json, endIds: number[]): Tokenizer {
  const vocabulary = parseVocabulary(tokenizerJson, tokenizerConfig, { endIds })
  const directory = { path: "", tokenizerJson, tokenizerConfig, endIds, chatTemplates: new Map() }
  return new Tokenizer(directory as unknown as ModelDirectory, vocabulary)
}

const special = (content: string, id: number) => ({
  ...{ id, content, special: true, normalized: false },
  ...{ single_word: false, lstrip: false, rstrip: false },
})
const bytePieces = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
)
const letters = [..."abcdefghijklmnopqrstuvwxyz0123456789.,▁é日"]
const joined: [string, string][] = [
  ["t", "h"],
  ["th", "e"],
  ["▁", "the"],
  ["▁", "a"],
  ["日", "日"],
]

function shipped(): Tokenizer {
  const read = (name: string): Json =>
    JSON.parse(readFileSync(packageFile(`runtime/embedded/${name}`), "utf8"))
  return open(read("tokenizer.json"), read("tokenizer_config.json"), [2])
}

function llama(): Tokenizer {
  const { vocabById, merges } = llama3 as unknown as { vocabById: string[]; merges: Map<string, number> }
  const pieces = vocabById.slice(0, 128_000)
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false }
  const pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
  const split = { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false }
  const model = {
    type: "BPE",
    ignore_merges: true,
    byte_fallback: false,
    unk_token: null,
    vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
    merges: [...merges].sort((a, b) => a[1] - b[1]).map(([pair]) => pair.split(" ")),
  }
  const added_tokens = vocabById.slice(128_000).map((content, at) => special(content, 128_000 + at))
  const pre_tokenizer = { type: "Sequence", pretokenizers: [split, byteLevel] }
  return open({ model, added_tokens, normalizer: null, pre_tokenizer, decoder: byteLevel }, {}, [128_009])
}

function byteFallback(): Tokenizer {
  const pieces = ["<unk>", "</s>", ...bytePieces, ...letters, ...joined.map(([a, b]) => a + b)]
  const model = {
    type: "BPE",
    byte_fallback: true,
    unk_token: "<unk>",
    fuse_unk: true,
    vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
    merges: joined,
  }
  const decoders = [
    { type: "Replace", pattern: { String: "▁" }, content: " " },
    { type: "ByteFallback" },
    { type: "Fuse" },
  ]
  const json = {
    model,
    added_tokens: [special("<unk>", 0), special("</s>", 1)],
    normalizer: { type: "Replace", pattern: { String: " " }, content: "▁" },
    pre_tokenizer: null,
    decoder: { type: "Sequence", decoders },
  }
  return open(json, {}, [1])
}

function unigram(): Tokenizer {
  const pieces = [...letters, ...joined.map(([a, b]) => a + b)]
  const scored = pieces.map((piece, at): [string, number] => [piece, -1 - at / 10])
  const metaspace = { type: "Metaspace", replacement: "▁", prepend_scheme: "never", split: false }
  const json = {
    model: { type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["</s>", 0], ...scored] },
    added_tokens: [special("<unk>", 0), special("</s>", 1)],
    normalizer: null,
    pre_tokenizer: metaspace,
    decoder: metaspace,
  }
  return open(json, {}, [1])
}

const anyText = fc.string({ unit: "grapheme", maxLength: 24 })
// Without bytes to fall back on, a Unigram vocabulary can write its own letters only.
const knownText = fc.string({ unit: fc.constantFrom(..."the ahz09.,é日 "), maxLength: 24 })

test.each<[name: string, make: () => Tokenizer, texts: fc.Arbitrary<string>, runs: number]>([
  ["the shipped model's", shipped, anyText, 4000],
  ["Llama 3, byte-level with 128 k tokens", llama, anyText, 3000],
  ["byte fallback", byteFallback, anyText.filter((text) => !text.includes("▁")), 3000],
  ["Unigram", unigram, knownText, 3000],
])("%s: the bytes of the ids are the text", (_, make, texts, numRuns) => {
  const tokenizer = make()
  const { vocabulary } = tokenizer
  fc.assert(
    fc.property(texts, (text) => {
      const ids = tokenizer.encode(text, { addSpecialTokens: false, parseSpecial: false })
      expect(ids.some((id) => vocabulary.isSpecial(id))).toBe(false)
      expect(Buffer.concat(ids.map((id) => vocabulary.bytes(id))).toString()).toBe(text)
    }),
    { numRuns, seed: 11 },
  )
})

test("1,000 users who spell control tokens get none of them", () => {
  const tokenizer = shipped()
  const spellings = [...tokenizer.vocabulary.specials.keys()]
  const part = fc.oneof(fc.constantFrom(...spellings), fc.constantFrom("a", " ", "<|", "|>", "im_end", "\n"))
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const ids = tokenizer.encode(parts.join(""), { addSpecialTokens: false, parseSpecial: false })
      expect(ids.filter((id) => tokenizer.vocabulary.isSpecial(id))).toEqual([])
      expect(Buffer.concat(ids.map((id) => tokenizer.vocabulary.bytes(id))).toString()).toBe(parts.join(""))
    }),
    { numRuns: 1000, seed: 12 },
  )
})
