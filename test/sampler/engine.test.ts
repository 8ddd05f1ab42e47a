/**
 * The checklist's rows about what stands around the sampler: what is written when, whose state is whose, which requests are
 * in a step. Seen through the engine, on a tiny model; one look at the shipped one.
 */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Engine, GenerateOptions } from "../../runtime/index.ts"
import { open } from "../../runtime/open.ts"
import * as sampler from "../../sampler/index.ts"
import { defaultBodyLimits } from "../../server/http/body.ts"
import { readConstraint } from "../../server/openai/request/constraint.ts"
import { readBody } from "../support/bodies.ts"
import { writeTinyModel } from "../support/onnx.ts"
import { rowOf } from "../support/sampler/rows.ts"

const folder = () => mkdtempSync(join(tmpdir(), "tiny-"))
let engine: Engine

beforeAll(async () => {
  engine = await open({ model: writeTinyModel(folder()), device: "cpu", slots: 4, threads: 1 })
})
afterAll(async () => {
  await engine.close()
})

describe("S0-02: what a step writes", () => {
  test("a drawn token is in the counts and in the matcher before the next one is drawn", async () => {
    const options: GenerateOptions = {
      noRepeatNgramSize: 1,
      ignoreEos: true,
      maxTokens: 60,
      seed: 4n,
      raw: true,
    }
    const { tokens } = (await engine.generate("ab", options)).choices[0]
    expect(new Set([...engine.tokenizer.encode("ab"), ...tokens]).size).toBe(2 + 60)
    const { text } = await engine.generate("ab", { regex: "a?b?c?d?e?f!", presencePenalty: 2, seed: 5n })
    expect(text).toMatch(/^a?b?c?d?e?f!$/)
  })

  test("a row that fails writes nothing: no token, no count, no μ", async () => {
    const row = rowOf(3, { mirostat: 2, prompt: [1], output: [2] })
    const cpu = sampler.createCpuSampler()
    const [result] = await cpu.sample(Float32Array.of(1, Number.NaN, 2), 3, [row])
    expect(result).toEqual({ token: -1, status: "model_output" })
    expect([row.tokens.length, row.tokens.muBefore(99, -7)]).toEqual([2, -7])
  })

  test("a step that fails adds no token to any of its requests", async () => {
    const model = writeTinyModel(folder(), { failsAbove: 300, width: 320 })
    const fragile = await open({ model, device: "cpu", slots: 2, threads: 1 })
    const { finishReason, choices } = await (await fragile.start([310], { maxTokens: 5 })).result
    expect([finishReason, choices[0].tokens, choices[0].text]).toEqual(["error", [], ""])
    await fragile.close()
  })
})

describe("S0-04: the model is pure, a request's state is its own", () => {
  test("sampling writes nothing into the logits, and one sampler serves many requests", async () => {
    const logits = Float32Array.from({ length: 80 }, (_, at) => Math.sin(at))
    const copy = logits.slice()
    const requests = [
      { topP: 0.8, seed: 1 },
      { mirostat: 2, seed: 2 },
      { frequencyPenalty: 1, output: [3, 3], seed: 3 },
    ]
    const run = async (all: sampler.SampleRow[], shared: sampler.Sampler) => {
      const tokens: number[][] = all.map(() => [])
      for (let step = 0; step < 30; step++) {
        const found = await shared.sample(
          logits,
          40,
          all.map((row) => ({ ...row, position: row.tokens.length })),
        )
        for (const [index, { token }] of found.entries()) {
          all[index].tokens.push(token)
          tokens[index].push(token)
        }
      }
      return tokens
    }
    const rows = () => requests.map((options, index) => rowOf(40, { ...options, logitsRow: index % 2 }))
    const together = await run(rows(), sampler.createCpuSampler())
    for (const index of requests.keys()) {
      expect(await run([rows()[index]], sampler.createCpuSampler())).toEqual([together[index]])
    }
    expect(logits).toEqual(copy)
  })
})

describe("S0-21: rows, parameters and lengths are those of the live requests, in every step", () => {
  test("requests that come and go between steps, each with other parameters, are what they are alone", async () => {
    const asks = Array.from({ length: 9 }, (_, index): [string, GenerateOptions] => {
      const kinds: GenerateOptions[] = [
        { temperature: 0 },
        { topK: 3, noRepeatNgramSize: 2 },
        { topP: 0.6, frequencyPenalty: 1 },
        { logitBias: { 97: 4 }, minTokens: 8 },
      ]
      const options = { ...kinds[index % 4], seed: BigInt(index), maxTokens: 3 + 5 * (index % 5), raw: true }
      return ["q".repeat(1 + 37 * index), { ...options, ignoreEos: index % 2 === 0 }]
    })
    const alone: (readonly number[])[] = []
    for (const [prompt, options] of asks)
      alone.push((await engine.generate(prompt, options)).choices[0].tokens)
    const late = asks.map(async ([prompt, options], index) => {
      const start = engine.metrics.steps + 2 * index
      while (engine.metrics.steps < start && index > 0 && engine.load().running > 0) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      return (await engine.generate(prompt, options)).choices[0].tokens
    })
    expect(await Promise.all(late)).toEqual(alone)
  })
})

test("S1-28: an abort frees the slot at once, and the next request has it in the same step", async () => {
  const options: GenerateOptions = { ignoreEos: true, maxTokens: 400 }
  const running = await Promise.all(Array.from({ length: 4 }, () => engine.start("a", options)))
  const waiting = await engine.start("b", { choice: ["done"] })
  const target = engine.metrics.steps + 3
  while (engine.metrics.steps < target) await new Promise((resolve) => setImmediate(resolve))
  expect(engine.load()).toEqual({ running: 4, waiting: 1, slots: 4 })
  running[0].cancel()
  expect(engine.load().running).toBe(3)
  expect((await waiting.result).text).toBe("done")
  for (const generation of running) generation.cancel()
  expect(engine.load().running).toBe(0)
  for (const { result } of running) expect((await result).finishReason).toBe("abort")
})

test("S4-21: lengths, schemas and temperatures side by side; greedy repeats itself, random does not", async () => {
  const schema = { type: "object", properties: { n: { enum: [1, 22, 333] } }, required: ["n"] }
  const ask = (index: number, seed: bigint) => {
    const closed = { ...schema, additionalProperties: false }
    const constraint = [
      { schema: closed, whitespace: "compact" as const },
      { regex: "[a-z]{3,9}" },
      { ignoreEos: true, maxTokens: 12 },
    ][index % 3]
    return engine.generate("p".repeat(1 + 35 * index), { ...constraint, seed, temperature: index % 2 })
  }
  const indexes = Array.from({ length: 12 }, (_, index) => index)
  const [first, second] = await Promise.all(
    [1n, 2n].map((seed) => Promise.all(indexes.map(async (index) => (await ask(index, seed)).text))),
  )
  const isGreedy = (index: number) => index % 2 === 0
  expect(first.filter((_, index) => isGreedy(index))).toEqual(second.filter((_, index) => isGreedy(index)))
  const random = indexes.filter((index) => !isGreedy(index))
  expect(random.filter((index) => first[index] !== second[index]).length).toBeGreaterThan(random.length / 2)
})

test("S0-18: the shipped model at temperature .7, top-p .9, top-k 50: up to 64 tokens of text that is no loop", async () => {
  const shipped = await open({ device: "cpu", slots: 1, threads: 1 })
  for (const seed of [1n, 2n, 3n]) {
    const options: GenerateOptions = { temperature: 0.7, topP: 0.9, topK: 50, maxTokens: 64, seed }
    const prompt = "Anna Meyer from Kiel ordered three lamps. What did she order?"
    const { text, choices } = await shipped.generate(prompt, options)
    const { tokens } = choices[0]
    expect(text).not.toBe("")
    expect(new TextDecoder("utf-8", { fatal: true }).decode(new TextEncoder().encode(text))).toBe(text)
    const isLoop = (period: number) => {
      const tail = tokens.slice(-6 * period)
      return tail.length === 6 * period && tail.every((token, at) => token === tail[at % period])
    }
    expect([1, 2, 3, 4, 5, 6, 7, 8].filter(isLoop), text).toEqual([])
  }
  await shipped.close()
}, 120_000)

describe("S1-19, S3-17: every way to ask for a constraint is one constraint, or is refused", () => {
  const read = async (fields: object) => {
    const headers = { "content-type": "application/json" }
    const request = new Request("http://localhost/", {
      method: "POST",
      body: JSON.stringify(fields),
      headers,
    })
    return (await readConstraint(await readBody(request, defaultBodyLimits))).constraint?.input
  }
  const schema = { type: "object", properties: { a: { type: "integer" } } }
  test.each<[string, object, object]>([
    ["JSON", { guided_json: schema }, { structured_outputs: { json: schema } }],
    ["a regular expression", { guided_regex: "a+" }, { structured_outputs: { regex: "a+" } }],
    ["a choice", { guided_choice: ["a", "b"] }, { structured_outputs: { choice: ["a", "b"] } }],
    [
      "JSON for OpenAI",
      { response_format: { type: "json_schema", json_schema: { name: "x", schema } } },
      { json_schema: schema },
    ],
  ])("%s", async (_, old, current) => {
    const input = await read(old)
    expect(input).toBeDefined()
    expect(input).toEqual(await read(current))
  })

  test.each([
    ["two at once", { guided_regex: "a", guided_choice: ["b"] }],
    ["an empty choice", { guided_choice: [] }],
    ["no schema", { guided_json: 3 }],
  ])("%s is an error, not ignored", async (_, fields) => {
    await expect(read(fields)).rejects.toThrow(/guided_/)
  })
})

test("S3-23: every feature of the source's table is there", () => {
  const context = { width: 100, endIds: [2] }
  // Its table: temperature, top-k, top-p, min-p, penalties, seeds, log-probabilities, masks, speculation, beams.
  for (const options of [
    { temperature: 0.5 },
    { topK: 5 },
    { topP: 0.5 },
    { minP: 0.1 },
    { repetitionPenalty: 1.1, frequencyPenalty: 1, presencePenalty: 1 },
    { seed: 1 },
    { logprobs: 5 },
    { allowedTokenIds: [1] },
    { stopTokenIds: [3], minTokens: 2 },
  ]) {
    const off = sampler.resolveParams({}, context)
    expect(sampler.resolveParams(options, context), JSON.stringify(options)).not.toEqual(off)
  }
  expect([
    sampler.NgramProposer,
    sampler.BeamSearch,
    sampler.createCpuSampler,
    sampler.createGpuSampler,
  ]).toEqual(Array(4).fill(expect.any(Function)))
})
