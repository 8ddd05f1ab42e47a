import { Ollama } from "ollama"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch, type RunningServer, serve } from "../../server/index.ts"

/** Ollama's own client, unmodified, over a socket and in process: the same flows, the same answers. */

let engine: Engine
let server: RunningServer
const clients = {} as Record<"socket" | "in process", Ollama>
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  const app = createApp(engine, { aliases: ["llama3.2"], ollama: true })
  server = await serve(app, { port: 0 })
  clients.socket = new Ollama({ host: server.url })
  clients["in process"] = new Ollama({ host: "http://localhost:1", fetch: createFetch(app) as typeof fetch })
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
const format = z.toJSONSchema(Person)
const messages = [{ role: "user", content: "Invent a person." }]
const model = "llama3.2"
const options = { seed: 7, num_predict: 8, temperature: 0.7 }
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      required: ["city", "days"],
      properties: {
        city: { type: "string", enum: ["Oslo", "Rome"] },
        days: { type: "integer", enum: [1, 2] },
      },
    },
  },
}
const Call = z.object({ city: z.enum(["Oslo", "Rome"]), days: z.int().min(1).max(2) })
const toolsOnly = { tool_choice: "required", parallel_tool_calls: false } as object

describe.each(["socket", "in process"] as const)("ollama client, %s", (kind) => {
  test("list, show, ps, version", async () => {
    const { models } = await clients[kind].list()
    expect(models.map(({ name }) => name)).toEqual(["tokenrail-embedded:latest", "llama3.2:latest"])
    expect(models[0]).toMatchObject({
      digest: expect.stringMatching(/^[\da-f]{64}$/),
      details: { family: "llama" },
    })
    expect(models[0].size).toBeGreaterThan(1_000_000)
    const shown = await clients[kind].show({ model: models[1].name })
    expect(shown.capabilities).toEqual(["completion", "tools"])
    expect(shown.model_info).toMatchObject({ "llama.context_length": 2048 })
    expect(shown.template).toContain("<|im_start|>")
    const running = await clients[kind].ps()
    expect(running.models.map(({ name }) => name)).toContain("llama3.2:latest")
    expect((await clients[kind].version()).version).toMatch(/^\d+\.\d+\.\d+/)
  })

  test("chat, and the same as a stream", async () => {
    const request = { model, messages, options, format: { type: "string", minLength: 100 } }
    const whole = await clients[kind].chat(request)
    expect(whole).toMatchObject({ model, message: { role: "assistant" }, done: true, done_reason: "length" })
    expect(whole).toMatchObject({ eval_count: 8, prompt_eval_count: expect.any(Number) })
    let text = ""
    const lines: object[] = []
    for await (const line of await clients[kind].chat({ ...request, stream: true })) {
      text += line.message.content
      lines.push(line)
    }
    expect(text).toBe(whole.message.content)
    expect(lines.slice(0, -1).every((line) => (line as { done: boolean }).done === false)).toBe(true)
    expect(lines.at(-1)).toMatchObject({ done: true, done_reason: "length", eval_count: 8 })
  })

  test("chat with a schema, and with JSON", async () => {
    const person = await clients[kind].chat({ model, messages, format, options: { temperature: 1.5 } })
    expect(person.done_reason).toBe("stop")
    expect(Person.parse(JSON.parse(person.message.content))).toBeTypeOf("object")
    const streamed = await clients[kind].generate({ model, prompt: "Invent a person.", format, stream: true })
    let text = ""
    for await (const line of streamed) text += line.response
    expect(Person.parse(JSON.parse(text))).toBeTypeOf("object")
    const json = await clients[kind].chat({ model, messages, format: "json", options: { num_predict: 200 } })
    expect(json.message.content).toMatch(/^\s*\{/)
  })

  test("tools: a call, its result, and the answer", async () => {
    const request = { model, messages, tools: [weather], ...toolsOnly }
    const whole = await clients[kind].chat(request)
    const [call] = whole.message.tool_calls!
    expect(call.function.name).toBe("weather")
    expect(Call.parse(call.function.arguments)).toEqual(call.function.arguments)
    const history = [...messages, whole.message, { role: "tool", tool_name: "weather", content: "12 °C" }]
    const answer = await clients[kind].chat({
      ...request,
      ...{ tool_choice: "auto" },
      messages: history,
      options,
    })
    expect(answer.done).toBe(true)
    const calls: unknown[] = []
    for await (const { message } of await clients[kind].chat({ ...request, stream: true })) {
      calls.push(...(message.tool_calls ?? []).map((each) => each.function.arguments))
    }
    expect(calls).toHaveLength(1)
    expect(Call.parse(calls[0])).toEqual(calls[0])
  })

  test("generate, with a system text and raw", async () => {
    const whole = await clients[kind].generate({ model, prompt: "Hello", system: "Be short.", options })
    expect(whole).toMatchObject({ model, done: true, response: expect.any(String) })
    const raw = await clients[kind].generate({ model, prompt: "Once upon", raw: true, options })
    expect(raw.prompt_eval_count).toBeLessThan(whole.prompt_eval_count)
    const loaded = await clients[kind].generate({ model, prompt: "" })
    expect(loaded).toMatchObject({ response: "", done: true, done_reason: "load" })
  })

  test("errors carry their text and status", async () => {
    const unknown = clients[kind].chat({ model: "mistral", messages })
    await expect(unknown).rejects.toMatchObject({
      status_code: 404,
      message: expect.stringContaining("model 'mistral' not found"),
    })
    const bad = clients[kind].chat({ model, messages, format: { type: "banana" }, stream: true })
    await expect(bad).rejects.toMatchObject({ status_code: 400, message: expect.stringContaining("banana") })
    await expect(clients[kind].pull({ model })).rejects.toMatchObject({ status_code: 404 })
    await expect(clients[kind].embed({ model, input: "x" })).rejects.toMatchObject({ status_code: 404 })
  })

  test("an abort frees the slot", async () => {
    const format = { type: "string", pattern: "^[a-z]{1500}$" }
    const stream = await clients[kind].chat({ model, messages, format, stream: true })
    await expect(
      (async () => {
        for await (const line of stream) if (line.message.content !== "") stream.abort()
      })(),
    ).rejects.toMatchObject({ name: "AbortError" })
    await expect.poll(() => engine.load()).toMatchObject({ running: 0, waiting: 0 })
  })
})
