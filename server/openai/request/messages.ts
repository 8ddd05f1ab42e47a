/**
 * Messages: from the wire to what a chat template reads.
 *
 * Content is one text, or parts that are joined to one. Images, audio and files are refused; what else a message holds
 * is left to the template.
 */
import { z } from "zod"
import type { Message } from "../../../runtime/index.ts"
import { Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { checkBound, wholeBounds } from "./bounds.ts"

type Part = { type: "text"; text: string } | { type: "refusal"; refusal: string }

// A predicate, which ends at the first part that is none: a union makes an error for each branch of each part.
const content = z.custom<string | Part[]>(
  (value) => typeof value === "string" || (Array.isArray(value) && value.length > 0 && value.every(isPart)),
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
      ...named,
    }),
    z.looseObject({ role: z.literal("tool"), content, tool_call_id: z.string() }),
    z.looseObject({ role: z.literal("function"), content, name: z.string() }),
  ],
  { error: "role must be system, developer, user, assistant, tool or function" },
)

/** What the template reads. Each result of a tool answers a call before it. Throws `Refusal`. */
export function toMessages(raw: readonly z.infer<typeof message>[]): Message[] {
  /** Names of the tools that were called, by the id of the call. */
  const called = new Map<string, string>()
  return raw.map((each, index) => {
    const read = toMessage(each, index)
    if (each.role === "assistant") {
      for (const call of each.tool_calls ?? [])
        called.set(call.id, call.type === "custom" ? call.custom.name : call.function.name)
    }
    if (each.role !== "tool") return read
    const name = called.get(each.tool_call_id)
    if (name !== undefined) return { name, ...read }
    const param = `messages[${index}].tool_call_id`
    const known = [...called.keys()].slice(-8)
    throw new Refusal("invalid_value", `${param}: no call before has the id ${quote(each.tool_call_id)}`, {
      param,
      hint: known.length > 0 ? `The latest are ${known.map(quote).join(", ")}` : "Send the call first",
    })
  })
}

function toMessage(raw: z.infer<typeof message>, index: number): Message {
  if (raw.role === "assistant" && raw.content == null && !raw.tool_calls?.length) {
    const param = `messages[${index}].content`
    throw new Refusal("missing_required_parameter", `${param} is missing`, { param })
  }
  const role = raw.role === "developer" ? "system" : raw.role
  const read = { ...raw, role, content: flatten(raw.content) } as Message
  if (raw.role !== "assistant") return read
  // Templates ask whether there are calls by whether there is a list.
  if (!raw.tool_calls?.length) delete read.tool_calls
  else {
    read.tool_calls = raw.tool_calls.map((call) =>
      call.type === "custom" ? customCallShown(call.id, call.custom.name, call.custom.input) : call,
    )
  }
  return read
}

/** The call of a custom tool as templates know it, to which the tool is a function of one text. */
export function customCallShown(id: string, name: string, input: string): object {
  return { id, type: "function", function: { name, arguments: JSON.stringify({ input }) } }
}

// Parts are joined by a newline, as vLLM does for templates that take strings.
function flatten(content: z.infer<typeof message>["content"]): string {
  if (content == null) return ""
  if (typeof content === "string") return content
  return content.map((part) => (part.type === "text" ? part.text : part.refusal)).join("\n")
}

/** A text that is proposed as the answer. */
export const prediction = z.looseObject({ type: z.literal("content"), content })

/** Throws `Refusal` when it is above its bound. */
export function readPrediction(raw: z.infer<typeof prediction>): string {
  const text = flatten(raw.content)
  checkBound(wholeBounds.prediction, text.length)
  return text
}
