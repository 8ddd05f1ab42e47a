import Anthropic from "@anthropic-ai/sdk"
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema"
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema"
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod"
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch, type RunningServer, serve } from "../../server/index.ts"

/** Anthropic's client, unmodified, over a socket and in process: the same flows, the same answers. */

let engine: Engine
let server: RunningServer
const clients = {} as Record<"socket" | "in process", Anthropic>
const model = "claude-haiku-4-5"
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  const app = createApp(engine, { aliases: [model], apiKeys: ["key"] })
  server = await serve(app, { port: 0 })
  const options = { apiKey: "key", maxRetries: 0 }
  clients.socket = new Anthropic({ ...options, baseURL: server.url })
  clients["in process"] = new Anthropic({ ...options, baseURL: "http://localhost", fetch: createFetch(app) })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})

const messages = [{ role: "user" as const, content: "What is the weather in Paris?" }]
// The client's types have it no longer.
const hot = { temperature: 1.5 }
const base = { model, messages, max_tokens: 300 }
const place = {
  type: "object" as const,
  properties: { city: { type: "string", maxLength: 12 }, unit: { enum: ["c", "f"] } },
  required: ["city", "unit"],
  additionalProperties: false,
}
const weather = { name: "get_weather", description: "The weather of a city", input_schema: place }
const Answer = z.object({ verdict: z.enum(["yes", "no"]), parts: z.array(z.enum(["a", "b"])) })
const isPlace = new Ajv2020().compile(place)

describe.each(["socket", "in process"] as const)("anthropic client, %s", (kind) => {
  test("create", async () => {
    const message = await clients[kind].messages.create({ ...base, system: "Be brief.", max_tokens: 8 })
    expect([message.role, message.model, message.type]).toEqual(["assistant", model, "message"])
    expect(message.usage.output_tokens).toBeLessThanOrEqual(8)
    expect(message._request_id).toMatch(/^req_/)
  })

  test("create with stream", async () => {
    const stream = await clients[kind].messages.create({ ...base, max_tokens: 20, stream: true })
    const types = []
    for await (const { type } of stream) types.push(type)
    expect([types[0], ...types.slice(-2)]).toEqual(["message_start", "message_delta", "message_stop"])
  })

  test("stream() with its events and the final message", async () => {
    const stream = clients[kind].messages.stream({
      ...base,
      output_config: { format: zodOutputFormat(Answer) },
      ...hot,
    })
    let text = ""
    stream.on("text", (delta, snapshot) => {
      text += delta
      expect(snapshot).toBe(text)
    })
    const final = await stream.finalMessage()
    expect(await stream.finalText()).toBe(text)
    expect(final.stop_reason).toBe("end_turn")
    expect(final.parsed_output).toEqual(Answer.parse(JSON.parse(text)))
    expect(final.usage.output_tokens).toBeGreaterThan(0)
  })

  test("parse with Zod, and with a schema as it stands", async () => {
    const zod = await clients[kind].messages.parse({
      ...base,
      output_config: { format: zodOutputFormat(Answer) },
    })
    expect(Answer.parse(zod.parsed_output)).toEqual(zod.parsed_output)
    const object = { ...place, required: ["city", "unit"] } as { type: "object" }
    // The client moves bounds into descriptions unless it is told not to.
    const whole = await clients[kind].messages.parse({
      ...base,
      output_config: { format: jsonSchemaOutputFormat(object, { transform: false }) },
    })
    expect(isPlace(whole.parsed_output)).toBe(true)
  })

  test("tools, there and back", async () => {
    const asked = { ...base, tools: [weather], tool_choice: { type: "any" as const } }
    const { content, stop_reason } = await clients[kind].messages.create({ ...asked, ...hot })
    expect(stop_reason).toBe("tool_use")
    const calls = content.filter((block) => block.type === "tool_use")
    for (const { input } of calls) expect(isPlace(input)).toBe(true)
    const results = calls.map(({ id }) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: "Sunny.",
    }))
    const next = await clients[kind].messages.create({
      ...base,
      messages: [...messages, { role: "assistant", content }, { role: "user", content: results }],
      tools: [weather],
      tool_choice: { type: "none" },
      max_tokens: 30,
    })
    expect(next.content.every(({ type }) => type === "text")).toBe(true)
  })

  test("the input of a streamed call, piece by piece", async () => {
    const stream = clients[kind].messages.stream({
      ...base,
      tools: [weather],
      tool_choice: { type: "tool", name: "get_weather" },
    })
    let json = ""
    stream.on("inputJson", (delta) => {
      json += delta
    })
    const final = await stream.finalMessage()
    const [call] = final.content
    expect(call.type === "tool_use" && call.input).toEqual(JSON.parse(json))
    expect(isPlace(JSON.parse(json))).toBe(true)
  })

  test("a tool runner calls what it is given", async () => {
    const called: unknown[] = []
    const tool = betaTool({
      name: "get_weather",
      description: "The weather of a city",
      inputSchema: place as { type: "object" },
      run: (input: unknown) => {
        called.push(input)
        return "Sunny."
      },
    })
    const runner = clients[kind].beta.messages.toolRunner({
      ...base,
      tools: [tool],
      tool_choice: { type: "any" },
      max_iterations: 2,
    })
    for await (const message of runner) expect(message.stop_reason).toBe("tool_use")
    expect(called.length).toBeGreaterThanOrEqual(1)
    for (const input of called) expect(isPlace(input)).toBe(true)
  })

  test("thinking blocks, streamed and sent back", async () => {
    const asked = {
      ...base,
      thinking: { type: "enabled" as const, budget_tokens: 8 },
      output_config: { format: zodOutputFormat(Answer), effort: "low" as const },
      // A model that marks no reasoning is told how to.
      ...{ tokenrail: { reason: { until: "</think>" } } },
    }
    const stream = clients[kind].messages.stream(asked)
    let thought = ""
    stream.on("thinking", (delta) => {
      thought += delta
    })
    const { content } = await stream.finalMessage()
    const [first, second] = content
    expect(first).toEqual({ type: "thinking", thinking: thought, signature: expect.stringMatching(/./) })
    expect(second.type).toBe("text")
    const history = [...messages, { role: "assistant" as const, content }, ...messages]
    expect((await clients[kind].messages.create({ ...base, messages: history, max_tokens: 2 })).role).toBe(
      "assistant",
    )
  })

  test("count tokens", async () => {
    const counted = await clients[kind].messages.countTokens({ model, messages, tools: [weather] })
    const { usage } = await clients[kind].messages.create({ ...base, tools: [weather] })
    expect(counted.input_tokens).toBe(usage.input_tokens + (usage.cache_read_input_tokens ?? 0))
  })

  test("errors are those that it knows by status and type", async () => {
    const schema = {
      type: "object",
      properties: { a: { minimum: 5, maximum: 3, type: "integer" } },
      required: ["a"],
    }
    const broken = clients[kind].messages.create({
      ...base,
      output_config: { format: { type: "json_schema", schema } },
    })
    const error = await broken.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    expect(error).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      requestID: expect.stringMatching(/^req_/),
    })
    expect((error as Error).message).toContain("/properties/a")
    const stream = clients[kind].messages.stream({ ...base, model: "claude-9" })
    await expect(stream.finalMessage()).rejects.toMatchObject({ status: 404, type: "not_found_error" })
    const stranger = clients[kind].withOptions({ apiKey: "wrong" })
    await expect(stranger.messages.create(base)).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  })

  test("leaving a stream ends its answer", async () => {
    const stream = await clients[kind].messages.create({
      ...base,
      ...{ structured_outputs: { regex: "[a-z]{400}" } },
      stream: true,
    })
    for await (const { type } of stream) if (type === "content_block_delta") break
    await expect.poll(() => engine.load().running, { timeout: 5_000 }).toBe(0)
  })
})
