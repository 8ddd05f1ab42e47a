/** Streams of servers that may do anything. */
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, expect, test } from "vitest"
import { readStream, StreamError } from "../../../server/suite/streams.ts"

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** A server that replies to every request in one way. */
async function target(status: number, parts: readonly string[]) {
  server = createServer((request, reply) => {
    request.resume()
    reply.writeHead(status, { "content-type": "text/event-stream" })
    for (const part of parts) reply.write(part)
    reply.end()
  })
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const signal = new AbortController().signal
  return { url: `http://127.0.0.1:${port}/v1`, timeoutMs: 10_000, deadline: Number.POSITIVE_INFINITY, signal }
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const delta = (content: string) => event({ choices: [{ delta: { content } }] })

test("pieces are timed, and the server's count of tokens is taken", async () => {
  const usage = event({ choices: [], usage: { completion_tokens: 7 } })
  const text = [
    event({ choices: [{ delta: { role: "assistant" } }] }),
    delta("a"),
    ": a comment\n\n",
    delta("b"),
  ]
  const { times, tokens, sentAt } = await readStream(
    await target(200, [...text, usage, "data: [DONE]\n\n"]),
    { messages: [] },
  )
  expect([times.length, tokens]).toEqual([2, 7])
  expect(times[0]).toBeGreaterThanOrEqual(sentAt)
})

test("without a count each event with text is a token, also when events are cut anywhere", async () => {
  const text = `${delta("a")}${delta("b")}${delta("ü")}`.replaceAll("\n", "\r\n")
  const { tokens } = await readStream(await target(200, [text.slice(0, 25), text.slice(25)]), {})
  expect(tokens).toBe(3)
})

test.each<[name: string, status: number, parts: string[], message: RegExp]>([
  ["a refusal", 400, ['{"error":{"message":"no"}}'], /status 400: .*no/],
  ["no text", 200, ["data: [DONE]\n\n"], /without text/],
  ["garbage", 200, ["data: {\n\n"], /not JSON/],
  ["an error event", 200, [delta("a"), event({ error: { message: "lost" } })], /ended with an error: .*lost/],
  ["an endless event", 200, ["x".repeat(2 << 20)], /longer than/],
])("%s is an error that says so", async (_, status, parts, message) => {
  await expect(readStream(await target(status, parts), {})).rejects.toThrow(message)
})

test("a server that is not there is an error", async () => {
  const at = await target(200, [])
  await new Promise((resolve) => server!.close(resolve))
  await expect(readStream(at, {})).rejects.toThrow(/fetch failed/)
})

/** A server that sends parts and then, without an end, does what `then` says. */
async function unended(status: number, part: string, then: (reply: ServerResponse) => void) {
  const at = await target(status, [])
  server!.removeAllListeners("request").on("request", (request, reply) => {
    request.resume()
    reply.writeHead(status, { "content-type": "text/event-stream" })
    reply.write(part, () => then(reply))
  })
  return at
}

test("a connection that closes within a stream is an error of the stream", async () => {
  const at = await unended(200, delta("a"), (reply) => reply.destroy())
  await expect(readStream(at, {})).rejects.toThrow(StreamError)
})

test("of an endless refusal only the beginning is read", async () => {
  const more = (reply: ServerResponse): void => {
    if (!reply.destroyed) reply.write("x".repeat(1 << 20), () => more(reply))
  }
  await expect(readStream(await unended(400, "no ", more), {})).rejects.toThrow(/status 400: no x/)
})
