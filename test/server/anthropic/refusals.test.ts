/** What Anthropic's endpoints refuse: by which field, in which form, and before the first byte of a stream. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { type AppOptions, createApp } from "../../../server/app.ts"
import { Refusal } from "../../../server/errors.ts"
import { defaultBodyLimits } from "../../../server/http/body.ts"
import { readBody } from "../../../server/openai/read/readbody.ts"

const messages = [{ role: "user", content: "Hi" }]
const f = { name: "f", input_schema: { type: "object" } }
const user = (content: unknown) => ({ messages: [{ role: "user", content }] })
const assistant = (content: unknown) => ({ messages: [{ role: "assistant", content }, ...messages] })
const schema = { type: "json_schema", schema: { type: "object" } }

function refusal(fields: object): Refusal {
  const body = JSON.stringify({ model: "m", max_tokens: 10, messages, ...fields })
  try {
    readBody("messages", new TextEncoder().encode(body), defaultBodyLimits)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`not refused: ${body}`)
}

describe("fields", () => {
  test.each<[what: string, fields: object, param: string, message?: RegExp]>([
    ["no model", { model: undefined }, "model"],
    ["no max_tokens", { max_tokens: undefined }, "max_tokens"],
    ["max_tokens 0", { max_tokens: 0 }, "max_tokens"],
    ["no messages", { messages: undefined }, "messages"],
    ["an empty list of messages", { messages: [] }, "messages"],
    ["a message that is none", { messages: ["Hi"] }, "messages[0]"],
    ["another role", { messages: [{ role: "tool", content: "x" }] }, "messages[0].role", /user or assistant/],
    ["no content", { messages: [{ role: "user" }] }, "messages[0].content"],
    ["content that is no list", user(7), "messages[0].content"],
    ["a block that is none", user(["x"]), "messages[0].content[0]"],
    [
      "an image",
      user([
        { type: "text", text: "x" },
        { type: "image", source: {} },
      ]),
      "messages[0].content[1].type",
      /text only/,
    ],
    ["a document", user([{ type: "document", source: {} }]), "messages[0].content[0].type", /text only/],
    ["a block without type", user([{ text: "x" }]), "messages[0].content[0].type", /missing/],
    ["a text without text", user([{ type: "text" }]), "messages[0].content[0].text", /missing/],
    ["a call of the user", user([{ type: "tool_use" }]), "messages[0].content[0].type"],
    ["a result of the assistant", assistant([{ type: "tool_result" }]), "messages[0].content[0].type"],
    [
      "a call without id",
      assistant([{ type: "tool_use", name: "f", input: {} }]),
      "messages[0].content[0].id",
    ],
    [
      "a call of a text",
      assistant([{ type: "tool_use", id: "a", name: "f", input: "{}" }]),
      "messages[0].content[0].input",
    ],
    [
      "a result of an unknown call",
      user([{ type: "tool_result", tool_use_id: "toolu_1" }]),
      "messages[0].content[0].tool_use_id",
      /no earlier call has the id "toolu_1"/,
    ],
    [
      "a result without id",
      user([{ type: "tool_result", content: "x" }]),
      "messages[0].content[0].tool_use_id",
    ],
    [
      "an image as a result",
      {
        messages: [
          ...messages,
          { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "a", content: [{ type: "image" }] }],
          },
        ],
      },
      "messages[2].content[0].content[0].type",
    ],
    [
      "a prefilled answer",
      { messages: [...messages, { role: "assistant", content: "{" }] },
      "messages",
      /continue it/,
    ],
    ["a system text that is none", { system: 7 }, "system"],
    ["an image in it", { system: [{ type: "image" }] }, "system[0].type"],
    ["an empty stop sequence", { stop_sequences: [""] }, "stop_sequences[0]"],
    ["stop", { stop: "x" }, "stop", /stop_sequences/],
    ["two answers", { n: 2 }, "n"],
    ["a thread", { thread: { type: "create" } }, "thread", /whole conversation/],
    ["a container", { container: "c_1" }, "container"],
    ["half a surrogate pair", user("x\ud800"), "messages[0].content"],
  ])("%s", (_, fields, param, message = /./) => {
    const { details, message: said } = refusal(fields)
    expect(details.param).toBe(param)
    expect(said).toMatch(message)
  })
})

describe("tools", () => {
  test.each<[what: string, fields: object, param: string, message?: RegExp]>([
    ["no list", { tools: {} }, "tools"],
    ["a tool that is none", { tools: ["f"] }, "tools[0]"],
    ["no name", { tools: [{ input_schema: {} }] }, "tools[0].name"],
    ["a name that is none", { tools: [{ ...f, name: "a b" }] }, "tools[0].name"],
    ["a name twice", { tools: [f, f] }, "tools[1].name"],
    ["a schema that is a text", { tools: [{ name: "f", input_schema: "{}" }] }, "tools[0].input_schema"],
    [
      "the shape of chat",
      { tools: [{ type: "function", function: { name: "f" } }] },
      "tools[0]",
      /input_schema/,
    ],
    ["a flat function", { tools: [{ name: "f", parameters: {} }] }, "tools[0].parameters", /input_schema/],
    ["a type that is none", { tools: [{ type: "robot", name: "x" }] }, "tools[0].type"],
    ...["web_search_20250305", "bash_20250124", "code_execution_20250825", "mcp_toolset"].map(
      (type): [string, object, string, RegExp] => [
        `${type} alone, where a call is asked for`,
        { tools: [{ type, name: "x" }], tool_choice: { type: "any" } },
        "tool_choice",
        /no tool is run here/,
      ],
    ),
    ["a program that calls", { tools: [{ ...f, allowed_callers: ["code_x"] }] }, "tools[0].allowed_callers"],
    ["a choice that is a text", { tools: [f], tool_choice: "any" }, "tool_choice"],
    ["a choice of no type", { tools: [f], tool_choice: {} }, "tool_choice.type"],
    ["chat's choice", { tools: [f], tool_choice: { type: "required" } }, "tool_choice.type"],
    ["any without tools", { tool_choice: { type: "any" } }, "tool_choice"],
    ["a tool without a name", { tools: [f], tool_choice: { type: "tool" } }, "tool_choice.name"],
    ["an unknown one", { tools: [f], tool_choice: { type: "tool", name: "g" } }, "tool_choice.name", /"g"/],
    [
      "a flag that is none",
      { tools: [f], tool_choice: { type: "auto", disable_parallel_tool_use: "yes" } },
      "tool_choice.disable_parallel_tool_use",
    ],
    ["chat's flag", { tools: [f], parallel_tool_calls: false }, "parallel_tool_calls", /disable_parallel/],
  ])("%s", (_, fields, param, message = /./) => {
    const { details, message: said } = refusal(fields)
    expect(details.param).toBe(param)
    expect(said).toMatch(message)
  })
})

describe("thinking and constraints", () => {
  test.each<[what: string, fields: object, param: string, message?: RegExp]>([
    ["another type", { thinking: { type: "between_tools" } }, "thinking.type"],
    ["no budget", { thinking: { type: "enabled" } }, "thinking.budget_tokens"],
    [
      "a budget of all",
      { thinking: { type: "enabled", budget_tokens: 10 } },
      "thinking.budget_tokens",
      /max_tokens/,
    ],
    ["an unknown effort", { output_config: { effort: "huge" } }, "output_config.effort"],
    ["an unknown key beside it", { output_config: { formats: schema } }, "output_config", /"formats"/],
    ["a format of no type", { output_config: { format: {} } }, "output_config.format.type"],
    [
      "a format without a schema",
      { output_config: { format: { type: "json_schema" } } },
      "output_config.format.schema",
    ],
    [
      "an unknown key in a format",
      { output_config: { format: { ...schema, patern: "x" } } },
      "output_config.format.patern",
    ],
    ["OpenAI's format", { response_format: schema }, "response_format", /output_config\.format/],
    [
      "two formats under both names",
      { output_config: { format: schema }, output_format: { ...schema, schema: { type: "array" } } },
      "output_format.schema",
      /output_config\.format\.schema and output_format\.schema both constrain/,
    ],
    [
      "two constraints",
      { output_config: { format: schema }, structured_outputs: { regex: "a" } },
      "structured_outputs.regex",
      /output_config\.format\.schema/,
    ],
    ["what looks like a constraint", { guided_jsn: {} }, "guided_jsn", /Did you mean/],
    ["an unknown policy", { tokenrail: { whitespac: "none" } }, "tokenrail"],
  ])("%s", (_, fields, param, message = /./) => {
    const { details, message: said } = refusal(fields)
    expect(details.param).toBe(param)
    expect(said).toMatch(message)
  })
})

test("other endpoints refuse what would be a constraint here", () => {
  for (const fields of [{ output_config: { format: schema } }, { output_format: schema }]) {
    const body = new TextEncoder().encode(JSON.stringify({ model: "m", messages, ...fields }))
    expect(() => readBody("chat", body, defaultBodyLimits)).toThrow(/looks like a constraint/)
  }
})

describe("over the wire", () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open({ device: "cpu", context: 1024 })
  })
  afterAll(() => engine.close())

  async function post(fields: object, options: AppOptions & { headers?: object; path?: string } = {}) {
    const { headers = {}, path = "/v1/messages", ...appOptions } = options
    const response = await createApp(engine, appOptions).request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: engine.model.id, max_tokens: 50, messages, ...fields }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  const bad = { name: "g", input_schema: { type: "object", properties: { a: { type: "odd" } } } }
  test.each<[what: string, fields: object, status: number, type: string, more: object]>([
    ["a field", { max_tokens: -1 }, 400, "invalid_request_error", { param: "max_tokens" }],
    ["a model", { model: "claude-9" }, 404, "not_found_error", { param: "model" }],
    [
      "a schema",
      { output_config: { format: { type: "json_schema", schema: { type: "odd" } } } },
      400,
      "invalid_request_error",
      { param: "output_config.format.schema", path: "/type" },
    ],
    [
      "the schema of a tool",
      { tools: [f, bad] },
      400,
      "invalid_request_error",
      { param: "tools", path: "/1/input_schema/properties/a/type", message: expect.stringMatching(/"g"/) },
    ],
    [
      "a schema that is no object's",
      { tools: [{ name: "f", input_schema: { type: "string" } }] },
      400,
      "invalid_request_error",
      { param: "tools", path: "/0/input_schema" },
    ],
    [
      "a budget below the shortest call",
      { tools: [bad, f].slice(1), tool_choice: { type: "any" }, max_tokens: 3 },
      400,
      "invalid_request_error",
      { param: "max_tokens" },
    ],
    [
      "a thread, as clients know it",
      { thread: { type: "create" } },
      400,
      "invalid_request_error",
      { details: { error_code: "thread_unsupported_request" } },
    ],
    [
      "a prompt above the context",
      user("word ".repeat(3000)),
      400,
      "invalid_request_error",
      {
        code: "context_length_exceeded",
        param: "messages",
        message: expect.stringMatching(/^prompt is too long: /),
      },
    ],
  ])("%s is refused before the first byte", async (_, fields, status, type, more) => {
    for (const stream of [false, true]) {
      const { status: told, body, headers } = await post({ ...fields, stream })
      expect([told, headers.get("content-type")]).toEqual([status, "application/json"])
      expect(body).toEqual({
        type: "error",
        error: expect.objectContaining({ type, message: expect.any(String), ...more }),
        request_id: headers.get("request-id"),
      })
    }
  })

  test("the key comes in either header", async () => {
    const options = { apiKeys: ["secret"] }
    const { status, body } = await post({}, options)
    expect([status, body.type, body.error.type]).toEqual([401, "error", "authentication_error"])
    for (const headers of [{ "x-api-key": "secret" }, { authorization: "Bearer secret" }])
      expect((await post({ max_tokens: 1 }, { ...options, headers })).status).toBe(200)
    expect((await post({}, { ...options, headers: { "x-api-key": "wrong" } })).status).toBe(401)
  })

  test("other methods, other paths, and a server that is going", async () => {
    const app = createApp(engine)
    const wrong = await app.request("/v1/messages", { method: "GET" })
    expect([wrong.status, (await wrong.json()).error.type]).toEqual([405, "invalid_request_error"])
    expect(wrong.headers.get("allow")).toBe("POST")
    const none = await post({}, { path: "/v1/messages/batches" })
    expect([none.status, none.body.type, none.body.error.type]).toEqual([404, "error", "not_found_error"])
    const going = await post({}, { status: () => "draining" })
    expect([going.status, going.body.error.type]).toEqual([503, "overloaded_error"])
    expect(going.headers.get("retry-after")).toBe("1")
    const elsewhere = await app.request("/v1/messagesx", { method: "POST" })
    expect((await elsewhere.json()).type).toBe(undefined)
  })

  test("a count is refused in the same form", async () => {
    const path = "/v1/messages/count_tokens"
    for (const [fields, type] of [
      [{ messages: [] }, "invalid_request_error"],
      [{ model: "claude-9" }, "not_found_error"],
    ] as const) {
      const { body } = await post(fields, { path })
      expect([body.type, body.error.type]).toEqual(["error", type])
    }
  })

  test("keys without effect are accepted, unknown ones named", async () => {
    const { status, headers } = await post({
      max_tokens: 1,
      metadata: { user_id: "u" },
      service_tier: "auto",
      cache_control: { type: "ephemeral" },
      context_management: {},
      inference_geo: "us",
      container: null,
      mcp_servers: [],
      favourite: 1,
      tools: [{ ...f, cache_control: { type: "ephemeral" }, defer_loading: true, input_examples: [{}] }],
      tool_choice: { type: "none" },
    })
    expect([status, headers.get("x-tokenrail-ignored")]).toEqual([200, "favourite"])
  })
})
