/**
 * Messages → the text of a prompt, by the model's own chat template (Jinja).
 *
 * The template is the model's, the strings are the caller's: what it raises is the caller's fault (a role it does not
 * know, a conversation it does not allow) and becomes a RequestError with the template's text. `raise_exception` and
 * `strftime_now` are built into the package; passing them again would be an error there.
 */

import { Template } from "@huggingface/jinja"
import { RequestError } from "../errors.ts"

/** A message of a chat. Further fields reach the model's template as they are. */
export interface Message {
  role: string
  /** Text, or parts of which only text parts are accepted. */
  content?: string | readonly { type: string; text?: string }[] | null
  name?: string
  tool_calls?: readonly unknown[]
  tool_call_id?: string
  [key: string]: unknown
}

/** What the model's chat template is given beside the messages. */
export interface TemplateOptions {
  tools?: readonly unknown[]
  documents?: readonly unknown[]
  /** Ask for an answer at the end. Default true. */
  addGenerationPrompt?: boolean
  /** More variables of the template. */
  variables?: Readonly<Record<string, unknown>>
}

export class ChatTemplate {
  private readonly sources: ReadonlyMap<string, string>
  private readonly specials: Readonly<Record<string, string>>
  private readonly parsed = new Map<string, Template>()

  /** `specials` are the named tokens that templates use: bos_token, eos_token, … */
  constructor(sources: ReadonlyMap<string, string>, specials: Readonly<Record<string, string>>) {
    this.sources = sources
    this.specials = specials
  }

  /** The sources of all templates, joined. */
  get allSources(): string {
    return [...this.sources.values()].join("\n")
  }

  /** Whether the model has a template at all. */
  get isPresent(): boolean {
    return this.sources.size > 0
  }

  /** The source for conversations without tools; undefined where the model has no template. */
  get plainSource(): string | undefined {
    return this.sources.get("default") ?? this.sources.values().next().value
  }

  /** The template's text. Throws RequestError with the template's own message when it refuses the messages. */
  render(messages: readonly Message[], options: TemplateOptions = {}): string {
    const template = this.choose(options.tools !== undefined && options.tools.length > 0)
    const variables: Record<string, unknown> = {
      ...this.specials,
      ...options.variables,
      messages: messages.map((message) => withCalls(message, takesObjects.test(this.allSources))),
      add_generation_prompt: options.addGenerationPrompt ?? true,
    }
    // Templates test `tools is defined` and `tools` alike: an empty list is no tools.
    if (options.tools?.length) variables.tools = options.tools
    if (options.documents?.length) variables.documents = options.documents
    try {
      return template.render(variables)
    } catch (cause) {
      throw new RequestError("invalid_value", `chat template: ${(cause as Error).message}`, "messages")
    }
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
      template = new Template(source)
      this.parsed.set(name, template)
    }
    return template
  }
}

/** What a template does with arguments that are values. Others write them as the text that they are. */
const takesObjects =
  /arguments\s*(?:\|\s*(?:tojson|items|dictsort)|\.items|is\s+(?:not\s+)?(?:mapping|string))/

/** The message with its calls as templates know them: functions, their arguments values where `areValues`. */
function withCalls(message: Message, areValues: boolean): Message {
  const { tool_calls: calls } = message
  if (!calls?.length) return message
  return { ...message, tool_calls: calls.map((call) => asFunction(call, areValues)) }
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
    return { ...call, function: { ...func, arguments: JSON.parse(text) } }
  } catch {
    // What an earlier turn was cut off in stays the text that it is.
    return call
  }
}

/** Text parts joined; most templates know string contents only. Throws RequestError on any other part. */
export function plainMessages(messages: readonly Message[]): Message[] {
  if (messages.length === 0)
    throw new RequestError("invalid_value", "messages: at least one is needed", "messages")
  return messages.map((message, index) => {
    const { content } = message
    if (content === null || content === undefined) return { ...message, content: "" }
    if (typeof content === "string") return message
    const texts = content.map((part) => {
      if (typeof part.text === "string" && (part.type === "text" || part.type === "input_text"))
        return part.text
      throw new RequestError(
        "invalid_value",
        `messages[${index}].content: a part of type ${JSON.stringify(part.type)} is not text, and this model reads text only`,
        `messages[${index}].content`,
      )
    })
    return { ...message, content: texts.join("") }
  })
}
