/**
 * A tool-call style: a description, as data, of what a family of models writes.
 *
 * The grammar of a turn (`turn.ts`), the parser of a finished turn and the reader of a stream
 * (`read/`) are all made from it. A style is one file: its control tokens, the blocks in which it
 * writes calls, and the section in which it thinks.
 */
import type { Wire } from "./wire.ts"

export interface Style {
  readonly name: string
  /** Control tokens by their spelling. Neither text nor strings of arguments contain them. */
  readonly controls: readonly string[]
  /**
   * The text that begins a call in styles without a control token for it. Text must not contain it.
   */
  readonly trigger?: Wire
  /** The ways to write calls. All calls of a block use the same one. */
  readonly blocks: readonly Block[]
  /**
   * Calls without the opening tag, as models of this style sometimes write them. They are
   * recognized only beside free text. The beginning of one, up to its arguments, must not occur in
   * text.
   */
  readonly bare?: readonly Block[]
  /**
   * Most calls of a turn, if the models of this style never see more. If absent, as many as the
   * request allows.
   */
  readonly maxCalls?: number
  /** Present if text and reasoning are messages with headers; otherwise text is written plainly. */
  readonly messages?: Messages
  /** The marks of reasoning for the models of this style, unless the template has others. */
  readonly reasoning?: Reasoning
}

/** One or more calls in a row. */
export interface Block {
  /** Text that may precede the block if there is no other text before it. */
  readonly lead?: string
  readonly begin?: Wire
  readonly call: Wire
  readonly between?: Wire
  readonly end?: Wire
  /** The form of an argument, if `call` has parameters. */
  readonly parameter?: Parameter
}

export type JsonType = "string" | "number" | "boolean" | "null" | "object" | "array"

export const otherTypes: readonly JsonType[] = ["number", "boolean", "null", "object", "array"]
export const everyType: readonly JsonType[] = ["string", ...otherTypes]

/** The form of an argument. */
export interface Parameter {
  /**
   * By the type of the value. A form has the key and, after it, the value. The schema distinguishes
   * types that share a form.
   */
  readonly forms: readonly { readonly types: readonly JsonType[]; readonly wire: Wire }[]
  /**
   * Default `bare`: strings unchanged and without quotes, other values as JSON. `python`: every
   * value as Python's literal.
   */
  readonly notation?: "bare" | "python"
  /** The text between two arguments. */
  readonly between?: string
  /** Text directly before or after a value that is not part of the value. */
  readonly padding?: string
  /** The text that may be written if there are no arguments. */
  readonly none?: string
}

/** A section before the answer. It ends with `end`, then `suffix`. */
export interface Reasoning {
  /** Absent if the prompt ends with it. */
  readonly begin?: string
  readonly end: string
  readonly suffix?: string
  /** Most tokens between `begin` and `end`. */
  readonly max_tokens?: number
  /** Whether the answer may come without the section. */
  readonly optional?: boolean
}

/** A turn of messages: reasoning and text have headers, and calls are messages of their own. */
export interface Messages {
  readonly reasoning: Message
  /** Text that must be followed by more. */
  readonly remark?: Message
  /** Text after which the turn is over, if it ends with the first of its ends. */
  readonly answer: Message
  readonly between: string
  /** The text that closes the turn. If present, nothing follows calls. */
  readonly end?: string
}

export interface Message {
  readonly begin: string
  /** The message ends with any of these. */
  readonly ends: readonly string[]
}
