/**
 * Converts Ollama's messages to the messages that a chat template reads.
 *
 * Ollama's calls need no ids, and a result names its tool. Templates relate results to calls by
 * ids, so each call without an id gets one, and each result gets the id of its call: the first call
 * of its tool that has no result yet.
 */
import type { Message } from "../../runtime/index.ts"
import { invalid, missing, unsupported } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { quote } from "../http/quote.ts"
import { noCall } from "../openai/request/messages.ts"
import { isFields } from "../openai/request/wire.ts"

interface Call {
  id: string
  name: string
}

/** Calls in their order. */
interface Calls {
  all: Call[]
  /** Those that have no result yet. */
  open: Call[]
}

/** Returns the messages that the template reads. Throws `Refusal`. */
export function readConversation(body: RequestBody): Message[] {
  const { messages } = body.value
  const calls: Calls = { all: [], open: [] }
  return ((messages ?? []) as unknown[]).map((message, index) => readMessage(body, message, index, calls))
}

function readMessage(body: RequestBody, message: unknown, index: number, calls: Calls): Message {
  const at = `messages[${index}]`
  if (!isFields(message)) throw invalid(at, "must be an object")
  const { role, images } = message
  if (Array.isArray(images) ? images.length > 0 : images !== undefined && images !== null) {
    throw unsupported(`${at}.images`, "are not supported: the model reads text only", "Leave them out")
  }
  const content = textField(message, "content", at)
  switch (role) {
    case "system":
    case "user":
      return { role, content }
    case "assistant": {
      const made = readCalls(body, message, index, calls)
      const thoughts = textField(message, "thinking", at)
      return {
        role,
        content,
        // Templates test for calls and thoughts by the presence of these fields.
        ...(thoughts !== "" && { reasoning_content: thoughts }),
        ...(made.length > 0 && { tool_calls: made }),
      }
    }
    case "tool": {
      const { id, name } = callOf(message, at, calls)
      return { role, name, tool_call_id: id, content }
    }
    default:
      if (role === undefined) throw missing(`${at}.role`)
      throw invalid(`${at}.role`, `is ${quote(role)}, it must be system, user, assistant or tool`)
  }
}

function readCalls(
  body: RequestBody,
  { tool_calls: said }: Record<string, unknown>,
  index: number,
  { all, open }: Calls,
): object[] {
  const at = `messages[${index}].tool_calls`
  if (said === undefined || said === null) return []
  if (!Array.isArray(said)) throw invalid(at, "must be a list")
  return said.map((call, i) => {
    const inner = isFields(call) ? call.function : undefined
    if (!isFields(call) || !isFields(inner)) throw missing(`${at}[${i}].function`)
    const { name, arguments: args = {} } = inner
    if (typeof name !== "string") throw missing(`${at}[${i}].function.name`)
    if (!isFields(args)) {
      throw invalid(`${at}[${i}].function.arguments`, "must be an object", "Send the value, not its text")
    }
    // Some templates accept only ids of nine letters and digits.
    const id =
      typeof call.id === "string" && call.id !== ""
        ? call.id
        : `call${String(all.length + 1).padStart(5, "0")}`
    all.push({ id, name })
    open.push({ id, name })
    // Taken from the text of the body, so that numbers keep their spelling and keys their order.
    const text = body.text(["messages", index, "tool_calls", i, "function", "arguments"]) ?? "{}"
    return { id, type: "function", function: { name, arguments: text } }
  })
}

/** Returns the call that a result answers, by its id, else by the name of its tool. */
function callOf(message: Record<string, unknown>, at: string, { all, open }: Calls): Call {
  const { tool_call_id: id, tool_name, name: oldName } = message
  const name = tool_name ?? oldName
  const hasId = typeof id === "string" && id !== ""
  const isAnswered = (call: Call): boolean =>
    hasId ? call.id === id : typeof name !== "string" || name === "" || call.name === name
  const at0 = open.findIndex(isAnswered)
  if (at0 >= 0) return open.splice(at0, 1)[0]
  const known = new Map(all.map((call) => [hasId ? call.id : call.name, call]))
  if (hasId) throw noCall(`${at}.tool_call_id`, known, "id", id)
  if (typeof name === "string" && name !== "") throw noCall(`${at}.tool_name`, known, "name", name)
  throw invalid(`${at}.tool_name`, "is missing, and no call before has no result yet", "Send the call first")
}

function textField(message: Record<string, unknown>, name: string, at: string): string {
  const { [name]: value } = message
  if (value === undefined || value === null) return ""
  if (typeof value !== "string") throw invalid(`${at}.${name}`, "must be a string")
  return value
}
