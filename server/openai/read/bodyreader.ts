/**
 * Who reads the body of a request: the event loop itself, or a thread.
 *
 * To read 16 MiB of JSON takes seconds, in which no other request is answered and no token is sent. So a body above a
 * small bound is read in a thread (readerthread.ts), where there are threads; both ways run `readBody`, so they agree.
 * Nothing here is imported from Node: in a browser every body is read in place.
 */
import { type BodyReader, readBody } from "./readbody.ts"

/** Reads every body in place. */
export const inlineReader: BodyReader = {
  read: async (endpoint, bytes, limits) => readBody(endpoint, bytes, limits),
}

/** Largest body that is read in place. To read the worst of that size takes some 20 ms. */
export const maxInlineBytes = 64 << 10

/** Reads small bodies in place and large ones in a thread, which starts with the first of them. */
export function createBodyReader(): BodyReader {
  let large: Promise<BodyReader> | undefined
  return {
    async read(endpoint, bytes, limits, signal) {
      if (bytes.length <= maxInlineBytes) return readBody(endpoint, bytes, limits)
      large ??= openReader()
      return (await large).read(endpoint, bytes, limits, signal)
    },
  }
}

async function openReader(): Promise<BodyReader> {
  const isNode = typeof process !== "undefined" && process.versions?.node !== undefined
  if (!isNode) return inlineReader
  const { ReaderThread } = await import("./readerthread.ts")
  return ReaderThread.isAvailable ? new ReaderThread() : inlineReader
}
