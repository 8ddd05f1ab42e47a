/**
 * The items that form the input and the output of a response: from the wire to a checked form.
 *
 * An item is a message, a call, the result of a call, a reasoning, or a reference to a stored item.
 * Required fields are checked by name, and only known fields are kept, so that the size of a stored
 * item is known.
 */
import { invalid, missing } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { isHostedItem, itemLeftOut, type LeftOut } from "../request/leftout.ts"
import { isFields } from "../request/wire.ts"

/** A part of a message or of a result. */
export type Part =
  | { type: "input_text"; text: string }
  | { type: "output_text"; text: string; annotations: readonly []; logprobs: unknown }
  | { type: "refusal"; refusal: string }

type Status = "in_progress" | "completed" | "incomplete"

export interface MessageItem {
  type: "message"
  id?: string
  status?: Status
  role: "system" | "developer" | "user" | "assistant"
  content: string | readonly Part[]
  phase?: "commentary" | "final_answer"
}

export interface CallItem {
  type: "function_call" | "custom_tool_call"
  id?: string
  status?: Status
  call_id: string
  name: string
  namespace?: string
  /** For a function: a JSON text. */
  arguments?: string
  /** For a custom tool. */
  input?: string
}

export interface ResultItem {
  type: "function_call_output" | "custom_tool_call_output"
  id?: string
  status?: Status
  call_id: string
  output: string | readonly Part[]
}

export interface ReasoningItem {
  type: "reasoning"
  id?: string
  status?: Status
  summary: readonly { type: "summary_text"; text: string }[]
  content?: readonly { type: "reasoning_text"; text: string }[]
}

interface ReferenceItem {
  type: "item_reference"
  id: string
}

/** An element of a conversation. */
export type Item = MessageItem | CallItem | ResultItem | ReasoningItem
export type InputItem = Item | ReferenceItem

/**
 * Reads `input`: one text of the user, or items. Adds items that record the use of a service's
 * tools, and results of such calls, to `leftOut`. Throws `Refusal`.
 */
export function readInput(input: unknown, leftOut: LeftOut[] = []): InputItem[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }]
  if (input === undefined || input === null) throw missing("input", "Send a text, or a list of items")
  if (!Array.isArray(input)) throw invalid("input", "must be a string or a list of items")
  if (input.length === 0) throw invalid("input", "has no item", "Send at least one")
  const hostedCalls = new Set<unknown>()
  const read = input.flatMap((item, i) => {
    const at = `input[${i}]`
    if (!isFields(item)) return [readItem(item, at)]
    // Read by tools.ts and fields.ts, because they concern the turn and are not part of the
    // conversation.
    if (item.type === "additional_tools" || item.type === "configuration_update") return []
    const isResult = typeof item.type === "string" && item.type.endsWith("_output")
    if (!isHostedItem(item.type) && !(isResult && hostedCalls.has(item.call_id))) return [readItem(item, at)]
    if (item.call_id !== undefined) hostedCalls.add(item.call_id)
    leftOut.push(itemLeftOut(item.type as string, at))
    return []
  })
  if (read.length === 0) throw invalid("input", "has only items about tools and no message", "Send a message")
  return read
}

function readItem(item: unknown, at: string): InputItem {
  if (!isFields(item)) throw invalid(at, "must be an object")
  // Clients omit the type of messages and of references.
  const type = item.type ?? (item.role === undefined ? "item_reference" : "message")
  switch (type) {
    case "message":
      return readMessage(item, at)
    case "function_call":
      return readCall(item, "function_call", at)
    case "custom_tool_call":
      return readCall(item, "custom_tool_call", at)
    case "function_call_output":
    case "custom_tool_call_output":
      return {
        type: type as ResultItem["type"],
        ...identity(item, at),
        call_id: textOf(item, "call_id", at),
        output: readContent(item.output, `${at}.output`),
      }
    case "reasoning":
      return readReasoning(item, at)
    case "item_reference":
      return { type: "item_reference", id: textOf(item, "id", at) }
    default:
      throw invalid(
        `${at}.type`,
        `${quote(type)} is not an item type of this server`,
        "Use message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, reasoning or item_reference",
      )
  }
}

const roles: readonly unknown[] = ["system", "developer", "user", "assistant"]
const phases: readonly unknown[] = ["commentary", "final_answer"]

function readMessage(item: Record<string, unknown>, at: string): MessageItem {
  const { role, content, phase } = item
  if (!roles.includes(role)) throw invalid(`${at}.role`, "must be system, developer, user or assistant")
  if (phase !== undefined && phase !== null && !phases.includes(phase)) {
    throw invalid(`${at}.phase`, "must be commentary or final_answer")
  }
  return {
    type: "message",
    ...identity(item, at),
    role: role as MessageItem["role"],
    content: readContent(content, `${at}.content`),
    ...(typeof phase === "string" && { phase: phase as NonNullable<MessageItem["phase"]> }),
  }
}

function readCall(item: Record<string, unknown>, type: CallItem["type"], at: string): CallItem {
  const said = type === "custom_tool_call" ? "input" : "arguments"
  return {
    type,
    ...identity(item, at),
    call_id: textOf(item, "call_id", at),
    name: textOf(item, "name", at),
    ...(item.namespace != null && { namespace: textOf(item, "namespace", at) }),
    [said]: textOf(item, said, at),
  }
}

/** Returns the reasoning without encrypted thoughts, which only their author can read. */
function readReasoning(item: Record<string, unknown>, at: string): ReasoningItem {
  const { content } = item
  return {
    type: "reasoning",
    ...identity(item, at),
    summary: readTexts(item.summary ?? [], "summary_text", `${at}.summary`),
    ...(content != null && { content: readTexts(content, "reasoning_text", `${at}.content`) }),
  }
}

function readTexts<Type extends string>(
  list: unknown,
  type: Type,
  at: string,
): { type: Type; text: string }[] {
  if (!Array.isArray(list)) throw invalid(at, "must be a list")
  return list.map((part, i) => {
    if (isFields(part) && part.type === type && typeof part.text === "string")
      return { type, text: part.text }
    throw invalid(`${at}[${i}]`, `must be {type: "${type}", text}`)
  })
}

function readContent(content: unknown, at: string): string | Part[] {
  if (typeof content === "string") return content
  if (content === undefined || content === null) throw missing(at)
  if (!Array.isArray(content)) throw invalid(at, "must be a string or a list of parts")
  return content.map((part, i) => readPart(part, `${at}[${i}]`))
}

function readPart(part: unknown, at: string): Part {
  if (isFields(part)) {
    const { type, text, refusal } = part
    if (type === "input_text" && typeof text === "string") return { type, text }
    if (type === "output_text" && typeof text === "string")
      return { type, text, annotations: [], logprobs: [] }
    if (type === "refusal" && typeof refusal === "string") return { type, refusal }
  }
  throw invalid(
    at,
    "must be {type: input_text or output_text, text} or {type: refusal, refusal}",
    "Images, audio and files are not supported",
  )
}

function identity({ id, status }: Record<string, unknown>, at: string): { id?: string; status?: Status } {
  if (id !== undefined && id !== null && typeof id !== "string") throw invalid(`${at}.id`, "must be a string")
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof status === "string" && { status: status === "incomplete" ? status : "completed" }),
  }
}

function textOf(item: Record<string, unknown>, field: string, at: string): string {
  const value = item[field]
  if (typeof value === "string") return value
  const param = `${at}.${field}`
  if (value !== undefined && value !== null) throw invalid(param, "must be a string")
  throw missing(param)
}

/** Returns an item in the form of a list: with an id, and with texts as parts. */
export function listedItem(item: Item & { id: string }): object {
  if (item.type !== "message") return { status: "completed", ...item }
  const { content } = item
  const part: Part =
    typeof content !== "string" || item.role !== "assistant"
      ? { type: "input_text", text: content as string }
      : { type: "output_text", text: content, annotations: [], logprobs: [] }
  return { status: "completed", ...item, content: typeof content === "string" ? [part] : content }
}
