/**
 * The unmodified AI SDK over Anthropic's API: its provider, the version of today and the one after it, over a socket and in
 * process. By the name of the model it asks for an object by `output_config`, or by a tool that it forces.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import * as ai6 from "ai"
import * as ai7 from "ai7"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { serveWays, type Way } from "../support/ways.ts"

// Its warnings are looked at where they count.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

// Without a bound on its strings an object is completed by the budget.
const served = serveWays({ onLength: "close" })

type Sdk = typeof ai6
const native = "claude-sonnet-4-5"
const byTool = "claude-3-haiku-20240307"
const lanes: { sdk: Sdk; version: string; way: Way; name: string }[] = [
  { sdk: ai6, version: "ai 6", way: "socket", name: native },
  { sdk: ai6, version: "ai 6", way: "in process", name: native },
  { sdk: ai6, version: "ai 6", way: "socket", name: byTool },
  { sdk: ai7 as unknown as Sdk, version: "ai 7", way: "socket", name: native },
  { sdk: ai7 as unknown as Sdk, version: "ai 7", way: "in process", name: byTool },
]

// For `output_config` the provider moves bounds (lengths, `maximum`, `maxItems`) into descriptions, where nothing enforces
// them: here are only keywords that it sends.
const Person = z.object({
  name: z.string(),
  age: z.literal([18, 35, 80]),
  hobbies: z.array(z.enum(["chess", "rowing", "opera"])),
  partner: z.string().nullable(),
})
const prompt = "Invent a person."

describe.each(lanes)("$version, anthropic, $name, $way", ({ sdk, way, name }) => {
  const model = () => createAnthropic(served.client(way))(name)
  const base = () => ({ model: model(), prompt, maxOutputTokens: 300, maxRetries: 0 })

  test("generateText, with usage", async () => {
    const { finishReason, usage, text } = await sdk.generateText({ ...base(), maxOutputTokens: 8 })
    expect(["stop", "length"]).toContain(finishReason)
    expect(usage.outputTokens).toBeLessThanOrEqual(8)
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(typeof text).toBe("string")
  })

  test("streamText: deltas, the end, usage", async () => {
    const stream = sdk.streamText({ ...base(), maxOutputTokens: 8 })
    let streamed = ""
    for await (const delta of stream.textStream) streamed += delta
    expect(streamed).toBe(await stream.text)
    expect((await stream.usage).outputTokens).toBeGreaterThan(0)
    expect(["stop", "length"]).toContain(await stream.finishReason)
  })

  test("generateObject: object, array, enum", async () => {
    const { object } = await sdk.generateObject({ ...base(), schema: Person, temperature: 0.9 })
    expect(Person.parse(object)).toEqual(object)
    const element = z.object({ n: z.literal([1, 2, 3]) })
    const list = await sdk.generateObject({ ...base(), output: "array", schema: element })
    for (const item of list.object) element.parse(item)
    const choice = await sdk.generateObject({ ...base(), output: "enum", enum: ["sunny", "rainy"] })
    expect(["sunny", "rainy"]).toContain(choice.object)
  })

  test("streamObject: objects that grow, the last one whole", async () => {
    const stream = sdk.streamObject({ ...base(), schema: Person })
    let count = 0
    for await (const _ of stream.partialObjectStream) count++
    expect(count).toBeGreaterThan(1)
    Person.parse(await stream.object)
  })

  test("Output: object, choice, streamed object", async () => {
    const { Output } = sdk
    const object = await sdk.generateText({ ...base(), output: Output.object({ schema: Person }) })
    Person.parse(object.output)
    const choice = await sdk.generateText({
      ...base(),
      output: Output.choice({ options: ["left", "right"] }),
    })
    expect(["left", "right"]).toContain(choice.output)
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
      if (kind === "named") for (const { toolName } of step.toolCalls) expect(toolName).toBe("weather")
      expect(step.toolResults.length).toBe(step.toolCalls.length)
      for (const call of step.toolCalls) expect(call.invalid ?? false).toBe(false)
    }
  })

  test("streamed tools: input in pieces, the call, its result", async () => {
    const stream = sdk.streamText({
      ...base(),
      tools: tools(),
      toolChoice: { type: "tool", toolName: "weather" },
      providerOptions: { anthropic: { disableParallelToolUse: true } },
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
    const calls = await stream.toolCalls
    expect(calls.map((call) => call.input)).toEqual([JSON.parse(input)])
  })

  test("a refusal is told in the server's words, once", async () => {
    const schema = sdk.jsonSchema({ type: "object", properties: { n: { type: "odd" } } } as never)
    await expect(sdk.generateObject({ ...base(), maxRetries: 2, schema })).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining("odd"),
    })
  })
})
