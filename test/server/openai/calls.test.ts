/** Calls of tools over the wire, with the shipped model: whole replies, streams, and what is refused. */
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import { createFetch } from "../../../server/serve.ts"
import { bodyOf, chunksOf } from "../../support/replies.ts"

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
const weather = {
  type: "function",
  function: { name: "get_weather", description: "of a city", parameters: place },
}
const now = { type: "function", function: { name: "now" } }
const digits = {
  type: "custom",
  custom: { name: "dial", format: { type: "grammar", grammar: { syntax: "regex", definition: "[0-9]{3}" } } },
}
const tools = [weather, now, digits]
const loose = { type: "object", properties: { city: { type: "string", maxLength: 8 } }, required: ["city"] }
const named = (name: string) => ({ type: "function", function: { name } })
const yes = { type: "json_schema", json_schema: { name: "x", schema: { enum: ["yes", "no"] } } }

function post(fields: object): Promise<Response> {
  return fetchApp("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: engine.model.id, messages, max_tokens: 200, ...fields }),
  })
}

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
async function reply(fields: object): Promise<any> {
  return bodyOf(await post(fields))
}

// biome-ignore lint/suspicious/noExplicitAny: chunks are compared field by field
async function chunks(fields: object): Promise<any[]> {
  return chunksOf(await post({ stream: true, ...fields }))
}

/** The message that the deltas of a stream add up to. */
// biome-ignore lint/suspicious/noExplicitAny: deltas are added field by field
function joined(stream: any[]): any {
  // biome-ignore lint/suspicious/noExplicitAny: the same
  const message: any = { content: "", reasoning: "", calls: [] }
  for (const { choices } of stream) {
    const delta = choices[0]?.delta ?? {}
    message.content += delta.content ?? ""
    message.reasoning += delta.reasoning_content ?? ""
    for (const { index, id, type, function: func, custom } of delta.tool_calls ?? []) {
      if (id !== undefined) message.calls[index] = { id, type, name: (func ?? custom).name, text: "" }
      else expect((func ?? custom).name).toBe(undefined)
      message.calls[index].text += func?.arguments ?? custom?.input ?? ""
    }
    if (choices[0]?.finish_reason) message.finish = choices[0].finish_reason
  }
  return message
}

const ajv = new Ajv2020()

describe("a whole reply", () => {
  test("required calls a tool, whatever the model wants", async () => {
    for (const seed of [1, 2, 3]) {
      const { choices } = await reply({ tools: [weather], tool_choice: "required", seed, temperature: 1.5 })
      const [{ message, finish_reason }] = choices
      expect([message.content, finish_reason]).toEqual([null, "tool_calls"])
      for (const { id, type, function: func } of message.tool_calls) {
        expect([type, func.name, /^call_\w{24}$/.test(id)]).toEqual(["function", "get_weather", true])
        expect(ajv.validate(place, JSON.parse(func.arguments)), func.arguments).toBe(true)
      }
    }
  })

  test("arguments and strict answers have the declared names alone, and the report says where", async () => {
    const closed = async (fields: object, policy: object = {}) => {
      const { tokenrail } = await reply({ ...fields, tokenrail: { report: true, ...policy } })
      const notes: { path: string; note?: string }[] = tokenrail.report.keywords
      return notes.filter(({ note }) => note?.includes("openObjects")).map(({ path }) => path)
    }
    const call = {
      tools: [{ type: "function", function: { name: "f", parameters: loose } }],
      tool_choice: "required",
    }
    expect(await closed(call)).toEqual(["/0/function/parameters/properties"])
    expect(await closed(call, { open_objects: "always" })).toEqual([])
    const answer = (strict: boolean) => ({
      response_format: { type: "json_schema", json_schema: { name: "x", strict, schema: loose } },
      max_tokens: 30,
    })
    expect(await closed(answer(true))).toEqual(["/properties"])
    expect(await closed(answer(false))).toEqual([])
    expect(await closed(answer(false), { open_objects: "declared" })).toEqual(["/properties"])
  })

  test("a named tool is called once, and the reason is stop", async () => {
    const { choices } = await reply({ tools, tool_choice: named("now"), seed: 1 })
    const [{ message, finish_reason }] = choices
    expect([message.tool_calls.length, message.tool_calls[0].function.name, finish_reason]).toEqual([
      1,
      "now",
      "stop",
    ])
    expect(JSON.parse(message.tool_calls[0].function.arguments)).toEqual({})
  })

  test("the input of a custom tool is its text", async () => {
    const { choices } = await reply({
      tools,
      tool_choice: { type: "custom", custom: { name: "dial" } },
      seed: 1,
    })
    const [call] = choices[0].message.tool_calls
    expect([call.type, call.custom.name]).toEqual(["custom", "dial"])
    expect(call.custom.input).toMatch(/^[0-9]{3}$/)
  })

  test("parallel_tool_calls: false is one call at most, and max_tool_calls so many", async () => {
    for (const seed of [1, 2, 3, 4]) {
      const once = await reply({
        tools,
        tool_choice: "required",
        parallel_tool_calls: false,
        seed,
        temperature: 2,
      })
      expect(once.choices[0].message.tool_calls.length).toBe(1)
      const twice = await reply({ tools, tool_choice: "required", max_tool_calls: 2, seed, temperature: 2 })
      expect(twice.choices[0].message.tool_calls.length).toBeLessThanOrEqual(2)
    }
  })

  test("none calls nothing and says nothing of calls", async () => {
    for (const seed of [1, 2, 3]) {
      const { choices } = await reply({ tools, tool_choice: "none", seed, temperature: 2, max_tokens: 40 })
      expect(choices[0].message.tool_calls).toBe(undefined)
      expect(choices[0].message.content).not.toContain("<tool_call>")
    }
  })

  test("beside a response format there are calls or what it asks for, nothing else", async () => {
    const ended = new Set()
    for (let seed = 1; seed <= 12; seed++) {
      // Where the prompt tells of tools, this model calls them every time.
      const tokenrail = { tools_in_prompt: false }
      const { choices } = await reply({ tools: [now], response_format: yes, seed, temperature: 2, tokenrail })
      const { content, tool_calls: calls } = choices[0].message
      ended.add(calls === undefined ? "text" : "call")
      if (calls === undefined) expect(["yes", "no"]).toContain(JSON.parse(content))
      else expect([content, calls[0].function.name]).toEqual([null, "now"])
    }
    expect([...ended].sort()).toEqual(["call", "text"])
  })

  test("a budget completes calls, and cuts text", async () => {
    const { choices } = await reply({
      tools: [weather],
      tool_choice: "required",
      max_tokens: 48,
      temperature: 2,
      seed: 9,
    })
    const { tool_calls: calls } = choices[0].message
    for (const call of calls) expect(ajv.validate(place, JSON.parse(call.function.arguments))).toBe(true)
    const cut = await reply({ tools, max_tokens: 2, seed: 1 })
    if (cut.choices[0].message.tool_calls === undefined && cut.usage.completion_tokens === 2)
      expect(cut.choices[0].finish_reason).toBe("length")
  })

  test("thinking first, then the answer", async () => {
    const { choices, usage } = await reply({
      response_format: yes,
      thinking_token_budget: 6,
      tokenrail: { reason: { until: "</think>" } },
      seed: 2,
    })
    const { content, reasoning_content, reasoning } = choices[0].message
    expect(["yes", "no"]).toContain(JSON.parse(content))
    expect(reasoning).toBe(reasoning_content)
    expect(usage.completion_tokens_details.reasoning_tokens).toBeGreaterThan(0)
  })
})

describe("a stream", () => {
  test.each([
    ["calls", { tools, tool_choice: "required" }],
    ["a custom call", { tools, tool_choice: { type: "custom", custom: { name: "dial" } } }],
    ["either", { tools }],
    [
      "thoughts",
      { response_format: yes, thinking_token_budget: 6, tokenrail: { reason: { until: "</think>" } } },
    ],
  ])("of %s adds up to the whole reply", async (_, fields) => {
    for (const seed of [1, 5, 7]) {
      const whole = (await reply({ ...fields, seed, temperature: 1.2 })).choices[0]
      const message = joined(await chunks({ ...fields, seed, temperature: 1.2 }))
      expect(message.content).toBe(whole.message.content ?? "")
      expect(message.reasoning).toBe(whole.message.reasoning_content ?? "")
      expect(message.finish).toBe(whole.finish_reason)
      // biome-ignore lint/suspicious/noExplicitAny: as above
      const calls = (whole.message.tool_calls ?? []).map(({ type, function: func, custom }: any) => ({
        type,
        name: (func ?? custom).name,
        text: func?.arguments ?? custom.input,
      }))
      expect(message.calls.map(({ id: _, ...call }: { id: string }) => call)).toEqual(calls)
    }
  })

  test("usage counts every token, and the rows of log-probabilities are those of the whole", async () => {
    const fields = {
      tools,
      tool_choice: "required",
      seed: 3,
      logprobs: true,
      stream_options: { include_usage: true },
    }
    const stream = await chunks(fields)
    const { stream_options: _, ...rest } = fields
    const whole = await reply(rest)
    expect(stream.at(-1).usage.completion_tokens).toBe(whole.usage.completion_tokens)
    expect(stream.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])).toEqual(
      whole.choices[0].logprobs.content,
    )
  })
})

describe("a conversation", () => {
  test("goes on behind calls and their results", async () => {
    const call = { id: "call_1", type: "function", function: { name: "now", arguments: "{}" } }
    for (const content of [null, "", undefined, "One moment."]) {
      const history = [
        ...messages,
        { role: "assistant", content, tool_calls: [call], phase: "commentary" },
        { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "noon" }] },
      ]
      const { choices } = await reply({ messages: history, tools, max_tokens: 30 })
      expect(choices[0].message.role).toBe("assistant")
    }
  })

  test.each([
    ["an unknown id", { role: "tool", tool_call_id: "call_2", content: "x" }, "messages[1].tool_call_id"],
    ["no id", { role: "tool", content: "x" }, "messages[1].tool_call_id"],
  ])("a result with %s is refused", async (_, message, param) => {
    const response = await post({ messages: [...messages, message], tools })
    const { error } = await response.json()
    expect([response.status, error.param]).toEqual([400, param])
  })
})

test.each<[what: string, fields: object, param: string, path: string | undefined, message: RegExp]>([
  [
    "a schema that is wrong",
    {
      tools: [
        now,
        {
          type: "function",
          function: { name: "f", parameters: { type: "object", properties: { a: { type: "odd" } } } },
        },
      ],
    },
    "tools",
    "/1/function/parameters/properties/a/type",
    /the tool "f"/,
  ],
  [
    "a schema of no object",
    { tools: [{ type: "function", function: { name: "f", parameters: { type: "string" } } }] },
    "tools",
    "/0/function/parameters",
    /arguments are an object/,
  ],
  [
    "a grammar that is wrong",
    {
      tools: [
        {
          type: "custom",
          custom: {
            name: "g",
            format: { type: "grammar", grammar: { syntax: "lark", definition: "start: (" } },
          },
        },
      ],
    },
    "tools",
    undefined,
    /the tool "g"/,
  ],
  [
    "the answer's schema",
    { tools, response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: "odd" } } } },
    "response_format.json_schema.schema",
    "/type",
    /odd/,
  ],
  [
    "a budget below the shortest call",
    { tools, tool_choice: "required", max_tokens: 3 },
    "max_tokens",
    undefined,
    /3/,
  ],
])("%s is refused before the first byte", async (_, fields, param, path, message) => {
  for (const stream of [false, true]) {
    const response = await post({ ...fields, stream })
    const { error } = await response.json()
    expect([response.status, error.param]).toEqual([400, param])
    if (path !== undefined) expect(error.path).toBe(path)
    expect(error.message).toMatch(message)
  }
})
