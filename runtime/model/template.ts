/**
 * Renders messages as the text of a prompt, with the model's own chat template (Jinja).
 *
 * The template is the model's, the strings are the caller's: an error that the template raises is
 * the caller's fault (an unknown role, a conversation that it does not allow) and becomes a
 * RequestError with the template's message. Its variables are those of transformers, so that the
 * text is the one that the model was trained on; test/models/templates.ts compares the two.
 */

import { RequestError, wrong } from "../errors.ts"
import { readValue } from "./jinja/json.ts"
import { Template } from "./jinja/template.ts"
import { fromJson, reprOf } from "./jinja/value.ts"

/** A message of a chat. Additional fields are passed on to the model's template. */
export interface Message {
  role: string
  /** Text, or a list of parts. Only text parts are accepted. */
  content?: string | readonly { type: string; text?: string }[] | null
  name?: string
  tool_calls?: readonly unknown[]
  tool_call_id?: string
  [key: string]: unknown
}

/** Variables of the model's chat template in addition to the messages. */
export interface TemplateOptions {
  tools?: readonly unknown[]
  documents?: readonly unknown[]
  /** Whether the prompt ends with the beginning of an answer. Default true. */
  addGenerationPrompt?: boolean
  /** Additional variables of the template. */
  variables?: Readonly<Record<string, unknown>>
}

export class ChatTemplate {
  private readonly sources: ReadonlyMap<string, string>
  private readonly specials: Readonly<Record<string, string>>
  private readonly parsed = new Map<string, Template>()

  /** `specials`: the named tokens that templates use, such as bos_token and eos_token. */
  constructor(sources: ReadonlyMap<string, string>, specials: Readonly<Record<string, string>>) {
    this.sources = sources
    this.specials = specials
  }

  /** The sources of all templates, joined. */
  get allSources(): string {
    return [...this.sources.values()].join("\n")
  }

  /** Whether the model has a template. */
  get isPresent(): boolean {
    return this.sources.size > 0
  }

  /** The source for conversations without tools; undefined if the model has no template. */
  get plainSource(): string | undefined {
    return this.sources.get("default") ?? this.sources.values().next().value
  }

  /**
   * Returns the template's text. Throws RequestError with the template's own message if it refuses
   * the messages.
   */
  render(messages: readonly Message[], options: TemplateOptions = {}): string {
    const template = this.choose(options.tools !== undefined && options.tools.length > 0)
    const variables: Record<string, unknown> = {
      ...this.specials,
      ...options.variables,
      add_generation_prompt: options.addGenerationPrompt ?? true,
      // Tools are None rather than undefined, as in transformers: templates ask `tools is not
      // none`. An empty list also becomes None.
      tools: options.tools?.length ? options.tools : null,
      documents: options.documents?.length ? options.documents : null,
    }
    const rendered = (areValues: boolean): string =>
      template.render({ ...variables, messages: messages.map((each) => asTemplatesKnow(each, areValues)) })
    // Most templates take the arguments of calls as values, as transformers documents. Others fail
    // with values or print them as Python does; they get the arguments as JSON text, as clients
    // send them.
    let refusal: unknown
    try {
      const text = rendered(true)
      if (!messages.some((message) => printsArguments(text, message))) return text
    } catch (cause) {
      refusal = cause
    }
    try {
      if (refusal === undefined || messages.some(hasTextArguments)) return rendered(false)
    } catch (cause) {
      refusal ??= cause
    }
    throw new RequestError("invalid_value", `chat template: ${(refusal as Error).message}`, "messages")
  }

  private choose(hasTools: boolean): Template {
    const name = hasTools && this.sources.has("tool_use") ? "tool_use" : "default"
    const source = this.sources.get(name) ?? this.sources.values().next().value
    if (source === undefined) {
      throw new RequestError(
        "invalid_value",
        "this model has no chat template: send a raw prompt, or add chat_template.jinja to its directory",
        "messages",
      )
    }
    let template = this.parsed.get(name)
    if (!template) {
      try {
        template = new Template(source)
      } catch (cause) {
        throw new RequestError(
          "invalid_value",
          `the chat template of this model cannot be read, ${(cause as Error).message}: send a raw prompt, or correct chat_template.jinja in its directory`,
          "messages",
        )
      }
      this.parsed.set(name, template)
    }
    return template
  }
}

/**
 * Field names for a message's reasoning. Most templates read the first; those of gpt-oss read the
 * second.
 */
const reasoningNames = ["reasoning_content", "thinking", "reasoning"] as const

/**
 * Returns the message as transformers passes it to templates: null fields are left out, reasoning
 * has both names, and calls are functions, with arguments as values if `areValues`.
 */
function asTemplatesKnow(message: Message, areValues: boolean): Message {
  const known = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null)) as Message
  const name = reasoningNames.find((each) => known[each] !== undefined)
  const { tool_calls: calls } = known
  return {
    ...(name !== undefined && { thinking: known[name] }),
    ...known,
    ...(name !== undefined && { reasoning_content: known[name] }),
    ...(calls && { tool_calls: calls.map((call) => asFunction(call, areValues)) }),
  }
}

type Call = Readonly<Record<string, Record<string, unknown> | undefined>>

function hasTextArguments({ tool_calls: calls }: Message): boolean {
  return (calls as readonly Call[] | undefined)?.some(isText) ?? false
}

function isText({ function: func, custom }: Call): boolean {
  return custom !== undefined || typeof func?.arguments === "string"
}

/**
 * Returns whether the text contains a call's arguments as Python prints a dictionary, although they
 * came as JSON.
 */
function printsArguments(text: string, { tool_calls: calls }: Message): boolean {
  return ((calls ?? []) as readonly Call[]).filter(isText).some((call) => {
    const { function: func } = asFunction(call, true) as Call
    const printed = reprOf(fromJson(func?.arguments))
    return printed.startsWith("{'") && text.includes(printed)
  })
}

function asFunction(call: unknown, areValues: boolean): unknown {
  if (typeof call !== "object" || call === null) return call
  const { type, custom, function: func, ...rest } = call as Record<string, Record<string, unknown>>
  if ((type as unknown) === "custom" && custom) {
    const input = { input: custom.input }
    const args = areValues ? input : JSON.stringify(input)
    return { ...rest, type: "function", function: { name: custom.name, arguments: args } }
  }
  const text = func?.arguments
  if (!areValues || typeof text !== "string") return call
  try {
    return { ...call, function: { ...func, arguments: readValue(text) } }
  } catch {
    // If an earlier turn was truncated, its last message stays plain text.
    return call
  }
}

/**
 * Joins text parts into one string, since most templates only support strings. Throws RequestError
 * for any other part.
 */
export function plainMessages(messages: readonly Message[]): Message[] {
  if (messages.length === 0) throw wrong("messages", "at least one is needed")
  return messages.map((message, index) => {
    const { content } = message
    if (content === null || content === undefined) return { ...message, content: "" }
    if (typeof content === "string") return message
    const texts = content.map((part) => {
      if (typeof part.text === "string" && (part.type === "text" || part.type === "input_text"))
        return part.text
      throw wrong(
        `messages[${index}].content`,
        `a part of type ${JSON.stringify(part.type)} is not text, and this model reads text only`,
      )
    })
    return { ...message, content: texts.join("") }
  })
}
