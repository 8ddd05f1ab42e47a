/**
 * What a streamed answer holds: the values of its server-sent events, read as the bytes arrive.
 */

interface Delta {
  content?: string
  tool_calls?: { function?: { name?: string; arguments?: string } }[]
}

export interface StreamEvent {
  /** Null for the end mark `[DONE]`. */
  value: {
    choices?: { delta?: Delta; finish_reason?: string | null; index: number }[]
    usage?: { completion_tokens: number } | null
    error?: { message: string; code: string }
  } | null
}

/** Splits a stream into events. Comments are left out; a line that is no event is an error. */
export class EventReader {
  private readonly decoder = new TextDecoder()
  private rest = ""

  push(bytes: Uint8Array): StreamEvent[] {
    this.rest += this.decoder.decode(bytes, { stream: true })
    const parts = this.rest.split("\n\n")
    this.rest = parts.pop()!
    const events: StreamEvent[] = []
    for (const part of parts) {
      if (part.startsWith(":")) continue
      if (!part.startsWith("data: ")) throw new Error(`no event: ${part.slice(0, 80)}`)
      const data = part.slice("data: ".length)
      events.push({ value: data === "[DONE]" ? null : JSON.parse(data) })
    }
    return events
  }
}

/** The error event in a streamed answer, or null. */
export function streamError(text: string): string | null {
  const line = /^data: (\{"error".*\})$/m.exec(text)
  return line === null ? null : JSON.parse(line[1]).error.message
}
