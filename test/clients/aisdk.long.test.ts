/**
 * The unmodified AI SDK over chat: both its providers, the version of today and the one after it, over a socket and in process.
 * Every call throws where an object is not of its schema, or a step misses a forced tool.
 */
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import * as ai6 from "ai"
import * as ai7 from "ai7"
import { createOpenAI as createOpenAI4 } from "aisdk-openai4"
import { type } from "arktype"
import { createOpenAICompatible as createCompatible3 } from "openai-compatible3"
import { Type } from "typebox"
import { Value } from "typebox/value"
import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { type ClientOptions, serveWays, type Way } from "../support/ways.ts"

// Its warnings are looked at where they count.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

// Without a bound on its strings an object is completed by the budget.
const served = serveWays({ onLength: "close" })

type Sdk = typeof ai6
type Model = ai6.LanguageModel
const compatible = (options: ClientOptions): Model =>
  createOpenAICompatible({
    name: "tokenrail",
    ...options,
    supportsStructuredOutputs: true,
    includeUsage: true,
  })("any")
const compatible3 = (options: ClientOptions) =>
  createCompatible3({
    name: "tokenrail",
    ...options,
    supportsStructuredOutputs: true,
    includeUsage: true,
  })("any") as unknown as Model

const lanes: { sdk: Sdk; provider: string; way: Way; open: (options: ClientOptions) => Model }[] = [
  { sdk: ai6, provider: "ai 6, compatible", way: "socket", open: compatible },
  { sdk: ai6, provider: "ai 6, compatible", way: "in process", open: compatible },
  {
    sdk: ai6,
    provider: "ai 6, openai.chat",
    way: "socket",
    open: (options) => createOpenAI(options).chat("gpt-4o"),
  },
  {
    sdk: ai6,
    provider: "ai 6, openai.chat",
    way: "in process",
    open: (options) => createOpenAI(options).chat("gpt-4o"),
  },
  { sdk: ai7 as unknown as Sdk, provider: "ai 7, compatible", way: "socket", open: compatible3 },
  {
    sdk: ai7 as unknown as Sdk,
    provider: "ai 7, openai.chat",
    way: "socket",
    open: (options) => createOpenAI4(options).chat("gpt-4o") as unknown as Model,
  },
]

const Person = z.object({
  name: z.string().max(12),
  age: z.number().int().min(0).max(120),
  hobbies: z.array(z.enum(["chess", "rowing", "opera"])).max(2),
  partner: z.string().max(8).nullable(),
  note: z.string().max(8).optional(),
})
const prompt = "Invent a person."

describe.each(lanes)("$provider, $way", ({ sdk, way, open }) => {
  const base = () => ({
    model: open(served.client(way)),
    prompt,
    maxOutputTokens: 300,
    seed: 1,
    maxRetries: 0,
  })

  test("generateText, with usage", async () => {
    const { finishReason, usage, text } = await sdk.generateText({ ...base(), maxOutputTokens: 8 })
    expect(["stop", "length"]).toContain(finishReason)
    expect(usage.outputTokens).toBeLessThanOrEqual(8)
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(typeof text).toBe("string")
  })

  test("streamText: the joined deltas are the text, the end tells usage", async () => {
    const { text } = await sdk.generateText({ ...base(), maxOutputTokens: 8 })
    const stream = sdk.streamText({ ...base(), maxOutputTokens: 8 })
    let streamed = ""
    for await (const delta of stream.textStream) streamed += delta
    expect(streamed).toBe(text)
    expect((await stream.usage).outputTokens).toBeGreaterThan(0)
    expect(["stop", "length"]).toContain(await stream.finishReason)
  })

  test("generateObject: object, array, enum, no schema", async () => {
    const { object, finishReason, warnings } = await sdk.generateObject({
      ...base(),
      schema: Person,
      temperature: 1.2,
    })
    expect(Person.parse(object)).toEqual(object)
    expect([finishReason, warnings ?? []]).toEqual(["stop", []])
    const list = await sdk.generateObject({
      ...base(),
      output: "array",
      schema: z.object({ n: z.number().int().min(0).max(99) }),
    })
    expect(Array.isArray(list.object)).toBe(true)
    const choice = await sdk.generateObject({
      ...base(),
      output: "enum",
      enum: ["sunny", "rainy"],
    })
    expect(["sunny", "rainy"]).toContain(choice.object)
    const any = await sdk.generateObject({ ...base(), output: "no-schema" })
    expect(typeof any.object).toBe("object")
  })

  test("streamObject: objects that grow, the last one whole", async () => {
    const stream = sdk.streamObject({ ...base(), schema: Person })
    let count = 0
    for await (const _ of stream.partialObjectStream) count++
    expect(count).toBeGreaterThan(1)
    Person.parse(await stream.object)
    const elements = sdk.streamObject({
      ...base(),
      output: "array",
      schema: z.object({ n: z.number().int().min(0).max(99) }),
    })
    const seen: unknown[] = []
    for await (const element of elements.elementStream) seen.push(element)
    expect(seen).toEqual(await elements.object)
  })

  test("Output: object, choice, array, json", async () => {
    const { Output } = sdk
    const object = await sdk.generateText({ ...base(), output: Output.object({ schema: Person }) })
    Person.parse(object.output)
    const choice = await sdk.generateText({
      ...base(),
      output: Output.choice({ options: ["left", "right"] }),
    })
    expect(["left", "right"]).toContain(choice.output)
    const list = await sdk.generateText({
      ...base(),
      output: Output.array({ element: z.object({ even: z.boolean() }) }),
    })
    for (const { even } of list.output) expect(typeof even).toBe("boolean")
    const json = await sdk.generateText({ ...base(), output: Output.json() })
    expect(json.output).toBeDefined()
    const streamed = sdk.streamText({ ...base(), output: Output.object({ schema: Person }) })
    for await (const _ of streamed.partialOutputStream);
    Person.parse(await streamed.output)
  })

  const tools = () => ({
    weather: sdk.tool({
      description: "of a city",
      inputSchema: z.object({ city: z.string().max(12), unit: z.enum(["c", "f"]) }),
      execute: async ({ city, unit }) => `12 ${unit} in ${city}`,
    }),
    now: sdk.tool({ inputSchema: z.object({}), execute: async () => "noon" }),
  })

  test.each([
    ["auto", "auto" as const],
    ["required", "required" as const],
    ["named", { type: "tool" as const, toolName: "weather" as const }],
  ])("tools, %s, in two steps", async (kind, toolChoice) => {
    const request = { ...base(), tools: tools(), toolChoice, stopWhen: sdk.stepCountIs(2) }
    const { steps } = await sdk.generateText(request)
    expect(steps.length).toBeLessThanOrEqual(2)
    for (const step of steps) {
      if (kind !== "auto") expect(step.toolCalls.length).toBeGreaterThan(0)
      if (kind === "named") expect(step.toolCalls.map(({ toolName }) => toolName)).toEqual(["weather"])
      expect(step.toolResults.length).toBe(step.toolCalls.length)
      for (const call of step.toolCalls)
        expect([call.toolName, call.invalid ?? false]).toEqual([call.toolName, false])
    }
  })

  test("streamed tools: input in pieces, the call, its result", async () => {
    const stream = sdk.streamText({
      ...base(),
      tools: tools(),
      toolChoice: { type: "tool", toolName: "weather" },
    })
    let input = ""
    const parts: string[] = []
    for await (const part of stream.fullStream) {
      if (part.type === "tool-input-delta") input += part.delta
      if (part.type === "error") throw part.error
      if (parts.at(-1) !== part.type) parts.push(part.type)
    }
    const order = ["tool-input-start", "tool-input-delta", "tool-input-end", "tool-call", "tool-result"]
    expect(parts.filter((part) => order.includes(part))).toEqual(order)
    const [call] = await stream.toolCalls
    expect(JSON.parse(input)).toEqual(call.input)
  })

  test("an object behind tools", async () => {
    const { steps } = await sdk.generateText({
      ...base(),
      tools: tools(),
      toolChoice: "none",
      output: sdk.Output.object({ schema: z.object({ yes: z.boolean() }) }),
    })
    expect(typeof JSON.parse(steps.at(-1)!.text).yes).toBe("boolean")
  })

  test("schemas of jsonSchema(), Valibot, ArkType, TypeBox", async () => {
    const plain = sdk.jsonSchema<{ n: number }>({
      type: "object",
      properties: { n: { type: "integer", minimum: 3, maximum: 9 } },
      required: ["n"],
    })
    const { object } = await sdk.generateObject({ ...base(), schema: plain })
    expect([3, 4, 5, 6, 7, 8, 9]).toContain(object.n)
    const valibot = v.object({
      code: v.pipe(v.string(), v.regex(/^[A-Z]{2}\d$/)),
      tags: v.pipe(v.array(v.picklist(["a", "b"])), v.minLength(1), v.maxLength(3)),
    })
    const first = await sdk.generateObject({ ...base(), schema: toStandardJsonSchema(valibot) })
    v.parse(valibot, first.object)
    const ark = type({ zip: "/^[0-9]{5}$/", age: "0 <= number.integer <= 120", "kind?": "'new' | 'old'" })
    const second = await sdk.generateObject({ ...base(), schema: ark })
    expect(ark.allows(second.object)).toBe(true)
    const box = Type.Object({ at: Type.Tuple([Type.Integer({ minimum: 0, maximum: 9 }), Type.Boolean()]) })
    const third = await sdk.generateObject({ ...base(), schema: sdk.jsonSchema(box as never) })
    expect(Value.Check(box, third.object)).toBe(true)
  })

  test("a refusal is told in the server's words, once", async () => {
    const schema = sdk.jsonSchema({ type: "object", properties: { n: { type: "odd" } } } as never)
    await expect(sdk.generateObject({ ...base(), maxRetries: 2, schema })).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining("odd"),
    })
  })
})

describe("the compatible provider", () => {
  test("merges its options at the top level of the request", async () => {
    const { text } = await ai6.generateText({
      model: compatible(served.client("in process")),
      prompt,
      providerOptions: { tokenrail: { structured_outputs: { regex: "[a-z]{3}" } } },
    })
    expect(text).toMatch(/^[a-z]{3}$/)
  })

  test("reads what was thought before the answer", async () => {
    const request = {
      model: compatible(served.client("in process")),
      prompt,
      seed: 2,
      providerOptions: {
        tokenrail: { thinking_token_budget: 6, tokenrail: { reason: { until: "</think>" } } },
      },
      output: ai6.Output.object({ schema: z.object({ yes: z.boolean() }) }),
    }
    const { reasoningText, output, usage } = await ai6.generateText(request)
    expect(reasoningText).not.toBe("")
    expect(typeof output.yes).toBe("boolean")
    expect(usage.outputTokenDetails.reasoningTokens).toBeGreaterThan(0)
    const stream = ai6.streamText(request)
    expect(await stream.reasoningText).toBe(reasoningText)
  })

  test("without its flag drops the schema and sends json_object", async () => {
    const sent: unknown[] = []
    const options = served.client("in process")
    const model = createOpenAICompatible({
      name: "tokenrail",
      ...options,
      fetch: (input, init) => {
        sent.push(JSON.parse(String(init?.body)).response_format)
        return options.fetch(input, init)
      },
    })("any")
    const call = ai6.generateObject({ model, prompt, schema: Person, maxOutputTokens: 60, seed: 1 })
    await call.catch(() => {})
    expect(sent).toEqual([{ type: "json_object" }])
  })
})
