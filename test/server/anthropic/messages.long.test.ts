/** Anthropic's messages over the wire, with the shipped model: whole replies, streams, conversations, and what is refused. */
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import { createFetch } from "../../../server/serve.ts"
import { bodyOf } from "../../support/replies.ts"

let engine: Engine
let fetchApp: typeof fetch
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 1024 })
  fetchApp = createFetch(createApp(engine))
})
afterAll(() => engine.close())

const messages = [{ role: "user", content: "What is the weather in Paris?" }]
const place = {
  type: "object",
  properties: { city: { type: "string", maxLength: 12 }, unit: { enum: ["c", "f"] } },
  required: ["city", "unit"],
  additionalProperties: false,
}
const weather = { name: "get_weather", description: "of a city", input_schema: place }
const now = { name: "now", input_schema: { type: "object" } }
const tools = [weather, now]
const yes = { format: { type: "json_schema", schema: { enum: ["yes", "no"] } } }
const thoughts = { tokenrail: { reason: { until: "</think>" } } }

function post(fields: object, path = "/v1/messages"): Promise<Response> {
  return fetchApp(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "any" },
    body: JSON.stringify({ model: engine.model.id, messages, max_tokens: 200, ...fields }),
  })
}

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
async function reply(fields: object): Promise<any> {
  return bodyOf(await post(fields))
}

// biome-ignore lint/suspicious/noExplicitAny: events are compared field by field
async function events(fields: object): Promise<any[]> {
  const response = await post({ stream: true, ...fields })
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream; charset=utf-8",
  ])
  const blocks = (await response.text()).split("\n\n").slice(0, -1)
  return blocks.map((block) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? []
    const event = JSON.parse(data)
    expect(event.type).toBe(name)
    return event
  })
}

/** The message that a stream adds up to; each event must stand where Anthropic's clients expect it. */
// biome-ignore lint/suspicious/noExplicitAny: events are added field by field
function joined(stream: any[]): any {
  const [first, ...rest] = stream
  expect(first.type).toBe("message_start")
  expect([first.message.content, first.message.stop_reason]).toEqual([[], null])
  expect(rest.slice(-2).map(({ type }) => type)).toEqual(["message_delta", "message_stop"])
  const message = { ...first.message }
  let open = -1
  const texts: string[] = []
  for (const event of rest.slice(0, -2)) {
    if (event.type === "content_block_start") {
      expect([open, event.index]).toEqual([-1, message.content.length])
      open = event.index
      texts[open] = ""
      message.content.push({ ...event.content_block })
      continue
    }
    expect(event.index).toBe(open)
    const block = message.content[open]
    const { delta } = event
    if (event.type === "content_block_stop") {
      open = -1
      if (block.type === "tool_use") block.input = JSON.parse(texts[event.index])
    } else if (delta.type === "text_delta") block.text += delta.text
    else if (delta.type === "thinking_delta") block.thinking += delta.thinking
    else if (delta.type === "signature_delta") block.signature = delta.signature
    else texts[open] += delta.partial_json
  }
  expect(open).toBe(-1)
  const { delta, usage } = rest.at(-2)
  return { ...message, ...delta, usage: { ...message.usage, ...usage } }
}

const ajv = new Ajv2020()

/** Without what two answers cannot share. */
// biome-ignore lint/suspicious/noExplicitAny: as above
const comparable = ({ id: _, usage, content, ...message }: any) => ({
  ...message,
  output: usage.output_tokens,
  input: usage.input_tokens + usage.cache_read_input_tokens,
  // biome-ignore lint/suspicious/noExplicitAny: as above
  content: content.map(({ id: _, ...block }: any) => block),
})

describe("a whole reply", () => {
  test("is a message", async () => {
    const message = await reply({ structured_outputs: { regex: "[a-z]{40}" }, max_tokens: 6, seed: 1 })
    expect(message).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      type: "message",
      role: "assistant",
      model: engine.model.id,
      content: [{ type: "text", text: expect.stringMatching(/^[a-z]+$/) }],
      stop_reason: "max_tokens",
      stop_sequence: null,
      container: null,
      diagnostics: null,
      stop_details: null,
      usage: {
        input_tokens: expect.any(Number),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: expect.any(Number),
        output_tokens: 6,
        output_tokens_details: { thinking_tokens: 0 },
        cache_creation: null,
        inference_geo: null,
        server_tool_use: null,
        service_tier: "standard",
        speed: null,
      },
      tokenrail: { seed: 1 },
    })
  })

  test("any calls a tool, whatever the model wants", async () => {
    for (const seed of [1, 2, 3]) {
      const fields = { tools: [weather], tool_choice: { type: "any" }, seed, temperature: 1.5 }
      const { content, stop_reason } = await reply(fields)
      expect(stop_reason).toBe("tool_use")
      for (const { type, id, name, input } of content) {
        expect([type, name, /^toolu_\w{24}$/.test(id)]).toEqual(["tool_use", "get_weather", true])
        expect(ajv.validate(place, input), JSON.stringify(input)).toBe(true)
      }
    }
  })

  test("a named tool is called once", async () => {
    const { content, stop_reason } = await reply({
      tools,
      tool_choice: { type: "tool", name: "now" },
      seed: 1,
    })
    expect([content.length, content[0].name, stop_reason]).toEqual([1, "now", "tool_use"])
  })

  test("a tool without a schema is called without arguments", async () => {
    for (const tool of [{ name: "now" }, { name: "now", input_schema: null, type: "custom", strict: true }]) {
      const { content } = await reply({ tools: [tool], tool_choice: { type: "tool", name: "now" } })
      expect(content[0].input).toEqual({})
    }
  })

  test("disable_parallel_tool_use is one call at most", async () => {
    for (const seed of [1, 2, 3, 4]) {
      const choice = { type: "any", disable_parallel_tool_use: true }
      const { content } = await reply({ tools, tool_choice: choice, seed, temperature: 2 })
      expect(content.length).toBe(1)
    }
  })

  test("none calls nothing", async () => {
    for (const seed of [1, 2, 3]) {
      const { content } = await reply({
        tools,
        tool_choice: { type: "none" },
        seed,
        temperature: 2,
        max_tokens: 40,
      })
      expect(content.map(({ type }: { type: string }) => type)).toEqual(["text"])
    }
  })

  test.each([
    ["output_config", { output_config: yes }],
    ["its older name", { output_format: yes.format }],
    ["structured_outputs", { structured_outputs: { json: yes.format.schema } }],
  ])("%s holds the answer", async (_, fields) => {
    const { content, stop_reason } = await reply({ ...fields, seed: 2, temperature: 2 })
    expect([content.length, stop_reason]).toEqual([1, "end_turn"])
    expect(["yes", "no"]).toContain(JSON.parse(content[0].text))
  })

  test("beside output_config there are calls or what it asks for, nothing else", async () => {
    const ended = new Set()
    for (let seed = 1; seed <= 12; seed++) {
      const tokenrail = { tools_in_prompt: false }
      const fields = { tools: [now], output_config: yes, seed, temperature: 2, tokenrail }
      const { content, stop_reason } = await reply(fields)
      ended.add(stop_reason)
      if (stop_reason === "end_turn") expect(["yes", "no"]).toContain(JSON.parse(content[0].text))
      else expect(content[0].name).toBe("now")
    }
    expect([...ended].sort()).toEqual(["end_turn", "tool_use"])
  })

  test("a stop sequence is told", async () => {
    const logit_bias = Object.fromEntries(engine.model.endIds.map((id) => [id, -100]))
    const fields = { structured_outputs: { regex: "a[bc]*" }, stop_sequences: ["b", "c"], logit_bias }
    for (const seed of [1, 2, 3]) {
      const { content, stop_reason, stop_sequence } = await reply({ ...fields, seed, temperature: 2 })
      expect([content, stop_reason]).toEqual([[{ type: "text", text: "a" }], "stop_sequence"])
      expect(["b", "c"]).toContain(stop_sequence)
    }
  })

  test("thinking comes first, within its budget", async () => {
    const fields = {
      output_config: yes,
      thinking: { type: "enabled", budget_tokens: 6 },
      ...thoughts,
      seed: 2,
    }
    const { content, usage } = await reply(fields)
    const [thinking, text] = content
    expect([thinking.type, typeof thinking.thinking, thinking.signature !== ""]).toEqual([
      "thinking",
      "string",
      true,
    ])
    expect(["yes", "no"]).toContain(JSON.parse(text.text))
    expect(usage.output_tokens_details.thinking_tokens).toBeGreaterThan(0)
    const omitted = await reply({ ...fields, thinking: { ...fields.thinking, display: "omitted" } })
    expect(omitted.content).toEqual([{ ...thinking, thinking: "" }, text])
  })

  test("arguments stand in it as they were written", async () => {
    const schema = { type: "object", properties: { 2: { const: 1 }, 1: { const: 2 } }, required: ["2", "1"] }
    const big =
      '{"type":"object","properties":{"n":{"const":12345678901234567890}},"required":["n"],"additionalProperties":false}'
    const post = (input: string) =>
      fetchApp("http://localhost/v1/messages", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: `{"model":${JSON.stringify(engine.model.id)},"messages":${JSON.stringify(messages)},"max_tokens":200,"tools":[{"name":"f","input_schema":${input}}],"tool_choice":{"type":"any","disable_parallel_tool_use":true}}`,
      }).then((response) => response.text())
    expect(await post(big)).toMatch(/"input":\{\s*"n":\s*12345678901234567890\s*\}\}\]/)
    const closed = JSON.stringify({ ...schema, additionalProperties: false }).replace(
      '"1":{"const":2},"2":{"const":1}',
      '"2":{"const":1},"1":{"const":2}',
    )
    expect(await post(closed)).toMatch(/"input":\{\s*"2":\s*1,\s*"1":\s*2\s*\}\}\]/)
  })
})

describe("a stream", () => {
  test.each([
    ["text", { max_tokens: 20 }],
    ["calls", { tools, tool_choice: { type: "any" } }],
    ["either", { tools }],
    ["JSON", { output_config: yes }],
    ["thoughts", { output_config: yes, thinking: { type: "enabled", budget_tokens: 6 }, ...thoughts }],
    [
      "thoughts that are not shown",
      {
        output_config: yes,
        thinking: { type: "enabled", budget_tokens: 6, display: "omitted" },
        ...thoughts,
      },
    ],
  ])("of %s adds up to the whole reply", async (_, fields) => {
    for (const seed of [1, 5, 7]) {
      const whole = await reply({ ...fields, seed, temperature: 1.2 })
      const message = joined(await events({ ...fields, seed, temperature: 1.2 }))
      expect(comparable(message)).toEqual(comparable(whole))
    }
  })

  test("tells what its text does to the values, where that is asked for", async () => {
    const fields = { structured_outputs: { json: { const: { a: [true] } } }, tokenrail: { fields: true } }
    const stream = await events(fields)
    const told = stream.flatMap(({ tokenrail }) => tokenrail?.fields ?? [])
    expect(told.at(-1)).toEqual({ event: "close", path: "", value: { a: [true] } })
  })

  test("pings while nothing comes", async () => {
    const slow = createFetch(createApp(engine, { heartbeatMs: 1 }))
    const body = { model: engine.model.id, messages, max_tokens: 60, stream: true, temperature: 1.5 }
    const response = await slow("http://localhost/v1/messages", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    expect(await response.text()).toContain('event: ping\ndata: {"type":"ping"}\n\n')
  })
})

describe("a conversation", () => {
  test("goes on behind calls, thoughts and results", async () => {
    const call = { type: "tool_use", id: "toolu_1", name: "now", input: {} }
    const result = { type: "tool_result", tool_use_id: "toolu_1" }
    for (const [said, answered] of [
      [[call], [result]],
      [[{ type: "text", text: "One moment." }, call], [{ ...result, content: "noon" }]],
      [
        [{ type: "thinking", thinking: "Hm.", signature: "unsigned" }, call],
        [
          { ...result, content: [{ type: "text", text: "noon" }], is_error: true },
          { type: "text", text: "So?", cache_control: { type: "ephemeral" } },
        ],
      ],
    ]) {
      const history = [...messages, { role: "assistant", content: said }, { role: "user", content: answered }]
      const system = [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]
      const { role } = await reply({ system, messages: history, tools, max_tokens: 30 })
      expect(role).toBe("assistant")
    }
  })

  test("its reply is the next request's message", async () => {
    const asked = { tools, tool_choice: { type: "any" }, temperature: 1.5, seed: 4 }
    const { content } = await reply(asked)
    const results = content.map(({ id }: { id: string }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: "sunny",
    }))
    const history = [...messages, { role: "assistant", content }, { role: "user", content: results }]
    const { stop_reason } = await reply({ ...asked, tool_choice: { type: "none" }, messages: history })
    expect(["end_turn", "max_tokens"]).toContain(stop_reason)
  })
})

test("count_tokens counts what a message reads", async () => {
  const count = async (fields: object) =>
    (await (await post({ max_tokens: undefined, ...fields }, "/v1/messages/count_tokens")).json())
      .input_tokens
  const spent = async (fields: object) => {
    const { usage } = await reply({ max_tokens: 1, tokenrail: { on_length: "truncate" }, ...fields })
    return usage.input_tokens + usage.cache_read_input_tokens
  }
  for (const fields of [{}, { system: "Be brief." }, { tools }]) {
    expect(await count(fields)).toBe(await spent(fields))
  }
  expect(await count({ tools, tool_choice: { type: "none" } })).toBe(await count({}))
  expect(await count({ tools })).toBeGreaterThan(await count({}))
  const shown = { output_config: yes, tokenrail: { schema_in_prompt: true } }
  expect(await count(shown)).toBe(await spent({ ...shown, max_tokens: 40 }))
  const history = [...messages, { role: "assistant", content: "Sunny." }]
  expect(await count({ messages: history })).toBeGreaterThan(await count({}))
})
