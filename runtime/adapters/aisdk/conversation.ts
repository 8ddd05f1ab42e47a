/**
 * The prompt and the tools of an AI SDK call as messages and tools of the engine.
 *
 * Text, reasoning, calls and their results are converted. A file, or any other part that the model
 * cannot read, is refused: an answer that has not seen it would be wrong without a sign of it.
 */
import { RequestError } from "../../errors.ts"
import type { Message } from "../../model/template.ts"

/** A message of a prompt: text, or parts. */
export interface AiMessage {
  readonly role: string
  readonly content: string | readonly AiPart[]
}

/** A part of a message, with the fields of all kinds of parts that can be read. */
export interface AiPart {
  readonly type: string
  readonly text?: string
  readonly mediaType?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly output?: AiToolOutput
}

/** The result of a tool. */
interface AiToolOutput {
  readonly type: string
  readonly value?: unknown
  readonly reason?: string | undefined
}

/** A tool: a function, or a tool that the provider itself would run. */
export interface AiTool {
  readonly type: string
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema?: unknown
}

/** Returns the messages of a prompt. Throws RequestError for a part that the model cannot read. */
export function messagesOf(prompt: readonly AiMessage[]): Message[] {
  return prompt.flatMap(({ role, content }, index): Message[] => {
    const at = `prompt[${index}].content`
    if (typeof content === "string") return [{ role, content }]
    if (role === "tool") return resultsOf(content, at)
    if (role === "assistant") return [assistantOf(content, at)]
    return [{ role, content: content.map((part, i) => textOf(part, `${at}[${i}]`)).join("") }]
  })
}

/** Returns the tool in the engine's form. */
export function functionOf({ name, description, inputSchema }: AiTool): unknown {
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(inputSchema !== undefined && { parameters: inputSchema }),
    },
  }
}

function assistantOf(parts: readonly AiPart[], at: string): Message {
  let text = ""
  let reasoning = ""
  const calls: unknown[] = []
  for (const [i, part] of parts.entries()) {
    if (part.type === "reasoning") reasoning += part.text ?? ""
    else if (part.type === "tool-call") {
      const { toolCallId: id, toolName: name, input } = part
      calls.push({ id, type: "function", function: { name, arguments: JSON.stringify(input ?? {}) } })
    } else text += textOf(part, `${at}[${i}]`)
  }
  return {
    role: "assistant",
    content: text,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/**
 * Returns the messages of the results of tools. Decisions about approval have no text of their own.
 */
function resultsOf(parts: readonly AiPart[], at: string): Message[] {
  return parts.flatMap((part, i) => {
    if (part.type === "tool-approval-response") return []
    const { toolCallId, toolName, output } = part
    if (part.type !== "tool-result" || toolCallId === undefined || output === undefined)
      throw unreadable(part, `${at}[${i}]`)
    return [
      {
        role: "tool",
        tool_call_id: toolCallId,
        ...(toolName !== undefined && { name: toolName }),
        content: outputText(output, `${at}[${i}].output`),
      },
    ]
  })
}

function outputText({ type, value, reason }: AiToolOutput, at: string): string {
  if (type === "execution-denied") return reason ?? "The call was denied."
  if (type === "content" && Array.isArray(value))
    return (value as readonly AiPart[]).map((part, i) => textOf(part, `${at}.value[${i}]`)).join("")
  if (typeof value === "string" && (type === "text" || type === "error-text")) return value
  return JSON.stringify(value) ?? ""
}

function textOf(part: AiPart, at: string): string {
  if (part.type === "text" && typeof part.text === "string") return part.text
  throw unreadable(part, at)
}

function unreadable({ type, mediaType }: AiPart, at: string): RequestError {
  const what = mediaType === undefined ? type : `${type} (${mediaType})`
  return new RequestError(
    "invalid_value",
    `${at}: a part of type ${what} is not text, and this model reads text only: leave it out or write it as text`,
    "prompt",
  )
}
