/**
 * Replies and events of every endpoint against the types that OpenAI and Anthropic publish with their clients: nothing that they
 * say is there is missing, or of another kind. A client reads fields without a look at them.
 */
import { expect, test } from "vitest"
import { publishedFaults } from "../support/published.ts"
import { serveWays } from "../support/ways.ts"

const served = serveWays({ onLength: "close" })
const faultsOf = publishedFaults()

const parameters = {
  type: "object",
  properties: { city: { type: "string", maxLength: 8 }, unit: { enum: ["c", "f"] } },
  required: ["city", "unit"],
  additionalProperties: false,
}
const named = { name: "get_weather", description: "of a city", parameters }
const chatTool = { type: "function", function: { ...named, strict: true } }
const flatTool = { type: "function", ...named, strict: true }
const lark = { syntax: "lark", definition: 'start: "go " /[a-z]{2,5}/' }
const custom = { type: "custom", name: "move", description: "", format: { type: "grammar", ...lark } }
const chatCustom = {
  type: "custom",
  custom: { name: "move", description: "", format: { type: "grammar", grammar: lark } },
}
const schema = {
  type: "object",
  properties: { yes: { type: "boolean" } },
  required: ["yes"],
  additionalProperties: false,
}
const base = { model: "any", seed: 1 }
const messages = [{ role: "user", content: "What is the weather in Paris?" }]
const reason = { thinking_token_budget: 6, tokenrail: { reason: { until: "</think>" } } }

async function post(path: string, body: object): Promise<Response> {
  const { baseURL, fetch } = served.client("in process")
  const response = await fetch(`${baseURL}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  expect([path, response.status, response.ok ? "" : await response.text()]).toEqual([path, 200, ""])
  return response
}

/** The events of a stream. */
async function eventsOf(response: Response): Promise<unknown[]> {
  const data = (await response.text()).split("\n").filter((line) => line.startsWith("data: "))
  return data.map((line) => line.slice(6)).flatMap((text) => (text === "[DONE]" ? [] : [JSON.parse(text)]))
}

/** Both ways: the reply whole, and every event of its stream. */
async function expectPublished(path: string, body: object, whole: string, part: string): Promise<void> {
  expect(faultsOf(whole, await (await post(path, body)).json())).toEqual([])
  const events = await eventsOf(await post(path, { ...body, stream: true }))
  expect(events.length).toBeGreaterThan(1)
  for (const event of events) expect([event, faultsOf(part, event)]).toEqual([event, []])
}

test("what lacks a field is found", () => {
  expect(faultsOf("PublishedChat", { id: "a", object: "chat.completion", created: 1, model: "m" })).toContain(
    " must have required property 'choices'",
  )
})

test.each<[string, object]>([
  ["text", { max_tokens: 8 }],
  ["two answers", { max_tokens: 8, n: 2 }],
  ["usage at the end", { max_tokens: 8, stream_options: { include_usage: true } }],
  ["log-probabilities", { max_tokens: 4, logprobs: true, top_logprobs: 3 }],
  ["an object", { response_format: { type: "json_schema", json_schema: { name: "a", schema } } }],
  ["calls", { tools: [chatTool], tool_choice: "required", max_tokens: 200 }],
  ["custom calls", { tools: [chatCustom], tool_choice: "required", max_tokens: 200 }],
  ["thoughts", { ...reason, response_format: { type: "json_schema", json_schema: { name: "a", schema } } }],
])("chat: %s", async (_, fields) => {
  const { stream_options, ...others } = fields as { stream_options?: object }
  await expectPublished(
    "/chat/completions",
    { ...base, messages, ...others },
    "PublishedChat",
    "PublishedChatChunk",
  )
  if (stream_options) {
    const events = await eventsOf(
      await post("/chat/completions", { ...base, messages, ...fields, stream: true }),
    )
    for (const event of events) expect(faultsOf("PublishedChatChunk", event)).toEqual([])
  }
})

test.each<[string, object]>([
  ["text", {}],
  ["two answers, echoed, with log-probabilities", { n: 2, echo: true, logprobs: 2 }],
  ["the best of three", { best_of: 3, stream: false }],
])("completions: %s", async (_, fields) => {
  const body = { ...base, prompt: "Once upon", max_tokens: 6, ...fields }
  if ("best_of" in body)
    expect(faultsOf("PublishedCompletion", await (await post("/completions", body)).json())).toEqual([])
  else await expectPublished("/completions", body, "PublishedCompletion", "PublishedCompletion")
})

test.each<[string, object]>([
  ["text", { max_output_tokens: 16 }],
  ["an object", { text: { format: { type: "json_schema", name: "a", schema } } }],
  ["calls", { tools: [flatTool], tool_choice: "required", max_output_tokens: 200 }],
  ["custom calls", { tools: [custom], tool_choice: "required", max_output_tokens: 200 }],
  ["thoughts", { ...reason, text: { format: { type: "json_schema", name: "a", schema } } }],
  [
    "log-probabilities",
    { max_output_tokens: 16, include: ["message.output_text.logprobs"], top_logprobs: 2 },
  ],
])("responses: %s", async (_, fields) => {
  const body = { ...base, input: "What is the weather in Paris?", ...fields }
  await expectPublished("/responses", body, "PublishedResponse", "PublishedResponseEvent")
})

test("a stored response, its items, the list of models", async () => {
  const { baseURL, fetch } = served.client("in process")
  const { id } = await (await post("/responses", { ...base, input: "Hi", max_output_tokens: 16 })).json()
  const get = async (path: string) => (await fetch(`${baseURL}${path}`)).json()
  expect(faultsOf("PublishedResponse", await get(`/responses/${id}`))).toEqual([])
  expect(faultsOf("PublishedResponseItems", await get(`/responses/${id}/input_items`))).toEqual([])
  expect(faultsOf("PublishedModels", await get("/models"))).toEqual([])
})

test.each<[string, object]>([
  ["text", { max_tokens: 8 }],
  ["an object", { output_config: { format: { type: "json_schema", schema } } }],
  ["calls", { tools: [{ name: "get_weather", input_schema: parameters }], tool_choice: { type: "any" } }],
  ["thoughts", { ...reason, thinking: { type: "adaptive" } }],
])("messages: %s", async (_, fields) => {
  await expectPublished(
    "/messages",
    { ...base, messages, max_tokens: 200, ...fields },
    "PublishedMessage",
    "PublishedMessageEvent",
  )
})

test("tokens of messages, counted", async () => {
  const count = await (await post("/messages/count_tokens", { ...base, messages })).json()
  expect(faultsOf("PublishedMessageCount", count)).toEqual([])
})
