/**
 * Converts messages of the wire to the messages that a chat template reads.
 *
 * Content is one text, or a list of parts, which are joined and may be empty. Images, audio and
 * files are refused. All other fields of a message are passed to the template.
 */
import { z } from "zod"
import type { Message } from "../../../runtime/index.ts"
import { invalid, missing, type Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { checkBound, wholeBounds } from "./bounds.ts"

type Part = { type: "text"; text: string } | { type: "refusal"; refusal: string }

// A predicate stops at the first wrong part, while a union would make an error for each branch of
// each part.
const content = z.custom<string | Part[]>(
  (value) => typeof value === "string" || (Array.isArray(value) && value.every(isPart)),
  {
    error: (issue) =>
      issue.input === undefined
        ? "is missing"
        : 'must be a string or a list of {type: "text", text}; images, audio and files are not supported',
  },
)

function isPart(value: unknown): value is Part {
  if (typeof value !== "object" || value === null) return false
  const { type, text, refusal } = value as Record<string, unknown>
  return type === "text" ? typeof text === "string" : type === "refusal" && typeof refusal === "string"
}

const toolCall = z.discriminatedUnion(
  "type",
  [
    z.looseObject({
      id: z.string(),
      type: z.literal("function"),
      function: z.looseObject({ name: z.string(), arguments: z.string() }),
    }),
    z.looseObject({
      id: z.string(),
      type: z.literal("custom"),
      custom: z.looseObject({ name: z.string(), input: z.string() }),
    }),
  ],
  { error: "type must be function or custom" },
)
const named = { name: z.string().nullish() }
export const message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.enum(["system", "developer", "user"]), content, ...named }),
    z.looseObject({
      role: z.literal("assistant"),
      content: content.nullish(),
      tool_calls: z.array(toolCall).nullish(),
      function_call: z.looseObject({ name: z.string(), arguments: z.string() }).nullish(),
      ...named,
    }),
    z.looseObject({ role: z.literal("tool"), content, tool_call_id: z.string() }),
    z.looseObject({ role: z.literal("function"), content, name: z.string() }),
  ],
  { error: "role must be system, developer, user, assistant, tool or function" },
)

/**
 * Returns the messages that the template reads. Throws `Refusal`, also if a tool result answers no
 * earlier call.
 */
export function toMessages(sent: readonly z.infer<typeof message>[]): Message[] {
  /** Names of the called tools, by the id of the call. */
  const called = new Map<string, string>()
  return withCalls(sent).map((each, index) => {
    const read = toMessage(each, index)
    if (each.role === "assistant") {
      for (const call of each.tool_calls ?? [])
        called.set(call.id, call.type === "custom" ? call.custom.name : call.function.name)
    }
    if (each.role !== "tool") return read
    const name = called.get(each.tool_call_id)
    if (name !== undefined) return { name, ...read }
    const param = `messages[${index}].tool_call_id`
    throw noCall(param, called, "id", each.tool_call_id)
  })
}

/** Returns the refusal of a result that names no call. `known` are the calls before it, by key. */
export function noCall(
  param: string,
  known: ReadonlyMap<string, unknown>,
  key: "id" | "name",
  value: string,
): Refusal {
  const latest = [...known.keys()].slice(-8).map(quote).join(", ")
  const hint = known.size > 0 ? `The latest are ${latest}` : "Send the call first"
  return invalid(param, `: no earlier call has the ${key} ${quote(value)}`, hint)
}

/**
 * Converts OpenAI's older form of calls, `function_call` and the role `function`, to the present
 * form. A result belongs to the last call of its name. Throws `Refusal`.
 */
function withCalls(sent: readonly z.infer<typeof message>[]): z.infer<typeof message>[] {
  /** Ids of the calls that have no result yet, by the name of the function. */
  const open = new Map<string, string>()
  let count = 0
  return sent.map((each, index) => {
    if (each.role === "assistant" && each.function_call) {
      const { function_call: call, ...rest } = each
      if (rest.tool_calls?.length) {
        const param = `messages[${index}].function_call`
        throw invalid(param, ": the message has tool_calls as well", "Send the calls as tool_calls alone")
      }
      // Some templates accept only ids of nine letters and digits.
      const id = `call${String(++count).padStart(5, "0")}`
      open.set(call.name, id)
      return { ...rest, tool_calls: [{ id, type: "function", function: call }] }
    }
    if (each.role !== "function") return each
    const id = open.get(each.name)
    if (id !== undefined) return { ...each, role: "tool", tool_call_id: id }
    const param = `messages[${index}].name`
    throw noCall(param, open, "name", each.name)
  })
}

function toMessage(raw: z.infer<typeof message>, index: number): Message {
  if (raw.role === "assistant" && raw.content == null && !raw.tool_calls?.length) {
    const param = `messages[${index}].content`
    throw missing(param)
  }
  const role = raw.role === "developer" ? "system" : raw.role
  const read = { ...raw, role, content: flatten(raw.content) } as Message
  if (raw.role !== "assistant") return read
  delete read.function_call
  // Templates test for calls by the presence of the list.
  if (!raw.tool_calls?.length) delete read.tool_calls
  else {
    read.tool_calls = raw.tool_calls.map((call) =>
      call.type === "custom" ? customCallShown(call.id, call.custom.name, call.custom.input) : call,
    )
  }
  return read
}

/**
 * Returns the call of a custom tool as templates expect it: as a function with one text argument.
 */
export function customCallShown(id: string, name: string, input: string): object {
  return { id, type: "function", function: { name, arguments: JSON.stringify({ input }) } }
}

// Parts are joined by a newline, as vLLM does for templates that take strings.
function flatten(content: z.infer<typeof message>["content"]): string {
  if (content == null) return ""
  if (typeof content === "string") return content
  return content.map((part) => (part.type === "text" ? part.text : part.refusal)).join("\n")
}

/** A text that the client predicts as the answer. */
export const prediction = z.looseObject({ type: z.literal("content"), content })

/** Returns the predicted text. Throws `Refusal` if it is above its bound. */
export function readPrediction(raw: z.infer<typeof prediction>): string {
  const text = flatten(raw.content)
  checkBound(wholeBounds.prediction, text.length)
  return text
}
