/** Tokenizers of all kinds, to test over: the shipped model's, one as large as Llama 3's, two with a handful of pieces. */

import { readFileSync } from "node:fs"
import llama3 from "llama3-tokenizer-js"
import { parseVocabulary } from "../../mask/tokenizers/tokenizerjson.ts"
import { packageFile } from "../../runtime/files.ts"
import type { ModelDirectory } from "../../runtime/model/directory.ts"
import { Tokenizer } from "../../runtime/model/tokenizer.ts"

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

export function shipped(): Tokenizer {
  const read = (name: string): Json =>
    JSON.parse(readFileSync(packageFile(`runtime/embedded/${name}`), "utf8"))
  return open(read("tokenizer.json"), read("tokenizer_config.json"), [2])
}

export function llama(): Tokenizer {
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

export function byteFallback(): Tokenizer {
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

export function unigram(): Tokenizer {
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
