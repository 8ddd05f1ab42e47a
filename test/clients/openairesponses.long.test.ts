import OpenAI from "openai"
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch, type RunningServer, serve } from "../../server/index.ts"

/** Responses by the unmodified client, over a socket and in process: the same flows, the same answers. */

let engine: Engine
let server: RunningServer
const clients = {} as Record<"socket" | "in process", OpenAI>
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  const app = createApp(engine, { aliases: ["gpt-4o"] })
  server = await serve(app, { port: 0 })
  const options = { apiKey: "none", maxRetries: 0 }
  clients.socket = new OpenAI({ ...options, baseURL: `${server.url}/v1` })
  clients["in process"] = new OpenAI({ ...options, baseURL: "http://localhost/v1", fetch: createFetch(app) })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})

const Person = z.object({
  name: z.string().max(16),
  age: z.number().int().min(0).max(120),
  hobbies: z.array(z.enum(["chess", "rowing", "opera"])).max(2),
})
const Place = z.object({ city: z.string().max(12), unit: z.enum(["c", "f"]) })
const base = { model: "gpt-4o", input: "Invent a person.", max_output_tokens: 300 }
const text = { format: zodTextFormat(Person, "person") }
const weather = zodResponsesFunction({ name: "get_weather", parameters: Place })
const dial: OpenAI.Responses.CustomTool = {
  type: "custom",
  name: "dial",
  format: { type: "grammar", syntax: "lark", definition: "start: /[0-9]{3}/" },
}

describe.each(["socket", "in process"] as const)("openai client, %s", (kind) => {
  test("create", async () => {
    const response = await clients[kind].responses.create({ ...base, max_output_tokens: 8 })
    expect([response.object, typeof response.output_text]).toEqual(["response", "string"])
    expect(response.usage!.output_tokens).toBeLessThanOrEqual(8)
  })

  test("create with stream", async () => {
    const stream = await clients[kind].responses.create({ ...base, text, stream: true })
    let joined = ""
    let last: OpenAI.Responses.ResponseStreamEvent | undefined
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") joined += event.delta
      last = event
    }
    expect(Person.safeParse(JSON.parse(joined)).success).toBe(true)
    expect(last?.type).toBe("response.completed")
  })

  test("parse with Zod", async () => {
    const response = await clients[kind].responses.parse({ ...base, text, temperature: 1.5 })
    expect(Person.parse(response.output_parsed)).toEqual(response.output_parsed)
  })

  test("stream() with snapshots and the parsed value", async () => {
    const stream = clients[kind].responses.stream({ ...base, text })
    const snapshots: string[] = []
    stream.on("response.output_text.delta", ({ snapshot }) => snapshots.push(snapshot))
    const final = await stream.finalResponse()
    expect(snapshots.at(-1)).toBe(final.output_text)
    expect(Person.safeParse(final.output_parsed).success).toBe(true)
    expect(final.usage!.total_tokens).toBeGreaterThan(0)
  })

  test("stream() of reasoning", async () => {
    const thinking = { tokenrail: { reason: { until: "</think>" } }, thinking_token_budget: 6 }
    const final = await clients[kind].responses.stream({ ...base, ...thinking, text }).finalResponse()
    expect(final.output.map(({ type }) => type)).toEqual(["reasoning", "message"])
    expect(Person.safeParse(final.output_parsed).success).toBe(true)
  })

  test("a tool whose arguments are parsed, whole and streamed", async () => {
    const asked = { ...base, tools: [weather], tool_choice: "required" as const, parallel_tool_calls: false }
    const whole = await clients[kind].responses.parse(asked)
    const stream = clients[kind].responses.stream(asked)
    let joined = ""
    stream.on("response.function_call_arguments.delta", ({ delta }) => {
      joined += delta
    })
    const streamed = await stream.finalResponse()
    for (const { output } of [whole, streamed]) {
      const [call] = output
      if (call.type !== "function_call") throw new Error(`not a call: ${call.type}`)
      expect(Place.parse(call.parsed_arguments)).toEqual(JSON.parse(call.arguments))
    }
    expect(streamed.output).toMatchObject([{ arguments: joined, status: "completed" }])
  })

  test("a loop of calls and results, by the response before", async () => {
    const { responses } = clients[kind]
    const tools = [weather]
    const first = await responses.create({ ...base, tools, tool_choice: "required" })
    const input = first.output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "sunny" }]
        : [],
    )
    expect(input.length).toBeGreaterThan(0)
    const next = { ...base, input, tools, tool_choice: "none" as const, max_output_tokens: 16 }
    const second = await responses.create({ ...next, previous_response_id: first.id })
    expect(second.output[0].type).toBe("message")
    const items = await responses.inputItems.list(second.id)
    expect(items.data.map(({ type }) => type)).toEqual(input.map(({ type }) => type))
  })

  test("a custom tool with a Lark grammar, whole and streamed", async () => {
    const asked = { ...base, tools: [dial], tool_choice: { type: "custom" as const, name: "dial" } }
    const whole = await clients[kind].responses.create(asked)
    const streamed = await clients[kind].responses.stream(asked).finalResponse()
    for (const { output } of [whole, streamed]) {
      const [call] = output
      if (call.type !== "custom_tool_call") throw new Error(`not a custom call: ${call.type}`)
      expect(call.input).toMatch(/^[0-9]{3}$/)
    }
  })

  test("tools of a namespace", async () => {
    const { responses } = clients[kind]
    const space = { type: "namespace" as const, name: "crm", description: "of customers" }
    const tools = [
      { ...space, tools: [{ type: "function" as const, name: "now", strict: true, parameters: null }] },
    ]
    const { output } = await responses.create({ ...base, tools, tool_choice: "required" })
    expect(output[0]).toMatchObject({ type: "function_call", name: "now", namespace: "crm" })
  })

  test("retrieve, its input, delete, count", async () => {
    const { responses } = clients[kind]
    const created = await responses.create({ ...base, text })
    expect((await responses.retrieve(created.id)).output).toEqual(created.output)
    for await (const item of responses.inputItems.list(created.id)) expect(item.type).toBe("message")
    const { input_tokens: counted } = await responses.inputTokens.count({
      model: base.model,
      input: base.input,
    })
    expect(counted).toBe(created.usage!.input_tokens)
    await responses.delete(created.id)
    await expect(responses.retrieve(created.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  test("an answer that is cut parses to nothing", async () => {
    const response = await clients[kind].responses.parse({ ...base, text, max_output_tokens: 2 })
    expect([response.status, response.output_parsed]).toEqual(["incomplete", null])
    expect(response.incomplete_details?.reason).toBe("max_output_tokens")
  })

  test("a refused schema is a BadRequestError that says what and where, streamed or not", async () => {
    const schema = { type: "integer", minimum: 5, maximum: 3 }
    const format = { type: "json_schema" as const, name: "x", schema }
    for (const stream of [false, true]) {
      const call = clients[kind].responses.create({ ...base, text: { format }, stream })
      await expect(call).rejects.toMatchObject({ code: "invalid_json_schema", param: "text.format.schema" })
      await expect(call).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    }
  })

  test("aborting a stream and cancelling a response free the slot", async () => {
    const { responses } = clients[kind]
    const long = { ...base, stream: true as const, structured_outputs: { regex: "[a-z]{3000}" } }
    const aborted = await responses.create({ ...long, max_output_tokens: 400 })
    for await (const event of aborted) if (event.type === "response.output_text.delta") break
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
    const cancelled = await responses.create({ ...long, max_output_tokens: 400 })
    let status: string | undefined
    let id = ""
    for await (const event of cancelled) {
      if (event.type === "response.created") id = event.response.id
      if (event.type === "response.output_text.delta" && status === undefined)
        status = (await responses.cancel(id)).status
    }
    expect([status, (await responses.retrieve(id)).status]).toEqual(["cancelled", "cancelled"])
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
  })
})
