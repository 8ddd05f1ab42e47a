/**
 * How byte-level tokenizers cut a text into pieces before they merge pairs, by the names that GGUF
 * files have for it (`tokenizer.ggml.pre`). The steps are those of the `tokenizer.json` that each
 * name refers to, as Python's `tokenizers` reads them. llama.cpp cuts by its own regular
 * expressions, which differ from these in rare texts; but the models were trained on these.
 *
 * A name is listed only if its steps are known. Any other would give ids that the model was not
 * trained on.
 */

type Step = Readonly<Record<string, unknown>>

export interface Pretokenizer {
  readonly steps: readonly Step[]
  readonly normalizer: Step | null
  /** Whether a piece that is a token is kept whole instead of being merged from its parts. */
  readonly ignoresMerges: boolean
  /** Whether texts begin with the BOS token, unless the file says otherwise. */
  readonly addsBos: boolean
}

/** Cuts a text around each match: a match is a piece, and so is the text between two matches. */
function isolated(Regex: string): Step {
  return { type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false }
}

function digits(individually: boolean): Step {
  return { type: "Digits", individual_digits: individually }
}

/**
 * Maps bytes to letters. `cuts`: whether words, numbers and punctuation are first separated as in
 * GPT-2.
 */
function byteLevel(cuts: boolean): Step {
  return { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: cuts }
}

const nfc = { type: "NFC" }
const english = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
const blanks = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
const han = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"

/**
 * Cuts into words of `letters` with one sign in front, numbers, signs with the line ends after
 * them, and white space.
 */
function words(numbers: string, letters = "\\p{L}", signs = "[^\\s\\p{L}\\p{N}]"): Step {
  return isolated(`${english}|[^\\r\\n\\p{L}\\p{N}]?${letters}+|${numbers}| ?${signs}+[\\r\\n]*|${blanks}`)
}

/**
 * Cuts in the same way, but a capital letter after a small one begins a new word; `end` may follow
 * a word.
 */
function casedWords(numbers: string, end: string): Step {
  const upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
  const lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
  const sign = "[^\\r\\n\\p{L}\\p{N}]?"
  return isolated(
    `${sign}${upper}*${lower}+${end}|${sign}${upper}+${lower}*${end}|${numbers}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${blanks}`,
  )
}

/**
 * The letters that DeepSeek's first tokenizers list. They are written as escapes, since some of
 * them normalize to others.
 */
const deepSeekLetters = [
  "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af",
  "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5",
  "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba",
  "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45",
  "\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe",
  "\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102",
  "\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139",
  "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3",
  "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06",
  "\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}",
  "\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\u{1e900}-\u{1e943}",
].join("")

const qwen2 = [words("\\p{N}"), byteLevel(false)]
const llama3 = [words("\\p{N}{1,3}"), byteLevel(false)]
const tokensAlone = { normalizer: null, ignoresMerges: true, addsBos: true }
const merged = { normalizer: null, ignoresMerges: false, addsBos: false }
const starCoder = [digits(true), byteLevel(true)]
const lineEnd = isolated("[\r\n]")

/** Pretokenizers by `tokenizer.ggml.pre`. */
export const pretokenizers: ReadonlyMap<string, Pretokenizer> = new Map<string, Pretokenizer>([
  ["gpt-2", { ...merged, steps: [byteLevel(true)] }],
  ["phi-2", { ...merged, steps: [byteLevel(true)] }],
  ["mpt", { ...merged, steps: [byteLevel(true)], normalizer: nfc }],
  ["llama-bpe", { ...tokensAlone, steps: llama3 }],
  ["llama-v3", { ...tokensAlone, steps: llama3 }],
  ["llama3", { ...tokensAlone, steps: llama3 }],
  // Llama 3's tokenizer without its BOS token. llama.cpp merges parts for 588 of its tokens
  // although the merges do not lead to them.
  ["smaug-bpe", { ...merged, steps: llama3, ignoresMerges: true }],
  ["dbrx", { ...merged, steps: llama3 }],
  ["chatglm-bpe", { ...merged, steps: llama3, ignoresMerges: true }],
  ["glm4", { ...merged, steps: llama3, ignoresMerges: true }],
  ["qwen2", { ...merged, steps: qwen2, normalizer: nfc }],
  ["deepseek-r1-qwen", { ...merged, steps: qwen2, normalizer: nfc }],
  [
    "qwen35",
    {
      ...merged,
      steps: [words("\\p{N}", "[\\p{L}\\p{M}]", "[^\\s\\p{L}\\p{M}\\p{N}]"), byteLevel(false)],
      normalizer: nfc,
    },
  ],
  ["smollm", { ...merged, steps: starCoder }],
  ["starcoder", { ...merged, steps: starCoder }],
  ["refact", { ...merged, steps: starCoder }],
  ["command-r", { ...merged, steps: starCoder, normalizer: nfc }],
  ["tekken", { ...tokensAlone, steps: [casedWords("\\p{N}", ""), byteLevel(false)] }],
  ["gpt-4o", { ...merged, steps: [casedWords("\\p{N}{1,3}", `${english}?`), byteLevel(false)] }],
  [
    "deepseek-llm",
    {
      ...merged,
      steps: [
        lineEnd,
        isolated(`\\s?[${deepSeekLetters}]+`),
        isolated("\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"),
        isolated("\\s+$"),
        isolated(han),
        digits(false),
        byteLevel(false),
      ],
    },
  ],
  [
    "deepseek-coder",
    {
      ...merged,
      steps: [
        lineEnd,
        isolated("\\s?\\p{L}+"),
        isolated("\\s?\\p{P}+"),
        isolated(han),
        digits(true),
        byteLevel(false),
      ],
    },
  ],
  [
    "deepseek-v3",
    {
      ...merged,
      steps: [
        isolated("\\p{N}{1,3}"),
        isolated("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"),
        isolated(
          "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|" +
            blanks,
        ),
        byteLevel(false),
      ],
    },
  ],
  [
    "falcon",
    {
      ...merged,
      steps: [
        { type: "Punctuation", behavior: "Contiguous" },
        byteLevel(true),
        digits(false),
        isolated("[0-9][0-9][0-9]"),
      ],
    },
  ],
])
