/**
 * Who reads the body of a request: the event loop itself, or a thread.
 *
 * Reading 16 MiB of JSON takes seconds, in which no other request is answered and no token is sent.
 * So a body above a small bound is read in a thread (readerthread.ts), if the platform has threads.
 * Both ways run `readBody`, so they agree. Nothing here is imported from Node: in a browser every
 * body is read in place.
 */
import { extentOf } from "../../http/body.ts"
import { type BodyReader, readBody } from "./readbody.ts"

/** Reads every body in place. */
export const inlineReader: BodyReader = {
  read: async (endpoint, bytes, limits) => readBody(endpoint, bytes, limits),
}

/** Largest body that is read in place. The worst of that size takes some 20 ms. */
export const maxInlineBytes = 64 << 10

/**
 * Larger bodies with long strings are read in place too: these numbers of bytes, marks and escapes
 * take less time than that.
 */
export const maxSparseBytes = 256 << 10
export const maxSparseMarks = 16_384

/**
 * Reads small bodies in place and large ones in a thread, which starts with the first of them: that
 * takes some 0.3 s.
 */
export function createBodyReader(): BodyReader {
  let large: Promise<BodyReader> | undefined
  return {
    async read(endpoint, bytes, limits, signal) {
      if (isSmall(bytes)) return readBody(endpoint, bytes, limits)
      large ??= openReader()
      return (await large).read(endpoint, bytes, limits, signal)
    },
  }
}

function isSmall(bytes: Uint8Array): boolean {
  if (bytes.length <= maxInlineBytes) return true
  if (bytes.length > maxSparseBytes) return false
  const { markCount, escapeCount } = extentOf(bytes)
  return markCount + escapeCount <= maxSparseMarks
}

async function openReader(): Promise<BodyReader> {
  const isNode = typeof process !== "undefined" && process.versions?.node !== undefined
  if (!isNode) return inlineReader
  const { ReaderThread } = await import("./readerthread.ts")
  return ReaderThread.isAvailable ? new ReaderThread() : inlineReader
}
