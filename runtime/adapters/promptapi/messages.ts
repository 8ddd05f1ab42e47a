/** Messages of the Prompt API as messages of the engine. Only texts can be read. */
import type { Message } from "../../model/template.ts"
import { exception } from "./errors.ts"

/** A message of the Prompt API; its content is a text, or parts of type `text`. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant"
  readonly content: string | readonly { readonly type: string; readonly value: unknown }[]
  /**
   * Whether the answer continues this text; for the last message alone, if it is the assistant's.
   */
  readonly prefix?: boolean
}

/** The input of a prompt: a text of the user, or messages. */
export type PromptInput = string | readonly PromptMessage[]

/** An input as messages, and the beginning of the answer that it gives. */
export interface ReadInput {
  readonly messages: Message[]
  /** Null if the answer begins by itself. */
  readonly prefix: string | null
}

/**
 * Returns the messages of an input. `isFirst`: whether the session has none yet, so that the first
 * may be the system's. Throws TypeError, or a DOMException, as the specification says.
 */
export function readInput(input: PromptInput, isFirst: boolean): ReadInput {
  if (typeof input === "string") return { messages: [{ role: "user", content: input }], prefix: null }
  if (!Array.isArray(input)) throw new TypeError("input: it is neither a text nor a list of messages")
  const given: readonly PromptMessage[] = input.length === 0 ? [{ role: "user", content: "" }] : input
  const messages = given.map(({ role, content, prefix }, index) => {
    const at = `input[${index}]`
    if (!["system", "user", "assistant"].includes(role))
      throw new TypeError(`${at}.role: ${JSON.stringify(role)} is none of system, user, assistant`)
    if (role === "system" && (index > 0 || !isFirst))
      throw new TypeError(`${at}.role: only the first message of a session may be the system's`)
    if (prefix && (role !== "assistant" || index < given.length - 1))
      throw exception("SyntaxError", `${at}.prefix: only the last message, of the assistant, may be a prefix`)
    return { role, content: textOf(content, `${at}.content`) }
  })
  if (!given[given.length - 1].prefix) return { messages, prefix: null }
  return { messages: messages.slice(0, -1), prefix: messages[messages.length - 1].content }
}

function textOf(content: PromptMessage["content"], at: string): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) throw new TypeError(`${at}: it is neither a text nor a list of parts`)
  return content
    .map(({ type, value }, i) => {
      if (type !== "text") throw exception("NotSupportedError", `${at}[${i}]: this model reads no ${type}`)
      if (typeof value !== "string") throw new TypeError(`${at}[${i}].value: it is not a text`)
      return value
    })
    .join("")
}
