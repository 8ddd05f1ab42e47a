/**
 * Turns of a model with random weights under templates of several kinds: reasoning in every way of asking for it, calls in several
 * styles, and the values of what is written.
 */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { styleOf } from "../../../grammar/tags/styles/all.ts"
import {
  type Engine,
  foldFields,
  type GenerateOptions,
  open,
  type StreamEvent,
} from "../../../runtime/index.ts"
import { writeTinyModel } from "../../support/onnx.ts"

const turns =
  "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}<|assistant|>"
const thinkTemplate = `${turns}{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}`

function engineOf(template: string, controls: readonly string[] = [], more: object = {}): Promise<Engine> {
  // In messages `<|end|>` is followed by more.
  const end = controls.includes("<|end|>") ? "<|return|>" : "<|end|>"
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "turn-")), { template, controls, end })
  return open({ model, device: "cpu", isolation: "none", slots: 2, ...more })
}

const answer = { enum: ["yes", "no"] }
const point = {
  type: "object",
  properties: { x: { type: "integer", minimum: 0, maximum: 99 }, s: { type: "string", maxLength: 5 } },
  required: ["x", "s"],
  additionalProperties: false,
}
const tool = (name: string, parameters?: object) => ({ type: "function", function: { name, parameters } })
const tools = [tool("go", point), tool("stop")]

describe("a model that thinks in tags", () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await engineOf(thinkTemplate, ["<think>", "</think>"])
  })
  afterAll(() => engine.close())

  test.each<[name: string, options: GenerateOptions]>([
    ["left to the model", {}],
    ["bounded", { thinkingTokenBudget: 5 }],
    ["off by effort", { reasoningEffort: "none" }],
    ["off by a variable of the template", { templateOptions: { variables: { enable_thinking: false } } }],
  ])("is held to its schema with reasoning %s", async (name, options) => {
    for (const seed of [1n, 2n, 3n]) {
      const asked = { thinkingTokenBudget: 20, ...options, schema: answer, seed, maxTokens: 60 }
      const { text, reasoning, value, finishReason } = await engine.generate("hi", asked)
      expect([finishReason, ["yes", "no"].includes(value as string)], text).toEqual(["stop", true])
      expect(text + reasoning).not.toContain("think>")
      if (name.startsWith("off")) expect(reasoning).toBe("")
    }
  })

  test("writes what begins a call where its constraint asks for that", async () => {
    const ways: GenerateOptions[] = [
      { reasonUntil: ".", thinkingTokenBudget: 3 },
      { thinkingTokenBudget: 3 },
      { tools, thinkingTokenBudget: 3 },
    ]
    for (const options of ways) {
      const asked = {
        ...options,
        regex: "\\(<tool_call>\\)",
        seed: 1n,
        maxTokens: 60,
        toolChoice: "none" as const,
      }
      const { text, toolCalls } = await engine.generate("hi", asked)
      expect([text, toolCalls]).toEqual(["(<tool_call>)", []])
    }
  })

  test("goes on in a section that the prompt has begun, told apart and counted", async () => {
    const begun = await engineOf(`${turns}{{ '<think>' }}{# </think> #}`, ["<think>", "</think>"])
    let thought = ""
    for (let seed = 1n; seed <= 6n; seed++) {
      const asked = { seed, maxTokens: 40, thinkingTokenBudget: 8, regex: "a{3}" }
      const { reasoning, text, usage } = await begun.generate("hi", asked)
      expect(text).toBe("aaa")
      expect(usage.reasoningTokens).toBeLessThan(usage.completionTokens)
      if (reasoning !== "") expect(usage.reasoningTokens).toBeGreaterThan(0)
      thought += reasoning
    }
    expect(thought).not.toBe("")
    const free = await begun.generate("hi", { seed: 4n, maxTokens: 10 })
    expect([free.text, free.reasoning.length > 0, free.usage.reasoningTokens > 0]).toEqual(["", true, true])
    const silent = await begun.generate("hi", {
      seed: 4n,
      schema: answer,
      reasoningEffort: "none",
      thinkingTokenBudget: 0,
    })
    expect(silent.reasoning).toBe("")
    await begun.close()
  })

  test("a text that goes on is no turn", async () => {
    const { text, reasoning } = await engine.generate("a<think>", { raw: true, seed: 4n, regex: "a{3}" })
    expect([text, reasoning]).toEqual(["aaa", ""])
  })

  test("calls follow the reasoning, and none of it is text", async () => {
    for (const seed of [1n, 2n, 3n]) {
      const asked = { tools, toolChoice: "required", seed, maxTokens: 200, thinkingTokenBudget: 10 }
      const { toolCalls, text } = await engine.generate("hi", asked)
      expect([toolCalls.length > 0, text]).toEqual([true, ""])
    }
  })
})

test("what the compiler is told holds for tools alone", async () => {
  const engine = await engineOf(turns)
  const loose = { type: "object", properties: { a: { enum: [1] }, b: { enum: [2] } }, required: ["a", "b"] }
  const asked = { tools: [tool("go", { ...loose, additionalProperties: false })], toolChoice: "required" }
  for (let seed = 1n; seed <= 4n; seed++) {
    const compact = await engine.generate("hi", { ...asked, seed, maxTokens: 200, whitespace: "compact" })
    for (const call of compact.toolCalls) expect(call.arguments).toBe('{"a":1,"b":2}')
  }
  const hard = Array.from({ length: 400 }, (_, i) => ({ not: { multipleOf: 101 + i } }))
  const heavy = tool("go", { type: "object", properties: { n: { type: "integer", allOf: hard } } })
  const bounded = { tools: [heavy], maxTokens: 50, limits: { compileMs: 1 } }
  await expect(engine.generate("hi", bounded)).rejects.toMatchObject({ kind: "limit" })
  await engine.close()
})

test("a model is told by options how it marks its reasoning, or that it does not", async () => {
  const marked = await engineOf(`${turns}<a>{# </a> #}`, [], { reasoning: "<a>,</a>" })
  for (let seed = 1n; seed <= 4n; seed++) {
    const { text, reasoning } = await marked.generate("hi", { schema: answer, seed, thinkingTokenBudget: 4 })
    expect(['"yes"', '"no"']).toContain(text)
    expect(reasoning).not.toContain("</a>")
  }
  await marked.close()
  const silent = await engineOf(thinkTemplate, ["<think>", "</think>"], { reasoning: "none" })
  expect((await silent.generate("hi", { schema: answer, seed: 1n })).reasoning).toBe("")
  await silent.close()
  await expect(engineOf(turns, [], { toolStyle: "none" })).rejects.toThrow(/no style is named "none"/)
  await expect(engineOf(turns, [], { reasoning: "<a>" })).rejects.toThrow(/not auto, none, or two tags/)
})

describe.each([
  ["hermes", "<tool_call>", ["<tool_call>", "</tool_call>"]],
  ["hermes, its tags as text", "<tool_call>", []],
  ["mistral", "[TOOL_CALLS]", ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"]],
  ["qwen_xml", "<tool_call><function=", []],
  [
    "harmony",
    "<|channel|> <|message|>",
    ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|call|>"],
  ],
  ["kimi_k2", "<|tool_calls_section_begin|>", []],
  ["llama3_json", "<|python_tag|>", ["<|python_tag|>"]],
] as const)("calls in the style %s", (_, sign, controls) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await engineOf(`${turns}{# ${sign} #}`, controls)
  })
  afterAll(() => engine.close())

  test("are valid whatever the model wants, once or several times", async () => {
    for (let seed = 1n; seed <= 6n; seed++) {
      const asked = { tools, seed, maxTokens: 300, temperature: 1.5 }
      const required = await engine.generate("hi", {
        ...asked,
        toolChoice: "required",
        parallelToolCalls: false,
      })
      expect([required.toolCalls.length, required.finishReason]).toEqual([1, "stop"])
      const named = await engine.generate("hi", {
        ...asked,
        toolChoice: { type: "function", function: { name: "go" } },
      })
      expect(named.toolCalls.map(({ name, isComplete }) => [name, isComplete])).toEqual([["go", true]])
      const { x, s } = JSON.parse(named.toolCalls[0].arguments)
      expect([Number.isInteger(x), typeof s]).toEqual([true, "string"])
    }
  })

  test("are the same in a stream, whose values fold to the arguments", async () => {
    for (let seed = 1n; seed <= 4n; seed++) {
      const asked: GenerateOptions = { tools, toolChoice: "required", seed, maxTokens: 300, maxToolCalls: 3 }
      const whole = await engine.generate("hi", asked)
      const events: StreamEvent[] = []
      for await (const event of engine.stream("hi", asked)) events.push(event)
      const calls = events.filter((event) => event.type === "call")
      expect(calls.map(({ name }) => name)).toEqual(whole.toolCalls.map(({ name }) => name))
      for (const [index, { arguments: args }] of whole.toolCalls.entries()) {
        const pieces = events.filter((event) => event.type === "arguments" && event.index === index)
        expect(pieces.map((event) => (event as { text: string }).text).join("")).toBe(args)
        const fields = events.filter(
          (event) =>
            (event.type === "open" || event.type === "delta" || event.type === "close") &&
            event.call === index,
        )
        expect(foldFields(fields as never)).toEqual(JSON.parse(args))
      }
      const tokens = events.flatMap((event) => ("tokens" in event ? event.tokens : []))
      expect(tokens).toEqual(whole.choices[0].tokens.slice(0, tokens.length))
    }
  })
})

test("messages are told apart though the token between them ends texts in this vocabulary", async () => {
  const controls = ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|return|>", "<|call|>"]
  const directory = mkdtempSync(join(tmpdir(), "turn-"))
  const template = `${turns}{# <|channel|> <|message|> #}`
  const model = writeTinyModel(directory, { template, controls, end: "<|end|>" })
  const engine = await open({ model, device: "cpu", isolation: "none", slots: 2 })
  let both = 0
  for (let seed = 1n; seed <= 20n; seed++) {
    const asked: GenerateOptions = { tools, seed, maxTokens: 120, temperature: 1.5 }
    const { text, reasoning, toolCalls, finishReason, message } = await engine.generate("hi", asked)
    expect([finishReason, message]).toEqual([expect.stringMatching(/^(stop|length)$/), undefined])
    expect(text + reasoning).not.toMatch(/<\|/)
    for (const { arguments: args, isComplete } of toolCalls) if (isComplete) JSON.parse(args)
    if (reasoning !== "" && (text !== "" || toolCalls.length > 0)) both++
  }
  expect(both).toBeGreaterThan(0)
  await engine.close()
})

test.each([
  ["solar_open", "<|calls|>"],
  ["solar_open", "<|end|>"],
  ["muse", "<|eot|>"],
  ["muse", "<|eom|>"],
  ["gigachat3_1", "<|message_sep|>"],
])("calls in the style %s are whole where %s ends texts in this vocabulary", async (toolStyle, end) => {
  const directory = mkdtempSync(join(tmpdir(), "turn-"))
  const controls = styleOf(toolStyle).controls.filter((name) => name !== end)
  const model = writeTinyModel(directory, { template: turns, controls, end })
  const engine = await open({ model, device: "cpu", isolation: "none", slots: 2, toolStyle })
  for (let seed = 1n; seed <= 8n; seed++) {
    const asked: GenerateOptions = { tools, seed, maxTokens: 300, temperature: 1.5 }
    const { toolCalls, finishReason } = await engine.generate("hi", { ...asked, toolChoice: "required" })
    expect([toolCalls.length > 0, finishReason]).toEqual([true, "stop"])
    for (const { arguments: args, isComplete } of toolCalls) {
      expect(isComplete).toBe(true)
      JSON.parse(args)
    }
  }
  await engine.close()
})
