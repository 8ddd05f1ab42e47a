/**
 * JSON lines as a streamed reply: one value on each line, as Ollama streams.
 *
 * As with server-sent events (sse.ts), the status line precedes the first value, and values are
 * pulled. The format has no comments, so nothing is sent while no value is ready.
 */

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
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await lines.next()
          if (!done) return controller.enqueue(encoder.encode(`${value}\n`))
        } catch (error) {
          controller.enqueue(encoder.encode(`${describeError(error)}\n`))
        }
        controller.close()
      },
      async cancel() {
        cancel?.()
        await lines.return?.()
      },
    },
    // Nothing is read ahead: a line is made when the socket has accepted the previous one.
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      "content-type": "application/x-ndjson",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      ...headers,
    },
  })
}
