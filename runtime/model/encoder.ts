/**
 * `tokenizer.json` → an encoder that cuts texts as Python's `tokenizers` does.
 *
 * The package below reads some steps differently: it takes only ASCII digits, JavaScript's white
 * space and words of ASCII letters, and supports only two ways to split a text at a pattern. But it
 * runs regular expressions correctly, so each such step is rewritten as one before the package
 * reads it. A step that cannot be rewritten is refused by name: ids that a model was not trained on
 * are worse than an error.
 */

import { Tokenizer as Encoder } from "@huggingface/tokenizers"
import { ModelError } from "../errors.ts"
import { charsmapNormalizer } from "./charsmap.ts"

type Json = Readonly<Record<string, unknown>>

/** Returns the ids of a text, with those that the post-processor adds if requested. */
export type Encode = (text: string, addSpecialTokens: boolean) => number[]

/** Opens an encoder. Throws ModelError with `path` and the step that is not supported. */
export function openEncoder(path: string, json: Json, config: Json): Encode {
  const absent = {
    decoder: null,
    post_processor: null,
    pre_tokenizer: null,
    normalizer: null,
    added_tokens: [],
  }
  try {
    const encoder = new Encoder({ ...absent, ...json, ...mended(json) }, config)
    replaceCharsmaps(encoder, json.normalizer)
    const strip = stripping(json)
    const bytesOf = fallingBack(json.model as Json)
    return (text, addSpecialTokens) => {
      // A lone surrogate becomes U+FFFD, as in UTF-8, also for vocabularies of characters.
      const { ids, tokens } = encoder.encode(strip(text.toWellFormed()), {
        add_special_tokens: addSpecialTokens,
      })
      return bytesOf === null ? ids : ids.flatMap((id: number, at: number) => bytesOf(id, tokens[at]))
    }
  } catch (cause) {
    throw new ModelError(`${path}/tokenizer.json: ${(cause as Error).message}`, { cause })
  }
}

function mended(json: Json): Json {
  const model = (json.model ?? {}) as Json
  if (model.type === "BPE" && model.continuing_subword_prefix)
    refuse("model BPE with continuing_subword_prefix")
  const single = ((json.added_tokens ?? []) as readonly Json[]).find((token) => token.single_word === true)
  if (single) refuse(`added token ${JSON.stringify(single.content)} with single_word`)
  return {
    added_tokens: ((json.added_tokens ?? []) as readonly Json[]).map((token) => ({
      ...token,
      lstrip: false,
      rstrip: false,
    })),
    normalizer: stepsOf(json.normalizer, "normalizers", normalizer),
    pre_tokenizer: stepsOf(json.pre_tokenizer, "pretokenizers", (step) => [
      ...preTokenizer(step),
      ...dropping(step, model),
    ]),
  }
}

/** The package treats every such table as NFKC; here each table is applied itself. */
function replaceCharsmaps({ normalizer }: Encoder, given: unknown): void {
  const maps: string[] = []
  stepsOf(given, "normalizers", (step) => {
    if (step.type === "Precompiled") maps.push(String(step.precompiled_charsmap))
    return []
  })
  for (const step of normalizer?.normalizers ?? []) {
    if (step.config.type === "Precompiled") step.normalize = charsmapNormalizer(maps.shift()!)
  }
}

/**
 * Returns the byte fallback of a Unigram model: an unknown piece is written by its bytes, if all of
 * them are tokens. Null if the model has none.
 */
function fallingBack({ vocab, unk_id: unknown, byte_fallback: falls }: Json) {
  if (falls !== true || !Array.isArray(vocab)) return null
  const ids = new Map((vocab as [string, number][]).map(([piece], id) => [piece, id]))
  return (id: number, piece: string): readonly number[] => {
    if (id !== unknown || ids.has(piece)) return [id]
    const bytes = Array.from(new TextEncoder().encode(piece), (byte) =>
      ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`),
    )
    return bytes.includes(undefined) ? [id] : (bytes as number[])
  }
}

/**
 * Returns steps that remove the bytes that a vocabulary lacks, after ByteLevel and before pairs are
 * merged, so that their neighbours form pairs.
 */
function dropping(step: Json, model: Json): readonly Json[] {
  if (step.type !== "ByteLevel" || model.type !== "BPE" || typeof model.unk_token === "string") return []
  const alphabet = Array.from({ length: 0x144 }, (_, code) => String.fromCharCode(code))
  const missing = alphabet.filter(
    (char) => /[!-~¡-¬®-Ń]/.test(char) && !Object.hasOwn(model.vocab as object, char),
  )
  if (missing.length === 0) return []
  return [{ type: "Replace", pattern: { Regex: missing.map(literally).join("|") }, content: "" }]
}

/**
 * Returns a function that removes the white space that some added tokens swallow on a side. The
 * package does so too, but with JavaScript's white space, which contains U+FEFF and lacks U+0085.
 */
function stripping(json: Json): (text: string) => string {
  const added = (json.added_tokens ?? []) as readonly Json[]
  if (!added.some(({ lstrip, rstrip }) => lstrip === true || rstrip === true)) return (text) => text
  const contents = new Map(added.map((token) => [String(token.content), token]))
  const longestFirst = [...contents.keys()].sort((a, b) => b.length - a.length)
  const parts = longestFirst.map((content) => {
    const { lstrip, rstrip } = contents.get(content)!
    const side = (takes: unknown) => (takes === true ? "\\p{White_Space}*" : "")
    return `${side(lstrip)}(${literally(content)})${side(rstrip)}`
  })
  const pattern = new RegExp(parts.join("|"), "gu")
  const isContent = (group: unknown) => group !== undefined
  return (text) =>
    text.replace(pattern, (_, ...groups) => groups.slice(0, parts.length).find(isContent) as string)
}

function refuse(what: string): never {
  throw new Error(
    `${what} is not supported: texts would get other ids than the model was trained on. Take a model whose tokenizer does without it`,
  )
}

/** Returns a step, or a sequence of steps, with each one replaced by the result of `mend`. */
function stepsOf(step: unknown, list: string, mend: (step: Json) => readonly Json[]): Json | null {
  const inner = (each: unknown): readonly Json[] => {
    const known = (each ?? {}) as Json
    if (known.type === "Sequence") return ((known[list] ?? []) as readonly unknown[]).flatMap(inner)
    return known.type === undefined ? [] : mend(known)
  }
  const steps = inner(step)
  return steps.length === 0 ? null : { type: "Sequence", [list]: steps }
}

function normalizer(step: Json): readonly Json[] {
  if (step.type === "BertNormalizer") return bertNormalizer(step)
  // In the replacement text, `$` is an ordinary character.
  if (step.type === "Replace")
    return [{ ...step, content: String(step.content ?? "").replaceAll("$", "$$$$") }]
  return [step]
}

/** Chinese characters, which are separate words in BERT's vocabularies. */
const chinese =
  "[\\u4E00-\\u9FFF\\u3400-\\u4DBF\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2CEAF}\\uF900-\\uFAFF\\u{2F800}-\\u{2FA1F}]"

function bertNormalizer(step: Json): readonly Json[] {
  const replace = (Regex: string, content: string): Json => ({ type: "Replace", pattern: { Regex }, content })
  const lowers = step.lowercase !== false
  const steps: Json[] = []
  if (step.clean_text !== false)
    steps.push(replace("(?![\\t\\n\\r])[\\p{Cc}\\p{Cf}\\p{Co}\\0\\uFFFD]", ""), replace("\\s", " "))
  if (step.handle_chinese_chars !== false) steps.push(replace(chinese, " $& "))
  if (step.strip_accents ?? lowers) steps.push({ type: "NFD" }, replace("\\p{Mn}", ""))
  if (lowers) steps.push({ type: "Lowercase" })
  return steps
}

/** Words, numbers and other text as GPT-2 separates them. */
const wordsOfGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/** Punctuation: that of Unicode, and all of ASCII's signs. */
const sign = "[\\p{P}$+<=>^`|~]"

/** Returns a pre-tokenizer as steps that the package reads correctly. */
function preTokenizer(step: Json): readonly Json[] {
  switch (step.type) {
    case "ByteLevel": {
      if (step.use_regex === false) return [step]
      const space =
        step.add_prefix_space === true
          ? [{ type: "Replace", pattern: { Regex: "\\A(?! )[\\s\\S]+" }, content: " $&" }]
          : []
      return [...space, isolating(wordsOfGpt2), { ...step, add_prefix_space: false, use_regex: false }]
    }
    case "BertPreTokenizer":
      return [parting("\\s+", "Removed"), isolating(sign)]
    case "Digits":
      return [isolating(step.individual_digits === true ? "\\p{N}" : "\\p{N}+")]
    case "Punctuation":
      return [parting(sign, step.behavior ?? "Isolated")]
    case "Whitespace":
      return [{ ...isolating("\\w+|[^\\w\\s]+"), behavior: "Removed", invert: true }]
    case "WhitespaceSplit":
      return [{ ...isolating("\\s+"), behavior: "Removed" }]
    case "Metaspace": {
      const isNever = step.prepend_scheme === undefined && step.add_prefix_space === false
      const space = isNever ? { ...step, prepend_scheme: "never" } : step
      if (step.split === false) return [space]
      return [space, parting(literally(String(step.replacement ?? "▁")), "MergedWithNext")]
    }
    case "Split":
      return [split(step)]
    default:
      return [step]
  }
}

function split(step: Json): Json {
  const { Regex, String: text } = (step.pattern ?? {}) as { Regex?: string; String?: string }
  const pattern = Regex ?? (text === undefined ? undefined : literally(text))
  if (pattern === undefined) return step
  if (step.invert !== true) return parting(pattern, step.behavior)
  // `invert` makes the text between the matches the delimiter. "Isolated" makes pieces of matches
  // and of the text between them, so `invert` does not change its result.
  if (step.behavior === "Isolated") return isolating(pattern)
  if (step.behavior === "Removed") return { ...isolating(pattern), behavior: "Removed", invert: true }
  return refuse(`pre_tokenizer Split with invert and behavior ${step.behavior}`)
}

/** Returns a split at a pattern, by what happens to the matches. */
function parting(pattern: string, behavior: unknown): Json {
  const any = "[\\s\\S]"
  switch (behavior) {
    case "Isolated":
      return isolating(pattern)
    case "Removed":
      return { ...isolating(pattern), behavior: "Removed" }
    case "Contiguous":
      return isolating(`(?:${pattern})+`)
    case "MergedWithPrevious":
      return isolating(`${any}*?(?:${pattern})|${any}+`)
    case "MergedWithNext":
      return isolating(`(?:${pattern})(?:(?!${pattern})${any})*|(?:(?!${pattern})${any})+`)
    default:
      return refuse(`pre_tokenizer with behavior ${JSON.stringify(behavior)}`)
  }
}

function isolating(pattern: string): Json {
  return { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false }
}

/** Returns a regular expression that matches exactly this text. */
function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
}
