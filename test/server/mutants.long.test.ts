import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp } from "../../server/app.ts"

let engine: Engine
let app: ReturnType<typeof createApp>
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  app = createApp(engine, { anyModel: true })
})
afterAll(() => engine.close())

const schema: Json = {
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  type: "object",
  properties: {
    a: { type: "string", pattern: "^a+$", maxLength: 3 },
    b: { type: "integer", minimum: 1 },
    c: { type: "array", items: { anyOf: [{ enum: [1, "x"] }, { $ref: "#/$defs/node" }] }, maxItems: 2 },
  },
  required: ["a"],
  additionalProperties: false,
}
const base: { [key: string]: Json } = {
  model: "m",
  messages: [{ role: "user", content: "hi" }],
  max_tokens: 2,
}
const bodies: Json[] = [
  { ...base, response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } } },
  {
    ...base,
    structured_outputs: { regex: "(a|b)*c", whitespace: "any" },
    temperature: 1,
    top_p: 0.9,
    seed: 1,
    n: 2,
  },
  {
    ...base,
    guided_choice: ["yes", "no"],
    stop: ["x"],
    logit_bias: { "5": 1 },
    logprobs: true,
    top_logprobs: 2,
  },
  {
    ...base,
    stream: true,
    stream_options: { include_usage: true },
    tokenrail: { report: true, order: "any" },
  },
]

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const junk = fc.oneof(
  fc.constantFrom<Json>(null, true, -1, 0, 1e300, 1.5, "", "json_schema", "integer", "\ud800", [], {}, [[]], {
    type: "x",
  }),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
)
const names = fc.constantFrom(
  ...["type", "schema", "$ref", "allOf", "not", "format", "minimum", "pattern", "required", "items", "tools"],
  ...[
    "regex",
    "json",
    "n",
    "stop",
    "seed",
    "temperature",
    "max_tokens",
    "mirostat",
    "content",
    "role",
    "__proto__",
  ],
)
const step = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom("replace", "remove", "add"),
  value: junk,
  name: names,
})

/** The body with one change at the `at`-th place of it. */
function mutate(
  body: Json,
  { at, kind, value, name }: { at: number; kind: string; value: Json; name: string },
): Json {
  const copy = structuredClone(body)
  const places: [holder: Record<string, Json>, key: string][] = []
  const visit = (holder: Record<string, Json>) => {
    for (const key of Object.keys(holder)) {
      places.push([holder, key])
      if (typeof holder[key] === "object" && holder[key] !== null) visit(holder[key] as Record<string, Json>)
    }
  }
  visit(copy as Record<string, Json>)
  if (places.length === 0) return copy
  const [holder, key] = places[at % places.length]
  if (kind === "remove") delete holder[key]
  else if (kind === "replace") holder[key] = value
  else Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
  return copy
}

test("no body makes the server fail: every mutant is answered or refused with a message", {
  timeout: 300_000,
}, async () => {
  const seen = new Map<number, number>()
  const property = fc.asyncProperty(
    fc.constantFrom(...bodies),
    fc.array(step, { minLength: 1, maxLength: 3 }),
    async (body, steps) => {
      const mutant = JSON.stringify(steps.reduce(mutate, body))
      const response = await app.request("/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: mutant,
      })
      const text = await response.text()
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
      expect([200, 400, 404], `${mutant}\n${text}`).toContain(response.status)
      if (response.status === 200) expect(text, mutant).not.toContain('"server_error"')
      else expect(JSON.parse(text).error.message.length, mutant).toBeGreaterThan(5)
    },
  )
  await fc.assert(property, { numRuns: 1000, seed: 7 })
  // Both sides of the line are met, or nothing was tested.
  expect(seen.get(200)).toBeGreaterThan(50)
  expect(seen.get(400)).toBeGreaterThan(200)
  expect(engine.load()).toMatchObject({ running: 0, waiting: 0 })
})
