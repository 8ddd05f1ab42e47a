import { connect } from "node:net"

/** Sends `head` and `body` on a connection of its own; what comes back, until the server closes it. */
export function raw(port: number, text: string, options: { halfClose?: boolean } = {}) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let received = ""
  socket.on("data", (chunk) => {
    received += chunk
  })
  const closed = new Promise<string>((resolve) => {
    socket.on("end", () => socket.end())
    socket.on("error", () => {})
    socket.on("close", () => resolve(received))
  })
  if (options.halfClose) socket.end(text)
  else socket.write(text)
  return { socket, closed }
}
