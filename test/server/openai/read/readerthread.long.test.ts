/** Large bodies are read beside the event loop, by the same function, within bounds of time and memory. */
import fc from "fast-check"
import { afterEach, describe, expect, test } from "vitest"
import { AbortError } from "../../../../runtime/index.ts"
import { Refusal } from "../../../../server/errors.ts"
import { defaultBodyLimits } from "../../../../server/http/body.ts"
import { createBodyReader, inlineReader, maxSparseBytes } from "../../../../server/openai/read/bodyreader.ts"
import { ReaderThread } from "../../../../server/openai/read/readerthread.ts"

const { signal } = new AbortController()
const base = '"model":"m","messages":[{"role":"user","content":"hi"}]'
const encode = (text: string) => new TextEncoder().encode(text)
const open: ReaderThread[] = []
afterEach(async () => {
  for (const thread of open.splice(0)) await thread.close()
})

function thread(limits?: ConstructorParameters<typeof ReaderThread>[0]): ReaderThread {
  const made = new ReaderThread(limits)
  open.push(made)
  return made
}

/** What a reader makes of a body: the request, or all of its refusal. */
async function outcome(reader: Pick<ReaderThread, "read">, body: string): Promise<unknown> {
  try {
    return await reader.read("chat", encode(body), defaultBodyLimits, signal)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [error.code, error.message, error.fault, error.details]
  }
}

describe("both ways of reading agree", () => {
  const schema = '{"type":"object","properties":{"2":{"const":1.0},"1":{"maximum":9223372036854775808}}}'
  const bodies = [
    `{${base}}`,
    `{${base},"seed":9223372036854775807,"stop":["a","b"],"logit_bias":{"5":1},"x":1,"__proto__":2}`,
    `{${base},"response_format":{"type":"json_schema","json_schema":{"schema":${schema}}},"n":2}`,
    `{${base},"structured_outputs":{"choice":["a","\\ud83d\\ude00"],"whitespace":"any"}}`,
    `{${base},"guided_regex":"a+","tokenrail":{"on_length":"close","report":true,"schema_in_prompt":true}}`,
    `{${base},"chat_template_kwargs":{"a":[1,{"b":null}]},"prediction":{"type":"content","content":"x"}}`,
    `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"x":{"y":[1e999]}}]}`,
    ...[
      "",
      "[]",
      "{",
      `{${base},${base}}`,
      `{${base},"seed":1e999}`,
      `{${base},"x\\ud800":1}`,
      `{"model":"m"}`,
    ],
    ...[`{${base},"stop":"${"x".repeat(5_000)}"}`, `{${base},"n":0}`, `{${base},"guided_lark":"x"}`],
    ...[`{${base},"response_format":{"type":"x"}}`, `{${base},"audio":{}}`, `{${base},"tokenrail":{"x":1}}`],
  ]

  test("of every kind of body", async () => {
    const reader = thread()
    for (const body of bodies) {
      expect(await outcome(reader, body), body.slice(0, 200)).toEqual(await outcome(inlineReader, body))
    }
  })

  test("of bodies that are cut, doubled and mixed", async () => {
    const reader = thread()
    const pieces = fc.array(fc.tuple(fc.constantFrom(...bodies), fc.nat(60), fc.nat(60)), {
      minLength: 1,
      maxLength: 3,
    })
    await fc.assert(
      fc.asyncProperty(pieces, async (parts) => {
        const body = parts.map(([text, start, end]) => text.slice(start, text.length - end)).join("")
        expect(await outcome(reader, body)).toEqual(await outcome(inlineReader, body))
      }),
      { numRuns: 300, seed: 5 },
    )
  })
})

describe("bounds of one body", () => {
  const numbers = `{${base},"metadata":[${"{},".repeat(990_000)}0]}`

  test("time: the body is refused, and the next one gets a new thread", async () => {
    const reader = thread({ maxMs: 250 })
    const [late, next] = await Promise.all([outcome(reader, numbers), outcome(thread(), `{${base}}`)])
    expect(late).toEqual([
      "request_too_large",
      "the body takes more than the bound of 250 ms to read. Send less, or in fewer and longer texts",
      ...[expect.anything(), expect.anything()],
    ])
    expect(await outcome(reader, `{${base}}`)).toEqual(next)
  })

  test("memory: what the counts let through leaves room in the thread's heap", async () => {
    const reader = thread({ maxMs: 60_000 })
    for (const metadata of [
      `[${"{},".repeat(999_900)}0]`,
      `[${'{"a":0},'.repeat(666_600)}0]`,
      `[${'"a",'.repeat(1_999_900)}0]`,
      `"${"\\n".repeat(2_999_900)}"`,
    ]) {
      const answer = await outcome(reader, `{${base},"metadata":${metadata}}`)
      expect(answer, metadata.slice(0, 10)).toMatchObject({ chat: { model: "m" } })
    }
  })
})

describe("the line", () => {
  test("is bounded: one more is queue_full", async () => {
    const reader = thread({ maxWaiting: 2 })
    const answers = await Promise.all(Array.from({ length: 4 }, () => outcome(reader, `{${base}}`)))
    expect(answers.filter((answer) => Array.isArray(answer)).map(([code]) => code)).toEqual([
      "queue_full",
      "queue_full",
    ])
  })

  test("an aborted request leaves it at once; the others are read", async () => {
    const reader = thread()
    const aborts = Array.from({ length: 20 }, () => new AbortController())
    const reads = aborts.map((abort) =>
      reader.read("chat", encode(`{${base}}`), defaultBodyLimits, abort.signal),
    )
    for (const abort of aborts.slice(1)) abort.abort()
    const results = await Promise.allSettled(reads)
    expect(results[0].status).toBe("fulfilled")
    for (const result of results.slice(1)) {
      expect(result.status === "rejected" && result.reason).toBeInstanceOf(AbortError)
    }
    await expect(
      reader.read("chat", encode("{}"), defaultBodyLimits, AbortSignal.abort()),
    ).rejects.toBeInstanceOf(AbortError)
  })

  test("an idle thread is ended, and comes back", async () => {
    const reader = thread({ idleMs: 20 })
    const threads = reader as unknown as { worker?: unknown }
    await outcome(reader, `{${base}}`)
    expect(threads.worker).toBeDefined()
    await expect.poll(() => threads.worker).toBeUndefined()
    expect(await outcome(reader, `{${base}}`)).toMatchObject({ chat: { model: "m" } })
  })
})

test("the event loop turns while a large body is read", async () => {
  const reader = createBodyReader()
  const body = encode(`{${base},"metadata":[${'{"a":"b"},'.repeat(200_000)}0]}`)
  expect(body.length).toBeGreaterThan(maxSparseBytes)
  await reader.read(
    "chat",
    encode(`{${base},"x":"${"x".repeat(maxSparseBytes)}"}`),
    defaultBodyLimits,
    signal,
  )
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await reader.read("chat", body, defaultBodyLimits, signal)
  clearInterval(timer)
  // 2 MB take 0.3 s and more; read here they would let no timer fire.
  expect(turns).toBeGreaterThan(3)
})
