/**
 * What runs in the page. Everything that this file imports is bundled for the browser; the engine's
 * worker is the built file.
 */
import OpenAI from "openai"
import { z } from "zod"
import { compile, type GrammarInput } from "../../../grammar/index.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { type BrowserOptions, open, type PageEngine, tool } from "../../../server/browser/index.ts"
import { inputHashes } from "../../masks/walks.ts"
import { manyAnswers } from "./requests.ts"

let engine: PageEngine

/** An error as a test compares it. */
const toldOf = (error: unknown) => {
  const { name, message, ...fields } = error as Error & Record<string, unknown>
  return { name, message, isError: error instanceof Error, ...fields }
}
const failureOf = (work: Promise<unknown>) => work.then(() => null, toldOf)

/** What the tests call by name. */
export const inPage = {
  async open(options: BrowserOptions = {}) {
    const lines: string[] = []
    const urls = new Set<string>()
    engine = await open({
      ...options,
      log: (line) => lines.push(line),
      onDownload: ({ url, doneBytes, fileBytes }) =>
        doneBytes === fileBytes && urls.add(new URL(url).pathname),
    })
    return { lines, fetched: [...urls], model: { ...engine.model } }
  },

  /** The tokens that a model writes greedily after each prompt. */
  async greedy(model: string, prompts: readonly number[][], maxTokens: number) {
    const lines: string[] = []
    const opened = await open({ model, cache: null, log: (line) => lines.push(line) })
    const options = { temperature: 0, maxTokens, ignoreEos: true }
    const results = await Promise.all(prompts.map((prompt) => opened.generate(prompt, options)))
    await opened.close()
    return { line: lines.at(-1), tokens: results.map(({ tokens }) => tokens) }
  },

  /** Milliseconds of an opening and of an answer, and the long tasks of this thread meanwhile. */
  async times() {
    const tasks: number[] = []
    const observer = new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    )
    observer.observe({ entryTypes: ["longtask"] })
    const start = performance.now()
    const opened = await open()
    const openedAt = performance.now()
    let firstAt = 0
    let tokenCount = 0
    const options = { schema: { type: "string", minLength: 900, maxLength: 900 }, seed: 1, maxTokens: 200 }
    for await (const event of opened.stream("Tell a story.", options)) {
      if (!("tokens" in event)) continue
      firstAt ||= performance.now()
      tokenCount += event.tokens.length
    }
    const end = performance.now()
    await opened.close()
    observer.disconnect()
    const msPerToken = (end - firstAt) / (tokenCount - 1)
    return { openMs: openedAt - start, firstMs: firstAt - openedAt, msPerToken, tokenCount, tasks }
  },

  /** A constraint that takes longer than an engine allows, and one that does not. */
  async bounded() {
    const opened = await open({ limits: { compileMs: 1 } })
    const allOf = Array.from({ length: 400 }, (_, i) => ({ not: { multipleOf: 101 + i } }))
    const refused = await failureOf(opened.generate("a", { schema: { type: "integer", allOf } }))
    const { text } = await opened.generate("a", { choice: ["b"] })
    await opened.close()
    return { refused, text }
  },

  async close() {
    await engine.close()
    return failureOf(engine.generate("a"))
  },

  /** Openings that are ended, and one whose worker is not there. */
  async ended() {
    const ends = new AbortController()
    const aborted = failureOf(open({ cache: null, signal: ends.signal }))
    setTimeout(() => ends.abort(), 300)
    const late = failureOf(open({ signal: AbortSignal.timeout(20) }))
    const lost = failureOf(open({ worker: new Worker("/nowhere.js", { type: "module" }) }))
    return { aborted: await aborted, late: await late, lost: await lost }
  },

  refusal: (options: BrowserOptions) => failureOf(open(options)),

  answers: () =>
    Promise.all(
      manyAnswers().map(async ({ prompt, options }) => (await engine.generate(prompt, options)).tokens),
    ),

  hashes: (inputs: readonly GrammarInput[]) =>
    inputHashes({ compile, Matcher, TokenFsm, Vocabulary }, inputs),

  async client() {
    const client = new OpenAI({
      ...{ apiKey: "none", baseURL: "http://page/v1", dangerouslyAllowBrowser: true },
      fetch: engine.fetch,
      maxRetries: 0,
    })
    const model = engine.model.id
    const messages = [{ role: "user" as const, content: "A user as JSON." }]
    const schema = {
      ...{ type: "object", properties: { id: { type: "integer", maximum: 99, minimum: 0 } } },
      ...{ required: ["id"], additionalProperties: false },
    }
    const response_format = { type: "json_schema" as const, json_schema: { name: "user", schema } }
    const asked = { model, messages, response_format, seed: 3 }
    const whole = await client.chat.completions.create(asked)
    const pieces: string[] = []
    const stream = await client.chat.completions.create({ ...asked, stream: true })
    for await (const { choices } of stream) pieces.push(choices[0]?.delta.content ?? "")
    const left = await client.chat.completions.create({ model, messages, stream: true, max_tokens: 500 })
    for await (const _ of left) break
    const refused = await failureOf(client.chat.completions.create({ model: "none", messages }))
    const upload = await engine.fetch("http://page/v1/files", { method: "POST", body: new FormData() })
    const [{ id }] = (await client.models.list()).data
    const metrics = await engine.fetch("/metrics")
    const upload2 = { status: upload.status, text: await upload.text() }
    return {
      ...{
        id,
        whole: whole.choices[0].message.content,
        streamed: pieces.join(""),
        pieceCount: pieces.length,
      },
      ...{ refused, upload: upload2, metrics: metrics.status },
    }
  },

  async methods() {
    const events: string[] = []
    for await (const { type } of engine.stream("Count.", { schema: { enum: [1234567] }, seed: 1 }))
      events.push(type)
    const asked: unknown[] = []
    const run = await engine.run("Look up user 7.", {
      tools: {
        look: tool({
          schema: z.object({ id: z.literal(7) }),
          execute: (args) => {
            asked.push(args)
            return "Ann"
          },
        }),
      },
      ...{ toolChoice: "required", maxSteps: 2, maxTokens: 40, seed: 1 },
    })
    const [{ value: day }, decided, scored, ids, found] = await Promise.all([
      engine.generate("When?", { schema: z.enum(["1"]).transform(Number), seed: 1 }),
      engine.decide("The sky is blue.", [{ type: "predicate", instructions: "Is it blue?" }]),
      engine.score("a", ["b", "c"]),
      engine.tokenize("a b", { raw: true }),
      engine.extract("Ann is 7.", {
        type: "object",
        properties: { age: { const: 7 } },
        required: ["age"],
        additionalProperties: false,
      }),
    ])
    return {
      ...{ events, asked, steps: run.steps, day, answers: decided.answers.length, ids: ids.length },
      ...{ scores: scored.scores.length, found: found.value },
    }
  },

  async refusals() {
    const ends = new AbortController()
    const long = engine.generate("Tell a story.", { maxTokens: 1_500, signal: ends.signal, ignoreEos: true })
    const aborted = failureOf(long)
    setTimeout(() => ends.abort(), 300)
    const stopped = failureOf(
      engine.generate("Tell a story.", {
        maxTokens: 1_500,
        signal: AbortSignal.timeout(200),
        ignoreEos: true,
      }),
    )
    const before = failureOf(engine.generate("a", { signal: AbortSignal.abort() }))
    const wrong = { ...{ schmea: {} } }
    return {
      ...{ aborted: await aborted, stopped: await stopped, before: await before },
      schema: await failureOf(engine.generate("a", { schema: { type: "integer", minimum: 2, maximum: 1 } })),
      option: await failureOf(engine.generate("a", wrong as never)),
      functions: await failureOf(engine.generate("a", { processors: [() => {}] as never })),
      compiled: await failureOf(
        engine.generate("a", { constraint: compile({ kind: "regex", pattern: "a" }).grammar }),
      ),
      short: await failureOf(engine.generate("a", { regex: "a{90}", maxTokens: 3 })),
      long: await failureOf(engine.generate("x ".repeat(200_000))),
      sampling: await failureOf(engine.generate("a", { temperature: -1 })),
      validator: await failureOf(
        engine.generate("a", { schema: z.enum(["1"]).refine(() => false, "never"), seed: 1 }),
      ),
      after: (await engine.generate("Yes or no?", { choice: ["yes"] })).text,
    }
  },
}

Object.assign(globalThis, { inPage })
