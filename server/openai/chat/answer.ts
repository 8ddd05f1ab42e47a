/**
 * An answer of chat: text, thoughts and calls, as a whole message and as deltas. The joined deltas
 * equal the message.
 */
import type { Choice, GenerationEvent, TokenTrace, ToolCall, Vocabulary } from "../../../runtime/index.ts"
import type { LongReply } from "../reply/longreply.ts"
import { type TraceCursor, traceRows } from "../reply/trace.ts"
import type { ChatRequest } from "./schema.ts"

/** Returns the message of a choice. */
export function messageOf(choice: Choice, { showsReasoning }: ChatRequest): object {
  const { text, reasoning, toolCalls } = choice
  return {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(showsReasoning && reasoning !== "" && { reasoning_content: reasoning, reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(wireCall) }),
  }
}

function wireCall({ id, name, isCustom, arguments: args }: ToolCall): object {
  if (isCustom) return { id, type: "custom", custom: { name, input: args } }
  return { id, type: "function", function: { name, arguments: args } }
}

/** Makes the deltas of one choice. */
export class Deltas {
  /** For each call, whether it is of a custom tool. */
  private readonly areCustom: boolean[] = []
  private readonly showsReasoning: boolean

  constructor({ showsReasoning }: ChatRequest) {
    this.showsReasoning = showsReasoning
  }

  get callCount(): number {
    return this.areCustom.length
  }

  /** Returns the delta for an event, or null if the event has none. */
  of(event: Exclude<GenerationEvent, { type: "finish" }>): object | null {
    switch (event.type) {
      case "text":
        return event.text === "" ? null : { content: event.text }
      case "reasoning":
        return this.showsReasoning ? { reasoning_content: event.text, reasoning: event.text } : null
      case "call": {
        const { index, id, name, isCustom } = event
        this.areCustom[index] = isCustom
        const call = isCustom
          ? { type: "custom", custom: { name, input: "" } }
          : { type: "function", function: { name, arguments: "" } }
        return { tool_calls: [{ index, id, ...call }] }
      }
      case "arguments": {
        const { index, text } = event
        const more = this.areCustom[index] ? { custom: { input: text } } : { function: { arguments: text } }
        return { tool_calls: [{ index, ...more }] }
      }
      case "called":
        return null
      default:
        return event satisfies never
    }
  }
}

/**
 * Returns the changes that an event makes to the values of a JSON answer, which are sent with its
 * delta.
 */
export function fieldsOf(event: GenerationEvent): { tokenrail?: { fields: readonly object[] } } {
  const { fields = [] } = event
  if (fields.length === 0) return {}
  const place = event.type === "arguments" ? { tool_index: event.index } : {}
  return { tokenrail: { fields: fields.map(({ type, ...rest }) => ({ event: type, ...rest, ...place })) } }
}

/** Returns the completed values of a choice, for a whole reply to a request with `confidence`. */
export function closedFieldsOf({ fields }: Choice): { tokenrail?: { fields: readonly object[] } } {
  if (fields === null) return {}
  const told = fields.map(({ type, call, ...rest }) => {
    return { event: type, ...rest, ...(call !== undefined && { tool_index: call }) }
  })
  return { tokenrail: { fields: told } }
}

/** Returns what a whole reply says of a choice: its completed values and its trace. */
export function notesOf(choice: Choice, vocabulary: Vocabulary, long: LongReply): { tokenrail?: object } {
  const { tokenrail } = closedFieldsOf(choice)
  if (choice.trace === null) return tokenrail ? { tokenrail } : {}
  const rows = (some: readonly TokenTrace[]) => traceRows(some, vocabulary)
  return { tokenrail: { ...tokenrail, trace: long.list(choice.trace, rows, tracesAtOnce) } }
}

/** Number of entries of a trace that are made at once; one has up to 128 tokens in its lists. */
const tracesAtOnce = 4

/**
 * Returns what a chunk says of the event that it carries: changes of values, and the traces of its
 * tokens.
 */
export function eventNotes(event: GenerationEvent, traces: TraceCursor): { tokenrail?: object } {
  const count = event.type === "finish" ? undefined : event.tokens.length
  const notes = { ...fieldsOf(event).tokenrail, ...traces.take(event.choice, count) }
  return Object.keys(notes).length > 0 ? { tokenrail: notes } : {}
}

/** Returns OpenAI's finish reason. It is `stop` after a call of a tool that the request named. */
export function finishReasonOf(finishReason: string, callCount: number, choice: unknown): string {
  if (finishReason !== "stop" || callCount === 0) return finishReason
  const isNamed =
    typeof choice === "object" && choice !== null && (choice as { type?: unknown }).type !== "allowed_tools"
  return isNamed ? "stop" : "tool_calls"
}
