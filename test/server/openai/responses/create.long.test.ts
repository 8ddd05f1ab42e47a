/** Responses over the wire, with the shipped model: whole replies, streams event by event, and conversations. */
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../../../runtime/index.ts"
import { createApp } from "../../../../server/app.ts"
import { maxSparseBytes } from "../../../../server/openai/read/bodyreader.ts"
import { createFetch } from "../../../../server/serve.ts"

let engine: Engine
let fetchApp: typeof fetch
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 1024 })
  fetchApp = createFetch(createApp(engine, { apiKeys: ["one", "two"] }))
})
afterAll(() => engine.close())

const input = "What is the weather in Paris?"
const place = {
  type: "object",
  properties: { city: { type: "string", maxLength: 12 }, unit: { enum: ["c", "f"] } },
  required: ["city", "unit"],
  additionalProperties: false,
}
const weather = { type: "function", name: "get_weather", description: "of a city", parameters: place }
const now = { type: "function", name: "now", parameters: null }
const dial = {
  type: "custom",
  name: "dial",
  format: { type: "grammar", syntax: "regex", definition: "[0-9]{3}" },
}
const crm = { type: "namespace", name: "crm", description: "of customers", tools: [now] }
const yes = { format: { type: "json_schema", name: "x", schema: { enum: ["yes", "no"] } } }
const thoughts = { text: yes, thinking_token_budget: 6, tokenrail: { reason: { until: "</think>" } } }

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
type Json = any

function call(
  path: string,
  { key = "one", ...init }: RequestInit & { key?: string } = {},
): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  return fetchApp(`http://localhost/v1/responses${path}`, { ...init, headers })
}

function post(fields: object, { path = "", key = "one" } = {}): Promise<Response> {
  const body = JSON.stringify({ model: engine.model.id, input, max_output_tokens: 200, ...fields })
  return call(path, { method: "POST", body, key })
}

async function json(response: Response | Promise<Response>, status = 200): Promise<Json> {
  const body = await (await response).json()
  expect((await response).status, JSON.stringify(body)).toBe(status)
  return body
}

/** The events of a stream. Their names, numbers and order are checked. */
async function events(fields: object): Promise<Json[]> {
  const response = await post({ stream: true, ...fields })
  expect(response.status).toBe(200)
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
  const blocks = (await response.text())
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
  return blocks.map((block, i) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
    const event = JSON.parse(data)
    expect([event.type, event.sequence_number]).toEqual([name, i])
    return event
  })
}

/** The output that the events of a stream add up to, each checked against what came before. */
function joined(stream: Json[]): Json[] {
  const output: Json[] = []
  for (const event of stream) {
    const { type, output_index: at, item, item_id: id, content_index, delta } = event
    if (id !== undefined) expect(output[at].id).toBe(id)
    if (content_index !== undefined) expect(content_index).toBe(0)
    const open = output[at]
    switch (type) {
      case "response.output_item.added":
        expect([at, item.status]).toEqual([output.length, "in_progress"])
        output.push(structuredClone(item))
        break
      case "response.content_part.added":
        open.content.push(event.part)
        break
      case "response.output_text.delta":
      case "response.reasoning_text.delta":
        open.content[0].text += delta
        open.content[0].logprobs?.push(...event.logprobs)
        break
      case "response.output_text.done":
      case "response.reasoning_text.done":
        expect(open.content[0].text).toBe(event.text)
        break
      case "response.content_part.done":
        expect(open.content[0]).toEqual(event.part)
        break
      case "response.function_call_arguments.delta":
        open.arguments += delta
        break
      case "response.function_call_arguments.done":
        expect([open.name, open.arguments]).toEqual([event.name, event.arguments])
        break
      case "response.custom_tool_call_input.delta":
        open.input += delta
        break
      case "response.custom_tool_call_input.done":
        expect(open.input).toBe(event.input)
        break
      case "response.output_item.done":
        open.status = item.status
        expect(open).toEqual(item)
        break
    }
  }
  return output
}

/** Items without what differs from response to response. */
const bare = (items: Json[]) => items.map(({ id: _, call_id: __, ...item }) => item)
const ajv = new Ajv2020()

describe("a whole reply", () => {
  test("has every field of a response", async () => {
    const response = await json(post({ metadata: { a: "b" }, seed: 1, instructions: "Be brief." }))
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: engine.model.id,
      error: null,
      incomplete_details: null,
      instructions: "Be brief.",
      metadata: { a: "b" },
      store: true,
      tokenrail: { seed: 1 },
    })
    expect(response.id).toMatch(/^resp_\w{32}$/)
    expect([typeof response.created_at, typeof response.completed_at]).toEqual(["number", "number"])
    const { input_tokens, output_tokens, total_tokens } = response.usage
    expect(input_tokens + output_tokens).toBe(total_tokens)
    expect(response.usage.input_tokens_details).toEqual({ cached_tokens: 0, cache_write_tokens: 0 })
    expect(response.usage.output_tokens_details).toEqual({ reasoning_tokens: 0 })
    const [message] = response.output
    expect(message.id).toMatch(/^msg_/)
    expect(message).toMatchObject({ type: "message", role: "assistant", status: "completed" })
    expect(message.phase).toBe(undefined)
    expect(message.content[0]).toMatchObject({ type: "output_text", annotations: [], logprobs: [] })
  })

  test("text.format is enforced, and its text is a final answer", async () => {
    for (const seed of [1, 2, 3]) {
      const { output } = await json(post({ text: yes, seed, temperature: 2 }))
      expect(["yes", "no"]).toContain(JSON.parse(output[0].content[0].text))
      expect(output[0].phase).toBe("final_answer")
    }
  })

  test("calls of functions", async () => {
    for (const seed of [1, 2]) {
      const { output } = await json(
        post({ tools: [weather], tool_choice: "required", seed, temperature: 1.5 }),
      )
      expect(output.length).toBeGreaterThan(0)
      for (const item of output) {
        expect(item).toMatchObject({ type: "function_call", name: "get_weather", status: "completed" })
        expect([item.id, item.call_id]).toEqual([
          expect.stringMatching(/^fc_/),
          expect.stringMatching(/^call_/),
        ])
        expect(ajv.validate(place, JSON.parse(item.arguments)), item.arguments).toBe(true)
      }
    }
  })

  test("a call of a custom tool, and one of a namespace", async () => {
    const tools = [dial, crm]
    const custom = await json(post({ tools, tool_choice: { type: "custom", name: "dial" }, seed: 1 }))
    expect(custom.output).toMatchObject([{ type: "custom_tool_call", name: "dial" }])
    expect(custom.output[0].input).toMatch(/^[0-9]{3}$/)
    const spaced = await json(post({ tools, tool_choice: { type: "function", name: "now" }, seed: 1 }))
    expect(spaced.output).toMatchObject([{ type: "function_call", name: "now", namespace: "crm" }])
    expect(JSON.parse(spaced.output[0].arguments)).toEqual({})
  })

  test("max_tool_calls and parallel_tool_calls bound the calls", async () => {
    for (const seed of [1, 2, 3]) {
      const asked = { tools: [now], tool_choice: "required", seed, temperature: 2 }
      expect((await json(post({ ...asked, parallel_tool_calls: false }))).output.length).toBe(1)
      expect((await json(post({ ...asked, max_tool_calls: 2 }))).output.length).toBeLessThanOrEqual(2)
    }
  })

  test("reasoning is an item of its own, before the answer", async () => {
    const { output, usage } = await json(post({ ...thoughts, seed: 2 }))
    expect(output.map(({ type }: Json) => type)).toEqual(["reasoning", "message"])
    expect(output[0]).toMatchObject({
      summary: [],
      content: [{ type: "reasoning_text" }],
      status: "completed",
    })
    expect(output[0].id).toMatch(/^rs_/)
    expect(usage.output_tokens_details.reasoning_tokens).toBeGreaterThan(0)
  })

  test("a large body is read in a thread", async () => {
    const words = Array.from({ length: 8_000 }, (_, i) => `word${i}${"-".repeat(30)}`)
    const parameters = { type: "object", properties: { word: { enum: words } }, required: ["word"] }
    const tools = [{ type: "function", name: "say", parameters }]
    const asked = {
      tools,
      tool_choice: "required",
      parallel_tool_calls: false,
      tokenrail: { tools_in_prompt: false },
    }
    expect(JSON.stringify(asked).length).toBeGreaterThan(maxSparseBytes)
    const { output, tools: repeated } = await json(post({ ...asked, seed: 1 }))
    expect(words).toContain(JSON.parse(output[0].arguments).word)
    expect(repeated).toEqual([{ ...tools[0], strict: true }])
  })

  test("what the budget cuts is incomplete", async () => {
    const structured_outputs = { regex: "[a-z]{40}" }
    const response = await json(post({ structured_outputs, max_output_tokens: 3, seed: 1 }))
    expect([response.status, response.completed_at]).toEqual(["incomplete", null])
    expect(response.incomplete_details).toEqual({ reason: "max_output_tokens" })
    expect(response.output[0].status).toBe("incomplete")
  })

  test("log-probabilities where they are asked for", async () => {
    const { output } = await json(
      post({ include: ["message.output_text.logprobs"], top_logprobs: 2, seed: 1, text: yes }),
    )
    const [{ text, logprobs }] = output[0].content
    expect(logprobs.map(({ token }: Json) => token).join("")).toContain(text)
    expect(logprobs[0].top_logprobs.length).toBeGreaterThan(0)
  })
})

describe("a stream", () => {
  test.each<[what: string, fields: object]>([
    ["text", {}],
    ["an answer of a schema", { text: yes }],
    ["text that is cut", { max_output_tokens: 2, structured_outputs: { regex: "[a-z]{40}" } }],
    ["calls", { tools: [weather, now], tool_choice: "required" }],
    ["a custom call", { tools: [dial], tool_choice: { type: "custom", name: "dial" } }],
    ["either", { tools: [weather, dial, crm] }],
    ["thoughts", thoughts],
    ["log-probabilities", { top_logprobs: 1 }],
  ])("of %s adds up to the whole reply", async (_, fields) => {
    for (const seed of [1, 5]) {
      const asked = { ...fields, seed, temperature: 1.2 }
      const whole = await json(post(asked))
      const stream = await events(asked)
      expect(stream.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"])
      expect(stream[0].response).toMatchObject({ status: "in_progress", output: [], usage: null })
      const { type, response } = stream.at(-1)
      expect(type).toBe(`response.${whole.status}`)
      expect(response.output).toEqual(joined(stream))
      expect(bare(response.output)).toEqual(bare(whole.output))
      const { input_tokens_details: _, ...usage } = whole.usage
      expect(response.usage).toMatchObject(usage)
      expect({ ...response, ...same }).toEqual({ ...whole, ...same })
      expect(new Set([stream[0].response.id, stream[1].response.id, response.id]).size).toBe(1)
    }
  })
  const same = { id: "", created_at: 0, completed_at: 0, output: [], usage: null }

  test("begins and ends each kind of item by its own events", async () => {
    const types = async (fields: object) => {
      const all = (await events({ seed: 1, ...fields })).map(({ type }) => type.replace(/^response\./, ""))
      return all.filter((type, i) => type !== all[i - 1])
    }
    const begin = ["created", "in_progress", "output_item.added"]
    const text = ["content_part.added", "output_text.delta", "output_text.done", "content_part.done"]
    const end = ["output_item.done", "completed"]
    expect(await types({ text: yes })).toEqual([...begin, ...text, ...end])
    expect(await types(thoughts)).toEqual([
      ...[...begin, "reasoning_text.delta", "reasoning_text.done", "output_item.done"],
      ...["output_item.added", ...text, ...end],
    ])
    const once = { tools: [weather, dial], parallel_tool_calls: false }
    expect(await types({ ...once, tool_choice: { type: "function", name: "get_weather" } })).toEqual([
      ...[...begin, "function_call_arguments.delta", "function_call_arguments.done", ...end],
    ])
    expect(await types({ ...once, tool_choice: { type: "custom", name: "dial" } })).toEqual([
      ...[...begin, "custom_tool_call_input.delta", "custom_tool_call_input.done", ...end],
    ])
  })

  test("tells the values of its text and of its arguments", async () => {
    const fields = (stream: Json[]) => stream.flatMap(({ tokenrail }) => tokenrail?.fields ?? [])
    const tokenrail = { fields: true }
    const format = { type: "json_schema", name: "x", schema: place }
    const ends = { event: "close", path: "/unit" }
    expect(fields(await events({ text: { format }, tokenrail, seed: 1 }))).toContainEqual(
      expect.objectContaining(ends),
    )
    const called = fields(await events({ tools: [weather], tool_choice: "required", tokenrail, seed: 1 }))
    expect(called).toContainEqual(expect.objectContaining({ ...ends, tool_index: 0 }))
    const number = { type: "json_schema", name: "x", schema: { type: "integer", minimum: 10, maximum: 99 } }
    const last = fields(await events({ text: { format: number }, tokenrail, seed: 1 })).at(-1)
    expect(last).toMatchObject({ event: "close", path: "" })
  })

  test("that fails tells so by an error, then by a failed response", async () => {
    const { model } = engine
    const own = await open({ device: "cpu", context: 256, slots: 1 })
    const app = createFetch(createApp(own))
    const body = { model: model.id, input, stream: true, structured_outputs: { regex: "[a-z]{2000}" } }
    const headers = { "content-type": "application/json" }
    const response = await app("http://localhost/v1/responses", {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader.read()).value ?? ""
    await own.close()
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    const told = text.split("\n\n").filter((block) => block.startsWith("event:"))
    const [error, failed] = told
      .slice(-2)
      .map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)))
    expect(error).toMatchObject({
      type: "error",
      code: "shutting_down",
      param: null,
      sequence_number: told.length - 2,
    })
    expect(failed.type).toBe("response.failed")
    expect(failed.response).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: error.message },
    })
  })
})

describe("a conversation", () => {
  const history = [
    { role: "user", content: input },
    { type: "function_call", call_id: "call_1", name: "now", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "noon" },
  ]
  const count = async (fields: object) => {
    const { max_output_tokens: _, ...rest } = { max_output_tokens: 0, ...fields }
    const body = JSON.stringify({ model: engine.model.id, ...rest })
    return (await json(call("/input_tokens", { method: "POST", body }))).input_tokens
  }

  test("by items, by reference and by the response before is the same prompt", async () => {
    const first = await json(
      post({ tools: [now], tool_choice: "required", parallel_tool_calls: false, seed: 1 }),
    )
    const [item] = first.output
    const result = { type: "function_call_output", call_id: item.call_id, output: "noon" }
    const ask = { role: "user", content: input }
    const byItems = { input: [ask, item, result] }
    const byReference = { input: [ask, { type: "item_reference", id: item.id }, result] }
    const byResponse = { input: [result], previous_response_id: first.id }
    const asked = { tools: [now], seed: 3, temperature: 1.5, max_output_tokens: 40 }
    const replies = []
    for (const way of [byItems, byReference, byResponse]) replies.push(await json(post({ ...asked, ...way })))
    for (const { output, usage } of replies.slice(1)) {
      expect(bare(output)).toEqual(bare(replies[0].output))
      expect(usage.input_tokens).toBe(replies[0].usage.input_tokens)
    }
    expect(await count({ ...byResponse, tools: [now] })).toBe(replies[0].usage.input_tokens)
    expect(replies[2].previous_response_id).toBe(first.id)
    const third = await json(
      post({ input: "And then?", previous_response_id: replies[2].id, max_output_tokens: 5 }),
    )
    expect(third.usage.input_tokens).toBeGreaterThan(replies[2].usage.input_tokens - 60)
  })

  test("instructions are not replayed", async () => {
    const long = "word ".repeat(50)
    const first = await json(post({ instructions: long, max_output_tokens: 1, text: yes }))
    const plain = await count({ input: "more", previous_response_id: first.id })
    expect(plain).toBeLessThan(first.usage.input_tokens)
  })

  test("goes on behind calls and their results", async () => {
    const { output } = await json(post({ input: history, tools: [now], max_output_tokens: 30 }))
    expect(output.length).toBeGreaterThan(0)
  })

  test("input_tokens needs no model", async () => {
    const body = JSON.stringify({ input: "hi" })
    const reply = await json(call("/input_tokens", { method: "POST", body }))
    expect(reply).toEqual({ object: "response.input_tokens", input_tokens: await count({ input: "hi" }) })
  })
})

describe("the routes of a response", () => {
  test("get, its input, delete", async () => {
    const created = await json(
      post({
        text: yes,
        input: [
          { role: "user", content: "a" },
          { role: "user", content: "b" },
        ],
      }),
    )
    const path = `/${created.id}`
    expect(await json(call(path))).toEqual(created)
    const texts = (list: Json) => list.data.map(({ content }: Json) => content[0].text)
    const latest = await json(call(`${path}/input_items`))
    expect([latest.object, texts(latest), latest.has_more]).toEqual(["list", ["b", "a"], false])
    const first = await json(call(`${path}/input_items?order=asc&limit=1`))
    expect([texts(first), first.has_more, first.first_id === first.last_id]).toEqual([["a"], true, true])
    const second = await json(call(`${path}/input_items?order=asc&limit=1&after=${first.last_id}`))
    expect([texts(second), second.has_more]).toEqual([["b"], false])
    expect(await json(call(path, { method: "DELETE" }))).toEqual({
      id: created.id,
      object: "response",
      deleted: true,
    })
    for (const [method, at] of [
      ["GET", path],
      ["DELETE", path],
      ["GET", `${path}/input_items`],
      ["POST", `${path}/cancel`],
    ])
      expect((await json(call(at, { method }), 404)).error).toMatchObject({
        code: "not_found",
        param: "response_id",
      })
  })

  test("store: false keeps nothing, and rows of log-probabilities are not kept", async () => {
    const { id } = await json(post({ text: yes, store: false }))
    await json(call(`/${id}`), 404)
    await json(post({ previous_response_id: id }), 404)
    const rows = await json(post({ text: yes, top_logprobs: 1 }))
    const kept = await json(call(`/${rows.id}`))
    expect([rows.output[0].content[0].logprobs.length > 0, kept.output[0].content[0].logprobs]).toEqual([
      true,
      [],
    ])
  })

  test("a response is its key's alone", async () => {
    const { id, output } = await json(post({ text: yes }))
    await json(call(`/${id}`, { key: "two" }), 404)
    await json(call(`/${id}/input_items`, { key: "two" }), 404)
    await json(call(`/${id}`, { key: "two", method: "DELETE" }), 404)
    const referred = { input: [{ type: "item_reference", id: output[0].id }] }
    for (const fields of [{ previous_response_id: id }, referred]) {
      expect((await json(post(fields, { key: "two" }), 404)).error.code).toBe("not_found")
      await json(post({ max_output_tokens: 1, ...fields }))
    }
  })

  test("cancel ends what is under way, and refuses what has ended", async () => {
    const response = await post({
      stream: true,
      structured_outputs: { regex: "[a-z]{3000}" },
      max_output_tokens: 800,
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    while (!text.includes("output_text.delta")) text += (await reader.read()).value
    const [id] = /resp_\w+/.exec(text)!
    expect(await json(call(`/${id}`))).toMatchObject({ id, status: "in_progress" })
    const cancelled = await json(call(`/${id}/cancel`, { method: "POST" }))
    expect(cancelled).toMatchObject({ id, status: "cancelled" })
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    const last = text.trimEnd().split("\n\n").at(-1)!
    expect(last).toMatch(/^event: response\.incomplete\n/)
    expect(JSON.parse(last.slice(last.indexOf("data: ") + 6)).response.status).toBe("cancelled")
    expect((await json(call(`/${id}/cancel`, { method: "POST" }))).status).toBe("cancelled")
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
    const ended = await json(post({ text: yes }))
    const { error } = await json(call(`/${ended.id}/cancel`, { method: "POST" }), 400)
    expect(error.message).toMatch(/has ended: it is completed/)
  })

  test.each([
    ["?stream=true", "stream"],
    ["/input_items?limit=0", "limit"],
    ["/input_items?limit=x", "limit"],
    ["/input_items?order=up", "order"],
  ])("%s is refused", async (query, param) => {
    const { id } = await json(post({ text: yes }))
    expect((await json(call(`/${id}${query}`), 400)).error.param).toBe(param)
    expect((await json(call(`/${id}/input_items?after=x`), 404)).error.param).toBe("after")
  })

  test("another method is 405", async () => {
    expect((await call("/resp_x", { method: "PUT" })).headers.get("allow")).toBe("GET, DELETE")
  })
})

test.each<[what: string, fields: object, param: string, path: string | undefined, message: RegExp]>([
  [
    "a tool's schema",
    { tools: [now, { ...weather, parameters: { type: "object", properties: { a: { type: "odd" } } } }] },
    "tools",
    "/1/parameters/properties/a/type",
    /\/1\/parameters.*the tool "get_weather"/,
  ],
  [
    "a grammar in a namespace",
    {
      tools: [
        { ...crm, tools: [{ ...dial, format: { type: "grammar", syntax: "lark", definition: "start: (" } }] },
      ],
    },
    "tools",
    undefined,
    /the tool "crm\.dial"/,
  ],
  [
    "the answer's schema",
    { text: { format: { type: "json_schema", schema: { type: "odd" } } } },
    "text.format.schema",
    "/type",
    /odd/,
  ],
  [
    "the answer's schema beside tools",
    { tools: [now], text: { format: { type: "json_schema", schema: { type: "odd" } } } },
    "text.format.schema",
    "/type",
    /odd/,
  ],
  [
    "a budget below the shortest call",
    { tools: [now], tool_choice: "required", max_output_tokens: 3 },
    "max_output_tokens",
    undefined,
    /^max_output_tokens: 3/,
  ],
  [
    "a prompt above the context",
    { input: "word ".repeat(2_000) },
    "input",
    undefined,
    /^This model's maximum context length is \d+ tokens\. However, your messages resulted in \d+ tokens\./,
  ],
  ["an unknown model", { model: "x" }, "model", undefined, /no model "x"/],
  [
    "an unknown response",
    { previous_response_id: "resp_x" },
    "previous_response_id",
    undefined,
    /no response "resp_x"/,
  ],
])("%s is refused before the first byte", async (_, fields, param, path, message) => {
  for (const stream of [false, true]) {
    const response = await post({ ...fields, stream })
    const { error } = await response.json()
    const isUnknown = param === "model" || param === "previous_response_id"
    expect([response.status, error.param]).toEqual([isUnknown ? 404 : 400, param])
    if (path !== undefined) expect(error.path).toBe(path)
    expect(error.message).toMatch(message)
  }
})
