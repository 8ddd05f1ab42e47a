import OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch, type RunningServer, serve } from "../../server/index.ts"

/** Completions by the unmodified client, over a socket and in process: the same flows, the same answers. */

let engine: Engine
let server: RunningServer
const clients = {} as Record<"socket" | "in process", OpenAI>
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 1024 })
  const app = createApp(engine, { aliases: ["gpt-3.5-turbo-instruct"] })
  server = await serve(app, { port: 0 })
  const options = { apiKey: "none", maxRetries: 0 }
  clients.socket = new OpenAI({ ...options, baseURL: `${server.url}/v1` })
  clients["in process"] = new OpenAI({ ...options, baseURL: "http://localhost/v1", fetch: createFetch(app) })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})

const base = { model: "gpt-3.5-turbo-instruct", prompt: "Once upon a time", seed: 4 }

describe.each(["socket", "in process"] as const)("openai client, %s", (kind) => {
  test("create, and create with stream", async () => {
    const whole = await clients[kind].completions.create({ ...base, max_tokens: 20 })
    expect(whole.object).toBe("text_completion")
    const stream = await clients[kind].completions.create({
      ...{ ...base, max_tokens: 20, stream: true as const },
      stream_options: { include_usage: true },
    })
    let text = ""
    const reasons: string[] = []
    let usage: OpenAI.CompletionUsage | null | undefined
    for await (const chunk of stream) {
      for (const choice of chunk.choices) {
        text += choice.text
        if (choice.finish_reason) reasons.push(choice.finish_reason)
      }
      usage = chunk.usage
    }
    expect(text).toBe(whole.choices[0].text)
    expect(reasons).toEqual([whole.choices[0].finish_reason])
    expect(usage?.completion_tokens).toBe(whole.usage?.completion_tokens)
  })

  test("a batch of prompts, several answers each, the best of more", async () => {
    const { choices } = await clients[kind].completions.create({
      ...{ ...base, prompt: ["One", "Two"], n: 2, best_of: 3, max_tokens: 5 },
    })
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
  })

  test("log-probabilities of a prompt alone, as evaluations ask for them", async () => {
    const { choices, usage } = await clients[kind].completions.create({
      ...{ ...base, echo: true, logprobs: 1, max_tokens: 0, temperature: 0 },
    })
    const { text, logprobs } = choices[0]
    expect(text).toBe(base.prompt)
    expect(logprobs?.tokens?.join("")).toBe(base.prompt)
    expect(logprobs?.token_logprobs?.[0]).toBeNull()
    for (const value of logprobs!.token_logprobs!.slice(1)) expect(value).toBeLessThanOrEqual(0)
    expect(usage?.completion_tokens).toBe(0)
  })

  test("a constraint beside the client's own fields", async () => {
    const request = { ...base, structured_outputs: { regex: " [A-Z][a-z]{2,8}\\." }, max_tokens: 30 }
    const { choices } = await clients[kind].completions.create(request)
    expect(choices[0].text).toMatch(/^ [A-Z][a-z]{2,8}\.$/)
  })

  test("a refusal names the field", async () => {
    const call = clients[kind].completions.create({ ...base, suffix: "The end." })
    await expect(call).rejects.toMatchObject({ status: 400, param: "suffix", code: "unsupported_parameter" })
  })

  test("who leaves ends all answers, streamed or not", async () => {
    const long = {
      ...base,
      prompt: ["a", "b"],
      structured_outputs: { regex: "[a-z]{3000}" },
      max_tokens: 900,
    }
    const stream = await clients[kind].completions.create({ ...long, stream: true })
    for await (const chunk of stream) if (chunk.choices[0].text) break
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
    const whole = new AbortController()
    const call = clients[kind].completions.create(long, { signal: whole.signal })
    call.catch(() => {})
    await expect.poll(() => engine.load().running, { timeout: 5000, interval: 1 }).toBe(2)
    whole.abort()
    await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    await expect.poll(() => engine.load().running, { timeout: 5000 }).toBe(0)
  })
})
