/**
 * What other servers of 2026 got wrong with tools and reasoning, each as a check by its number; the others are in
 * checks2026.long.test.ts.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import { expect, test } from "vitest"
import { messages, named, now, place, serveChecks, weather } from "../../support/checks.ts"

const { reply, refusal, chunks, choicesOf } = serveChecks()
const ajv = new Ajv2020({ strict: false })
const yes = { type: "json_schema", json_schema: { name: "x", schema: { enum: ["yes", "no"] } } }

test("1: keys that clients add to tools are accepted", async () => {
  const keys = {
    defer_loading: true,
    async: false,
    output_schema: { type: "string" },
    eager_input_streaming: true,
    input_examples: [{}],
    cache_control: { type: "ephemeral" },
  }
  for (const strict of [null, true, false]) {
    for (const allowed_callers of [null, ["direct"]]) {
      const inside = { ...weather.function, ...keys, strict, allowed_callers }
      const outside = { ...weather, ...keys, allowed_callers, function: inside }
      await reply({ tools: [outside, { ...now, strict }], max_tokens: 1, tool_choice: "none" })
    }
  }
  for (const [key, value] of [
    ["async", true],
    ["allowed_callers", ["code_execution"]],
  ] as const) {
    const { param } = await refusal({ tools: [{ ...now, [key]: value }] })
    expect(param).toBe(`tools[0].${key}`)
  }
})

test("2: a tool whose parameters are null or absent is called with {}", async () => {
  for (const func of [{ name: "now" }, { name: "now", parameters: null }]) {
    const tools = [{ type: "function", function: func }]
    const { choices } = await reply({ tools, tool_choice: named("now") })
    expect(JSON.parse(choices[0].message.tool_calls[0].function.arguments)).toEqual({})
  }
})

test("3: deltas of calls have an index, one head each, and arguments in several pieces", async () => {
  const stream = await chunks({ tools: [weather], tool_choice: "required", temperature: 1.5 })
  const deltas = stream.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
  const heads = deltas.filter((delta) => "id" in delta)
  expect(deltas[0]).toBe(heads[0])
  for (const [i, head] of heads.entries()) {
    expect([head.index, head.type, head.function.name]).toEqual([i, "function", "get_weather"])
    const rest = deltas.filter((delta) => delta.index === i && delta !== head)
    expect(rest.length).toBeGreaterThan(1)
    for (const delta of rest) {
      expect(Object.keys(delta)).toEqual(["index", "function"])
      expect(Object.keys(delta.function)).toEqual(["arguments"])
    }
    const text = rest.map((delta) => delta.function.arguments).join("")
    expect(ajv.validate(place, JSON.parse(text)), text).toBe(true)
  }
})

test("4: every chunk's choices have an index, and the chunk of usage has none", async () => {
  for (const fields of [{ tools: [now] }, { response_format: yes, n: 2 }, { max_tokens: 3 }]) {
    const stream = await chunks({ ...fields, stream_options: { include_usage: true } })
    for (const { choices } of stream.slice(0, -1)) {
      expect(choices.length).toBe(1)
      expect(typeof choices[0].index).toBe("number")
    }
    expect(stream.at(-1).choices).toEqual([])
    expect(stream.at(-1).usage.total_tokens).toBeGreaterThan(0)
  }
})

test("5: a stream whose tools are required holds a call and ends for it", async () => {
  const stream = await chunks({ tools: [weather, now], tool_choice: "required", temperature: 2 })
  expect(stream.some(({ choices }) => choices[0]?.delta.tool_calls)).toBe(true)
  expect(stream.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(["tool_calls"])
})

test("6: turns with calls and without content are rendered alike, and so are results as text and as parts", async () => {
  const call = { id: "call_1", type: "function", function: { name: "now", arguments: "{}" } }
  const counts = new Set<number>()
  for (const content of [null, "", undefined]) {
    for (const result of ["noon", [{ type: "text", text: "noon" }]]) {
      const history = [
        ...messages,
        { role: "assistant", content, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: result },
      ]
      const { usage } = await reply({ messages: history, tools: [now], max_tokens: 1, tool_choice: "none" })
      counts.add(usage.prompt_tokens)
    }
  }
  expect(counts.size).toBe(1)
  const { usage } = await reply({ max_tokens: 1 })
  expect([...counts][0]).toBeGreaterThan(usage.prompt_tokens)
})

test("7: a result of a call that nobody made is refused by its field", async () => {
  for (const tool_call_id of ["call_2", undefined]) {
    const history = [...messages, { role: "tool", tool_call_id, content: "x" }]
    const error = await refusal({ messages: history, tools: [now] })
    expect(error.param).toBe("messages[1].tool_call_id")
    if (tool_call_id) expect(error.message).toContain(tool_call_id)
  }
})

test("8: the arguments of a named tool are their JSON alone", async () => {
  for (const { message } of await choicesOf({ tools: [weather, now], tool_choice: named("get_weather") })) {
    expect(message.tool_calls.length).toBe(1)
    const { arguments: args } = message.tool_calls[0].function
    expect(ajv.validate(place, JSON.parse(args)), args).toBe(true)
  }
})

// Where the prompt tells of tools, this model calls them every time.
const silent = { tools: [now], response_format: yes, tokenrail: { tools_in_prompt: false } }
// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
function branchOf({ message: { content, tool_calls: calls } }: any): "call" | "text" {
  if (calls === undefined) {
    expect(["yes", "no"]).toContain(JSON.parse(content))
    return "text"
  }
  expect([content, calls[0].function.name]).toEqual([null, "now"])
  expect(JSON.parse(calls[0].function.arguments)).toEqual({})
  return "call"
}

test("9: beside a response format both a call and the format's text can come, and nothing else", async () => {
  const branches = (await choicesOf({ ...silent, n: 16 })).map(branchOf)
  expect(new Set(branches)).toEqual(new Set(["call", "text"]))
})

test.each<[how: string, fields: object, thinks: boolean]>([
  ["on by effort", { reasoning_effort: "low", thinking_token_budget: 8 }, true],
  ["on by an argument of the template", { chat_template_kwargs: { enable_thinking: true } }, true],
  ["left to the model", {}, false],
  ["off by effort", { reasoning_effort: "none" }, false],
  ["off by an argument of the template", { chat_template_kwargs: { enable_thinking: false } }, false],
  ["off in the text", { messages: [{ role: "user", content: "Go /no_think" }] }, false],
])("10: the same with reasoning %s", async (how, fields, thinks) => {
  const choices = await choicesOf({ thinking_token_budget: 30, ...silent, ...fields }, "thinking")
  for (const choice of choices) branchOf(choice)
  const thoughts = choices.filter(({ message }) => message.reasoning_content)
  if (thinks) expect(thoughts.length).toBeGreaterThan(0)
  else if (how.startsWith("off")) expect(thoughts).toEqual([])
})

test("15: thoughts are readable by both names, come before the text, and never behind a call", async () => {
  const fields = { reasoning_effort: "low", thinking_token_budget: 8, temperature: 1.5 }
  const seen = new Set<string>()
  for (let seed = 1; seed <= 4; seed++) {
    for (const more of [{ tools: [now], tool_choice: "required" }, { response_format: yes }]) {
      const stream = await chunks({ ...fields, ...more, seed }, "thinking")
      const kinds = stream.flatMap(({ choices }) => {
        const { content, reasoning, reasoning_content, tool_calls } = choices[0].delta
        expect(reasoning).toBe(reasoning_content)
        return [reasoning && "thought", content && "text", tool_calls && "call"].filter(Boolean)
      })
      for (const kind of kinds) seen.add(kind)
      const last = kinds.lastIndexOf("thought")
      expect(kinds.slice(0, last + 1).every((kind) => kind === "thought")).toBe(true)
    }
  }
  expect(seen).toEqual(new Set(["thought", "text", "call"]))
})

test("22: content holds nothing of the tool style, with and without earlier thoughts", async () => {
  const earlier = { role: "assistant", content: "Yes.", reasoning_content: "They ask." }
  for (const history of [messages, [messages[0], earlier, messages[0]]]) {
    for (const model of ["plain", "thinking"] as const) {
      const fields = { messages: history, tools: [weather, now], max_tokens: 40, temperature: 1.5, n: 4 }
      for (const { message } of await choicesOf(fields, model))
        expect(message.content ?? "").not.toMatch(/<\/?tool_call>|<\/?think>|"arguments"/)
    }
  }
})

test("24: a required tool is called whole within 256 tokens, however trivial the prompt", async () => {
  const parameters = {
    type: "object",
    properties: { note: { type: "string" }, more: { type: "array", items: { type: "string" } } },
    required: ["note", "more"],
  }
  const tools = [{ type: "function", function: { name: "note", parameters } }]
  const hi = [{ role: "user", content: "hi" }]
  for (const model of ["plain", "thinking"] as const) {
    const fields = { messages: hi, tools, tool_choice: "required", max_tokens: 256, n: 2 }
    for (const { message, finish_reason } of await choicesOf(fields, model)) {
      expect(finish_reason).toBe("tool_calls")
      for (const call of message.tool_calls)
        expect(ajv.validate(parameters, JSON.parse(call.function.arguments))).toBe(true)
    }
  }
})
