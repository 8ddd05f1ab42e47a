/**
 * JSON lines as a streamed reply: one value on each line, as Ollama streams.
 *
 * As with server-sent events (sse.ts), the status line precedes the first value, and values are
 * pulled. The format has no comments, so nothing is sent while no value is ready.
 */
import { streamed } from "./streamed.ts"

export interface LineStreamOptions {
  headers?: Record<string, string>
  /** Ends the producer when the reader has disconnected, also while a line is awaited. */
  cancel?: () => void
  /** Returns the last line of a stream whose producer fails. */
  describeError: (error: unknown) => string
}

/** Returns a reply with each text and a line feed; the texts are JSON without line feeds. */
export function lineStream(
  lines: AsyncIterator<string>,
  { headers, cancel, describeError }: LineStreamOptions,
): Response {
  return streamed({
    contentType: "application/x-ndjson",
    headers,
    async pull(write) {
      try {
        const { done, value } = await lines.next()
        if (done) return false
        write(`${value}\n`)
        return true
      } catch (error) {
        write(`${describeError(error)}\n`)
        return false
      }
    },
    async cancel() {
      cancel?.()
      await lines.return?.()
    },
  })
}
