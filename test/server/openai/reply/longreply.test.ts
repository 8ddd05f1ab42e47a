import { expect, test } from "vitest"
import { LongReply } from "../../../../server/openai/reply/longreply.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const make = (items: readonly number[]) => items.map((item) => ({ item, text: `"${item}` }))

test.each([
  ["no list", []],
  ["short ones", [0, 1, 255]],
  ["long ones", [256, 1_000]],
  ["both", [0, 256, 3, 1_001, 32]],
  ["many short ones", Array(40).fill(100)],
])("%s: the reply is that of JSON.stringify", async (_, counts) => {
  const reply = new LongReply()
  const lists = counts.map((count) => ({ before: "[", rows: reply.list(numbers(count), make), after: null }))
  const response = reply.response({ first: true, lists, last: "}" }, { "x-name": "value" })
  expect([response.headers.get("content-type"), response.headers.get("x-name")]).toEqual([
    "application/json",
    "value",
  ])
  const expected = counts.map((count) => ({ before: "[", rows: make(numbers(count)), after: null }))
  expect(await response.text()).toBe(JSON.stringify({ first: true, lists: expected, last: "}" }))
})

test("what is made at once is bounded over all lists, and smaller for long items", () => {
  const reply = new LongReply()
  let madeCount = 0
  const count = (items: readonly number[]) => {
    madeCount += items.length
    return [...items]
  }
  for (let list = 0; list < 100; list++) reply.list(numbers(100), count)
  expect(madeCount).toBeLessThan(256)
  madeCount = 0
  const traced = new LongReply()
  for (let list = 0; list < 100; list++) traced.list(numbers(5), count, 4)
  expect(madeCount).toBeLessThan(32)
})

test("others have their turn while a long list is written", async () => {
  const reply = new LongReply()
  const row = { token: "x", logprob: -1, bytes: [120] }
  const list = reply.list(numbers(20_000), (items) =>
    items.map((item) => ({ item, top: Array(20).fill(row) })),
  )
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const text = await reply.response({ list }, {}).text()
  clearInterval(timer)
  expect(JSON.parse(text).list.length).toBe(20_000)
  expect(turns).toBeGreaterThan(100)
})

test("a reader who leaves ends the writing", async () => {
  const reply = new LongReply()
  let madeCount = 0
  const list = reply.list(numbers(100_000), (items) => {
    madeCount += items.length
    return [...items]
  })
  const reader = reply.response({ list }, {}).body!.getReader()
  await reader.read()
  await reader.read()
  await reader.cancel()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(madeCount).toBeLessThan(1_000)
})
