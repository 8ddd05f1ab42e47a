/** Tools by the unmodified openai client, in the version of today and the one after it, over a socket and in process. */
import OpenAI from "openai"
import { zodFunction } from "openai/helpers/zod"
import type { ChatCompletionTool } from "openai/resources/chat/completions"
import OpenAI7 from "openai7"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { serveWays, ways } from "../support/ways.ts"

const served = serveWays()
const versions = { 6: OpenAI, 7: OpenAI7 as unknown as typeof OpenAI }
const lanes = [...ways.map((way) => ({ version: 6 as const, way })), { version: 7 as const, way: ways[0] }]

const Place = z.object({ city: z.string().max(12), unit: z.enum(["c", "f"]) })
const place = {
  type: "object",
  properties: { city: { type: "string", maxLength: 12 }, unit: { enum: ["c", "f"] } },
  required: ["city", "unit"],
  additionalProperties: false,
}
const weather = {
  type: "function" as const,
  function: { name: "get_weather", description: "of a city", parameters: place },
}
const now = { type: "function" as const, function: { name: "now" } }
const sums = {
  type: "custom" as const,
  custom: {
    name: "sum",
    format: {
      type: "grammar" as const,
      grammar: {
        syntax: "lark" as const,
        definition: 'start: NUMBER (" + " NUMBER)~1..3\nNUMBER: /[0-9]{1,3}/',
      },
    },
  },
}
const digits = {
  type: "custom" as const,
  custom: {
    name: "dial",
    format: {
      type: "grammar" as const,
      grammar: { syntax: "regex" as const, definition: "[0-9]{3}" },
    },
  },
}
const messages = [{ role: "user" as const, content: "What is the weather in Paris?" }]

describe.each(lanes)("openai client $version, $way", ({ version, way }) => {
  const client = () => new versions[version]({ ...served.client(way), maxRetries: 0 })
  const base = { model: "gpt-4o", messages, seed: 1, max_completion_tokens: 300 }
  const required = { tool_choice: "required" as const, parallel_tool_calls: false }
  const customChoice = (name: string) => ({ type: "custom" as const, custom: { name } })

  test("create with required tools, one call at a time", async () => {
    const { choices } = await client().chat.completions.create({
      ...base,
      ...required,
      tools: [weather, now],
    })
    const [{ message, finish_reason }] = choices
    expect([message.content, message.tool_calls?.length, finish_reason]).toEqual([null, 1, "tool_calls"])
  })

  test("parse: the arguments of a Zod tool are parsed", async () => {
    const tools = [zodFunction({ name: "get_weather", parameters: Place })]
    const { choices } = await client().chat.completions.parse({
      ...base,
      ...required,
      tools,
      temperature: 1.5,
    })
    const [call] = choices[0].message.tool_calls!
    expect(Place.parse(call.function.parsed_arguments)).toEqual(JSON.parse(call.function.arguments))
  })

  test("stream(): the arguments come in pieces, and their end is told", async () => {
    const tools = [zodFunction({ name: "get_weather", parameters: Place })]
    const stream = client().chat.completions.stream({ ...base, ...required, tools })
    let text = ""
    const done: unknown[] = []
    stream.on("tool_calls.function.arguments.delta", ({ arguments_delta }) => {
      text += arguments_delta
    })
    stream.on("tool_calls.function.arguments.done", (event) => done.push(event.parsed_arguments))
    const final = await stream.finalChatCompletion()
    const [call] = final.choices[0].message.tool_calls!
    expect([call.type, call.id.length > 0, text]).toEqual(["function", true, call.function.arguments])
    expect(done).toEqual([Place.parse(JSON.parse(text))])
    expect(final.choices[0].finish_reason).toBe("tool_calls")
  })

  test("create with stream: the joined deltas are the calls of the whole reply", async () => {
    const whole = await client().chat.completions.create({ ...base, ...required, tools: [weather] })
    const stream = await client().chat.completions.create({
      ...base,
      ...required,
      tools: [weather],
      stream: true,
    })
    const calls: { name: string; text: string }[] = []
    for await (const { choices } of stream) {
      for (const { index, function: func } of choices[0].delta.tool_calls ?? []) {
        calls[index] ??= { name: "", text: "" }
        calls[index].name += func?.name ?? ""
        calls[index].text += func?.arguments ?? ""
      }
    }
    const told = whole.choices[0].message.tool_calls!.map((call) =>
      call.type === "function" ? { name: call.function.name, text: call.function.arguments } : null,
    )
    expect(calls).toEqual(told)
  })

  // The end of the answer is hardly ever chosen, so that the bound on calls ends it.
  test("two calls in a turn, whole and streamed, and the results of both", async () => {
    const unended = Object.fromEntries(served.engine.vocabulary.endIds.map((id) => [id, -100]))
    const request = {
      ...base,
      tools: [weather, now],
      tool_choice: "required" as const,
      logit_bias: unended,
      max_tool_calls: 2,
    }
    const { choices } = await client().chat.completions.create(request)
    const calls = choices[0].message.tool_calls!
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    const final = await client().chat.completions.stream(request).finalChatCompletion()
    const texts = (some: typeof calls) =>
      some.map((call) => (call.type === "function" ? call.function.arguments : null))
    expect(texts(final.choices[0].message.tool_calls!)).toEqual(texts(calls))
    const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "12" }))
    const next = await client().chat.completions.create({
      ...base,
      tools: [weather, now],
      messages: [...messages, choices[0].message, ...results],
    })
    expect(next.choices[0].message.role).toBe("assistant")
  })

  test.each([
    ["required loops up to its bound", "required" as const, 2],
    ["a named tool is called once", { type: "function" as const, function: { name: "get_weather" } }, 1],
  ])("runTools, whole and streamed: %s", async (_, tool_choice, count) => {
    const asked: z.infer<typeof Place>[] = []
    const tool = zodFunction({
      name: "get_weather",
      parameters: Place,
      function: (args: z.infer<typeof Place>) => {
        asked.push(args)
        return { degrees: 12 }
      },
    })
    const request = { ...base, tools: [tool], tool_choice, parallel_tool_calls: false }
    const runner = client().chat.completions.runTools(request, { maxChatCompletions: 2 })
    await runner.done()
    expect(asked.length).toBe(count)
    expect(await runner.finalFunctionToolCallResult()).toBe('{"degrees":12}')
    const streamed = client().chat.completions.runTools(
      { ...request, stream: true, stream_options: { include_usage: true } },
      { maxChatCompletions: 2 },
    )
    let pieces = 0
    for await (const chunk of streamed) pieces += chunk.choices[0]?.delta.tool_calls?.length ?? 0
    expect(pieces).toBeGreaterThan(2 * count)
    expect(asked.length).toBe(2 * count)
    expect(asked.slice(count)).toEqual(asked.slice(0, count))
    for (const args of asked) Place.parse(args)
    expect((await streamed.totalUsage()).completion_tokens).toBeGreaterThan(0)
  })

  test("runTools that the model may end answers at last, or reaches its bound", async () => {
    const tool = zodFunction({ name: "now", parameters: z.object({}), function: () => "noon" })
    const runner = client().chat.completions.runTools({ ...base, tools: [tool] }, { maxChatCompletions: 3 })
    await runner.done()
    const roles = runner.messages.map(({ role }) => role)
    expect(roles.slice(0, 2)).toEqual(["user", "assistant"])
    for (const [i, message] of runner.messages.entries())
      if (message.role === "tool") expect(["assistant", "tool"]).toContain(roles[i - 1])
  })

  test.each<[syntax: string, tool: ChatCompletionTool, name: string, form: RegExp]>([
    ["lark", sums, "sum", /^\d{1,3}( \+ \d{1,3}){1,3}$/],
    ["regex", digits, "dial", /^\d{3}$/],
  ])("a custom tool with a grammar: %s", async (_, tool, name, form) => {
    const request = {
      ...base,
      tools: [tool],
      temperature: 1.5,
      tool_choice: customChoice(name),
      parallel_tool_calls: false,
    }
    const { choices } = await client().chat.completions.create(request)
    const [call] = choices[0].message.tool_calls!
    if (call.type !== "custom") throw new Error(`a call of the type ${call.type}`)
    expect(call.custom.name).toBe(name)
    expect(call.custom.input).toMatch(form)
    let input = ""
    for await (const chunk of await client().chat.completions.create({ ...request, stream: true })) {
      for (const delta of chunk.choices[0].delta.tool_calls ?? [])
        input += (delta as { custom?: { input?: string } }).custom?.input ?? ""
    }
    expect(input).toBe(call.custom.input)
    const next = await client().chat.completions.create({
      ...base,
      messages: [
        ...messages,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "ok" },
      ],
      max_completion_tokens: 5,
    })
    expect(next.choices.length).toBe(1)
  })

  test("log-probabilities beside calls", async () => {
    const { choices, usage } = await client().chat.completions.create({
      ...base,
      ...required,
      tools: [now],
      logprobs: true,
      top_logprobs: 1,
    })
    expect(choices[0].logprobs!.content!.length).toBeGreaterThan(0)
    expect(choices[0].logprobs!.content!.length).toBeLessThanOrEqual(usage!.completion_tokens)
  })

  test("a refused tool is a BadRequestError that names it", async () => {
    const broken = { type: "function" as const, function: { name: "f", parameters: { type: "odd" } } }
    const call = client().chat.completions.create({ ...base, tools: [weather, broken] })
    await expect(call).rejects.toMatchObject({
      status: 400,
      param: "tools",
      message: expect.stringContaining('"f"'),
    })
  })
})
