/** Bodies in small pieces, over a socket: what arrives is what was sent, and too many pieces are refused. */
import { connect } from "node:net"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { maxPieces, minPieceBytes } from "../../../server/http/pieces.ts"
import { type RunningServer, serve } from "../../../server/serve.ts"

let server: RunningServer
/** What the application was sent; it reads a body to its end. */
let bodies: string[] = []
let gone = 0
beforeAll(async () => {
  const fetch = async (request: Request): Promise<Response> => {
    request.signal.addEventListener("abort", () => gone++)
    const text = await request.text()
    bodies.push(text)
    return new Response(String(text.length))
  }
  server = await serve({ fetch }, { port: 0 })
})
afterAll(() => server.close())

const head = "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n"
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** Sends the parts, each when the one before it has been written; what came back until the connection closed or was whole. */
function exchange(parts: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(server.port, "127.0.0.1")
    let reply = ""
    socket.setEncoding("utf8")
    socket.on("data", (text: string) => {
      reply += text
      if (/\r\n\r\n[\s\S]/.test(reply)) socket.end()
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve(reply))
    socket.write(head)
    const send = ([part, ...rest]: readonly string[]): void => {
      if (part !== undefined) socket.write(part, () => setImmediate(send, rest))
    }
    send(parts)
  })
}

test("pieces of any size, in any packets, arrive whole and in order", async () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 900, max: 5_000 })), {
    minLength: 1,
    maxLength: 40,
  })
  const run = async (packets: number[][]): Promise<void> => {
    bodies = []
    let sent = ""
    const parts = packets.map((packet) =>
      packet
        .map((size) => {
          const text = String.fromCharCode(97 + (sent.length % 26)).repeat(size)
          sent += text
          return chunk(text)
        })
        .join(""),
    )
    const reply = await exchange([...parts, "0\r\n\r\n"])
    expect(reply).toMatch(/^HTTP\/1.1 200/)
    expect(bodies).toEqual([sent])
  }
  await fc.assert(fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 4 }), run), {
    numRuns: 30,
    seed: 7,
  })
})

test("a body of as many small pieces as there may be is read", async () => {
  expect(await exchange([chunk("a").repeat(maxPieces), "0\r\n\r\n"])).toMatch(/^HTTP\/1.1 200/)
})

test("one piece more is refused, and the application sees a client that is gone", async () => {
  gone = 0
  bodies = []
  const reply = await exchange([chunk("a").repeat(10 * maxPieces)])
  expect(reply).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
  expect(JSON.parse(reply.split("\r\n\r\n")[1]).error).toEqual({
    message: `the body comes in more than ${maxPieces} pieces of less than ${minPieceBytes} bytes on average. Send it in larger chunks`,
    type: "invalid_request_error",
    param: null,
    code: "invalid_value",
    hint: "Send it in larger chunks",
  })
  await expect.poll(() => gone).toBe(1)
  expect(bodies).toEqual([])
})

test("many larger pieces are read", async () => {
  const text = "x".repeat(2 * minPieceBytes)
  expect(await exchange([chunk(text).repeat(4 * maxPieces), "0\r\n\r\n"])).toMatch(/200[\s\S]*524288$/)
})
