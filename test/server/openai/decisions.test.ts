/** Decisions over HTTP: shapes, the engine's own numbers, refusals with their place */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import { createFetch } from "../../../server/serve.ts"
import { writeTinyModel } from "../../support/onnx.ts"

let engine: Engine
let fetchApp: typeof fetch
beforeAll(async () => {
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { contextLength: 1_024 })
  engine = await open({ model, device: "cpu", threads: 1 })
  fetchApp = createFetch(createApp(engine))
})
afterAll(() => engine.close())

// biome-ignore lint/suspicious/noExplicitAny: replies are compared field by field
async function post(fields: object, path = "/v1/decisions"): Promise<{ status: number; body: any }> {
  const response = await fetchApp(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: engine.model.id, ...fields }),
  })
  return { status: response.status, body: await response.json() }
}

const input = "My invoice of May shows a charge twice."
const questions = [
  { type: "predicate", name: "angry", instructions: "The customer is angry." },
  { type: "choice", instructions: "What is it about?", choices: [{ value: "billing" }, { value: true }] },
  {
    type: "score",
    name: "urgency",
    instructions: "How urgent?",
    levels: [{ label: "low" }, { label: "high" }],
  },
] as const

test("answers have the engine's numbers, in the order of the questions", async () => {
  const { status, body } = await post({ input, questions })
  expect(status, JSON.stringify(body)).toBe(200)
  const { answers, usage } = await engine.decide(input, questions)
  const { model } = body
  expect(model).toBe(engine.model.id)
  expect(body.answers).toEqual(answers.map(({ mass, ...answer }) => ({ ...answer, tokenrail: { mass } })))
  expect(body.answers.map(({ type, name }: { type: string; name: string }) => [type, name])).toEqual([
    ["predicate", "angry"],
    ["choice", null],
    ["score", "urgency"],
  ])
  const { prompt_tokens, completion_tokens, total_tokens } = body.usage
  expect([prompt_tokens, completion_tokens, total_tokens]).toEqual([
    usage.promptTokens,
    0,
    usage.promptTokens,
  ])
})

test("messages are judged as a text is", async () => {
  const plain = await post({ input, questions })
  const messages = await post({
    input: [{ role: "user", content: [{ type: "text", text: input }] }],
    questions,
  })
  const said = [
    { role: "user", content: "Hello" },
    { role: "assistant", content: input },
  ]
  expect(messages.status).toBe(200)
  expect(plain.status).toBe(200)
  expect((await post({ input: said, questions })).status).toBe(200)
})

test.each<[object, string]>([
  [{ questions }, "input"],
  [{ input: 5, questions }, "input"],
  [{ input: [], questions }, "input"],
  [{ input: [{ role: "user" }], questions }, "input[0].content"],
  [{ input: [{ role: "tool", content: "x", tool_call_id: "a" }], questions }, "input[0].tool_call_id"],
  [{ input }, "questions"],
  [{ input, questions: Array(401).fill(questions[0]) }, "questions"],
  [{ input, questions: [questions[0], { ...questions[1], choices: [] }] }, "questions[1].choices"],
  [{ input, questions: [{ ...questions[0], criteria: {} }] }, "questions[0].criteria"],
  [{ input: "x ".repeat(2_000), questions }, "questions[0]"],
  [{ input, questions, response_format: { type: "regex", regex: "a" } }, "response_format"],
  [{ input, questions, model: "other" }, "model"],
])("a wrong request is refused at its place (%#)", async (fields, param) => {
  const { status, body } = await post(fields)
  expect(body.error).toMatchObject({ param, type: "invalid_request_error" })
  expect(status).toBe(param === "model" ? 404 : 400)
})

test("texts are scored after a prompt or messages", async () => {
  const texts = ["billing", "x"]
  const { status, body } = await post({ prompt: input, texts }, "/v1/score")
  expect(status, JSON.stringify(body)).toBe(200)
  const { scores } = await engine.score(input, texts, { raw: true })
  expect(body.scores.map(({ text, logprob }: { text: string; logprob: number }) => [text, logprob])).toEqual(
    scores.map(({ logprob }, index) => [texts[index], logprob]),
  )
  expect(body.scores[1].tokens).toEqual([{ token: "x", logprob: scores[1].logprob, bytes: [120] }])
  expect(body.usage.completion_tokens).toBe(0)
  const messages = [{ role: "user", content: input }]
  expect((await post({ messages, texts }, "/v1/score")).status).toBe(200)
  expect((await post({ texts }, "/v1/score")).body.error.param).toBe("messages")
  expect((await post({ prompt: input }, "/v1/score")).body.error.param).toBe("texts")
  expect((await post({ prompt: input, messages, texts }, "/v1/score")).body.error.param).toBe("messages")
})
