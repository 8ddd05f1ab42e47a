import { expect, test } from "vitest"
import { defaultBodyLimits } from "../../../../server/http/body.ts"
import { parseChat } from "../../../../server/openai/chat/schema.ts"
import { readBody } from "../../../support/bodies.ts"

const headers = { "content-type": "application/json" }
const messages = [{ role: "user", content: "hi" }]

async function parse(fields: object | string) {
  const body = typeof fields === "string" ? fields : JSON.stringify({ model: "m", messages, ...fields })
  return parseChat(
    await readBody(new Request("http://localhost/", { method: "POST", body, headers }), defaultBodyLimits),
  )
}

test("fields become the engine's options; null means default", async () => {
  const { options, stream, includeUsage } = await parse({
    ...{
      max_tokens: 9,
      max_completion_tokens: 7,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      min_p: 0.1,
      n: 2,
      seed: 7,
    },
    ...{
      frequency_penalty: 0.1,
      presence_penalty: null,
      repetition_penalty: 1.1,
      logit_bias: { "3": -100 },
      stop: "x",
    },
    ...{ logprobs: true, top_logprobs: 2, stream: true, stream_options: { include_usage: true } },
  })
  expect(options).toEqual({
    ...{ maxTokens: 7, temperature: 0.5, topP: 0.9, topK: 4, minP: 0.1, n: 2, seed: 7n, stop: "x" },
    ...{ frequencyPenalty: 0.1, repetitionPenalty: 1.1, logitBias: { "3": -100 }, logprobs: 2 },
  })
  expect([stream, includeUsage]).toEqual([true, true])
})

test("parameters of the sampler go by its own names", async () => {
  const { options } = await parse({ typical_p: 0.9, top_n_sigma: 1, xtc_probability: 0.1, mirostat_tau: 4 })
  expect(options).toEqual({ typicalP: 0.9, topNSigma: 1, xtcProbability: 0.1, mirostatTau: 4 })
})

test("content parts are joined, developer is system", async () => {
  const parts = [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]
  const { messages } = await parse({
    messages: [
      { role: "developer", content: parts },
      { role: "user", content: "c" },
    ],
  })
  expect(messages).toEqual([
    { role: "system", content: "a\nb" },
    { role: "user", content: "c" },
  ])
})

test("a seed of 64 bits arrives as it was sent", async () => {
  const body = (seed: string) => `{"model": "m", "messages": ${JSON.stringify(messages)}, "seed": ${seed}}`
  expect((await parse(body("9223372036854775807"))).options.seed).toBe(9223372036854775807n)
  expect((await parse(body('"-9223372036854775808"'))).options.seed).toBe(-9223372036854775808n)
  for (const seed of ["9223372036854775808", "1.5", "1e3", '"x"']) {
    await expect(parse(body(seed))).rejects.toMatchObject({ details: { param: "seed" } })
  }
})

test("reasoning effort and template arguments go to the template", async () => {
  const { options } = await parse({ reasoning_effort: "none", chat_template_kwargs: { a: 1 } })
  expect([options.reasoningEffort, options.templateOptions]).toEqual(["none", { variables: { a: 1 } }])
})

test.each([
  ["no model", { model: undefined }, "missing_required_parameter", "model"],
  ["no messages", { messages: undefined }, "missing_required_parameter", "messages"],
  ["an empty list", { messages: [] }, "invalid_value", "messages"],
  ["an unknown role", { messages: [{ role: "robot", content: "x" }] }, "invalid_value", "messages[0].role"],
  ["no content", { messages: [{ role: "user" }] }, "invalid_value", "messages[0].content"],
  [
    "an image",
    { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
    "invalid_value",
    "messages[0].content",
  ],
  [
    "an empty answer",
    { messages: [{ role: "assistant" }] },
    "missing_required_parameter",
    "messages[0].content",
  ],
  ["temperature as text", { temperature: "hot" }, "invalid_value", "temperature"],
  ["too many choices", { n: 129 }, "invalid_value", "n"],
  ["no tokens", { max_completion_tokens: 0 }, "invalid_value", "max_completion_tokens"],
  ["65 stops", { stop: Array(65).fill("x") }, "invalid_value", "stop"],
  [
    "options without a stream",
    { stream_options: { include_usage: true } },
    "invalid_value",
    "stream_options",
  ],
  ["alternatives without logprobs", { top_logprobs: 2 }, "invalid_value", "top_logprobs"],
  ["a bias of no token", { logit_bias: { hello: 1 } }, "invalid_value", "logit_bias"],
  ["functions", { functions: [{ name: "f" }] }, "unsupported_parameter", "functions"],
  ["audio", { audio: { voice: "x" } }, "unsupported_parameter", "audio"],
  ["a template", { chat_template: "{{ x }}" }, "unsupported_parameter", "chat_template"],
  ["a parameter that is not there", { contrastive: {} }, "unsupported_parameter", "contrastive"],
  ["named alternatives without logprobs", { logprob_token_ids: [1] }, "invalid_value", "logprob_token_ids"],
  ["a breaker of no text", { dry_sequence_breakers: [""] }, "invalid_value", "dry_sequence_breakers[0]"],
  ["a misspelt constraint", { response_fromat: {} }, "unsupported_parameter", "response_fromat"],
  ["a name that sounds like one", { guided_lark: "x" }, "unsupported_parameter", "guided_lark"],
  ["a schema elsewhere", { response_schema: {} }, "unsupported_parameter", "response_schema"],
])("%s is refused", async (_, fields, code, param) => {
  await expect(parse(fields)).rejects.toMatchObject({ code, details: { param } })
})

test("what asks for nothing is accepted: inert fields, defaults, null", async () => {
  const { ignored } = await parse({
    ...{
      metadata: { a: "b" },
      store: true,
      user: "u",
      service_tier: "auto",
      prediction: null,
      verbosity: "low",
    },
    ...{
      typical_p: 1,
      ignore_eos: false,
      functions: [],
      audio: null,
      modalities: ["text"],
      prompt_logprobs: null,
    },
  })
  expect(ignored).toEqual([])
})

test("parameters of the sampler reach the engine under their own names", async () => {
  const { options } = await parse({
    penalty_exempt: "structural",
    dry_multiplier: 0.8,
    dry_base: 2,
    dry_allowed_length: 3,
    dry_last_n: 64,
    dry_sequence_breakers: ["."],
    allowed_token_ids: [1, 2],
    bad_words: ["no"],
    min_tokens: 3,
    logprobs: true,
    logprobs_mode: "processed_logprobs",
    logprob_token_ids: [7],
  })
  expect(options).toMatchObject({
    penaltyExempt: "structural",
    dryMultiplier: 0.8,
    dryBase: 2,
    dryAllowedLength: 3,
    dryLastN: 64,
    drySequenceBreakers: ["."],
    allowedTokenIds: [1, 2],
    badWords: ["no"],
    minTokens: 3,
    logprobs: 0,
    logprobsMode: "processed_logprobs",
    logprobTokenIds: [7],
  })
})

test("unknown fields are named, so that nothing is dropped in silence", async () => {
  expect((await parse({ favourite_colour: "blue" })).ignored).toEqual(["favourite_colour"])
})
