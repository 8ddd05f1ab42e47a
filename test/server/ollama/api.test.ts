/** Ollama's API as its clients call it: bodies, lines, statuses, and the requests of Open WebUI. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { type App, type AppOptions, createApp } from "../../../server/app.ts"
import { parameterSize } from "../../../server/ollama/models.ts"
import { callText } from "../../../server/ollama/reply.ts"
import { writeThinkingModel } from "../../support/thinkingmodel.ts"

let engine: Engine
let app: App
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  app = appWith({})
})
afterAll(() => engine.close())

const appWith = (options: AppOptions) => createApp(engine, { aliases: ["m"], ollama: true, ...options })
const messages = [{ role: "user", content: "Hi" }]
const short = { options: { num_predict: 6, seed: 1 } }

const post = async (path: string, fields: object, on = app): Promise<Response> =>
  on.request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", ...fields }),
  })

type Line = { done: boolean; message: Record<string, unknown>; response: string } & Record<string, unknown>
const linesOf = async (response: Response): Promise<Line[]> =>
  (await response.text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("chat", () => {
  test("streams lines, the last one with reason, counts and durations", async () => {
    const response = await post("/api/chat", { messages, ...short })
    expect(response.headers.get("content-type")).toBe("application/x-ndjson")
    const lines = await linesOf(response)
    for (const line of lines) {
      expect(line).toMatchObject({ model: "m", message: { role: "assistant" } })
      expect(new Date(line.created_at as string).getTime()).not.toBeNaN()
    }
    const last = lines.pop()!
    expect(lines.every(({ done }) => !done)).toBe(true)
    expect(last).toMatchObject({ done: true, message: { content: "" }, load_duration: 0 })
    for (const name of ["total_duration", "prompt_eval_duration", "eval_duration", "eval_count"]) {
      expect(Number.isSafeInteger(last[name])).toBe(true)
    }
    const whole = await post("/api/chat", { messages, ...short, stream: false })
    expect(whole.headers.get("content-type")).toMatch(/^application\/json/)
    const text = lines.map(({ message }) => message.content).join("")
    expect(await whole.json()).toMatchObject({ done: true, message: { content: text } })
  })

  test("log-probabilities follow the pieces", async () => {
    const fields = { messages, ...short, logprobs: true, top_logprobs: 2 }
    const whole = (await (await post("/api/chat", { ...fields, stream: false })).json()) as Line
    const rows = whole.logprobs as { token: string; top_logprobs: object[] }[]
    expect(rows[0]).toMatchObject({ token: expect.any(String), logprob: expect.any(Number) })
    expect(rows[0].top_logprobs.length).toBeGreaterThanOrEqual(2)
    const lines = await linesOf(await post("/api/chat", fields))
    expect(lines.flatMap(({ logprobs }) => logprobs ?? [])).toEqual(rows)
  })

  test("arguments of calls keep the spelling that the model wrote", async () => {
    const parameters = { type: "object", properties: { n: { const: 1 } }, required: ["n"] }
    const source = JSON.stringify({
      ...{ model: "m", messages, stream: false, tool_choice: "required", parallel_tool_calls: false },
      tools: [{ type: "function", function: { name: "f", parameters } }],
    }).replace('"const":1', '"const":12345678901234567890')
    const response = await app.request("/api/chat", { method: "POST", body: source })
    expect(await response.text()).toMatch(/"name":"f","arguments":\{"n": ?12345678901234567890 ?\}/)
  })

  test("a call is one line, even if its arguments have several", () => {
    const text = callText("a", 0, "f", '{\n  "n": "\\n"\r\n}')
    expect(text).not.toMatch(/[\r\n]/)
    expect(JSON.parse(text)).toEqual({ id: "a", function: { index: 0, name: "f", arguments: { n: "\n" } } })
  })

  test("an empty list of messages loads the model", async () => {
    const response = await post("/api/chat", { messages: [], keep_alive: "5m" })
    expect(await response.json()).toMatchObject({
      message: { role: "assistant", content: "" },
      done: true,
      done_reason: "load",
    })
  })

  test("a call that the budget cut is left out", async () => {
    const parameters = {
      type: "object",
      properties: { n: { type: "string", minLength: 90 } },
      required: ["n"],
    }
    const tools = [{ type: "function", function: { name: "f", parameters } }]
    const fields = {
      messages,
      tools,
      tool_choice: "required",
      tokenrail: { on_length: "truncate" },
      options: { num_predict: 30 },
    }
    const whole = (await (await post("/api/chat", { ...fields, stream: false })).json()) as Line
    expect(whole).toMatchObject({ done_reason: "length" })
    expect(whole.message).not.toHaveProperty("tool_calls")
    const lines = await linesOf(await post("/api/chat", fields))
    expect(lines.flatMap(({ message }) => message.tool_calls ?? [])).toEqual([])
  })
})

describe("errors", () => {
  test.each<[what: string, fields: object, status: number, message: RegExp]>([
    ["an unknown model", { model: "mistral" }, 404, /^model 'mistral' not found/],
    ["a schema that is none", { format: { type: "banana" } }, 400, /banana/],
    ["a wrong field", { think: 7 }, 400, /think/],
    ["a model that does not think", { think: true }, 400, /'m' does not support thinking/],
    [
      "a prompt that is too long",
      { messages: [{ role: "user", content: "a b ".repeat(4_000) }] },
      400,
      /context length/,
    ],
  ])("%s", async (_, fields, status, message) => {
    const response = await post("/api/chat", { messages, ...fields })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ error: expect.stringMatching(message) })
  })

  test.each([
    ["POST", "/api/pull"],
    ["POST", "/api/embed"],
    ["DELETE", "/api/delete"],
    ["POST", "/api/nothing"],
  ])("%s %s is not here", async (method, path) => {
    const response = await app.request(path, { method, body: method === "POST" ? "{}" : null })
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ error: expect.stringContaining(path) })
  })

  test("a wrong method, a wrong body, a missing key", async () => {
    expect((await app.request("/api/chat")).status).toBe(405)
    const empty = await app.request("/api/chat", { method: "POST", body: "" })
    expect(await empty.json()).toEqual({ error: expect.stringContaining("empty") })
    const locked = appWith({ apiKeys: ["k"] })
    const refused = await locked.request("/api/tags")
    expect(refused.status).toBe(401)
    expect(await refused.json()).toEqual({ error: expect.stringContaining("key") })
    const headers = { authorization: "Bearer k" }
    expect((await locked.request("/api/tags", { headers })).status).toBe(200)
  })

  test("an error in the middle of a stream is its last line", async () => {
    const own = await open({ device: "cpu" })
    const stream = await post(
      "/api/chat",
      { messages, format: { type: "string", pattern: "^[a-z]{1500}$" } },
      createApp(own, { aliases: ["m"], ollama: true }),
    )
    const reader = stream.body!.getReader()
    let text = new TextDecoder().decode((await reader.read()).value)
    await own.close()
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value)
    expect(JSON.parse(text.trimEnd().split("\n").at(-1)!)).toEqual({
      error: expect.stringContaining("shutting down"),
    })
  })

  test("without the option there is no such API, and the refusal says how to get it", async () => {
    const plain = await createApp(engine).request("/api/tags")
    expect(plain.status).toBe(404)
    expect(await plain.json()).toEqual({ error: expect.stringContaining("--ollama") })
  })
})

describe("models", () => {
  test.each(["m", "m:latest", "tokenrail-embedded:latest"])("%s is a name of the model", async (model) => {
    const shown = await post("/api/show", { model })
    expect(await shown.json()).toMatchObject({
      details: {
        format: "onnx",
        family: "llama",
        families: ["llama"],
        parameter_size: "",
        quantization_level: "unknown",
      },
      capabilities: ["completion", "tools"],
    })
  })

  test("a model of GGUF has its number of parameters", async () => {
    const cache = mkdtempSync(join(tmpdir(), "cache-"))
    vi.stubEnv("XDG_CACHE_HOME", cache)
    const own = await open({ model: "test/decoders/llama.gguf", device: "cpu", slots: 1 })
    try {
      const on = createApp(own, { aliases: ["m"], ollama: true })
      const { details, model_info } = await (await post("/api/show", {}, on)).json()
      // All values of the tensors in the file's header.
      expect(details.quantization_level).toBe("Q4_0")
      expect([details.parameter_size, model_info["general.parameter_count"]]).toEqual(["37K", 37_032])
      const { models } = await (await on.request("/api/tags")).json()
      expect(models[0].details).toEqual(details)
    } finally {
      await own.close()
      vi.unstubAllEnvs()
      rmSync(cache, { recursive: true })
    }
  })

  test.each([
    [12, "12"],
    [134_515_008, "134.52M"],
    [7_000_000, "7M"],
    [7_615_616_512, "7.6B"],
  ])("%d parameters are %s", (count, text) => expect(parameterSize(count)).toBe(text))

  test("show takes the older field, and knows no other model", async () => {
    const older = await post("/api/show", { model: undefined, name: "m" })
    expect(older.status).toBe(200)
    expect((await post("/api/show", { model: "x" })).status).toBe(404)
    expect((await post("/api/show", { model: undefined })).status).toBe(400)
  })

  test("GET / is Ollama's text, but for a client that asks for JSON", async () => {
    const seen = await app.request("/")
    expect(seen.headers.get("content-type")).toMatch(/^text\/plain/)
    expect(await seen.text()).toBe("Ollama is running")
    const json = await app.request("/", { headers: { accept: "application/json" } })
    expect(await json.json()).toEqual({ status: "ok" })
    const plain = createApp(engine)
    expect(await (await plain.request("/")).json()).toEqual({ status: "ok" })
  })

  test.each([0, -1, 300, "0s", "5m", "-1", "1h30m"])("keep_alive %j has no effect", async (keep_alive) => {
    const chat = await post("/api/chat", { messages: [], keep_alive })
    expect(await chat.json()).toMatchObject({ done: true, done_reason: "load" })
    const prompt = await post("/api/generate", { prompt: "", keep_alive })
    expect(await prompt.json()).toMatchObject({ done: true, done_reason: "load" })
  })

  test.each(["/", "/api/version", "/api/tags"])("HEAD %s", async (path) => {
    expect((await app.request(path, { method: "HEAD" })).status).toBe(200)
  })
})

describe("a model that thinks", () => {
  let thinking: Engine
  let own: App
  const directory = mkdtempSync(join(tmpdir(), "tokenrail-"))
  beforeAll(async () => {
    thinking = await open({ model: writeThinkingModel(join(directory, "model")), device: "cpu" })
    own = createApp(thinking, { aliases: ["m"], ollama: true })
  })
  afterAll(async () => {
    await thinking.close()
    rmSync(directory, { recursive: true })
  })

  const tag = { type: "object", properties: { a: { const: 1 } }, required: ["a"] }

  test("says so, and thinks when it is asked to", async () => {
    const shown = (await (await post("/api/show", {}, own)).json()) as { capabilities: string[] }
    expect(shown.capabilities).toContain("thinking")
    const fields = {
      messages,
      think: true,
      tokenrail: {},
      options: { num_predict: 12, temperature: 2, seed: 3 },
    }
    const lines = await linesOf(await post("/api/chat", fields, own))
    expect(lines.map(({ message }) => message.thinking ?? "").join("")).not.toBe("")
    const whole = (await (
      await post("/api/generate", { ...fields, messages: undefined, prompt: "Hi", stream: false }, own)
    ).json()) as Line
    expect(whole.thinking).toEqual(expect.any(String))
  })

  test("does not think when it must not", async () => {
    const response = await post("/api/chat", { messages, think: false, format: tag, stream: false }, own)
    const { message } = (await response.json()) as Line
    expect(message).not.toHaveProperty("thinking")
    expect(JSON.parse(message.content as string)).toMatchObject({ a: 1 })
  })
})

/** The bodies that Open WebUI 0.12.4 makes for a connection of Ollama's kind. */
describe("Open WebUI", () => {
  const model = "m:latest"
  const title = {
    type: "object",
    properties: { title: { type: "string", maxLength: 5 } },
    required: ["title"],
    additionalProperties: false,
  }
  const weather = {
    type: "function",
    function: {
      name: "get_weather",
      description: "Weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  }

  test("lists models with a key or without, and asks for the version", async () => {
    const headers = { "content-type": "application/json", authorization: "Bearer " }
    for (const path of ["/api/tags", "/api/ps", "/api/version"]) {
      const response = await app.request(path, { headers })
      expect(response.status).toBe(200)
    }
    const tags = (await (await app.request("/api/tags", { headers })).json()) as {
      models: { model: string }[]
    }
    expect(tags.models.map(({ model }) => model)).toEqual(["tokenrail-embedded:latest", "m:latest"])
  })

  test("chats with every parameter that its settings have", async () => {
    const sampling = {
      ...{ temperature: 0.8, top_p: 0.9, seed: 7, mirostat: 0, mirostat_eta: 0.1, mirostat_tau: 5 },
      ...{ repeat_last_n: 64, top_k: 40, min_p: 0, repeat_penalty: 1.1 },
      ...{ presence_penalty: 0, frequency_penalty: 0, stop: ["###", "\n\n"], num_predict: 12 },
    }
    const loading = { num_ctx: 2048, num_batch: 512, num_keep: 24, num_gpu: 0 }
    const memory = { use_mmap: true, use_mlock: false, num_thread: 2 }
    const response = await post("/api/chat", {
      ...{ model, messages, stream: true, keep_alive: -1, think: false },
      options: { ...sampling, ...loading, ...memory },
    })
    const ignored = Object.keys({ ...loading, ...memory }).map((name) => `options.${name}`)
    expect(response.headers.get("x-tokenrail-ignored")).toBe(ignored.join(", "))
    expect((await linesOf(response)).at(-1)).toMatchObject({ done: true })
  })

  test("continues after a call, with the format of its settings", async () => {
    const call = { index: 0, id: "call_1", function: { name: "get_weather", arguments: { city: "Bern" } } }
    const history = [
      { role: "system", content: "You help." },
      ...messages,
      { role: "assistant", tool_calls: [call], content: "" },
      { role: "tool", content: "12 degrees", tool_call_id: "call_1" },
    ]
    const options = { temperature: 0.5, num_predict: 12, seed: 1 }
    const format = { type: "object" }
    const response = await post("/api/chat", {
      ...{ model, messages: history, stream: true, tools: [weather], options, format, keep_alive: "5m" },
    })
    expect(response.status).toBe(200)
    expect((await linesOf(response)).at(-1)).toMatchObject({ done: true })
  })

  test("asks for a title by a schema", async () => {
    const response = await post("/api/chat", {
      ...{ model, messages, stream: false, options: { stop: ["x"], num_predict: 12 }, format: title },
      metadata: { task: "title_generation" },
    })
    const { message } = (await response.json()) as { message: { content: string } }
    expect(JSON.parse(message.content)).toEqual({ title: expect.any(String) })
  })

  test("unloads a model and asks what it is", async () => {
    const unloaded = await post("/api/generate", { model, keep_alive: 0, prompt: "" })
    expect(await unloaded.json()).toMatchObject({ response: "", done: true })
    expect((await post("/api/show", { model })).status).toBe(200)
  })
})
