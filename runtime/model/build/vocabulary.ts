/**
 * Converts the vocabulary of a GGUF file into the files of a tokenizer as a model directory has
 * them: `tokenizer.json`, `tokenizer_config.json` and the chat templates.
 *
 * GGUF names the algorithm (`tokenizer.ggml.model`), the way that texts are cut
 * (`tokenizer.ggml.pre`), and for each token its text, its type and, for SentencePiece, its score.
 * `pretokenizers.ts` knows the ways to cut, `sentencepiece.ts` turns scores into merges. An unknown
 * model, name or flag is refused: with wrong ids a model writes fluent but wrong answers.
 *
 * The metadata is untrusted: each count, type and id is checked before it is used.
 */

import { byteOfCodePoint } from "../../../mask/tokenizers/tokenizerjson.ts"
import { ModelError } from "../../errors.ts"
import { maxBytesOf, maxTemplates, templatesFolder } from "../directory.ts"
import type { Metadata } from "../weights/gguf.ts"
import { damaged, fail, flag, listOf, shown, textOf } from "./metadata.ts"
import { type Pretokenizer, pretokenizers } from "./pretokenizers.ts"
import { scoredMerges } from "./sentencepiece.ts"
import { readTokens, type Tokens, TokenType } from "./tokens.ts"

type Json = Readonly<Record<string, unknown>>

/** The files of a vocabulary, and the fields of the model's configuration that depend on it. */
export interface BuiltVocabulary {
  /** Texts by their paths in a model directory. */
  readonly files: ReadonlyMap<string, string>
  /** Tokens that end an answer: ascending, never empty. */
  readonly endIds: readonly number[]
  /** Number of tokens, including those that only pad the vocabulary. */
  readonly width: number
}

/** The parts in which the two kinds of tokenizers differ. */
interface Kind {
  readonly normalizer: Json | null
  readonly preTokenizer: Json | null
  readonly decoder: Json
  /** Members of `model` in tokenizer.json. */
  readonly model: Json
  /** Whether texts begin with the BOS token, unless the file says otherwise. */
  readonly addsBos: boolean
  /** Returns whether the white space after a control token belongs to it. */
  stripsBehind(content: string): boolean
}

const maxMerges = 2 ** 21
const templateKey = "tokenizer.chat_template"

/** Throws ModelError for an unsupported kind of tokenizer. Does not read its tokens. */
export function checkKind(metadata: Metadata): void {
  if (kindOf(metadata) === "gpt2") cutOf(metadata)
}

/**
 * Returns the files of the vocabulary that `metadata` describes. Throws ModelError naming the key,
 * its value and the supported values.
 */
export function buildVocabulary(metadata: Metadata): BuiltVocabulary {
  const read = { gpt2: byteLevel, llama: sentencePiece }[kindOf(metadata)]
  const tokens = readTokens(metadata)
  const kind = read(metadata, tokens)
  const files = new Map([
    ["tokenizer.json", JSON.stringify(tokenizerJson(metadata, tokens, kind))],
    ["tokenizer_config.json", JSON.stringify(tokenizerConfig(metadata, tokens, kind))],
    ...chatTemplates(metadata),
  ])
  for (const [path, text] of files) {
    const bytes = Buffer.byteLength(text)
    const most = maxBytesOf(path)
    if (bytes > most) throw new ModelError(`${path} would have ${bytes} bytes, above the limit of ${most}`)
  }
  return { files, endIds: [...tokens.ends].sort((a, b) => a - b), width: tokens.texts.length }
}

function kindOf(metadata: Metadata): "gpt2" | "llama" {
  const model = textOf(metadata, "tokenizer.ggml.model")
  if (model === "gpt2" || model === "llama") return model
  return fail(
    "tokenizer.ggml.model",
    `is ${shown(model)}, and only "gpt2" and "llama" are served. Take another model`,
  )
}

function tokenizerJson(metadata: Metadata, tokens: Tokens, kind: Kind): Json {
  const { texts, types, ids, unknown, ends } = tokens
  const isAdded = (id: number): boolean =>
    types[id] === TokenType.Control || types[id] === TokenType.UserDefined || id === unknown || ends.has(id)
  const added = [...ids.values()].filter(isAdded)
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added.map((id) => ({
      id,
      content: texts[id],
      single_word: false,
      lstrip: false,
      rstrip: types[id] !== TokenType.UserDefined && kind.stripsBehind(texts[id]),
      normalized: false,
      special: types[id] !== TokenType.UserDefined || ends.has(id),
    })),
    normalizer: kind.normalizer,
    pre_tokenizer: kind.preTokenizer,
    post_processor: postProcessor(metadata, tokens, kind),
    decoder: kind.decoder,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(ids),
      ...kind.model,
    },
  }
}

/**
 * Writes the BOS token before raw texts and the EOS token after them; chat templates write these
 * tokens themselves.
 */
function postProcessor(metadata: Metadata, tokens: Tokens, kind: Kind): Json | null {
  const begins = addsBos(metadata, kind) ? [ownToken(tokens, tokens.bos, "bos")] : []
  const ends = flag(metadata, "tokenizer.ggml.add_eos_token", false)
    ? [ownToken(tokens, tokens.eos, "eos")]
    : []
  if (begins.length + ends.length === 0) return null
  const around = (sequence: string, type_id: number): Json[] => {
    const special = ({ content }: { content: string }): Json => ({ SpecialToken: { id: content, type_id } })
    return [...begins.map(special), { Sequence: { id: sequence, type_id } }, ...ends.map(special)]
  }
  return {
    type: "TemplateProcessing",
    single: around("A", 0),
    pair: [...around("A", 0), ...around("B", 1)],
    special_tokens: Object.fromEntries(
      [...begins, ...ends].map(({ content, id }) => [content, { id: content, ids: [id], tokens: [content] }]),
    ),
  }
}

function ownToken({ texts }: Tokens, id: number | undefined, name: string): { id: number; content: string } {
  if (id !== undefined) return { id, content: texts[id] }
  const key = `tokenizer.ggml.${name}_token_id`
  return fail(key, `is missing, and texts are to have this token. Convert the model again`)
}

function addsBos(metadata: Metadata, kind: Kind): boolean {
  return flag(metadata, "tokenizer.ggml.add_bos_token", kind.addsBos)
}

function tokenizerConfig(metadata: Metadata, tokens: Tokens, kind: Kind): Json {
  const { texts, bos, eos, unknown } = tokens
  return {
    tokenizer_class: "PreTrainedTokenizerFast",
    clean_up_tokenization_spaces: false,
    add_bos_token: addsBos(metadata, kind),
    ...(bos !== undefined && { bos_token: texts[bos] }),
    ...(eos !== undefined && { eos_token: texts[eos] }),
    ...(unknown !== undefined && { unk_token: texts[unknown] }),
  }
}

/** Returns how texts are cut. Throws ModelError for an unknown name. */
function cutOf(metadata: Metadata): Pretokenizer {
  const key = "tokenizer.ggml.pre"
  const name = metadata.has(key) ? textOf(metadata, key) : undefined
  const known = pretokenizers.get(name ?? "")
  if (known === undefined) {
    const names = [...pretokenizers.keys()].join(", ")
    const is = name === undefined ? "is missing" : `is ${shown(name)}`
    fail(
      key,
      `${is}, so it is not known how texts are cut; served are ${names}. Take a model with one of them`,
    )
  }
  return known
}

/**
 * Bytes that occur in texts. Some published vocabularies lack tokens for control characters, for
 * the first bytes of rare planes, and for bytes that occur in no character.
 */
const textBytes: readonly (readonly [first: number, last: number])[] = [
  [0x0a, 0x0a],
  [0x20, 0x7e],
  [0x80, 0xbf],
  [0xc2, 0xef],
]

/** The token text of each byte. */
const byteTexts: string[] = []
for (const [point, byte] of byteOfCodePoint.entries())
  if (byte >= 0) byteTexts[byte] = String.fromCodePoint(point)

/** Throws ModelError if a byte has no token: the byte would silently be dropped from texts. */
function checkBytes({ texts, types, ids }: Tokens): void {
  const isText = (type: number) => type === TokenType.Normal || type === TokenType.UserDefined
  for (const [first, last] of textBytes) {
    for (let byte = first; byte <= last; byte++) {
      const id = ids.get(byteTexts[byte])
      if (id !== undefined && isText(types[id])) continue
      const key = "tokenizer.ggml.tokens"
      const what = `token for byte ${byte.toString(16).padStart(2, "0")}, so that not every text could be written. ${damaged}`
      if (id === undefined) fail(key, `has no ${what}`)
      fail(`${key}[${id}]`, `is ${shown(texts[id])} of type ${types[id]} instead of 1, the only ${what}`)
    }
  }
}

function byteLevel(metadata: Metadata, tokens: Tokens): Kind {
  const known = cutOf(metadata)
  checkBytes(tokens)
  return {
    normalizer: known.normalizer,
    preTokenizer: { type: "Sequence", pretokenizers: known.steps },
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { ignore_merges: known.ignoresMerges, merges: listedMerges(metadata, tokens.ids) },
    addsBos: known.addsBos,
    stripsBehind: () => false,
  }
}

/** Returns the merges as the file lists them, best first. */
function listedMerges(metadata: Metadata, ids: ReadonlyMap<string, number>): (readonly [string, string])[] {
  const key = "tokenizer.ggml.merges"
  const seen = new Set<string>()
  return listOf(metadata, key, "string", maxMerges).map((merge, at) => {
    // If the left side is a space, the separating space is not at index 0.
    const end = merge.indexOf(" ", 1)
    const [left, right] = [merge.slice(0, end), merge.slice(end + 1)]
    if (end < 0 || !ids.has(left) || !ids.has(right) || !ids.has(left + right)) {
      fail(
        `${key}[${at}]`,
        `is ${shown(merge)}, which does not name two tokens that make a third. ${damaged}`,
      )
    }
    if (seen.has(merge)) fail(`${key}[${at}]`, `is ${shown(merge)}, as one before it. ${damaged}`)
    seen.add(merge)
    return [left, right]
  })
}

/** Control tokens of Phi-3 that do not swallow the white space after them. */
const plainOfPhi3: readonly string[] = ["<unk>", "<s>", "<|endoftext|>"]

function sentencePiece(metadata: Metadata, tokens: Tokens): Kind {
  const extra = "tokenizer.ggml.remove_extra_whitespaces"
  if (flag(metadata, extra, false)) fail(extra, "is true, which is not served. Take another model")
  const prefixes = flag(metadata, "tokenizer.ggml.add_space_prefix", true)
  const { texts, unknown } = tokens
  const isPhi3 = metadata.get("general.architecture") === "phi3"
  const mark = { type: "Replace", pattern: { String: " " }, content: "▁" }
  const unmark = [
    { type: "Replace", pattern: { String: "▁" }, content: " " },
    { type: "ByteFallback" },
    { type: "Fuse" },
  ]
  return {
    normalizer: prefixes
      ? { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, mark] }
      : mark,
    preTokenizer: null,
    decoder: {
      type: "Sequence",
      decoders: prefixes ? [...unmark, { type: "Strip", content: " ", start: 1, stop: 0 }] : unmark,
    },
    model: {
      unk_token: unknown === undefined ? null : texts[unknown],
      fuse_unk: true,
      byte_fallback: true,
      merges: scoredMerges(metadata, tokens),
    },
    addsBos: true,
    stripsBehind: (content) => isPhi3 && !plainOfPhi3.includes(content),
  }
}

/** Returns the templates by their paths in a model directory. */
function chatTemplates(metadata: Metadata): [path: string, template: string][] {
  const templates: [string, string][] = []
  for (const key of metadata.keys()) {
    if (key !== templateKey && !key.startsWith(`${templateKey}.`)) continue
    const template = textOf(metadata, key)
    const name = key.slice(templateKey.length + 1)
    // The name is used as a file name.
    if (!/^[A-Za-z0-9_-]{0,64}$/.test(name)) {
      fail(key, "is a chat template whose name is not 1 to 64 letters, digits, _ and -. Rename it")
    }
    if (templates.length >= maxTemplates) fail(key, `is one of more than ${maxTemplates} chat templates`)
    if (template === "") continue
    templates.push([name === "" ? "chat_template.jinja" : `${templatesFolder}/${name}.jinja`, template])
  }
  return templates
}
