/**
 * Server-sent events: a sequence of JSON values as a streamed reply.
 *
 * The reply starts with its status line before the first value is there, so the caller must have
 * refused by then whatever can be refused. Values are pulled: nothing is produced for a reader that
 * does not read, and a reader that goes away ends the producer by `cancel` and its `return()`.
 * Until the first value a comment goes out every `heartbeatMs`, which keeps proxies from closing
 * the connection while a request waits in line.
 */

export interface EventStreamOptions {
  /** Each event is named by its value's `type`, and nothing follows the last one. */
  isTyped?: boolean
  /** Silence before a comment is sent, or `waiting`. */
  heartbeatMs?: number
  /** A value that tells the reader nothing. */
  waiting?: unknown
  headers?: Record<string, string>
  /** Ends the producer when the reader is gone, also while a value is awaited. */
  cancel?: () => void
  /** What the reader is told about an error of the producer: one more value, then the end. */
  describeError: (error: unknown) => unknown
}

/** `data: <json>` for every value, then `data: [DONE]`; or `event: <type>` and its data. */
export function eventStream(values: AsyncIterator<unknown>, options: EventStreamOptions): Response {
  const encoder = new TextEncoder()
  const { isTyped = false, heartbeatMs = 15_000, waiting, headers, cancel, describeError } = options
  const spell = (value: unknown) => {
    const data = `data: ${JSON.stringify(value)}\n\n`
    return isTyped ? `event: ${(value as { type: string }).type}\n${data}` : data
  }
  let pending: Promise<IteratorResult<unknown>> | null = null
  const write = (controller: ReadableStreamDefaultController<Uint8Array>, text: string) =>
    controller.enqueue(encoder.encode(text))
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          pending ??= values.next()
          const result = await within(pending, heartbeatMs)
          if (result === null) return write(controller, waiting ? spell(waiting) : ": waiting\n\n")
          pending = null
          if (!result.done) return write(controller, spell(result.value))
        } catch (error) {
          write(controller, spell(describeError(error)))
        }
        if (!isTyped) write(controller, "data: [DONE]\n\n")
        controller.close()
      },
      async cancel() {
        cancel?.()
        await values.return?.()
      },
    },
    // No read-ahead: a value is made when the socket has taken the one before.
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      ...headers,
    },
  })
}

/** The promise's value, or null when it takes longer. The promise itself goes on. */
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
