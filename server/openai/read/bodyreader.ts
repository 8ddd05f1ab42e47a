/**
 * Decides where the body of a request is read: on the event loop, or in a thread.
 *
 * Reading 16 MiB of JSON takes seconds, during which no other request is answered and no token is
 * sent. So a body above a small bound is read in a thread (readerthread.ts), if the platform has
 * threads. Both ways run `readBody`, so they agree. This file imports nothing from Node; in a
 * browser every body is read on the event loop.
 */
import { extentOf } from "../../http/body.ts"
import { type BodyReader, readBody } from "./readbody.ts"

/** Reads every body on the event loop. */
export const inlineReader: BodyReader = {
  read: async (endpoint, bytes, limits) => readBody(endpoint, bytes, limits),
}

/**
 * Largest body that is always read on the event loop. The slowest body of that size takes some 20
 * ms.
 */
export const maxInlineBytes = 64 << 10

/**
 * Larger bodies that consist of long strings are read on the event loop too: these numbers of
 * bytes, marks and escapes take less time than that.
 */
export const maxSparseBytes = 256 << 10
export const maxSparseMarks = 16_384

/**
 * Returns a reader that reads small bodies on the event loop and large ones in a thread. The thread
 * starts with the first large body, which takes some 0.3 s.
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
