/** `tokenrail: {confidence: true}` on every endpoint, in streams and in whole replies. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import { createFetch } from "../../../server/index.ts"

let engine: Engine
let fetch: ReturnType<typeof createFetch>
beforeAll(async () => {
  engine = await open({ device: "cpu", isolation: "none" })
  fetch = createFetch(createApp(engine))
})
afterAll(() => engine.close())

const schema = {
  type: "object",
  properties: { unit: { enum: ["c", "f"] }, days: { type: "integer", minimum: 1, maximum: 14 } },
  required: ["unit", "days"],
  additionalProperties: false,
}
const format = { type: "json_schema", name: "x", schema }
const chat = { messages: [{ role: "user", content: "Weather?" }], max_tokens: 80 }
const tool = { type: "function", function: { name: "go", parameters: schema } }
const json = { structured_outputs: { json: schema } }

function post(path: string, body: object): Promise<Response> {
  return fetch(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: engine.model.id, seed: 1, ...body }),
  })
}

interface Field {
  event: string
  path: string
  value?: unknown
  logprob?: number
  mass?: number
  tool_index?: number
}

/** The lists of fields in a reply, wherever they stand. */
function fieldsIn(value: unknown): Field[] {
  if (typeof value !== "object" || value === null) return []
  const { tokenrail, ...rest } = value as { tokenrail?: { fields?: Field[] } }
  return [...(tokenrail?.fields ?? []), ...Object.values(rest).flatMap(fieldsIn)]
}

function streamed(text: string): Field[] {
  const data = text.split("\n").filter((line) => line.startsWith("data: {"))
  const events = data.map((line) => JSON.parse(line.slice("data: ".length)))
  // The last event of a response repeats it as a whole.
  return events.filter(({ type }) => type !== "response.completed").flatMap(fieldsIn)
}

test.each<[name: string, path: string, body: object]>([
  ["chat", "/v1/chat/completions", { ...chat, ...json }],
  [
    "arguments in chat",
    "/v1/chat/completions",
    { ...chat, tools: [tool], tool_choice: "required", max_tool_calls: 1 },
  ],
  ["completions", "/v1/completions", { prompt: "Weather: ", max_tokens: 80, ...json }],
  ["responses", "/v1/responses", { input: "Weather?", max_output_tokens: 80, text: { format } }],
  ["messages", "/v1/messages", { ...chat, output_config: { format: { type: "json_schema", schema } } }],
])("%s: closing values tell how sure the model was of them", async (_, path, body) => {
  const asked = { ...body, tokenrail: { confidence: true } }
  const whole = await (await post(path, asked)).json()
  const closed = fieldsIn(whole)
  expect(
    closed.map(({ event }) => event),
    JSON.stringify(whole),
  ).toEqual(["close", "close", "close"])
  expect(closed.map((field) => field.path)).toEqual(["/unit", "/days", ""])
  for (const { logprob, mass } of closed) {
    expect(logprob).toBeLessThanOrEqual(0)
    expect([mass! > 0, mass! <= 1]).toEqual([true, true])
  }
  const fields = streamed(await (await post(path, { ...asked, stream: true })).text())
  const near = closed.map((field) => {
    const { logprob, mass } = field
    return { ...field, logprob: expect.closeTo(logprob!, 4), mass: expect.closeTo(mass!, 4) }
  })
  expect(fields.filter(({ event }) => event === "close")).toEqual(near)
  expect(fields.filter(({ event }) => event === "open").map((field) => field.path)).toEqual([
    "",
    "/unit",
    "/days",
  ])
})

test("what nobody asked for is not told, and what excludes itself is refused", async () => {
  const plain = await (await post("/v1/chat/completions", { ...chat, ...json })).json()
  expect(fieldsIn(plain)).toEqual([])
  const tokenrail = { confidence: true, fields: false }
  const refused = await post("/v1/chat/completions", { ...chat, ...json, tokenrail })
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { param: "confidence", message: expect.stringContaining("leave one out") } },
  ])
})
