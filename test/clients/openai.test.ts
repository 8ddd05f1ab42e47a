import OpenAI from "openai"
import { LengthFinishReasonError } from "openai/core/error"
import { zodResponseFormat } from "openai/helpers/zod"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch, type RunningServer, serve } from "../../server/index.ts"

/** The unmodified client, over a socket and in process: the same flows, the same answers. */

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
  partner: z.union([z.string().max(8), z.null()]),
})
const messages = [{ role: "user" as const, content: "Invent a person." }]
const base = { model: "gpt-4o", messages, max_completion_tokens: 300 }
const format = zodResponseFormat(Person, "person")

describe.each(["socket", "in process"] as const)("openai client, %s", (kind) => {
  test("create", async () => {
    const completion = await clients[kind].chat.completions.create({ ...base, max_completion_tokens: 8 })
    expect(completion.choices[0].message.role).toBe("assistant")
    expect(completion.usage?.completion_tokens).toBeLessThanOrEqual(8)
  })

  test("create with json_schema", async () => {
    const completion = await clients[kind].chat.completions.create({ ...base, response_format: format })
    expect(completion.choices[0].finish_reason).toBe("stop")
    expect(Person.safeParse(JSON.parse(completion.choices[0].message.content!)).success).toBe(true)
  })

  test("parse with Zod", async () => {
    const completion = await clients[kind].chat.completions.parse({
      ...base,
      response_format: format,
      temperature: 1.5,
    })
    const person = completion.choices[0].message.parsed
    expect(Person.parse(person)).toEqual(person)
  })

  test("create with stream", async () => {
    const stream = await clients[kind].chat.completions.create({
      ...base,
      response_format: format,
      stream: true,
    })
    let text = ""
    for await (const chunk of stream) text += chunk.choices[0].delta.content ?? ""
    expect(Person.safeParse(JSON.parse(text)).success).toBe(true)
  })

  test("stream() with snapshots, usage and the parsed value", async () => {
    const options = { include_usage: true }
    const stream = clients[kind].chat.completions.stream({
      ...base,
      response_format: format,
      stream_options: options,
    })
    const snapshots: string[] = []
    stream.on("content.delta", ({ snapshot }) => snapshots.push(snapshot))
    const final = await stream.finalChatCompletion()
    expect(snapshots.at(-1)).toBe(final.choices[0].message.content)
    expect(Person.safeParse(final.choices[0].message.parsed).success).toBe(true)
    expect(final.usage?.total_tokens).toBeGreaterThan(0)
  })

  test("n choices", async () => {
    const completion = await clients[kind].chat.completions.create({
      ...base,
      response_format: format,
      n: 2,
      temperature: 1.5,
    })
    expect(completion.choices.map(({ index }) => index)).toEqual([0, 1])
    for (const { message } of completion.choices) Person.parse(JSON.parse(message.content!))
  })

  test("logprobs", async () => {
    const completion = await clients[kind].chat.completions.create({
      ...base,
      max_completion_tokens: 4,
      logprobs: true,
      top_logprobs: 2,
    })
    const rows = completion.choices[0].logprobs!.content!
    expect(rows.length).toBeGreaterThan(0)
    expect(rows[0].top_logprobs.length).toBeGreaterThan(0)
  })

  test("a truncated answer raises the client's own error", async () => {
    const call = clients[kind].chat.completions.parse({
      ...base,
      response_format: format,
      max_completion_tokens: 2,
    })
    await expect(call).rejects.toBeInstanceOf(LengthFinishReasonError)
  })

  test("a refused schema is a BadRequestError that says what and where", async () => {
    const schema = { type: "integer", minimum: 5, maximum: 3 }
    const response_format = { type: "json_schema" as const, json_schema: { name: "x", schema } }
    const call = clients[kind].chat.completions.create({ ...base, response_format })
    await expect(call).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(call).rejects.toMatchObject({
      code: "invalid_json_schema",
      param: "response_format.json_schema.schema",
    })
  })

  test("models", async () => {
    const models = await clients[kind].models.list()
    expect(models.data.map(({ id }) => id)).toEqual([engine.model.id, "gpt-4o"])
    expect((await clients[kind].models.retrieve("gpt-4o")).object).toBe("model")
    await expect(clients[kind].models.retrieve("gpt-9")).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  test("breaking out of a stream and aborting it free the slot", async () => {
    const long = {
      ...base,
      stream: true as const,
      structured_outputs: { regex: "[a-z]{3000}" },
      max_completion_tokens: 400,
    }
    const stream = await clients[kind].chat.completions.create(long)
    for await (const chunk of stream) if (chunk.choices[0].delta.content) break
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
    const second = await clients[kind].chat.completions.create(long)
    setTimeout(() => second.controller.abort(), 30)
    for await (const _ of second);
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
    const whole = new AbortController()
    const call = clients[kind].chat.completions.create({ ...long, stream: false }, { signal: whole.signal })
    call.catch(() => {})
    await expect.poll(() => engine.load().running, { timeout: 5000, interval: 1 }).toBe(1)
    whole.abort()
    await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
  })
})
