/**
 * Reads the replies of chat completions, whole or streamed, into one form. What does not have the
 * form that OpenAI documents is described by a list of problems, and is read as far as possible.
 */

import type { Reply } from "./case.ts"
import { events } from "./events.ts"

interface ChatCall {
  id: string
  type: string
  name: string
  /** As it was sent: a JSON text. */
  args: string
}

export interface ChatChoice {
  index: number
  role: string
  content: string | null
  calls: ChatCall[]
  finish: string | null
  logprobs: unknown
}

export interface Chat {
  choices: ChatChoice[]
  usage: unknown
  problems: string[]
}

const finishes = ["stop", "length", "tool_calls", "content_filter", "function_call"]

type Fields = Readonly<Record<string, unknown>>

/** Returns the members of an object; none for any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the value of a JSON text, or undefined. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a reply that is not streamed. */
export function readChat(reply: Reply): Chat {
  const body = parsed(reply.text)
  const problems = textProblems(reply)
  if (body === undefined)
    return { choices: [], usage: undefined, problems: [...problems, "the reply is not JSON"] }
  const { choices, usage } = fieldsOf(body)
  if (listOf(choices).length === 0) problems.push("`choices` is missing or empty")
  return {
    choices: listOf(choices).map((choice, at) => readChoice(fieldsOf(choice), at, problems)),
    usage,
    problems,
  }
}

function textProblems({ isUtf8 }: Reply): string[] {
  return isUtf8 ? [] : ["the reply is not UTF-8"]
}

function readChoice(choice: Fields, at: number, problems: string[]): ChatChoice {
  const where = `choices[${at}]`
  const message = fieldsOf(choice.message)
  if (choice.message === undefined) problems.push(`${where}.message is missing`)
  const { content, role } = message
  if (content !== null && content !== undefined && typeof content !== "string")
    problems.push(`${where}.message.content is not a text or null`)
  const listed = message.tool_calls
  if (listed !== undefined && listed !== null && !Array.isArray(listed))
    problems.push(`${where}.message.tool_calls is not a list`)
  const calls = listOf(listed).map((call, i) =>
    readCall(fieldsOf(call), `${where}.message.tool_calls[${i}]`, problems),
  )
  const hasText = typeof content === "string"
  if (!hasText && calls.length === 0 && choice.finish_reason !== "length" && !message.refusal)
    problems.push(`${where}.message has neither content nor tool_calls`)
  return {
    index: indexOf(choice.index, where, problems),
    role: typeof role === "string" ? role : "",
    content: hasText ? content : null,
    calls,
    finish: finishOf(choice.finish_reason, where, problems),
    logprobs: choice.logprobs,
  }
}

function indexOf(index: unknown, where: string, problems: string[]): number {
  if (Number.isInteger(index)) return index as number
  problems.push(`${where}.index is ${index === undefined ? "missing" : "not a number"}`)
  return 0
}

function finishOf(finish: unknown, where: string, problems: string[]): string | null {
  if (typeof finish === "string" && finishes.includes(finish)) return finish
  problems.push(`${where}.finish_reason is ${JSON.stringify(finish) ?? "missing"}`)
  return null
}

function readCall(call: Fields, where: string, problems: string[]): ChatCall {
  const { name, arguments: args } = fieldsOf(call.function)
  const textOf = (value: unknown, what: string): string => {
    if (typeof value === "string" && (value !== "" || what === "function.arguments")) return value
    problems.push(`${where}.${what} is ${value === undefined ? "missing" : "not a text"}`)
    return ""
  }
  return {
    id: textOf(call.id, "id"),
    type: textOf(call.type, "type"),
    name: textOf(name, "function.name"),
    args: textOf(args, "function.arguments"),
  }
}

/** The largest index of a streamed call: the server chooses it, and a list becomes as long. */
const maxCallIndex = 1_000

/** Reads a streamed reply: the deltas of each choice are joined as clients join them. */
export function readStream(reply: Reply): Chat & { chunks: readonly Fields[]; isDone: boolean } {
  const read = events(reply)
  const problems = [...textProblems(reply), ...read.problems]
  const choices = new Map<number, ChatChoice>()
  let usage: unknown
  for (const [at, chunk] of read.values.entries()) {
    const listed = listOf(chunk.choices)
    if (chunk.usage !== undefined && chunk.usage !== null) usage = chunk.usage
    if (chunk.error !== undefined) problems.push(`event ${at + 1} is an error`)
    else if (!Array.isArray(chunk.choices)) problems.push(`event ${at + 1} has no \`choices\``)
    for (const each of listed) addDelta(choices, fieldsOf(each), `event ${at + 1}`, problems)
  }
  if (choices.size === 0) problems.push("no event has a choice")
  for (const { index, finish } of choices.values())
    if (finish === null) problems.push(`choice ${index} has no finish_reason`)
  const ordered = [...choices.values()].sort((one, other) => one.index - other.index)
  return { choices: ordered, usage, problems, chunks: read.values, isDone: read.isDone }
}

function addDelta(choices: Map<number, ChatChoice>, choice: Fields, where: string, problems: string[]): void {
  const index = indexOf(choice.index, where, problems)
  const none = { index, role: "", content: null, calls: [], finish: null, logprobs: null }
  const joined = choices.get(index) ?? none
  choices.set(index, joined)
  const { role, content, tool_calls } = fieldsOf(choice.delta)
  if (typeof role === "string") joined.role ||= role
  if (typeof content === "string") joined.content = (joined.content ?? "") + content
  if (choice.logprobs !== undefined && choice.logprobs !== null) joined.logprobs = choice.logprobs
  if (choice.finish_reason !== null && choice.finish_reason !== undefined)
    joined.finish = finishOf(choice.finish_reason, where, problems)
  for (const each of listOf(tool_calls)) {
    const call = fieldsOf(each)
    const { name, arguments: args } = fieldsOf(call.function)
    const at = indexOf(call.index, `${where}: tool_calls`, problems)
    if (at < 0 || at > maxCallIndex) {
      problems.push(`${where}: tool_calls.index is ${at}, not from 0 to ${maxCallIndex}`)
      continue
    }
    joined.calls[at] ??= { id: "", type: "", name: "", args: "" }
    const whole = joined.calls[at]
    if (typeof call.id === "string") whole.id ||= call.id
    if (typeof call.type === "string") whole.type ||= call.type
    if (typeof name === "string") whole.name += name
    if (typeof args === "string") whole.args += args
  }
}
