/** The unmodified ChatOpenAI of LangChain over chat, in two versions, over a socket and in process. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { tool } from "@langchain/core/tools"
import { ChatOpenAI } from "@langchain/openai"
import { ChatOpenAI as ChatOpenAI16 } from "langchain-openai16"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { serveWays, type Way } from "../support/ways.ts"

const served = serveWays({ onLength: "close" })
const lanes: { version: string; Chat: typeof ChatOpenAI; way: Way }[] = [
  { version: "1.5", Chat: ChatOpenAI, way: "socket" },
  { version: "1.5", Chat: ChatOpenAI, way: "in process" },
  { version: "1.6", Chat: ChatOpenAI16 as unknown as typeof ChatOpenAI, way: "socket" },
]

const Person = z.object({
  name: z.string().max(12),
  age: z.number().int().min(0).max(120),
  hobbies: z.array(z.enum(["chess", "rowing", "opera"])).max(2),
  partner: z.string().max(8).nullable(),
})
const question = "Invent a person. Answer in JSON."

describe.each(lanes)("LangChain $version, $way", ({ Chat, way }) => {
  const model = (more: object = {}) => {
    const { apiKey, ...configuration } = served.client(way)
    return new Chat({
      model: "gpt-4o",
      apiKey,
      maxTokens: 300,
      maxRetries: 0,
      modelKwargs: { seed: 1 },
      ...more,
      configuration,
    })
  }

  test("invoke, with usage", async () => {
    const message = await model({ maxTokens: 8 }).invoke("Say hi.")
    expect(message).toBeInstanceOf(AIMessage)
    expect(message.usage_metadata?.output_tokens).toBeLessThanOrEqual(8)
    expect(["stop", "length"]).toContain(message.response_metadata.finish_reason)
  })

  test("stream: the joined chunks are the message", async () => {
    const whole = await model({ maxTokens: 8 }).invoke("Say hi.")
    let text = ""
    let tokens = 0
    for await (const chunk of await model({ maxTokens: 8 }).stream("Say hi.")) {
      text += chunk.text
      tokens += chunk.usage_metadata?.output_tokens ?? 0
    }
    expect(text).toBe(whole.text)
    expect(tokens).toBe(whole.usage_metadata?.output_tokens)
  })

  test.each<[name: string, options: object]>([
    ["default", {}],
    ["jsonSchema strict", { method: "jsonSchema", strict: true }],
    ["functionCalling", { method: "functionCalling" }],
    ["functionCalling strict", { method: "functionCalling", strict: true }],
  ])("withStructuredOutput, %s, whole and streamed", async (_, options) => {
    const structured = model().withStructuredOutput(Person, { name: "person", ...options })
    const person = await structured.invoke(question)
    expect(Person.parse(person)).toEqual(person)
    let last: unknown
    for await (const value of await structured.stream(question)) last = value
    expect(last).toEqual(person)
  })

  test("withStructuredOutput, jsonMode: an object, whatever its keys", async () => {
    const structured = model().withStructuredOutput(z.looseObject({}), { method: "jsonMode" })
    expect(typeof (await structured.invoke(question))).toBe("object")
  })

  test("withStructuredOutput of a JSON Schema, with the raw message", async () => {
    const schema = {
      title: "answer",
      type: "object",
      properties: { ok: { type: "boolean" } },
      required: ["ok"],
    }
    const { parsed, raw } = await model().withStructuredOutput(schema, { includeRaw: true }).invoke(question)
    expect(typeof (parsed as { ok: unknown }).ok).toBe("boolean")
    expect(raw).toBeInstanceOf(AIMessage)
  })

  const weather = tool(async ({ city }) => `12 degrees in ${city}`, {
    name: "get_weather",
    description: "of a city",
    schema: z.object({ city: z.string().max(12), unit: z.enum(["c", "f"]).optional() }),
  })

  test("bindTools, any: a call, streamed the same, and a turn behind its result", async () => {
    const bound = model().bindTools([weather], { tool_choice: "any", parallel_tool_calls: false })
    const history = [new HumanMessage("What is the weather in Paris?")]
    const message = await bound.invoke(history)
    expect(message.invalid_tool_calls ?? []).toEqual([])
    expect(message.tool_calls?.length).toBe(1)
    const [call] = message.tool_calls!
    expect([call.name, typeof call.args.city]).toEqual(["get_weather", "string"])
    let whole: AIMessage | undefined
    for await (const chunk of await bound.stream(history))
      whole = whole === undefined ? chunk : (whole as typeof chunk).concat(chunk)
    expect(whole?.tool_calls?.map(({ name, args }) => ({ name, args }))).toEqual([
      { name: call.name, args: call.args },
    ])
    const result = await weather.invoke({ ...call, type: "tool_call" })
    expect(result).toBeInstanceOf(ToolMessage)
    const next = await model()
      .bindTools([weather])
      .invoke([...history, message, result])
    expect(next).toBeInstanceOf(AIMessage)
  })

  test("bindTools, a named tool, strict", async () => {
    const message = await model()
      .bindTools([weather], { tool_choice: "get_weather", strict: true })
      .invoke("What is the weather in Paris?")
    expect(message.tool_calls?.map(({ name }) => name)).toEqual(["get_weather"])
  })

  test("fields of its own beside the client's, by modelKwargs", async () => {
    const message = await model({ modelKwargs: { structured_outputs: { regex: "[a-z]{3}" } } }).invoke("Hi.")
    expect(message.text).toMatch(/^[a-z]{3}$/)
  })

  test("a refusal is told in the server's words, at once", async () => {
    const schema = { title: "x", type: "object", properties: { n: { type: "odd" } } }
    const call = model({ maxRetries: 2 }).withStructuredOutput(schema, { method: "jsonSchema" }).invoke("Hi.")
    await expect(call).rejects.toMatchObject({ status: 400, message: expect.stringContaining("odd") })
  })
})
