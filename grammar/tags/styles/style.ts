/**
 * A tool-call style: what a family of models writes, once, as data.
 *
 * Out of one description come the grammar of a turn (`turn.ts`), the parser of a finished one, and the reader of a stream
 * (`read/`). A style is one file: its control tokens, the blocks in which it writes calls, the section in which it thinks.
 */
import type { Wire } from "./wire.ts"

export interface Style {
  readonly name: string
  /** Control tokens as they are spelled: neither text nor strings of arguments hold them. */
  readonly controls: readonly string[]
  /** The text that begins a call where no control token does: text holds it nowhere else. */
  readonly trigger?: Wire
  /** The ways to write calls. The calls of a block are all in one of them. */
  readonly blocks: readonly Block[]
  /**
   * Calls as models of this style write them that leave out the opening tag. They are understood beside free text alone: what begins
   * one, up to its arguments, is text nowhere.
   */
  readonly bare?: readonly Block[]
  /** Calls of a turn at most, where the models of this style are shown no more. Absent: as many as the request allows. */
  readonly maxCalls?: number
  /** Where text and reasoning are messages with headers; else text is written as it is. */
  readonly messages?: Messages
  /** How the models of this style mark their reasoning, unless the template says otherwise. */
  readonly reasoning?: Reasoning
}

/** One or more calls in a row. */
export interface Block {
  /** What may stand before the block where there is no text that it would belong to. */
  readonly lead?: string
  readonly begin?: Wire
  readonly call: Wire
  readonly between?: Wire
  readonly end?: Wire
  /** How an argument is written, where `call` has parameters. */
  readonly parameter?: Parameter
}

export type JsonType = "string" | "number" | "boolean" | "null" | "object" | "array"

export const otherTypes: readonly JsonType[] = ["number", "boolean", "null", "object", "array"]
export const everyType: readonly JsonType[] = ["string", ...otherTypes]

/** How an argument is written. */
export interface Parameter {
  /** By the type of the value; a form has the key and, behind it, the value. Types that share a form are told apart by the schema. */
  readonly forms: readonly { readonly types: readonly JsonType[]; readonly wire: Wire }[]
  /** Default bare: strings as they are, without quotes, other values as JSON. python: every value as Python's literal. */
  readonly notation?: "bare" | "python"
  /** What stands between two of them. */
  readonly between?: string
  /** Belongs to the wrapper where it stands right before or right behind a value. */
  readonly padding?: string
  /** May stand where there are no arguments. */
  readonly none?: string
}

/** A section before the answer. It ends with `end`, then `suffix`. */
export interface Reasoning {
  /** Absent where the prompt ends with it. */
  readonly begin?: string
  readonly end: string
  readonly suffix?: string
  /** Tokens between begin and end. */
  readonly max_tokens?: number
  /** The answer may come without it. */
  readonly optional?: boolean
}

/** A turn of messages: reasoning and text have headers, calls are messages of their own. */
export interface Messages {
  readonly reasoning: Message
  /** Text behind which more must follow. */
  readonly remark?: Message
  /** Text behind which the turn is over, if it ends with the first of its ends. */
  readonly answer: Message
  readonly between: string
  /** What closes the turn: then nothing follows calls. */
  readonly end?: string
}

export interface Message {
  readonly begin: string
  /** Any of these ends it. */
  readonly ends: readonly string[]
}
