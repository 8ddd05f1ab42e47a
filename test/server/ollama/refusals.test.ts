/** What Ollama's endpoints refuse, by which field, and what they read, before the first token. */
import { describe, expect, test } from "vitest"
import { Refusal } from "../../../server/errors.ts"
import { defaultBodyLimits } from "../../../server/http/body.ts"
import { readBody } from "../../../server/openai/read/readbody.ts"

const messages = [{ role: "user", content: "Hi" }]
const call = (args: unknown, more: object = {}) => ({
  role: "assistant",
  content: "",
  tool_calls: [{ ...more, function: { name: "f", arguments: args } }],
})

type Endpoint = "ollamaChat" | "ollamaGenerate"

function read(endpoint: Endpoint, fields: object | string) {
  const common = endpoint === "ollamaChat" ? { model: "m", messages } : { model: "m", prompt: "Hi" }
  const body = typeof fields === "string" ? fields : JSON.stringify({ ...common, ...fields })
  return readBody(endpoint, new TextEncoder().encode(body), defaultBodyLimits)
}

function refusal(endpoint: Endpoint, fields: object): Refusal {
  try {
    read(endpoint, fields)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`not refused: ${JSON.stringify(fields)}`)
}

type Row = [what: string, fields: object, param: string, message?: RegExp]

describe("chat refuses", () => {
  test.each<Row>([
    ["no model", { model: undefined }, "model"],
    ["messages that are no list", { messages: "Hi" }, "messages"],
    ["a message that is none", { messages: ["Hi"] }, "messages[0]"],
    ["no role", { messages: [{ content: "Hi" }] }, "messages[0].role", /missing/],
    ["another role", { messages: [{ role: "bot", content: "Hi" }] }, "messages[0].role", /user, assistant/],
    ["parts", { messages: [{ role: "user", content: [] }] }, "messages[0].content", /string/],
    ["images", { messages: [{ ...messages[0], images: ["aGk="] }] }, "messages[0].images", /text only/],
    [
      "a call without a function",
      { messages: [{ role: "assistant", tool_calls: [{}] }] },
      "messages[0].tool_calls[0].function",
    ],
    [
      "arguments as text",
      { messages: [call("{}")] },
      "messages[0].tool_calls[0].function.arguments",
      /object/,
    ],
    ["a result of no call", { messages: [{ role: "tool", content: "1" }] }, "messages[0].tool_name"],
    [
      "a result of another tool",
      { messages: [call({}), { role: "tool", tool_name: "g", content: "1" }] },
      "messages[1].tool_name",
      /"g".*"f"/,
    ],
    [
      "a result of another id",
      { messages: [call({}, { id: "a" }), { role: "tool", tool_call_id: "b", content: "1" }] },
      "messages[1].tool_call_id",
      /"b".*"a"/,
    ],
    [
      "two results of one call",
      { messages: [call({}), ...Array(2).fill({ role: "tool", tool_name: "f", content: "1" })] },
      "messages[2].tool_name",
    ],
    [
      "a tool with a grammar",
      { tools: [{ type: "custom", custom: { name: "f" } }] },
      "tools[0].type",
      /function/,
    ],
    ["a format that is another word", { format: "yaml" }, "format", /"json"/],
    ["a format that is a list", { format: [] }, "format"],
    ["two constraints", { format: "json", structured_outputs: { regex: "a" } }, "structured_outputs.regex"],
    ["the format of another API", { response_format: { type: "json_object" } }, "response_format", /format/],
    ["a misspelt constraint", { formats: {} }, "formats", /constraint/],
    ["a template", { template: "{{ .Prompt }}" }, "template"],
    ["another way to think", { think: "hard" }, "think"],
    ["alternatives without log-probabilities", { top_logprobs: 3 }, "top_logprobs", /logprobs/],
    ["too many alternatives", { logprobs: true, top_logprobs: 21 }, "top_logprobs"],
    ["options that are none", { options: [] }, "options", /object/],
    ["an option of the wrong type", { options: { temperature: "hot" } }, "temperature"],
    ["a seed that is none", { options: { seed: 1.5 } }, "seed"],
    ["a constraint among the options", { options: { grammar: "root ::= [a]" } }, "grammar", /constraint/],
  ])("%s", (_, fields, param, message = /./) => {
    const told = refusal("ollamaChat", fields)
    expect(told.details.param).toBe(param)
    expect(told.message).toMatch(message)
  })
})

describe("generate refuses", () => {
  test.each<Row>([
    ["a prompt that is a list", { prompt: ["Hi"] }, "prompt"],
    ["a suffix", { suffix: "}" }, "suffix", /gap/],
    ["the context of an older answer", { context: [1, 2] }, "context", /api\/chat/],
    ["a template", { template: "x" }, "template"],
    ["images", { images: ["aGk="] }, "images", /text only/],
    ["tools", { tools: [{}] }, "tools", /api\/chat/],
    ["a raw prompt with a system text", { raw: true, system: "x" }, "system"],
    ["a raw prompt that thinks", { raw: true, think: true }, "think"],
  ])("%s", (_, fields, param, message = /./) => {
    const told = refusal("ollamaGenerate", fields)
    expect(told.details.param).toBe(param)
    expect(told.message).toMatch(message)
  })
})

test("options are the parameters of the sampler", () => {
  const options = { temperature: 0.5, top_k: 3, repeat_penalty: 1.2, stop: ["x"], seed: 5, num_predict: 9 }
  const { turn } = read("ollamaChat", { options: { ...options, num_ctx: 4096, num_gpu: 1, novel: 2 } })
  expect(turn.options).toMatchObject({ temperature: 0.5, topK: 3, repetitionPenalty: 1.2, maxTokens: 9 })
  expect(turn.options).toMatchObject({ stop: ["x"], seed: 5n, penaltyWindow: 64 })
  expect(turn.ignored).toEqual(["options.num_ctx", "options.num_gpu", "options.novel"])
})

test.each([-1, -2, 0])(
  "num_predict %d leaves the budget to the context, and seed -1 is drawn",
  (num_predict) => {
    const { turn } = read("ollamaGenerate", { options: { num_predict, seed: -1 } })
    expect(turn.options).not.toHaveProperty("maxTokens")
    expect(turn.options).not.toHaveProperty("seed")
  },
)

test("a request streams unless it says otherwise", () => {
  expect(read("ollamaChat", {}).turn.stream).toBe(true)
  expect(read("ollamaChat", { stream: false }).turn.stream).toBe(false)
})

test("a schema and the arguments of calls keep their spelling", () => {
  const schema = '{"const": 12345678901234567890.0}'
  const args = '{"b": 1.0, "1": 12345678901234567890}'
  const history = `{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": ${args}}}]}`
  const body = `{"model": "m", "messages": [${history}], "format": ${schema}}`
  const { turn, constraint } = read("ollamaChat", body)
  expect(constraint).toEqual({ field: "format", isSchema: true, input: { kind: "json", schema } })
  expect(turn.prompt).toMatchObject([{ tool_calls: [{ function: { name: "f", arguments: args } }] }])
})

test("a long schema is no long field", () => {
  const format = { type: "object", description: "x".repeat(1_000) }
  expect(read("ollamaChat", { format }).constraint?.field).toBe("format")
})

test("results find their calls, by name in the order of the calls", () => {
  const calls = { role: "assistant", tool_calls: ["f", "g", "f"].map((name) => ({ function: { name } })) }
  const result = (name: string | undefined, content: string) => ({ role: "tool", tool_name: name, content })
  const sent = [calls, result("g", "1"), result("f", "2"), result(undefined, "3")]
  const { turn } = read("ollamaChat", { messages: sent })
  const [said, ...results] = turn.prompt as unknown as [
    { tool_calls: { id: string }[] },
    ...{ tool_call_id: string; name: string }[],
  ]
  const ids = said.tool_calls.map(({ id }) => id)
  expect(new Set(ids).size).toBe(3)
  expect(results.map((each) => each.tool_call_id)).toEqual([ids[1], ids[0], ids[2]])
  expect(results.map(({ name }) => name)).toEqual(["g", "f", "f"])
})
