/** Replies whose text is made piece by piece, each when the reader has taken the one before it. */

export interface StreamedReply {
  contentType: string
  headers?: Record<string, string> | undefined
  /** Writes the next piece. Resolves to whether more can follow. */
  pull: (write: (text: string) => void) => Promise<boolean>
  /** Called when the reader has disconnected. */
  cancel: () => unknown
}

/** Returns the reply. No piece is made before the socket has accepted the previous one. */
export function streamed({ contentType, headers, pull, cancel }: StreamedReply): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const goesOn = await pull((text) => controller.enqueue(encoder.encode(text)))
        if (!goesOn) controller.close()
      },
      async cancel() {
        await cancel()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      "content-type": contentType,
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      ...headers,
    },
  })
}
