/**
 * Turns as Claude Code 2.1, Codex 0.171 and opencode 1.18 send them, cut down to their kinds of fields: the prompt, a call, its
 * result. What they send may change with them; none of this may be refused.
 */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp } from "../../server/app.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 1024 })
})
afterAll(() => engine.close())

async function post(path: string, fields: object, headers: Record<string, string> = {}) {
  const response = await createApp(engine, { anyModel: true }).request(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(fields),
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
  expect(text).not.toMatch(/^event: error|"type":"error"|"error":\{/m)
  return text
}

const path = { type: "string", maxLength: 20, description: "The absolute path" }
const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { file_path: path, limit: { type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 } },
  required: ["file_path"],
  additionalProperties: false,
}

test("Claude Code: a title, a question with tools, and the result of a call", async () => {
  const headers = {
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "claude-code-20250219",
    "x-api-key": "none",
  }
  const common = {
    model: "claude-opus-4-8",
    max_tokens: 64_000,
    metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
    stream: true,
  }
  const system = [
    { type: "text", text: "x-anthropic-billing-header: cc_version=2.1;" },
    { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } },
  ]
  const messages = [
    { role: "user", content: [{ type: "text", text: "<system-reminder>\nx\n</system-reminder>\n" }] },
    { role: "system", content: "Available agent types: none" },
  ]
  const title = {
    type: "object",
    properties: { title: { type: "string" } },
    required: ["title"],
    additionalProperties: false,
  }
  await post(
    "/v1/messages?beta=true",
    {
      ...{ ...common, system, messages, tools: [], thinking: { type: "disabled" } },
      output_config: { effort: "high", format: { type: "json_schema", schema: title } },
    },
    headers,
  )
  const asked = {
    ...{ ...common, system, thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    tools: [
      { name: "Read", description: "Reads a file", input_schema: schema },
      { type: "web_search_20250305", name: "web_search", max_uses: 8 },
    ],
  }
  const one = { tool_choice: { type: "tool", name: "Read" } }
  const text = await post("/v1/messages?beta=true", { ...asked, ...one, messages }, headers)
  expect(text).toContain('"stop_reason":"tool_use"')
  const called = [
    ...messages,
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "a" } }],
    },
    {
      role: "user",
      content: [
        { tool_use_id: "toolu_1", type: "tool_result", content: "<error>none</error>", is_error: true },
        { type: "text", text: "Go on", cache_control: { type: "ephemeral" } },
      ],
    },
  ]
  await post("/v1/messages?beta=true", { ...asked, messages: called, max_tokens: 20 }, headers)
})

test("Codex: its tools are an item of the input, and so is the effort", async () => {
  const exec = {
    type: "custom",
    name: "exec",
    description: "Runs JavaScript",
    format: {
      type: "grammar",
      syntax: "lark",
      definition:
        "\nstart: pragma_source | plain_source\npragma_source: PRAGMA_LINE NEWLINE SOURCE\nplain_source: SOURCE\n\nPRAGMA_LINE: /[ \\t]*\\/\\/ @exec:[^\\r\\n]*/\nNEWLINE: /\\r?\\n/\nSOURCE: /[\\s\\S]+/\n",
    },
  }
  const wait = { type: "function", name: "wait", description: "Waits", strict: false, parameters: schema }
  const told = (role: string, text: string) => ({
    ...{ type: "message", id: "msg_1", role, content: [{ type: "input_text", text }] },
    internal_chat_message_metadata_passthrough: { turn_id: "t", content_item_kinds: ["user.text"] },
  })
  const asked = {
    ...{ model: "gpt-6.2", stream: true, store: false, include: ["reasoning.encrypted_content"] },
    ...{
      parallel_tool_calls: false,
      reasoning: { effort: "low", context: "all_turns" },
      text: { verbosity: "low" },
    },
    ...{ prompt_cache_key: "k", client_metadata: { session_id: "s" }, max_output_tokens: 60 },
  }
  const input = [
    {
      ...{ type: "additional_tools", id: "at_1", role: "developer" },
      tools: [
        { type: "namespace", name: "functions", description: "", tools: [exec, wait] },
        { type: "web_search", external_web_access: false },
      ],
    },
    ...[
      told("developer", "You are Codex."),
      told("user", "<environment_context/>"),
      told("user", "Read a file"),
    ],
    { type: "configuration_update", reasoning: { effort: "low" } },
  ]
  const text = await post("/v1/responses", {
    ...{ ...asked, input },
    tool_choice: { type: "custom", name: "exec", namespace: "functions" },
  })
  expect(text).toContain('"type":"custom_tool_call","id":"ctc_')
  expect(text).toContain('"name":"exec","namespace":"functions"')
  const called = [
    {
      ...{ type: "custom_tool_call", id: "ctc_1", status: "completed", call_id: "call_1" },
      name: "exec",
      namespace: "functions",
      input: "1",
    },
    {
      ...{ type: "custom_tool_call_output", id: "ctco_1", call_id: "call_1" },
      output: [
        { type: "input_text", text: "Script failed" },
        { type: "input_text", text: "SyntaxError" },
      ],
    },
  ]
  await post("/v1/responses", { ...asked, input: [...input, ...called], tool_choice: "auto" })
})

test("opencode: a chat whose budget is above the context, and usage at its end", async () => {
  const tool = { type: "function", function: { name: "read", description: "Reads", parameters: schema } }
  const asked = {
    ...{ model: "tiny", max_tokens: 32_000, stream: true, stream_options: { include_usage: true } },
    ...{ tools: [tool], tool_choice: "auto" },
  }
  const messages = [
    { role: "system", content: "You are opencode." },
    { role: "user", content: "Read a file" },
  ]
  const text = await post("/v1/chat/completions", {
    ...{ ...asked, messages },
    tool_choice: { type: "function", function: { name: "read" } },
  })
  expect(text).toContain('"tool_calls":[{"index":0,"id":"call_')
  expect(text).toMatch(/"warnings":\["max_tokens: 32000 are more than/)
  const called = [
    ...messages,
    {
      ...{ role: "assistant", content: "" },
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "read", arguments: '{"file_path":"a"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: "<file>hello</file>" },
  ]
  await post("/v1/chat/completions", { ...asked, messages: called, max_tokens: 20 })
})
