/**
 * Bodies that arrive in many small pieces.
 *
 * One read of a socket can hold ten thousand chunks of one byte, and Node delivers each by itself.
 * Passing a chunk through the streams costs some microseconds whatever its size, and blocks all
 * other requests. So small pieces are joined at the end of the turn in which they arrived. A body
 * of too many pieces is refused, and its connection closed, before the rest is read.
 */
import type { IncomingMessage, Server } from "node:http"
import { Refusal, toHttpError } from "../errors.ts"

/** Number of pieces of any size that a body may have. */
export const maxPieces = 1_024
/** Minimum mean size of the pieces of a body that has more of them. */
export const minPieceBytes = 64
/** Pieces of at least this size are not joined. */
const largeBytes = 1_024

/** Makes the server gather the small pieces of its requests' bodies. */
export function gatherPieces(server: Server): void {
  server.prependListener("request", (request: IncomingMessage) => gather(request))
}

function gather(request: IncomingMessage): void {
  const push = request.push.bind(request)
  let held: Uint8Array[] = []
  let pieceCount = 0
  let byteCount = 0
  let hasRoom = true
  const flush = (): void => {
    if (held.length === 0) return
    const pieces = held
    held = []
    hasRoom = push(Buffer.concat(pieces))
  }
  request.push = (piece: Uint8Array | null): boolean => {
    if (piece === null) {
      flush()
      return push(null)
    }
    byteCount += piece.length
    if (++pieceCount > maxPieces && byteCount < minPieceBytes * pieceCount) {
      held = []
      request.push = () => true
      refuse(request)
      return true
    }
    if (piece.length >= largeBytes) {
      flush()
      return push(piece)
    }
    if (held.push(piece) === 1) setImmediate(flush)
    return hasRoom
  }
}

/**
 * Writes a refusal to the socket without the application, as Node's parser does for a request that
 * it cannot read. To the application, the client has disconnected.
 */
function refuse({ socket }: IncomingMessage): void {
  const what = `the body comes in more than ${maxPieces} pieces of less than ${minPieceBytes} bytes on average`
  const { status, body } = toHttpError(
    new Refusal("invalid_value", what, { hint: "Send it in larger chunks" }),
  )
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} Bad Request`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ]
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`)
  socket.destroySoon()
}
