/**
 * Decides about clients that have shut down their sending side (FIN) after the request: some of
 * them have gone, others still read.
 *
 * Both look alike until something is sent: the system of a client that has gone answers with a
 * reset. Node treats all of them as gone. This module sends a probe that HTTP allows at any time
 * and that changes nothing: before the reply the line `100 Continue`, inside an event stream a
 * comment. The reset of one probe is noticed when the next is sent. Then the connection closes, and
 * the request's signal fires.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"

/**
 * Milliseconds between probes. The reset of a client that has gone arrives after one round trip,
 * and then its thread and its slot are freed. The first waits are short, so that a nearby client
 * does not hold them as long as a distant one. The last wait is repeated, because a client may also
 * go long after its FIN.
 */
const probeWaits = [8, 32, 160, 800, 5_000]

/**
 * Makes the server answer clients that only read. `isEventStream` returns whether a reply whose
 * head is written is an event stream; the chunks of such a stream must be whole events.
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

/** Sends a probe. Returns false if HTTP allows none, in which case the client counts as gone. */
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
  // Any other reply is being written, which serves as a probe.
  return true
}
