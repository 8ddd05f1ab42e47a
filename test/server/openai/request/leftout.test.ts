/** Tools of services, and what a conversation holds of them, over every endpoint that takes tools. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../../runtime/index.ts"
import { type AppOptions, createApp } from "../../../../server/app.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 1024 })
})
afterAll(() => engine.close())

async function post(path: string, fields: object, options: AppOptions = {}) {
  const app = createApp(engine, { anyModel: true, ...options })
  const response = await app.request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", ...fields }),
  })
  const text = await response.text()
  return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : null }
}

const messages = [{ role: "user", content: "hi" }]
const schema = { type: "object", properties: { a: { type: "boolean" } }, additionalProperties: false }
const chat = { messages, max_tokens: 8 }
const own = { type: "function", function: { name: "f", parameters: schema } }
const flat = { type: "function", name: "f", parameters: schema }
const anthropic = { name: "f", input_schema: schema }
const dated = { type: "web_search_20250305", name: "web_search", max_uses: 5 }
const search = { type: "web_search", external_web_access: false }

const requests: [what: string, path: string, fields: object, warnings: RegExp[]][] = [
  [
    "a tool",
    "/v1/chat/completions",
    { ...chat, tools: [own, search] },
    [/^tools\[1\]: "web_search" is left/],
  ],
  ["the only tool", "/v1/chat/completions", { ...chat, tools: [search] }, [/^tools\[0\]: "web_search"/]],
  [
    "a tool beside one that is chosen",
    "/v1/chat/completions",
    {
      ...chat,
      tools: [search, own],
      tool_choice: { type: "function", function: { name: "f" } },
      max_tokens: 40,
    },
    [/^tools\[0\]: "web_search"/],
  ],
  [
    "tools",
    "/v1/responses",
    { input: "hi", max_output_tokens: 8, tools: [search, flat, { type: "mcp", server_label: "x" }] },
    [/^tools\[0\]: "web_search"/, /^tools\[2\]: "mcp"/],
  ],
  [
    "a tool of a namespace",
    "/v1/responses",
    {
      input: "hi",
      max_output_tokens: 8,
      tools: [{ type: "namespace", name: "n", tools: [flat, { type: "image_generation" }] }],
    },
    [/^tools\[0\]\.tools\[1\]: "image_generation"/],
  ],
  [
    "calls and results of a conversation",
    "/v1/responses",
    {
      input: [
        { role: "user", content: "hi" },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
        { type: "local_shell_call", id: "l", call_id: "c1", status: "completed", action: { type: "exec" } },
        // Codex answers a call of its shell so.
        { type: "function_call_output", call_id: "c1", output: "done" },
        { type: "mcp_list_tools", id: "m", server_label: "x", tools: [] },
        { role: "user", content: "go on" },
      ],
      max_output_tokens: 8,
    },
    [
      /^input\[1\]: "web_search_call"/,
      /^input\[2\]: "local_shell_call"/,
      /^input\[3\]: "function_call_output"/,
      /^input\[4\]: "mcp_list_tools"/,
    ],
  ],
  [
    "dated tools and servers of tools",
    "/v1/messages",
    {
      ...chat,
      tools: [dated, anthropic],
      mcp_servers: [{ type: "url", url: "http://127.0.0.1/", name: "x" }],
    },
    [/^mcp_servers is left out/, /^tools\[0\]: "web_search_20250305"/],
  ],
  [
    "blocks of a conversation",
    "/v1/messages",
    {
      max_tokens: 8,
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: [
            { type: "server_tool_use", id: "s", name: "web_search", input: {} },
            { type: "web_search_tool_result", tool_use_id: "s", content: [] },
          ],
        },
        { role: "user", content: "go on" },
      ],
    },
    [/^messages\[1\]\.content\[0\]: "server_tool_use"/, /^messages\[1\]\.content\[1\]: "web_search_tool_res/],
  ],
]

test.each(requests)("%s of a service: %s goes on and says so", async (_, path, fields, warnings) => {
  const { status, text, body } = await post(path, fields)
  expect(status, text).toBe(200)
  expect(body.tokenrail.warnings).toEqual(warnings.map((each) => expect.stringMatching(each)))
  const stream = await post(path, { ...fields, stream: true })
  expect(stream.status).toBe(200)
  for (const warning of body.tokenrail.warnings) expect(stream.text).toContain(JSON.stringify(warning))
})

test.each(requests)("%s of a service: %s refuses it where the server is strict", async (_, path, fields) => {
  const { status, body } = await post(path, fields, { strictTools: true })
  expect([status, body.error.code]).toEqual([400, "invalid_value"])
  expect(body.error.message).toMatch(/is refused: /)
})

test("the prompt does not tell of a tool that is left out", async () => {
  const tokens = async (tools: object[]) =>
    (await post("/v1/chat/completions", { ...chat, max_tokens: 1, tools })).body.usage.prompt_tokens
  expect(await tokens([own, search])).toBe(await tokens([own]))
})

test("a call of one is refused by the choice", async () => {
  const { status, body } = await post("/v1/messages", {
    ...chat,
    tools: [dated, anthropic],
    tool_choice: { type: "tool", name: "web_search" },
  })
  expect([status, body.error.param]).toEqual([400, "tool_choice.name"])
  expect(body.error.message).toMatch(/no tool is run here/)
})
