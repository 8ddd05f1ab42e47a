/** What a request for a response may say: each refusal by its field, and what is taken. */
import { expect, test } from "vitest"
import { Refusal } from "../../../../server/errors.ts"
import { defaultBodyLimits } from "../../../../server/http/body.ts"
import { type BodyRead, readBody } from "../../../../server/openai/read/readbody.ts"

function read(fields: object | string): BodyRead<"responses"> {
  const body = typeof fields === "string" ? fields : JSON.stringify({ model: "m", input: "hi", ...fields })
  return readBody("responses", new TextEncoder().encode(body), defaultBodyLimits)
}

function refusal(fields: object): Refusal {
  try {
    read(fields)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`not refused: ${JSON.stringify(fields).slice(0, 200)}`)
}

const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" }
const schema = { type: "object" }
const say = { role: "user", content: "x" }

test.each<[what: string, fields: object, param: string, message: RegExp]>([
  ["the format of chat", { response_format: { type: "text" } }, "response_format", /Use text\.format/],
  ["a response in the background", { background: true }, "background", /not supported here/],
  ["a conversation", { conversation: "conv_1" }, "conversation", /Use previous_response_id/],
  ["a stored prompt", { prompt: { id: "pmpt_1" } }, "prompt", /as instructions and input/],
  ["messages", { messages: [] }, "messages", /Send them as input/],
  ["max_tokens", { max_tokens: 5 }, "max_tokens", /Use max_output_tokens/],
  ["max_completion_tokens", { max_completion_tokens: 5 }, "max_completion_tokens", /Use max_output_tokens/],
  ["the effort of chat", { reasoning_effort: "low" }, "reasoning_effort", /Use reasoning\.effort/],
  ["log-probabilities as chat asks", { logprobs: true }, "logprobs", /Use include/],
  ["two answers", { n: 2 }, "n", /Send a request for each answer/],
  ["functions", { functions: [{}] }, "functions", /Send them as tools/],
  ["no model", { model: null }, "model", /model/],
  ["no input", { input: null }, "input", /input is missing/],
  ["no item", { input: [] }, "input", /has no item/],
  ["a number", { input: 1 }, "input", /must be a string or a list of items/],
  ["an item that is none", { input: [1] }, "input[0]", /must be an object/],
  [
    "an unknown item",
    { input: [{ type: "robot_call" }] },
    "input[0].type",
    /"robot_call" is not an item type/,
  ],
  ["no message beside tools", { input: [{ type: "additional_tools", tools: [] }] }, "input", /no message/],
  [
    "an effort that is none",
    { input: [say, { type: "configuration_update", reasoning: { effort: "huge" } }] },
    "input[1].reasoning.effort",
    /is not none, minimal/,
  ],
  [
    "a format in the middle of the input",
    { input: [say, { type: "configuration_update", text: { format: { type: "text" } } }] },
    "input[1].text",
    /Send text\.format/,
  ],
  [
    "items of hosted tools alone",
    { input: [{ type: "web_search_call" }] },
    "input",
    /only items about tools/,
  ],
  [
    "an unknown role",
    { input: [{ role: "robot", content: "x" }] },
    "input[0].role",
    /must be system, developer/,
  ],
  ["no content", { input: [{ role: "user" }] }, "input[0].content", /is missing/],
  [
    "content that is none",
    { input: [{ role: "user", content: {} }] },
    "input[0].content",
    /a string or a list/,
  ],
  [
    "an image",
    { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] },
    "input[0].content[0]",
    /Images, audio and files are not supported/,
  ],
  [
    "a phase that is none",
    { input: [{ role: "assistant", content: "x", phase: "x" }] },
    "input[0].phase",
    /commentary or/,
  ],
  ["a call without an id", { input: [{ ...call, call_id: undefined }] }, "input[0].call_id", /is missing/],
  [
    "a call without arguments",
    { input: [{ ...call, arguments: undefined }] },
    "input[0].arguments",
    /is missing/,
  ],
  [
    "arguments that are no text",
    { input: [{ ...call, arguments: {} }] },
    "input[0].arguments",
    /must be a string/,
  ],
  [
    "a custom call without input",
    { input: [{ ...call, type: "custom_tool_call" }] },
    "input[0].input",
    /is missing/,
  ],
  [
    "a result without output",
    { input: [call, { type: "function_call_output", call_id: "c" }] },
    "input[1].output",
    /is missing/,
  ],
  ["a reference without an id", { input: [{ type: "item_reference" }] }, "input[0].id", /is missing/],
  [
    "an id that is no text",
    { input: [{ role: "user", content: "x", id: 1 }] },
    "input[0].id",
    /must be a string/,
  ],
  [
    "thoughts that are no list",
    { input: [{ type: "reasoning", content: "x" }] },
    "input[0].content",
    /must be a list/,
  ],
  [
    "a thought that is none",
    { input: [{ type: "reasoning", summary: [1] }] },
    "input[0].summary[0]",
    /summary_text/,
  ],
  ["instructions that are no text", { instructions: [] }, "instructions", /string/],
  ["no tokens", { max_output_tokens: 0 }, "max_output_tokens", /max_output_tokens/],
  ["an unknown effort", { reasoning: { effort: "huge" } }, "reasoning.effort", /reasoning\.effort/],
  ["an unknown truncation", { truncation: "middle" }, "truncation", /truncation/],
  ["twenty-one alternatives", { top_logprobs: 21 }, "top_logprobs", /top_logprobs/],
  ["ids without rows", { logprob_token_ids: [1] }, "logprob_token_ids", /needs include/],
  ["include that is no list", { include: "x" }, "include", /include/],
  ["options of no stream", { stream_options: {} }, "stream_options", /needs stream/],
  ["metadata that is no object", { metadata: [] }, "metadata", /must be an object/],
  ["metadata that is no text", { metadata: { a: 1 } }, "metadata.a", /must be a string/],
  ["half a pair in metadata", { metadata: { a: "\ud800" } }, "metadata.a", /surrogate/],
  [
    "half a pair in the input",
    { input: [{ role: "user", content: "\ud800" }] },
    "input[0].content",
    /surrogate/,
  ],
  ["text that is no object", { text: "json" }, "text", /text/],
  ["a format that is no object", { text: { format: "json" } }, "text.format", /must be an object/],
  ["an unknown format", { text: { format: { type: "xml" } } }, "text.format.type", /"xml", it must be text/],
  [
    "a format without a schema",
    { text: { format: { type: "json_schema", name: "x" } } },
    "text.format.schema",
    /is missing/,
  ],
  [
    "an unknown key of a format",
    { text: { format: { type: "json_schema", schema, excludes: [] } } },
    "text.format.excludes",
    /unknown key/,
  ],
  [
    "two constraints",
    { text: { format: { type: "json_schema", schema } }, structured_outputs: { regex: "a" } },
    "structured_outputs.regex",
    /text\.format\.schema and structured_outputs\.regex/,
  ],
  ["a misspelt constraint", { guided_jsons: {} }, "guided_jsons", /looks like a constraint/],
  [
    "a variable of the server",
    { chat_template_kwargs: { messages: [] } },
    "chat_template_kwargs.messages",
    /a request cannot set/,
  ],
])("%s is refused by its field", (_, fields, param, message) => {
  const { details, message: said } = refusal(fields)
  expect(details.param).toBe(param)
  expect(said).toMatch(message)
})

test("what asks for nothing passes", () => {
  const { response } = read({
    response_format: null,
    background: false,
    conversation: null,
    prompt: null,
    n: 1,
    logprobs: false,
    previous_response_id: null,
    include: [],
    tools: [],
    text: {},
    service_tier: "flex",
    prompt_cache_retention: "24h",
    moderation: {},
    context_management: null,
    stream: true,
    stream_options: { include_obfuscation: false },
  })
  expect(response.ignored).toEqual([])
  expect(response.topLogprobs).toBe(null)
})

test("unknown keys are named", () => {
  expect(read({ favourite: 1 }).response.ignored).toEqual(["favourite"])
})

test.each<[what: string, format: object, input: object]>([
  [
    "a schema, flat",
    { type: "json_schema", name: "x", schema, strict: true },
    { kind: "json", schema: '{"type":"object"}', strict: true },
  ],
  ["any object", { type: "json_object" }, { kind: "json", schema: '{"type":"object"}' }],
  ["a pattern", { type: "regex", pattern: "a+" }, { kind: "regex", pattern: "a+" }],
  ["a grammar", { type: "grammar", grammar: "root ::= [a]" }, { kind: "grammar", text: "root ::= [a]" }],
])("text.format: %s", (_, format, input) => {
  expect(read({ text: { format, verbosity: "low" } }).constraint?.input).toEqual(input)
})

test("a schema keeps its text", () => {
  const body =
    '{"model":"m","input":"x","text":{"format":{"type":"json_schema","schema":{"2":1.0,"1":12345678901234567890}}}}'
  expect(read(body).constraint?.input).toEqual({ kind: "json", schema: '{"2":1.0,"1":12345678901234567890}' })
})

test("options of the engine", () => {
  const { response } = read({
    max_output_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    stop: ["x"],
    reasoning: { effort: "high", summary: "auto" },
    thinking_token_budget: 3,
    max_tool_calls: 2,
    parallel_tool_calls: false,
    tools: [{ type: "function", name: "f" }],
    chat_template_kwargs: { a: 1 },
  })
  expect(response.options).toEqual({
    maxTokens: 9,
    temperature: 0.5,
    topP: 0.9,
    seed: 7n,
    stop: ["x"],
    reasoningEffort: "high",
    thinkingTokenBudget: 3,
    maxToolCalls: 2,
    parallelToolCalls: false,
    tools: [{ type: "function", function: { name: "f" } }],
    templateOptions: { variables: { a: 1 } },
  })
})

test.each<[include: object, rows: number | null]>([
  [{}, null],
  [{ include: ["reasoning.encrypted_content"] }, null],
  [{ include: ["message.output_text.logprobs"] }, 0],
  [{ include: ["message.output_text.logprobs"], top_logprobs: 3 }, 3],
  [{ top_logprobs: 3 }, 3],
  [{ top_logprobs: 0 }, null],
])("log-probabilities of %j", (fields, rows) => {
  expect(read(fields).response.topLogprobs).toBe(rows)
})

test("the last update of the configuration says the effort", () => {
  const update = (effort: string | null) => ({ type: "configuration_update", reasoning: { effort } })
  const effortOf = (...updates: object[]) =>
    read({ reasoning: { effort: "high" }, input: [{ role: "user", content: "x" }, ...updates] }).response
      .options.reasoningEffort
  expect(effortOf()).toBe("high")
  expect(effortOf(update("low"))).toBe("low")
  expect(effortOf(update("low"), update("none"), update(null), { type: "configuration_update" })).toBe("none")
})

test("the reply repeats what was asked, and says what was not", () => {
  const tools = [
    { type: "function", name: "f", strict: false },
    { type: "custom", name: "c" },
  ]
  const { echo } = read({ metadata: { a: "b" }, tools, store: false, temperature: 0, user: "u" }).response
  expect(echo).toEqual({
    access_programs: null,
    background: false,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: { a: "b" },
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default",
    store: false,
    temperature: 0,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [{ ...tools[0], parameters: null }, tools[1]],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    user: "u",
  })
})
