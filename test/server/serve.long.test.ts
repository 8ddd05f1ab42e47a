/** What a connection may cost before it has sent a head: fifteen seconds of waiting. */
import { expect, test } from "vitest"
import { serve } from "../../server/serve.ts"
import { raw } from "../support/rawsocket.ts"

test("slow heads are given up, large ones refused, and further connections closed", {
  timeout: 30_000,
}, async () => {
  const server = await serve({ fetch: () => new Response("hello") }, { port: 0, maxConnections: 3 })
  const { port } = server
  const [silent, slow] = [raw(port, ""), raw(port, "GET / HTTP/1.1\r\nhost: localhost\r\nx-a")]
  const began = performance.now()
  const large = raw(port, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(20_000)}\r\n\r\n`)
  expect(await large.closed).toMatch(/^HTTP\/1.1 431 /)
  const third = raw(port, "")
  expect(await raw(port, "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").closed).toBe("")
  third.socket.destroy()
  expect(await slow.closed).toMatch(/^HTTP\/1.1 408 /)
  await silent.closed
  expect(performance.now() - began).toBeGreaterThan(10_000)
  await server.close()
})
