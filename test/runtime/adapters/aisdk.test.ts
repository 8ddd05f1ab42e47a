/** The AI SDK, unmodified and in two versions, on an engine in this process. */
import * as ai6 from "ai"
import * as ai7 from "ai7"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { tokenrail } from "../../../runtime/adapters/index.ts"
import {
  type Engine,
  type GenerateOptions,
  type Message,
  open,
  type Prompt,
  RequestError,
} from "../../../runtime/index.ts"

// Its warnings are looked at where they count.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 2048, slots: 4, threads: 1 })
})
afterAll(() => engine.close())

type Sdk = typeof ai6
const Person = z.object({ name: z.string().max(12), age: z.number().int().min(0).max(120) })
/** The engine, whose prompts are noted. */
const watch = (prompts: Prompt[]) => ({
  model: engine.model,
  start: (prompt: Prompt, options?: GenerateOptions) => {
    prompts.push(prompt)
    return engine.start(prompt, options)
  },
})
const weather = (sdk: Sdk) =>
  sdk.tool({
    description: "Weather of a city",
    inputSchema: z.object({ city: z.enum(["Oslo", "Rome"]) }),
    execute: async ({ city }) => ({ city, celsius: 4 }),
  })

describe.each<{ version: string; sdk: Sdk; model: () => ai6.LanguageModel }>([
  { version: "ai 7", sdk: ai7 as unknown as Sdk, model: () => tokenrail(engine) as never },
  { version: "ai 6", sdk: ai6, model: () => tokenrail(engine, { version: "v3" }) },
])("$version", ({ sdk, model }) => {
  const base = () => ({
    model: model(),
    prompt: "Invent a person.",
    maxOutputTokens: 200,
    seed: 1,
    maxRetries: 0,
  })

  test("text, whole and streamed: the same text, usage and finish reason", async () => {
    const providerOptions = { tokenrail: { ignoreEos: true } }
    const asked = { ...base(), maxOutputTokens: 12, providerOptions }
    const whole = await sdk.generateText(asked)
    expect([whole.finishReason, whole.usage.outputTokens]).toEqual(["length", 12])
    expect(whole.usage.inputTokens).toBeGreaterThan(0)
    expect(whole.warnings ?? []).toEqual([])
    expect(whole.providerMetadata?.tokenrail.seed).toBe("1")
    const stream = sdk.streamText(asked)
    let text = ""
    for await (const delta of stream.textStream) text += delta
    expect(text).toBe(whole.text)
    expect([await stream.finishReason, (await stream.usage).outputTokens]).toEqual(["length", 12])
  })

  test("objects: generateObject, streamObject, Output, enum, no schema", async () => {
    const { object, finishReason } = await sdk.generateObject({ ...base(), schema: Person, temperature: 1.5 })
    expect([Person.parse(object), finishReason]).toEqual([object, "stop"])
    const stream = sdk.streamObject({ ...base(), schema: Person })
    let count = 0
    for await (const _ of stream.partialObjectStream) count++
    expect(count).toBeGreaterThan(1)
    Person.parse(await stream.object)
    const output = await sdk.generateText({ ...base(), output: sdk.Output.object({ schema: Person }) })
    Person.parse(output.output)
    const colour = await sdk.generateObject({ ...base(), output: "enum", enum: ["red", "green"] })
    expect(["red", "green"]).toContain(colour.object)
    const providerOptions = { tokenrail: { onLength: "close" } }
    const any = await sdk.generateObject({
      ...base(),
      maxOutputTokens: 40,
      output: "no-schema",
      providerOptions,
    })
    expect(typeof any.object).toBe("object")
  })

  test("tools: required, named and auto, whose results are in the next prompt", async () => {
    const tools = { weather: weather(sdk) }
    for (const toolChoice of ["required", { type: "tool", toolName: "weather" }] as const) {
      const { toolCalls, finishReason } = await sdk.generateText({ ...base(), tools, toolChoice })
      expect(finishReason).toBe("tool-calls")
      expect(toolCalls[0]).toMatchObject({
        toolName: "weather",
        input: { city: expect.stringMatching(/Oslo|Rome/) },
      })
    }
    const prompts: Prompt[] = []
    const watched = tokenrail(watch(prompts), { version: "v3" })
    const loop = await sdk.generateText({
      ...{ ...base(), model: watched, tools, stopWhen: sdk.stepCountIs(2) },
      prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "auto" }),
    })
    expect(loop.steps[0].finishReason).toBe("tool-calls")
    const [{ toolCallId: id, input }] = loop.steps[0].toolCalls
    const made = { name: "weather", arguments: JSON.stringify(input) }
    expect((prompts[1] as Message[]).slice(0, 3)).toEqual([
      { role: "user", content: "Invent a person." },
      { role: "assistant", content: "", tool_calls: [{ id, type: "function", function: made }] },
      {
        role: "tool",
        tool_call_id: id,
        name: "weather",
        content: JSON.stringify(Object.assign({}, input, { celsius: 4 })),
      },
    ])
    const streamed = sdk.streamText({ ...base(), tools, toolChoice: "required" })
    const kinds = new Set<string>()
    for await (const { type } of streamed.fullStream) kinds.add(type)
    for (const kind of ["tool-input-start", "tool-input-delta", "tool-input-end", "tool-call", "tool-result"])
      expect(kinds).toContain(kind)
    expect((await streamed.toolResults)[0].output).toMatchObject({ celsius: 4 })
  })

  test("provider options are the engine's; unknown ones and bad values are refused by name", async () => {
    const choose = (tokenrail: Record<string, ai6.JSONValue>) =>
      sdk.generateText({ ...base(), providerOptions: { tokenrail } })
    expect(["yes", "no"]).toContain((await choose({ choice: ["yes", "no"] })).text)
    expect((await choose({ regex: "[0-9]{4}" })).text).toMatch(/^\d{4}$/)
    await expect(choose({ regexp: "[0-9]{4}" })).rejects.toThrow(/regexp.*regex/s)
    await expect(choose({ maxTokens: 3 })).rejects.toThrow(/maxOutputTokens/)
    await expect(choose({ regex: "(" })).rejects.toMatchObject({ name: "GrammarError" })
    await expect(sdk.generateText({ ...base(), topP: 0 })).rejects.toThrow(/^topP:/)
  })

  test("an abort ends the answer and frees its slot, whole and streamed", async () => {
    const long = { ...base(), maxOutputTokens: 1500, providerOptions: { tokenrail: { ignoreEos: true } } }
    const end = new AbortController()
    const whole = sdk.generateText({ ...long, abortSignal: end.signal })
    setTimeout(() => end.abort(), 20)
    await expect(whole).rejects.toMatchObject({ name: "AbortError" })
    const stop = new AbortController()
    const types: string[] = []
    const stream = sdk.streamText({ ...long, abortSignal: stop.signal, onError: () => {} })
    for await (const { type } of stream.fullStream) {
      types.push(type)
      if (type === "text-delta") stop.abort()
    }
    expect(types.at(-1)).toBe("abort")
    while (engine.load().running > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(engine.load()).toMatchObject({ running: 0, waiting: 0 })
  })

  test("what the model cannot read is refused, and what has no effect is a warning", async () => {
    const file = { type: "file" as const, data: new Uint8Array([1]), mediaType: "application/pdf" }
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "Read." }, file] }]
    await expect(sdk.generateText({ ...{ model: model(), maxRetries: 0 }, messages })).rejects.toThrow(
      /prompt\[0\]\.content\[1\].*application\/pdf/,
    )
  })
})

test("the effort of a model that does not think is a warning, and its provider has this one model", async () => {
  const model = tokenrail(engine)
  model satisfies ai7.LanguageModel & Parameters<typeof ai7.customProvider>[0]["fallbackProvider"]
  const { warnings } = await model.doGenerate({
    prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    ...{ maxOutputTokens: 1, reasoning: "high", tools: [{ type: "provider", name: "search" }] },
  })
  expect(warnings.map((each) => "feature" in each && each.feature)).toEqual([
    "tool search of type provider",
    "reasoning",
  ])
  expect(model.languageModel(engine.model.id)).toBe(model)
  for (const ask of [
    () => model.languageModel("gpt"),
    () => model.embeddingModel("e"),
    () => model.imageModel("i"),
  ])
    expect(ask).toThrow(RequestError)
})

test("a call's constraint takes the place of the one of the defaults", async () => {
  const model = tokenrail(engine, { defaults: { regex: "[0-9]{4}", temperature: 0 } })
  const base = { model, prompt: "Invent a person.", maxOutputTokens: 200, maxRetries: 0 }
  expect((await ai7.generateText(base)).text).toMatch(/^\d{4}$/)
  Person.parse((await ai7.generateObject({ ...base, schema: Person })).object)
  const providerOptions = { tokenrail: { choice: ["yes", "no"] } }
  expect(["yes", "no"]).toContain((await ai7.generateText({ ...base, providerOptions })).text)
  const two = { ...base, schema: Person, providerOptions }
  await expect(ai7.generateObject(two)).rejects.toThrow("at most one constraint")
})

test("defaults that a call of the AI SDK cannot have are refused by name", () => {
  const { signal } = new AbortController()
  for (const defaults of [{ n: 2 }, { tools: [] }, { toolChoice: "auto" }, { signal }] as GenerateOptions[])
    expect(() => tokenrail(engine, { defaults })).toThrow(`defaults.${Object.keys(defaults)[0]}: `)
  tokenrail(engine, { defaults: { maxTokens: 20, stop: ["."] } })
})
