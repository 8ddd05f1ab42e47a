/**
 * Steps of tokenizers that the package under ours reads otherwise than Python's `tokenizers`, and the pieces into which they cut a
 * text. `test/models/tokenizers.ts` holds the last column against Python.
 */

import { charsmapOf } from "./charsmaps.ts"

type Json = Readonly<Record<string, unknown>>

const split = (pattern: Json, behavior: string, invert = false): Json => ({
  type: "Split",
  pattern,
  behavior,
  invert,
})
const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true }
const pre = (pre_tokenizer: Json, ...more: Json[]): Json => ({
  pre_tokenizer:
    more.length === 0 ? pre_tokenizer : { type: "Sequence", pretokenizers: [pre_tokenizer, ...more] },
})
const added = (content: string, sides: Json): Json => ({
  added_tokens: [
    {
      ...{ id: 0, content, single_word: false, lstrip: false, rstrip: false },
      normalized: false,
      special: true,
      ...sides,
    },
  ],
})
const bert = {
  type: "BertNormalizer",
  clean_text: true,
  handle_chinese_chars: true,
  strip_accents: null,
  lowercase: true,
}

const table = charsmapOf({ A: "a", "\ufb01": "fi", "\u0007": "", "e\u0301": "é", "\u{1d400}": "A" })

export const stepCases: readonly [name: string, steps: Json, text: string, pieces: readonly string[]][] = [
  [
    "digits are all numbers of Unicode",
    pre({ type: "Digits", individual_digits: true }),
    "a½²1२",
    ["a", "½", "²", "1", "२"],
  ],
  ["digits in runs", pre({ type: "Digits", individual_digits: false }), "a1½x22", ["a", "1½", "x", "22"]],
  [
    "GPT-2's words know Python's white space",
    pre(byteLevel),
    "a \u0085b \ufeffc  d",
    ["a", "Ġ", "Âħ", "b", "Ġï»¿", "c", "Ġ", "Ġd"],
  ],
  ["GPT-2's words behind a space", pre({ ...byteLevel, add_prefix_space: true }), "ab c", ["Ġab", "Ġc"]],
  [
    "a space before characters of two units",
    pre({ ...byteLevel, add_prefix_space: true }),
    "😀a",
    ["ĠðŁĺĢ", "a"],
  ],
  [
    "GPT-2's words of pieces",
    pre({ type: "Digits", individual_digits: true }, byteLevel),
    "a 12½",
    ["a", "Ġ", "1", "2", "Â½"],
  ],
  [
    "a byte that the vocabulary lacks is gone before words are looked up",
    pre(byteLevel),
    "a\v\vb",
    ["a", "b"],
  ],
  [
    "punctuation alone",
    pre({ type: "Punctuation", behavior: "Isolated" }),
    "a..$b¿",
    ["a", ".", ".", "$", "b", "¿"],
  ],
  ["punctuation in runs", pre({ type: "Punctuation", behavior: "Contiguous" }), "a..$b", ["a", "..$", "b"]],
  [
    "punctuation with what is before",
    pre({ type: "Punctuation", behavior: "MergedWithPrevious" }),
    "a.b..c",
    ["a.", "b.", ".", "c"],
  ],
  ["words of any letters", pre({ type: "Whitespace" }), "né 東京!! x_1", ["né", "東京", "!!", "x_1"]],
  ["white space goes", pre({ type: "WhitespaceSplit" }), "a\u0085b \ufeff c", ["a", "b", "\ufeff", "c"]],
  [
    "a split with what is before",
    pre(split({ String: "-" }, "MergedWithPrevious")),
    "a-b--c",
    ["a-", "b-", "-", "c"],
  ],
  [
    "a split with what is behind",
    pre(split({ Regex: "[-+]" }, "MergedWithNext")),
    "a-b-+c",
    ["a", "-b", "-", "+c"],
  ],
  ["a split in runs", pre(split({ Regex: "-" }, "Contiguous")), "a--b-", ["a", "--", "b", "-"]],
  ["a split without the matches", pre(split({ Regex: "-+" }, "Removed")), "a--b", ["a", "b"]],
  ["a split into the matches alone", pre(split({ Regex: "[a-z]+" }, "Removed", true)), "ab-c", ["ab", "c"]],
  [
    "an inverted split keeps all",
    pre(split({ Regex: "[a-z]+" }, "Isolated", true)),
    "ab-c",
    ["ab", "-", "c"],
  ],
  [
    "metaspaces part words",
    pre({ type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true }),
    "a b  c",
    ["▁a", "▁b", "▁", "▁c"],
  ],
  [
    "metaspaces that part nothing",
    pre({ type: "Metaspace", replacement: "▁", prepend_scheme: "never", split: false }),
    "a b",
    ["a▁b"],
  ],
  [
    "a table of SentencePiece",
    { normalizer: { type: "Precompiled", precompiled_charsmap: table } },
    "\ufb01A\u0007e\u0301x\u0301e \u{1f469}\u200dA\u{1d400}",
    ["fiaéx\u0301e 👩\u200daA"],
  ],
  [
    "a replacement with a dollar",
    { normalizer: { type: "Replace", pattern: { String: "a" }, content: "$&$1" } },
    "ab",
    ["$&$1b"],
  ],
  [
    "a token that swallows white space behind it",
    added("<t>", { rstrip: true }),
    "a<t> \u0085\ufeffb",
    ["a", "<t>", "\ufeffb"],
  ],
  [
    "a token that swallows white space before it",
    added("<t>", { lstrip: true }),
    "a\ufeff \u0085<t> b",
    ["a\ufeff", "<t>", " b"],
  ],
  [
    "BERT's normalizer and words",
    { normalizer: bert, ...pre({ type: "BertPreTokenizer" }) },
    "Àb\u200b\ufeff𠀀x\u0000 y.",
    ["ab", "𠀀", "x", "y", "."],
  ],
]

/** A tokenizer of these steps: every piece is a token, and so is each of its characters. */
export function tokenizerOfSteps(steps: Json, pieces: readonly string[]): Json {
  const vocab = piecesById(pieces)
  const model = {
    ...{
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
    },
    ...{ fuse_unk: false, byte_fallback: false, ignore_merges: true, merges: [] },
    vocab: Object.fromEntries(vocab.map((piece, id) => [piece, id])),
  }
  const absent = { version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null }
  return { ...absent, pre_tokenizer: null, post_processor: null, decoder: null, ...steps, model }
}

/** The pieces of `tokenizerOfSteps` in the order of their ids. */
export function piecesById(pieces: readonly string[]): readonly string[] {
  return [...new Set(["<t>", ...pieces, ...pieces.flatMap((piece) => [...piece])])]
}
