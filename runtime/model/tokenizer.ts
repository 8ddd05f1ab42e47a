/**
 * Text → token ids, and messages → token ids.
 *
 * Trap: to the tokenizer, `<|im_end|>` in a user's text is the control token, and there is no switch. So when a caller's
 * string spells a control token (or could complete one at its edges), the prompt takes another way: spellings in the
 * caller's strings become private-use placeholders, the template renders, spellings that are left are the template's own
 * and get names with a random nonce, the caller's come back, and a second tokenizer reads the result, which knows its
 * control tokens by those names only. The template's ids are as before; the caller's text is ordinary pieces.
 */

import { Tokenizer as Encoder } from "@huggingface/tokenizers"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { ModelError } from "../errors.ts"
import type { ModelDirectory } from "./directory.ts"
import { tokenText } from "./directory.ts"
import type { Message, TemplateOptions } from "./template.ts"
import { ChatTemplate, plainMessages } from "./template.ts"

const namedTokens = ["bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token"]

/** What a tokenizer reads of a model's directory. */
export type TokenizerDirectory = Pick<
  ModelDirectory,
  "path" | "tokenizerJson" | "tokenizerConfig" | "chatTemplates"
>

export class Tokenizer {
  readonly vocabulary: Vocabulary
  readonly template: ChatTemplate
  private readonly directory: TokenizerDirectory
  private readonly encoder: Encoder
  /** Spellings of the control tokens, longest first: the tokenizer takes the longest too. */
  private readonly spellings: readonly string[]
  private nonced: { encoder: Encoder; nameOf: ReadonlyMap<string, string> } | undefined

  constructor(directory: TokenizerDirectory, vocabulary: Vocabulary) {
    this.directory = directory
    this.vocabulary = vocabulary
    this.spellings = [...vocabulary.specials.keys()].sort((a, b) => b.length - a.length)
    const specials: Record<string, string> = {}
    for (const name of namedTokens) {
      const text = tokenText(directory.tokenizerConfig[name])
      if (text !== undefined) specials[name] = text
    }
    this.template = new ChatTemplate(directory.chatTemplates, specials)
    this.encoder = openEncoder(directory, directory.tokenizerJson)
  }

  /**
   * Ids of a raw text. Control tokens in it count; `addSpecialTokens` (default true) also writes the begin token.
   */
  encode(text: string, options: { addSpecialTokens?: boolean; parseSpecial?: boolean } = {}): number[] {
    const addSpecialTokens = options.addSpecialTokens ?? true
    if (options.parseSpecial !== false || !this.spells(text)) {
      return this.encoder.encode(text, { add_special_tokens: addSpecialTokens }).ids
    }
    const begin = addSpecialTokens ? this.encoder.encode("", { add_special_tokens: true }).ids : []
    return [...begin, ...this.openNonced().encoder.encode(text, { add_special_tokens: false }).ids]
  }

  /** Ids of a part of a text: without a begin token, and what spells a control token is text. */
  readonly encodePart = (text: string): number[] =>
    this.encode(text, { addSpecialTokens: false, parseSpecial: false })

  /** Ids of a conversation. No string of the caller ever becomes a control token. Throws RequestError. */
  encodeMessages(messages: readonly Message[], options: TemplateOptions = {}): number[] {
    const plain = plainMessages(messages)
    const strings: string[] = []
    const { variables, ...rest } = options
    mapStrings([plain, rest, variables], (text) => {
      strings.push(text)
      return text
    })
    if (!strings.some((text) => this.touches(text))) {
      const prompt = this.template.render(plain, options)
      return this.encoder.encode(prompt, { add_special_tokens: false }).ids
    }
    const nonce = randomNonce()
    const hidden: string[] = []
    const hide = (text: string): string => this.hide(text, nonce, hidden)
    const hideKey = (key: string): string => (this.spells(key) ? hide(key) : key)
    const safe = mapStrings({ ...rest, variables }, hide, hideKey) as TemplateOptions
    const rendered = this.template.render(mapStrings(plain, hide, hideKey) as Message[], safe)
    const { encoder, nameOf } = this.openNonced()
    // One left-to-right pass over the template's own spellings, longest first, as the tokenizer would split them.
    const named = replaceAny(rendered, this.spellings, (spelling) => nameOf.get(spelling)!)
    const placeholder = new RegExp(`\u{f0000}${nonce}\\.(\\d+)\u{f0001}`, "gu")
    const prompt = named.replace(placeholder, (_, index: string) => hidden[Number(index)])
    return encoder.encode(prompt, { add_special_tokens: false }).ids
  }

  private spells(text: string): boolean {
    return this.spellings.some((spelling) => text.includes(spelling))
  }

  /** Whether the text spells a control token, or its end or start is a part of one. */
  private touches(text: string): boolean {
    return this.spells(text) || this.edge(text, "end") > 0 || this.edge(text, "start") > 0
  }

  /** Length of the longest proper part of a spelling at the text's edge, which a neighbour could complete. */
  private edge(text: string, side: "start" | "end"): number {
    let longest = 0
    for (const spelling of this.spellings) {
      for (let length = Math.min(spelling.length - 1, text.length); length > longest; length--) {
        const found =
          side === "end"
            ? text.endsWith(spelling.slice(0, length))
            : text.startsWith(spelling.slice(spelling.length - length))
        if (found) longest = length
      }
    }
    return longest
  }

  private hide(text: string, nonce: string, hidden: string[]): string {
    const put = (part: string): string => {
      hidden.push(part)
      return `\u{f0000}${nonce}.${hidden.length - 1}\u{f0001}`
    }
    const start = this.edge(text, "start")
    const end = Math.min(this.edge(text, "end"), text.length - start)
    const middle = text.slice(start, text.length - end)
    const head = start > 0 ? put(text.slice(0, start)) : ""
    const tail = end > 0 ? put(text.slice(text.length - end)) : ""
    return head + replaceAny(middle, this.spellings, put) + tail
  }

  private openNonced(): { encoder: Encoder; nameOf: ReadonlyMap<string, string> } {
    if (this.nonced) return this.nonced
    const nonce = randomNonce()
    const nameOf = new Map(
      [...this.vocabulary.specials].map(([spelling, id]) => [spelling, `<${nonce}.${id}>`]),
    )
    const rename = (text: string): string => nameOf.get(text) ?? text
    const json = this.directory.tokenizerJson
    const model = json.model as Record<string, unknown>
    // A control token that also lies in the model's vocabulary must not be spelled by pieces either.
    const vocab = Array.isArray(model.vocab)
      ? model.vocab.map(([piece, score]) => [rename(piece), score])
      : Object.fromEntries(
          Object.entries(model.vocab as Record<string, number>).map(([piece, id]) => [rename(piece), id]),
        )
    const unknown = typeof model.unk_token === "string" ? { unk_token: rename(model.unk_token) } : {}
    const added = ((json.added_tokens ?? []) as Record<string, unknown>[]).map((token) => ({
      ...token,
      content: rename(String(token.content)),
    }))
    const encoder = openEncoder(this.directory, {
      ...json,
      model: { ...model, vocab, ...unknown },
      added_tokens: added,
      post_processor: null,
    })
    this.nonced = { encoder, nameOf }
    return this.nonced
  }
}

function openEncoder(directory: TokenizerDirectory, json: Readonly<Record<string, unknown>>): Encoder {
  const absent = {
    decoder: null,
    post_processor: null,
    pre_tokenizer: null,
    normalizer: null,
    added_tokens: [],
  }
  try {
    return new Encoder({ ...absent, ...json }, directory.tokenizerConfig)
  } catch (cause) {
    throw new ModelError(`${directory.path}/tokenizer.json: ${(cause as Error).message}`, { cause })
  }
}

function randomNonce(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join("")
}

/** Replaces every occurrence of one of `words` (longest first), leftmost first. */
function replaceAny(text: string, words: readonly string[], replace: (word: string) => string): string {
  if (words.length === 0) return text
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|")
  return text.replace(new RegExp(pattern, "g"), replace)
}

/** A copy with every string replaced, keys too: in the schemas of tools they reach the prompt. */
function mapStrings(value: unknown, map: (text: string) => string, mapKey = map): unknown {
  if (typeof value === "string") return map(value)
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, map, mapKey))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [mapKey(key), mapStrings(each, map, mapKey)]),
  )
}
