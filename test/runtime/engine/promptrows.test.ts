import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, type GenerateOptions, open } from "../../../runtime/index.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 512 })
})
afterAll(() => engine.close())

const text = "The rail runs north. ".repeat(20)
const raw = { raw: true, logprobsMode: "unmasked_logprobs" } as const

async function judged(prompt: string | readonly number[], options: GenerateOptions = {}) {
  const generation = await engine.start(prompt, { ...raw, maxTokens: 0, promptLogprobs: 2, ...options })
  const result = await generation.result
  return { rows: generation.promptLogprobs!, result }
}

test("each token of a prompt has what a draw after those before it would say", async () => {
  const ids = await engine.tokenize(text, { raw: true })
  expect(ids.length).toBeGreaterThan(150)
  const { rows, result } = await judged(text)
  expect(rows.length).toBe(ids.length)
  expect(rows[0]).toBeNull()
  expect(rows.slice(1).map((row) => row!.token)).toEqual(ids.slice(1))
  expect(result).toMatchObject({ finishReason: "length", text: "", tokens: [] })
  // Around the cut between two chunks of the prompt as well.
  for (const position of [1, 2, 60, 95, 96, 97, ids.length - 1]) {
    const drawn = await engine.generate(ids.slice(0, position), {
      ...raw,
      maxTokens: 1,
      logprobs: 2,
      seed: 1,
    })
    const top = drawn.logprobs![0].top
    expect(rows[position]!.top.map(({ token }) => token)).toEqual(top.map(({ token }) => token))
    for (const [place, { logprob }] of rows[position]!.top.entries())
      expect(logprob).toBeCloseTo(top[place].logprob, 3)
  }
})

test("a prompt that another request has computed is judged to the same bits, and changes no answer", async () => {
  const answer = { maxTokens: 8, seed: 5, ignoreEos: true }
  const before = await engine.generate(text, { ...raw, ...answer })
  const first = await judged(text)
  const second = await judged(text, { ...answer, n: 2, logprobs: 0 })
  expect(second.rows).toEqual(first.rows)
  expect(second.result.choices.map(({ tokens }) => tokens.length)).toEqual([8, 8])
  expect(second.result.choices[0].tokens).toEqual(before.tokens)
})

test("a constraint says nothing of the prompt", async () => {
  const { rows } = await judged(text)
  const held = await judged(text, { maxTokens: 4, constraint: { kind: "regex", pattern: "[0-9]{2}" } })
  expect(held.rows).toEqual(rows)
  expect(held.result.text).toMatch(/^[0-9]{2}$/)
})

test("many at once", async () => {
  const prompts = Array.from({ length: 6 }, (_, index) => `${index} ${text}`)
  const together = await Promise.all(prompts.map((prompt) => judged(prompt)))
  for (const [index, { rows }] of together.entries())
    expect(rows).toEqual((await judged(prompts[index])).rows)
})

test.each([
  ["a fraction", { promptLogprobs: 0.5 }, "prompt_logprobs"],
  ["more than twenty", { promptLogprobs: 21 }, "prompt_logprobs"],
  ["nothing to write, twice", { promptLogprobs: 0, maxTokens: 0, n: 2 }, "n"],
  ["nothing to write and nothing to judge", { maxTokens: 0 }, "max_tokens"],
])("%s is refused", async (_, options, param) => {
  await expect(engine.start("a", { raw: true, ...options })).rejects.toMatchObject({ param })
})
