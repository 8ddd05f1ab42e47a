/**
 * Server-sent events: a sequence of JSON values as a streamed reply.
 *
 * The status line is sent before the first value exists, so the caller must have refused every
 * invalid request before. Values are pulled: none is produced while the reader does not read, and
 * when a reader disconnects, the producer is ended by `cancel` and its `return()`. Whenever no
 * value has come for `heartbeatMs`, a comment is sent, which keeps proxies from closing the
 * connection while a request waits in the queue.
 */
import { streamed } from "./streamed.ts"

export interface EventStreamOptions {
  /** Whether each event is named by its value's `type`, and no `[DONE]` follows the last one. */
  isTyped?: boolean
  /** Milliseconds without a value after which `waiting` or a comment is sent. */
  heartbeatMs?: number
  /** A value that the reader ignores. */
  waiting?: unknown
  headers?: Record<string, string>
  /** Ends the producer when the reader has disconnected, also while a value is awaited. */
  cancel?: () => void
  /** Returns the last value of a stream whose producer fails. */
  describeError: (error: unknown) => unknown
}

/**
 * Returns a reply with `data: <json>` for each value, then `data: [DONE]`; or with `event: <type>`
 * and its data.
 */
export function eventStream(values: AsyncIterator<unknown>, options: EventStreamOptions): Response {
  const { isTyped = false, heartbeatMs = 15_000, waiting, headers, cancel, describeError } = options
  const spell = (value: unknown) => {
    const data = `data: ${JSON.stringify(value)}\n\n`
    return isTyped ? `event: ${(value as { type: string }).type}\n${data}` : data
  }
  let pending: Promise<IteratorResult<unknown>> | null = null
  return streamed({
    contentType: "text/event-stream; charset=utf-8",
    headers,
    async pull(write) {
      try {
        pending ??= values.next()
        const result = await within(pending, heartbeatMs)
        if (result === null) {
          write(waiting ? spell(waiting) : ": waiting\n\n")
          return true
        }
        pending = null
        if (!result.done) {
          write(spell(result.value))
          return true
        }
      } catch (error) {
        write(spell(describeError(error)))
      }
      if (!isTyped) write("data: [DONE]\n\n")
      return false
    },
    async cancel() {
      cancel?.()
      await values.return?.()
    },
  })
}

/** Returns the promise's value, or null if it takes longer. The promise itself is not cancelled. */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
