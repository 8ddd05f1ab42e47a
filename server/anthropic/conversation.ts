/**
 * Converts system text and messages from Anthropic's blocks to the messages that a chat template
 * reads.
 *
 * A template expects one text for each message, calls in a field of the message, and one message
 * for each result of a call. So the texts of a message are joined, calls and thoughts become fields
 * of the assistant's message, and each result becomes a message of its own. Neighbouring messages
 * of one role are one turn, as Anthropic specifies: many templates refuse two in a row. All other
 * content of a block is left out.
 */
import type { Message } from "../../runtime/index.ts"
import { invalid, missing, Refusal, unsupported } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { quote } from "../http/quote.ts"
import { checkBound, wholeBounds } from "../openai/request/bounds.ts"
import { isHostedItem, itemLeftOut, type LeftOut } from "../openai/request/leftout.ts"
import { noCall } from "../openai/request/messages.ts"
import { isFields } from "../openai/request/wire.ts"
import { templateId } from "./ids.ts"

/**
 * Returns the messages that the template reads. Adds the parts that are left out to `leftOut`.
 * Throws `Refusal`, also if a tool result answers no earlier call.
 */
export function readConversation(body: RequestBody, leftOut: LeftOut[] = []): Message[] {
  const { system, messages } = body.value
  const read: Message[] = []
  const text = system === undefined || system === null ? "" : textOf(system, "system")
  if (text !== "") read.push({ role: "system", content: text })
  /** Names of the called tools, by the id of the call. */
  const called = new Map<string, string>()
  for (const [index, message] of (messages as unknown[]).entries()) {
    for (const each of readMessage({ body, index, called, leftOut }, message)) append(read, each)
  }
  return read
}

/**
 * Throws `Refusal` if the last message asks the model to continue it, because a reply would hold
 * only the continuation and not an answer of its own.
 */
export function refusePrefill(messages: readonly Message[]): void {
  if (messages.at(-1)?.role !== "assistant") return
  throw unsupported(
    "messages",
    ": the last one is from the assistant, which asks the model to continue it",
    "End with a message of the user, or constrain the answer",
  )
}

interface Place {
  body: RequestBody
  /** Index of the message. */
  index: number
  called: Map<string, string>
  leftOut: LeftOut[]
}

function readMessage(place: Place, message: unknown): Message[] {
  const at = `messages[${place.index}]`
  if (!isFields(message)) throw invalid(at, "must be an object")
  const { role, content } = message
  if (content === undefined || content === null) throw missing(`${at}.content`)
  switch (role) {
    case "system":
      return [{ role, content: textOf(content, `${at}.content`) }]
    case "user":
      return readUser(place, blocksOf(content, `${at}.content`))
    case "assistant":
      return readAssistant(place, blocksOf(content, `${at}.content`))
    default:
      throw invalid(`${at}.role`, `is ${quote(role)}, it must be user or assistant`)
  }
}

type Block = Record<string, unknown>

/** Returns texts and results, in their order. */
function readUser(place: Place, all: readonly Block[]): Message[] {
  const { index, called } = place
  const at = `messages[${index}].content`
  // An empty list counts as an empty text.
  if (all.length === 0) return [{ role: "user", content: "" }]
  return ownBlocks(place, all).map(([i, block]) => {
    if (block.type === "text") return { role: "user", content: textField(block, "text", `${at}[${i}]`) }
    if (block.type !== "tool_result") throw noBlock(block, `${at}[${i}]`, ["text", "tool_result"])
    const param = `${at}[${i}].tool_use_id`
    const id = textField(block, "tool_use_id", `${at}[${i}]`)
    const name = called.get(id)
    if (name === undefined) throw noCall(param, called, "id", id)
    const { content = "", is_error: isError } = block
    const text = content === null ? "" : textOf(content, `${at}[${i}].content`)
    const failed = isError === true ? { is_error: true } : {}
    return { role: "tool", name, tool_call_id: templateId(id), content: text, ...failed }
  })
}

/** Returns the blocks with their indices, except those about tools that a service runs. */
function ownBlocks({ index, leftOut }: Place, blocks: readonly Block[]): [number, Block][] {
  return [...blocks.entries()].filter(([i, { type }]) => {
    if (!isHostedItem(type)) return true
    leftOut.push(itemLeftOut(type, `messages[${index}].content[${i}]`))
    return false
  })
}

/**
 * Returns text, thoughts and calls of an assistant's message, or an empty list if all of it was
 * left out.
 */
function readAssistant(place: Place, all: readonly Block[]): Message[] {
  const { body, index, called } = place
  const at = `messages[${index}].content`
  const blocks = ownBlocks(place, all)
  if (blocks.length === 0 && all.length > 0) return []
  const texts: string[] = []
  const thoughts: string[] = []
  const calls: object[] = []
  for (const [i, block] of blocks) {
    switch (block.type) {
      case "text":
        texts.push(textField(block, "text", `${at}[${i}]`))
        break
      case "thinking":
        thoughts.push(textField(block, "thinking", `${at}[${i}]`))
        break
      case "redacted_thinking":
        break
      case "tool_use": {
        const id = textField(block, "id", `${at}[${i}]`)
        const name = textField(block, "name", `${at}[${i}]`)
        if (!isFields(block.input)) throw invalid(`${at}[${i}].input`, "must be an object")
        // Taken from the text of the body, so that numbers keep their spelling and keys their
        // order.
        const args = body.text(["messages", index, "content", i, "input"])!
        calls.push({ id: templateId(id), type: "function", function: { name, arguments: args } })
        called.set(id, name)
        break
      }
      default:
        throw noBlock(block, `${at}[${i}]`, ["text", "thinking", "redacted_thinking", "tool_use"])
    }
  }
  checkBound(wholeBounds.calls, calls.length, at)
  const said: Message = {
    role: "assistant",
    content: texts.join("\n"),
    // Templates test for calls or thoughts by the presence of these fields.
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("\n") }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return [said]
}

/** Appends a message, or merges it into the last message if that has the same role. */
function append(messages: Message[], message: Message): void {
  const last = messages.at(-1)
  const isTurn = message.role === "user" || message.role === "assistant"
  if (last === undefined || last.role !== message.role || !isTurn) {
    messages.push(message)
    return
  }
  last.content = joined(last.content, message.content)
  if (message.reasoning_content) {
    last.reasoning_content = joined(last.reasoning_content, message.reasoning_content)
  }
  if (message.tool_calls) last.tool_calls = [...(last.tool_calls ?? []), ...message.tool_calls]
}

function joined(...texts: unknown[]): string {
  return texts.filter((text) => typeof text === "string" && text !== "").join("\n")
}

// ---- blocks

function blocksOf(content: unknown, at: string): readonly Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (!Array.isArray(content)) throw invalid(at, "must be a string or a list of blocks")
  for (const [i, block] of content.entries()) {
    if (!isFields(block)) throw invalid(`${at}[${i}]`, "must be an object")
  }
  return content
}

/** Returns the texts joined by a newline, as in chat. */
function textOf(content: unknown, at: string): string {
  return blocksOf(content, at)
    .map((block, i) => {
      if (block.type !== "text") throw noBlock(block, `${at}[${i}]`, ["text"])
      return textField(block, "text", `${at}[${i}]`)
    })
    .join("\n")
}

function textField(block: Block, name: string, at: string): string {
  const { [name]: value } = block
  if (typeof value === "string") return value
  const param = `${at}.${name}`
  if (value === undefined) throw missing(param)
  throw invalid(param, "must be a string")
}

function noBlock({ type }: Block, at: string, known: readonly string[]): Refusal {
  const param = `${at}.type`
  const isMedium = type === "image" || type === "document"
  const said = type === undefined ? "missing" : quote(type)
  const message = isMedium
    ? `${param} is ${said}: the model reads text only`
    : `${param} is ${said}, it must be ${known.join(" or ")}`
  return new Refusal("invalid_value", message, { param, ...(isMedium && { hint: "Send its text" }) })
}
