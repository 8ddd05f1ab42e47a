/**
 * How sure the model was of each value: sums over the tokens from a value's first character to its last, as the
 * log-probabilities of the same answer have them.
 */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, type GenerateOptions, open, type StreamEvent } from "../../../runtime/index.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const turns =
  "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}<|assistant|>"

let engine: Engine
let tagging: Engine
beforeAll(async () => {
  engine = await engineOf("<tool_call>")
  tagging = await engineOf("<tool_call><function=")
})
afterAll(async () => {
  await engine.close()
  await tagging.close()
})

/** `sign`: by which the style of the calls is told. */
function engineOf(sign: string): Promise<Engine> {
  const template = `${turns}{# ${sign} #}`
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "confidence-")), { template, end: "<|end|>" })
  return open({ model, device: "cpu", isolation: "none", slots: 2 })
}

const point = {
  type: "object",
  properties: {
    x: { type: "integer", minimum: 0, maximum: 999 },
    s: { type: "string", pattern: "^[ -~]{0,6}$" },
    list: { type: "array", items: { type: ["boolean", "null"] }, minItems: 1, maxItems: 2 },
  },
  required: ["x", "s", "list"],
  additionalProperties: false,
}
const tools = [{ type: "function", function: { name: "go", parameters: point } }]

type Close = StreamEvent & { type: "close" }

async function eventsOf(options: GenerateOptions, from = engine): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of from.stream("hi", options)) events.push(event)
  return events
}

function closesOf(events: readonly StreamEvent[]): Close[] {
  return events.filter((event) => event.type === "close")
}

/** Where the values of a JSON text stand, by path: half-open, in bytes. */
function placesOf(text: string): Map<string, [start: number, end: number]> {
  const places = new Map<string, [number, number]>()
  const visit = (at: number, path: string, value: unknown): number => {
    let next = at + 1
    if (typeof value === "object" && value !== null) {
      const members = Object.entries(value)
      for (const [name, member] of members) {
        while (/[\s,]/.test(text[next])) next++
        if (!Array.isArray(value)) next = text.indexOf(":", next) + 1
        while (/\s/.test(text[next])) next++
        next = visit(next, `${path}/${name}`, member)
      }
      while (!/[\]}]/.test(text[next])) next++
      next++
    } else if (typeof value === "string") {
      while (text[next] !== '"') next += text[next] === "\\" ? 2 : 1
      next++
    } else {
      while (/[^\s,\]}]/.test(text[next])) next++
      // What ends a number stands behind it.
      if (typeof value === "number") next++
    }
    places.set(path, [at, next])
    return typeof value === "number" ? next - 1 : next
  }
  visit(text.search(/\S/), "", JSON.parse(text))
  return places
}

const asked: GenerateOptions = { schema: point, maxTokens: 200, temperature: 1.3, whitespace: "compact" }

test("a value's sums are those of the log-probabilities of its tokens", async () => {
  let compared = 0
  for (let seed = 1n; seed <= 8n; seed++) {
    const legal = await engine.generate("hi", { ...asked, seed, logprobs: 0 })
    const all = await engine.generate("hi", {
      ...asked,
      seed,
      logprobs: 0,
      logprobsMode: "unmasked_logprobs",
    })
    const events = await eventsOf({ ...asked, seed, confidence: true })
    const tokens = events.flatMap((event) => ("tokens" in event ? event.tokens : []))
    expect(tokens).toEqual(legal.tokens.slice(0, tokens.length))
    let byte = 0
    const starts = tokens.map((token) => {
      byte += engine.vocabulary.bytes(token).length
      return byte - engine.vocabulary.bytes(token).length
    })
    const places = placesOf(legal.text)
    const closes = closesOf(events)
    expect(closes.map(({ path }) => path).sort()).toEqual([...places.keys()].sort())
    for (const { path, logprob, mass } of closes) {
      const [start, end] = places.get(path)!
      const own = [...tokens.keys()].filter((i) => starts[i] < end && (starts[i + 1] ?? byte) > start)

      const sum = (rows: readonly { logprob: number }[]) =>
        own.reduce((total, i) => total + rows[i].logprob, 0)
      expect(logprob, `${legal.text} ${path}`).toBeCloseTo(sum(legal.logprobs!), 5)
      expect(Math.log(mass!) + logprob!, path).toBeCloseTo(sum(all.logprobs!), 4)
      expect(mass! > 0 && mass! <= 1).toBe(true)
      compared++
    }
  }
  expect(compared).toBeGreaterThan(20)
})

test("a number that stands alone counts the end of the text, which ends it", async () => {
  for (const seed of [1n, 2n, 3n]) {
    const number = { type: "integer", minimum: 1, maximum: 9_999_999 }
    const [close] = closesOf(await eventsOf({ schema: number, seed, maxTokens: 40, confidence: true }))
    const { logprobs, text } = await engine.generate("hi", {
      schema: number,
      seed,
      maxTokens: 40,
      logprobs: 0,
    })
    const written = logprobs!.reduce((total, row) => total + row.logprob, 0)
    expect(close).toMatchObject({ path: "", value: Number(text) })
    if (text.length < 7) expect(close.logprob).toBeLessThan(written)
    else expect(close.logprob).toBeCloseTo(written, 9)
  }
})

test.each<[name: string, options: GenerateOptions]>([
  ["stop strings hold text back", { stop: ['"q', ',"l', "e]}~"] }],
  ["events end at words", { streamGranularity: "word" }],
])("where %s, a value has the tokens that wrote it and no fewer", async (_, options) => {
  for (let seed = 1n; seed <= 4n; seed++) {
    const plain = closesOf(await eventsOf({ ...asked, seed, confidence: true }))
    const held = closesOf(await eventsOf({ ...asked, ...options, seed, confidence: true }))
    expect(held.map(({ path, value }) => [path, value])).toEqual(
      plain.map(({ path, value }) => [path, value]),
    )
    for (const [i, { path, logprob, mass }] of held.entries()) {
      expect(logprob!, path).toBeLessThanOrEqual(plain[i].logprob! + 1e-9)
      expect(mass!, path).toBeLessThanOrEqual(plain[i].mass! + 1e-9)
    }
    expect(held.at(-1)).toEqual(plain.at(-1))
  }
})

test.each([
  ["as JSON", () => engine],
  ["in tags", () => tagging],
])("the arguments of calls, %s, have it too, in a stream and in the whole answer", async (_, from) => {
  for (const seed of [1n, 2n, 3n]) {
    const calling: GenerateOptions = { tools, toolChoice: "required", maxToolCalls: 2, maxTokens: 300, seed }
    const events = await eventsOf({ ...calling, confidence: true }, from())
    const closes = closesOf(events)
    const whole = await from().generate("hi", { ...calling, confidence: true })
    expect(closes.length).toBeGreaterThanOrEqual(5)
    for (const { call, path, logprob, mass } of closes) {
      expect([call, path]).toEqual([expect.any(Number), expect.stringMatching(/^(\/\w+)*$/)])
      // The product over a long value may be smaller than any number.
      expect([logprob! <= 0, mass! >= 0, mass! <= 1]).toEqual([true, true, true])
    }
    for (const [call] of whole.toolCalls.entries()) {
      const own = closes.filter((close) => close.call === call)
      const root = own.at(-1)!
      // The whole holds its parts, and their tokens overlap in one at most.
      expect(root.path).toBe("")
      for (const { logprob, mass } of own)
        expect([root.logprob! <= logprob!, root.mass! <= mass!]).toEqual([true, true])
    }
    expect(whole.fields).toEqual(closes.map(({ choice: _, ...close }) => close))
  }
})

test("nobody asked, nothing is told", async () => {
  const events = await eventsOf({ ...asked, seed: 1n })
  for (const close of closesOf(events)) expect(Object.keys(close)).not.toContain("logprob")
  expect((await engine.generate("hi", { ...asked, seed: 1n })).fields).toBeNull()
})
