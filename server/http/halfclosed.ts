/**
 * Clients that have shut down their sending side (FIN) behind the request: are they gone, or do
 * they still read?
 *
 * Both look alike until something is sent to them: the system of one that is gone answers with a
 * reset. Node treats all of them as gone. This module sends something that HTTP allows at any time
 * and that changes nothing: ahead of the reply the line `100 Continue`, inside an event stream a
 * comment. The reset of one such probe is seen when the next is sent; then the connection closes,
 * and with it the request's signal fires.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"

/**
 * Milliseconds between probes. The reset of a client that is gone is here after a round trip, and
 * then its thread and its slot are free: a near one must not hold them for as long as a far one may
 * take. The last wait is repeated: a client may also go when its FIN has long been seen.
 */
const probeWaits = [8, 32, 160, 800, 5_000]

/**
 * Makes the server answer clients that only read. `isEventStream` says of a reply whose head is
 * written whether it is an event stream; the chunks of those have to be whole events.
 */
export function answerHalfClosed(server: Server, isEventStream: (response: ServerResponse) => boolean): void {
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const probe = (count: number): void => {
      const waitMs = probeWaits[Math.min(count, probeWaits.length - 1)]
      if (sendProbe(request, response, isEventStream)) timer = setTimeout(probe, waitMs, count + 1)
      else request.socket.destroy()
    }
    const begin = (): void => probe(0)
    request.socket.once("end", begin)
    response.once("close", () => {
      request.socket.off("end", begin)
      clearTimeout(timer)
    })
  })
}

/** Returns false if HTTP allows no probe: then the client counts as gone. */
function sendProbe(
  request: IncomingMessage,
  response: ServerResponse,
  isEventStream: (response: ServerResponse) => boolean,
): boolean {
  if (!response.headersSent) {
    // HTTP/1.0 has no interim replies.
    if (request.httpVersion === "1.0") return false
    response.writeContinue()
    return true
  }
  const isOpen = !response.writableEnded && !response.writableNeedDrain
  if (isOpen && isEventStream(response)) response.write(": waiting\n\n")
  // All other replies are being written, which serves as a probe.
  return true
}
