/**
 * Turns text, or the messages of a conversation, into token ids.
 *
 * Caution: to the tokenizer, `<|im_end|>` in a user's text is the control token, and no option
 * changes that. So if a caller's string spells a control token (or could complete one at its
 * edges), the prompt is made in another way: spellings in the caller's strings become placeholders;
 * the template is rendered; the remaining spellings are the template's own and get names with a
 * random nonce; the caller's strings are put back; and a second tokenizer, whose control tokens
 * have only those names, reads the result. The template's ids are unchanged, and the caller's text
 * becomes ordinary tokens.
 *
 * In a conversation the tags by which templates structure a turn (`<tool_call>`) are control tokens
 * too, whether or not the tokenizer calls them special: a tool's result must not be able to close
 * itself. Only messages of an assistant keep them, since templates look for its reasoning there.
 */

import type { Vocabulary } from "../../mask/vocabulary.ts"
import { ModelError } from "../errors.ts"
import { Controls, tagsOf, unhide } from "./controls.ts"
import type { ModelDirectory } from "./directory.ts"
import { tokenText } from "./directory.ts"
import { type Encode, openEncoder } from "./encoder.ts"
import type { Message, TemplateOptions } from "./template.ts"
import { ChatTemplate, plainMessages } from "./template.ts"

const namedTokens = [
  "bos_token",
  "eos_token",
  "unk_token",
  "pad_token",
  "sep_token",
  "cls_token",
  "mask_token",
]

/** The fields of a model's directory that a tokenizer needs. */
export type TokenizerDirectory = Pick<
  ModelDirectory,
  "path" | "tokenizerJson" | "tokenizerConfig" | "chatTemplates"
>

interface NoncedEncoder {
  readonly encode: Encode
  readonly nameOf: ReadonlyMap<string, string>
}

export class Tokenizer {
  readonly vocabulary: Vocabulary
  readonly template: ChatTemplate
  /** The texts of special tokens by their roles: `bos_token`, `eos_token`, … */
  readonly namedTokens: Readonly<Record<string, string | undefined>>
  private readonly directory: TokenizerDirectory
  private readonly encodeText: Encode
  /** The special tokens, and those tokens that no message may spell. */
  private readonly special: Controls
  private readonly inMessages: Controls
  private readonly nonced = new Map<Controls, NoncedEncoder>()

  constructor(directory: TokenizerDirectory, vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
    this.directory = withinColumns(directory, vocabulary)
    this.special = new Controls(vocabulary.specials)
    this.inMessages = new Controls(new Map([...tagsOf(this.directory.tokenizerJson), ...vocabulary.specials]))
    const specials: Record<string, string> = {}
    for (const name of namedTokens) {
      const text = tokenText(directory.tokenizerConfig[name])
      if (text !== undefined) specials[name] = text
    }
    const [end] = vocabulary.endIds
    this.namedTokens = { ...(end !== undefined && { eos_token: vocabulary.name(end) }), ...specials }
    this.template = new ChatTemplate(directory.chatTemplates, specials)
    this.encodeText = openEncoder(directory.path, this.directory.tokenizerJson, directory.tokenizerConfig)
    if (!this.encodeText("", true).every((id) => vocabulary.hasColumn(id)))
      refuseOutside(directory, "it begins texts with a special token", vocabulary)
  }

  /**
   * Returns the ids of a raw text. Control tokens in it count; `addSpecialTokens` (default true)
   * also writes the begin token.
   */
  encode(text: string, options: { addSpecialTokens?: boolean; parseSpecial?: boolean } = {}): number[] {
    const addSpecialTokens = options.addSpecialTokens ?? true
    if (options.parseSpecial !== false || !this.special.occurIn(text)) {
      return this.encodeText(text, addSpecialTokens)
    }
    const begin = addSpecialTokens ? this.encodeText("", true) : []
    return [...begin, ...this.openNonced(this.special).encode(text, false)]
  }

  /**
   * Returns the ids of a part of a text: without a begin token, and with the spelling of a control
   * token as plain text.
   */
  readonly encodePart = (text: string): number[] =>
    this.encode(text, { addSpecialTokens: false, parseSpecial: false })

  /**
   * Returns the ids of a conversation. No string of the caller ever becomes a control token. Throws
   * RequestError.
   */
  encodeMessages(messages: readonly Message[], options: TemplateOptions = {}): number[] {
    const plain = plainMessages(messages)
    const { variables, ...rest } = options
    const given = { ...rest, variables }
    let isSafe = true
    const look = (text: string, controls: Controls): string => {
      isSafe &&= !controls.touch(text)
      return text
    }
    this.mapConversation(plain, given, look)
    if (isSafe) {
      const prompt = this.template.render(plain, options)
      return this.encodeText(prompt, false)
    }
    const nonce = randomNonce()
    const hidden: string[] = []
    const hide = (text: string, controls: Controls): string => controls.hide(text, nonce, hidden)
    const hideKey = (key: string, controls: Controls): string =>
      controls.occurIn(key) ? hide(key, controls) : key
    const safe = this.mapConversation(plain, given, hide, hideKey)
    const rendered = this.template.render(safe.messages, safe.options)
    const { encode, nameOf } = this.openNonced(this.inMessages)
    // Replaces the template's own spellings in one pass from left to right, longest first, as the
    // tokenizer would split them.
    const named = this.inMessages.replace(rendered, (spelling) => nameOf.get(spelling)!)
    return encode(unhide(named, nonce, hidden), false)
  }

  /**
   * Returns a copy with every string replaced; `map` gets the spellings that are control tokens in
   * that string.
   */
  private mapConversation(
    messages: readonly Message[],
    options: TemplateOptions,
    map: (text: string, controls: Controls) => string,
    mapKey = map,
  ): { messages: Message[]; options: TemplateOptions } {
    const { special, inMessages } = this
    const mapped = (value: unknown, controls: Controls): unknown =>
      mapStrings(
        value,
        (text) => map(text, controls),
        (key) => mapKey(key, controls),
      )
    return {
      messages: messages.map((message) => {
        const copy = mapped(message, inMessages) as Message
        return message.role === "assistant"
          ? { ...copy, content: map(message.content as string, special) }
          : copy
      }),
      options: mapped(options, inMessages) as TemplateOptions,
    }
  }

  /** Returns a tokenizer that knows these tokens only by other names. */
  private openNonced(controls: Controls): NoncedEncoder {
    const known = this.nonced.get(controls)
    if (known) return known
    const nonce = randomNonce()
    const nameOf = new Map([...controls.ids].map(([spelling, id]) => [spelling, `<${nonce}.${id}>`]))
    const rename = (text: string): string => nameOf.get(text) ?? text
    const json = this.directory.tokenizerJson
    const model = json.model as Record<string, unknown>
    // If a control token is also in the model's vocabulary, it must not be spelled by pieces
    // either.
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
    const renamed = {
      ...json,
      model: { ...model, vocab, ...unknown },
      added_tokens: added,
      post_processor: null,
    }
    const encode = openEncoder(this.directory.path, renamed, this.directory.tokenizerConfig)
    const nonced = { encode, nameOf }
    this.nonced.set(controls, nonced)
    return nonced
  }
}

/**
 * Returns the directory without the special tokens for which the model has no column: for such a
 * model they are plain text. Throws if its chat template writes one.
 */
function withinColumns(directory: TokenizerDirectory, vocabulary: Vocabulary): TokenizerDirectory {
  const { tokenizerJson, tokenizerConfig, chatTemplates } = directory
  const added = (tokenizerJson.added_tokens ?? []) as readonly { content: string; id: number }[]
  const within = added.filter(({ id }) => vocabulary.hasColumn(id))
  if (within.length === added.length) return directory
  const templates = [...chatTemplates.values()].join("\n")
  const written = added.find(({ id, content }) => {
    if (vocabulary.hasColumn(id)) return false
    const names = namedTokens.filter((name) => tokenText(tokenizerConfig[name]) === content)
    return [content, ...names].some((spelling) => templates.includes(spelling))
  })
  if (written !== undefined) {
    const { content, id } = written
    refuseOutside(
      directory,
      `the chat template writes ${JSON.stringify(content)}, whose id is ${id}`,
      vocabulary,
    )
  }
  return { ...directory, tokenizerJson: { ...tokenizerJson, added_tokens: within } }
}

function refuseOutside({ path }: TokenizerDirectory, what: string, { width }: Vocabulary): never {
  throw new ModelError(
    `${path}/tokenizer.json: ${what}, outside the ${width} columns of the logits. Take the tokenizer that the model was trained with`,
  )
}

function randomNonce(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join("")
}

/**
 * Returns a copy with every string replaced, including keys: those of the tools' schemas are also
 * written into the prompt. Arguments of calls are JSON text, and templates get their values, where
 * `\u003c` is `<`. So the strings of the values are replaced; if the text is not JSON, the text
 * itself.
 */
function mapStrings(value: unknown, map: (text: string) => string, mapKey = map): unknown {
  if (typeof value === "string") return map(value)
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, map, mapKey))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const values = key === "arguments" && typeof each === "string" ? parsed(each) : undefined
      const json = JSON.stringify(values)
      const mapped = JSON.stringify(mapStrings(values, map, mapKey))
      return [mapKey(key), mapped === json ? mapStrings(each, map, mapKey) : mapped]
    }),
  )
}

/** Parses a JSON text; undefined if it is not an object or a list. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
