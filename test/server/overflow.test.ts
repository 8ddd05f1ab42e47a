/** What does not fit into the context, in the words that clients look for: OpenAI's, vLLM's and Anthropic's. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type ContextOverflow, type Engine, open } from "../../runtime/index.ts"
import { type AppOptions, createApp } from "../../server/app.ts"
import { type EndpointWords, overflowTold } from "../../server/overflow.ts"

const openai: EndpointWords = { api: "openai", prompt: "messages", maxTokens: "max_completion_tokens" }
const raw: EndpointWords = { ...openai, prompt: "prompt", maxTokens: "max_tokens" }
const anthropic: EndpointWords = { ...openai, api: "anthropic", maxTokens: "max_tokens" }
const long = { contextLength: 100, promptTokens: 120, isCounted: true, maxTokens: null }

test.each<[what: string, overflow: ContextOverflow, words: EndpointWords, message: string, param: string]>([
  [
    "a long conversation",
    long,
    openai,
    "This model's maximum context length is 100 tokens. However, your messages resulted in 120 tokens. Please reduce the length of the messages.",
    "messages",
  ],
  [
    "a long prompt",
    long,
    raw,
    "This model's maximum context length is 100 tokens. However, your prompt resulted in 120 tokens. Please reduce the length of the prompt.",
    "prompt",
  ],
  [
    "a prompt too long to be counted",
    { ...long, isCounted: false },
    openai,
    "This model's maximum context length is 100 tokens. However, your messages resulted in at least 120 tokens. Please reduce the length of the messages.",
    "messages",
  ],
  [
    "a prompt that fills the context",
    { ...long, promptTokens: 100 },
    openai,
    "This model's maximum context length is 100 tokens. However, your messages resulted in 100 tokens, and the answer needs room for one. Please reduce the length of the messages.",
    "messages",
  ],
  [
    "a prompt that leaves too little for the shortest answer",
    { ...long, promptTokens: 90, answerTokens: 38 },
    openai,
    "This model's maximum context length is 100 tokens. However, your messages resulted in 90 tokens, and the answer needs room for 38. Please reduce the length of the messages.",
    "messages",
  ],
  [
    "a prompt that leaves too little, at Anthropic's",
    { ...long, promptTokens: 90, answerTokens: 38 },
    anthropic,
    "prompt is too long: 90 tokens > 62 maximum",
    "messages",
  ],
  [
    "a budget",
    { ...long, promptTokens: 20, maxTokens: 90 },
    openai,
    "This model's maximum context length is 100 tokens. However, you requested 110 tokens (20 in the messages, 90 in the completion). Please reduce the length of the messages or completion.",
    "max_completion_tokens",
  ],
  [
    "a long conversation at Anthropic's",
    long,
    anthropic,
    "prompt is too long: 120 tokens > 100 maximum",
    "messages",
  ],
  [
    "one that is not counted",
    { ...long, isCounted: false },
    anthropic,
    "prompt is too long: at least 120 tokens > 100 maximum",
    "messages",
  ],
  [
    "one that fills the context",
    { ...long, promptTokens: 100 },
    anthropic,
    "prompt is too long: 100 tokens > 99 maximum",
    "messages",
  ],
  [
    "a budget at Anthropic's",
    { ...long, promptTokens: 20, maxTokens: 90 },
    anthropic,
    "input length and `max_tokens` exceed context limit: 20 + 90 > 100, decrease input length or `max_tokens` and try again",
    "max_tokens",
  ],
])("%s", (_, overflow, words, message, param) => {
  expect(overflowTold(overflow, words)).toEqual({ message, param })
})

describe("over the wire", () => {
  const context = 128
  let engine: Engine
  beforeAll(async () => {
    engine = await open({ device: "cpu", context })
  })
  afterAll(() => engine.close())

  async function post(path: string, fields: object, options: AppOptions = {}) {
    const app = createApp(engine, { anyModel: true, ...options })
    const response = await app.request(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", ...fields }),
    })
    return { status: response.status, body: await response.json() }
  }

  const words = "word ".repeat(200)
  const chat = (content: string) => ({ messages: [{ role: "user", content }] })
  const openaiWords = (of: string) =>
    new RegExp(
      `^This model's maximum context length is ${context} tokens\\. However, your ${of} resulted in (at least )?\\d+ tokens\\. Please reduce the length of the ${of}\\.$`,
    )
  test.each<[path: string, fields: object, param: string, message: RegExp]>([
    ["/v1/chat/completions", chat(words), "messages", openaiWords("messages")],
    ["/v1/chat/completions", chat("word ".repeat(40_000)), "messages", openaiWords("messages")],
    ["/v1/completions", { prompt: words }, "prompt", openaiWords("prompt")],
    ["/v1/completions", { prompt: ["a", words] }, "prompt[1]", openaiWords("prompt")],
    ["/v1/responses", { input: words }, "input", openaiWords("messages")],
    [
      "/v1/messages",
      { max_tokens: 1, ...chat(words) },
      "messages",
      new RegExp(`^prompt is too long: \\d+ tokens > ${context} maximum$`),
    ],
  ])("%s refuses a prompt in its clients' words", async (path, fields, param, message) => {
    for (const stream of [false, true]) {
      const { status, body } = await post(path, { ...fields, stream })
      expect(body.error.message).toMatch(message)
      expect([status, body.error.code, body.error.param]).toEqual([400, "context_length_exceeded", param])
    }
  })

  const budgets: [path: string, fields: object, param: string][] = [
    ["/v1/chat/completions", { ...chat("hi"), max_tokens: 65_535 }, "max_tokens"],
    ["/v1/chat/completions", { ...chat("hi"), max_completion_tokens: 65_535 }, "max_completion_tokens"],
    ["/v1/completions", { prompt: "hi", max_tokens: 65_535 }, "max_tokens"],
    ["/v1/responses", { input: "hi", max_output_tokens: 65_535 }, "max_output_tokens"],
    ["/v1/messages", { ...chat("hi"), max_tokens: 65_535 }, "max_tokens"],
  ]
  test.each(budgets)(
    "%s %# answers with what is left of the context, and says so",
    async (path, fields, param) => {
      const choice = { structured_outputs: { choice: ["a"] } }
      const { status, body } = await post(path, { ...fields, ...choice })
      expect(status, JSON.stringify(body)).toBe(200)
      const said = expect.stringMatching(
        new RegExp(`^${param}: 65535 are more than the \\d+ that \\d+ tokens`),
      )
      expect(body.tokenrail.warnings).toEqual([said])
    },
  )

  test.each(budgets)("%s %# refuses the budget where the server is strict", async (path, fields, param) => {
    const { status, body } = await post(path, fields, { strictMaxTokens: true })
    expect([status, body.error.code, body.error.param]).toEqual([400, "context_length_exceeded", param])
    expect(body.error.message).toMatch(
      path === "/v1/messages"
        ? /^input length and `max_tokens` exceed context limit: \d+ \+ 65535 > 128/
        : /^This model's maximum context length is 128 tokens\. However, you requested \d+ tokens \(/,
    )
  })
})
