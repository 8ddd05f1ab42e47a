import { expect, test } from "vitest"
import { eventStream } from "../../../server/http/sse.ts"

const describeError = (error: unknown) => ({ error: String(error) })

test("S2-21, S4-19: one data line a value, then [DONE]", async () => {
  async function* values() {
    yield { a: 1 }
    yield { text: "line\nbreak" }
  }
  const response = eventStream(values(), { describeError })
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
  expect(await response.text()).toBe('data: {"a":1}\n\ndata: {"text":"line\\nbreak"}\n\ndata: [DONE]\n\n')
})

test("an error of the producer is one more value, and the stream still ends", async () => {
  async function* values() {
    yield 1
    throw new Error("late")
  }
  const text = await eventStream(values(), { describeError }).text()
  expect(text).toBe('data: 1\n\ndata: {"error":"Error: late"}\n\ndata: [DONE]\n\n')
})

test("while nothing comes a comment goes out, and no value is lost", async () => {
  async function* values() {
    await new Promise((resolve) => setTimeout(resolve, 70))
    yield 1
  }
  const text = await eventStream(values(), { describeError, heartbeatMs: 20 }).text()
  expect(text).toMatch(/^(: waiting\n\n){2,}data: 1\n\ndata: \[DONE\]\n\n$/)
})

test("a reader that leaves ends the producer, also one that waits", async () => {
  const seen: string[] = []
  let wake = () => {}
  async function* values() {
    try {
      yield 1
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      yield 2
    } finally {
      seen.push("ended")
    }
  }
  const cancel = () => {
    seen.push("cancelled")
    wake()
  }
  const reader = eventStream(values(), { describeError, cancel }).body!.getReader()
  await reader.read()
  const waiting = reader.read()
  await reader.cancel()
  await waiting
  expect(seen).toEqual(["cancelled", "ended"])
})

test("nothing is produced before it is read", async () => {
  let made = 0
  async function* values() {
    while (true) yield ++made
  }
  const reader = eventStream(values(), { describeError }).body!.getReader()
  await reader.read()
  await reader.read()
  expect(made).toBe(2)
  await reader.cancel()
})
