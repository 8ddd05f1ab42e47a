/** Reads server-sent events whose data are JSON objects. */
import type { Reply } from "./case.ts"

export interface EventValues {
  /** The data of the events, in order. */
  values: Readonly<Record<string, unknown>>[]
  /** The names of the events; `message` for events without one. */
  names: string[]
  /** Whether `data: [DONE]` ends the stream. */
  isDone: boolean
  problems: string[]
}

export function events({ text, contentType }: Reply): EventValues {
  const read: EventValues = { values: [], names: [], isDone: false, problems: [] }
  if (!/^text\/event-stream\b/.test(contentType))
    read.problems.push(`the content type is ${JSON.stringify(contentType)}, not text/event-stream`)
  for (const block of text.replaceAll("\r\n", "\n").split("\n\n")) {
    const lines = block.split("\n")
    const field = (name: string) =>
      lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).replace(/^ /, ""))
    const data = field("data").join("\n")
    if (data === "") continue
    if (read.isDone) read.problems.push("an event follows [DONE]")
    if (data.trim() === "[DONE]") {
      read.isDone = true
      continue
    }
    const value = objectOf(data)
    if (value === null)
      read.problems.push(`an event is not a JSON object: ${JSON.stringify(data.slice(0, 60))}`)
    else {
      read.values.push(value)
      read.names.push(field("event")[0] ?? "message")
    }
  }
  return read
}

function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
