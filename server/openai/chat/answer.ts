/**
 * An answer of chat: text, thoughts and calls, as a whole message and as deltas. The joined deltas
 * are the message.
 */
import type { Choice, GenerationEvent, ToolCall } from "../../../runtime/index.ts"
import type { ChatRequest } from "./schema.ts"

/** The message of a choice. */
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

/** The deltas of one choice. */
export class Deltas {
  /** Which of the calls are of custom tools. */
  private readonly areCustom: boolean[] = []
  private readonly showsReasoning: boolean

  constructor({ showsReasoning }: ChatRequest) {
    this.showsReasoning = showsReasoning
  }

  get callCount(): number {
    return this.areCustom.length
  }

  /** Returns what an event adds to the message; null: nothing. */
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

/** What an event does to the values of a JSON text, beside its delta. */
export function fieldsOf(event: GenerationEvent): { tokenrail?: { fields: readonly object[] } } {
  const { fields = [] } = event
  if (fields.length === 0) return {}
  const place = event.type === "arguments" ? { tool_index: event.index } : {}
  return { tokenrail: { fields: fields.map(({ type, ...rest }) => ({ event: type, ...rest, ...place })) } }
}

/** For a whole reply of a request with `confidence`: the closed values of a choice. */
export function closedFieldsOf({ fields }: Choice): { tokenrail?: { fields: readonly object[] } } {
  if (fields === null) return {}
  const told = fields.map(({ type, call, ...rest }) => {
    return { event: type, ...rest, ...(call !== undefined && { tool_index: call }) }
  })
  return { tokenrail: { fields: told } }
}

/** Returns OpenAI's finish reason. After a call of a tool that the request named it is `stop`. */
export function finishReasonOf(finishReason: string, callCount: number, choice: unknown): string {
  if (finishReason !== "stop" || callCount === 0) return finishReason
  const isNamed =
    typeof choice === "object" && choice !== null && (choice as { type?: unknown }).type !== "allowed_tools"
  return isNamed ? "stop" : "tool_calls"
}
