/** S1-22, S3-19, S4-13, S1-23: speculation in the engine. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ModelError } from "../../../runtime/errors.ts"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { hostLogits } from "../../../runtime/model/logits.ts"
import type { Model } from "../../../runtime/model/model.ts"
import { type OpenOptions, open } from "../../../runtime/open.ts"
import { openSpeculator } from "../../../runtime/speculation/speculator.ts"
import type { Proposer } from "../../../sampler/index.ts"
import { generator, type TinyOptions, writeTinyModel } from "../../support/onnx.ts"
import { chiSquare } from "../../support/sampler/statistics.ts"

const write = (options: TinyOptions = {}): string =>
  writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), options)
const model = write()
const engines: Engine[] = []
const openTiny = async (options: OpenOptions = {}): Promise<Engine> => {
  const engine = await open({ model, device: "cpu", slots: 4, threads: 1, ...options })
  engines.push(engine)
  return engine
}

let plain: Engine
beforeAll(async () => {
  plain = await openTiny()
})
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()))
})

const schema = {
  type: "object",
  properties: {
    kind: { enum: ["alpha", "alphabet", "beta"] },
    ids: { type: "array", items: { type: "integer", minimum: 0, maximum: 20 }, minItems: 3, maxItems: 5 },
    name: { type: "string", maxLength: 8 },
  },
  required: ["kind", "ids", "name"],
  additionalProperties: false,
}

/** Every way to end and to draw that a request can have; with a seed each. */
const requests: [name: string, options: GenerateOptions][] = [
  ["greedy", { temperature: 0, maxTokens: 60, ignoreEos: true }],
  ["greedy, JSON", { temperature: 0, maxTokens: 80, schema }],
  ["T 1", { maxTokens: 40, ignoreEos: true }],
  ["T 0.3", { temperature: 0.3, maxTokens: 60, ignoreEos: true }],
  ["T 0.2 until the end", { temperature: 0.2 }],
  ["JSON", { schema, maxTokens: 80 }],
  ["JSON, closed in its budget", { schema, maxTokens: 60, onLength: "close" }],
  ["regex", { regex: "(ab|abc){4,9}x", temperature: 0.5 }],
  ["top_k and top_p", { topK: 5, topP: 0.8, temperature: 0.6, maxTokens: 40, ignoreEos: true }],
  ["min_p", { minP: 0.2, maxTokens: 40, ignoreEos: true }],
  ["penalties", { repetitionPenalty: 1.2, frequencyPenalty: 0.3, temperature: 0.5, maxTokens: 40 }],
  ["structural", { schema, penaltyExempt: "structural", presencePenalty: 1, maxTokens: 80 }],
  ["DRY", { dryMultiplier: 0.8, temperature: 0.2, maxTokens: 50, ignoreEos: true }],
  ["a stop string", { stop: ["e", "ab"], temperature: 0.3, maxTokens: 60, ignoreEos: true }],
  ["stop ids", { stopTokenIds: [17, 101, 200], temperature: 0.4, maxTokens: 60, ignoreEos: true }],
  ["min_tokens", { minTokens: 20, temperature: 0.2, maxTokens: 60 }],
  ["n", { n: 3, temperature: 0.4, maxTokens: 20, ignoreEos: true }],
  ["mirostat, which is not drafted", { mirostat: 2, maxTokens: 30, ignoreEos: true }],
  ["XTC, which is not drafted", { xtcProbability: 0.5, maxTokens: 30, ignoreEos: true }],
  ["the context", { temperature: 0.3, ignoreEos: true }],
]

const promptOf = (index: number): string =>
  "the cat sat on the mat. ".repeat(1 + (index % 7)).slice(index % 5)
const answersOf = async (engine: Engine, extra: (index: number) => GenerateOptions = () => ({})) => {
  const generations = await Promise.all(
    requests.map(([, options], index) =>
      engine.start(promptOf(index), {
        ...options,
        seed: BigInt(index),
        ...extra(index),
      }),
    ),
  )
  const results = await Promise.all(generations.map(({ result }) => result))
  return results.map(({ choices }, index) => [
    requests[index][0],
    ...choices.map(({ tokens, text, finishReason, stopReason }) => ({
      tokens,
      text,
      finishReason,
      stopReason,
    })),
  ])
}

describe("match: the tokens of plain decoding, whoever drafts", () => {
  let expected: Awaited<ReturnType<typeof answersOf>>
  beforeAll(async () => {
    expected = await answersOf(plain)
  })
  const random = generator(9)
  const noisy: Proposer = {
    needs: {},
    propose: (_, k) => ({ tokens: Array.from({ length: k }, () => Math.floor(random() * 300) - 20) }),
  }
  const tree: Proposer = {
    needs: {},
    propose: ({ tokens }) => ({
      tokens: [tokens[tokens.length - 1], 97, 98, 99],
      parents: [-1, -1, 0, 2],
    }),
  }
  test.each<[string, () => OpenOptions["speculation"]]>([
    ["prompt lookup", () => ({ method: "ngram" })],
    ["prompt lookup, one token, any ending", () => ({ method: "ngram", tokens: 1, min: 1, max: 1 })],
    ["the model itself", () => ({ method: "model", model, tokens: 3 })],
    ["a model like it", () => ({ method: "model", model: write({ noise: 0.05 }), tokens: 5 })],
    [
      "a model of a shorter context and wider rows",
      () => ({ method: "model", model: write({ contextLength: 100, width: 300, noise: 0.1 }) }),
    ],
    ["noise, illegal tokens included", () => ({ method: "proposer", create: () => noisy, tokens: 16 })],
    ["a tree", () => ({ method: "proposer", create: () => tree })],
    [
      "a draft model that runs one row at a time",
      () => ({ method: "model", model: write({ hasPositions: false, noise: 0.05 }), tokens: 2 }),
    ],
  ])("%s", async (name, speculation) => {
    const engine = await openTiny({ speculation: speculation() })
    const got = await answersOf(engine)
    for (const [index, answer] of got.entries()) expect(answer).toEqual(expected[index])
    const { draftedTokens, acceptedTokens, maskViolations } = engine.metrics
    expect(maskViolations).toBe(0)
    expect(draftedTokens).toBeGreaterThan(0)
    expect(engine.load()).toEqual({ running: 0, waiting: 0, slots: 4 })
    if (name === "the model itself") expect(acceptedTokens / draftedTokens).toBeGreaterThan(0.9)
    if (name !== "prompt lookup" && name !== "a model like it") return
    // Rows with and without drafts, of different lengths, in one batch.
    const mixed = await answersOf(engine, (index) => ({ draftTokens: index % 2 }))
    for (const [index, answer] of mixed.entries()) expect(answer).toEqual(expected[index])
  })

  test("a model that runs one row at a time", async () => {
    const alone = write({ hasPositions: false })
    const expected = await answersOf(await openTiny({ model: alone }))
    const engine = await openTiny({ model: alone, speculation: { method: "ngram", min: 1, adaptive: false } })
    const got = await answersOf(engine)
    for (const [index, answer] of got.entries()) expect(answer).toEqual(expected[index])
    expect(engine.metrics.acceptedTokens).toBeGreaterThan(0)
  })

  test("where rounding could change every draw, all are repeated from plain logits", async () => {
    const engine = await openTiny({ speculation: { method: "ngram", adaptive: false } })
    const { parts } = engine as unknown as { parts: { speculator: { rounding: number } } }
    parts.speculator.rounding = 1000
    const got = await answersOf(engine)
    for (const [index, answer] of got.entries()) expect(answer).toEqual(expected[index])
    expect(engine.metrics.replays).toBeGreaterThan(100)
  })

  test("a drafter that fails ends the drafts, not the answers", async () => {
    const lines: string[] = []
    let count = 0
    const create = (): Proposer => ({
      needs: {},
      propose: (_, k) => {
        if (++count > 50) throw new Error("no more ideas")
        return { tokens: new Array<number>(k).fill(97) }
      },
    })
    const engine = await openTiny({
      speculation: { method: "proposer", create },
      log: (line) => lines.push(line),
    })
    const got = await answersOf(engine)
    for (const [index, answer] of got.entries()) expect(answer).toEqual(expected[index])
    expect(lines.filter((line) => line === "drafts end: no more ideas").length).toBe(1)
  })
})

test("a text that repeats takes fewer steps, and usage tells what was drafted", async () => {
  const engine = await openTiny({ speculation: { method: "model", model, tokens: 4, adaptive: false } })
  const options: GenerateOptions = { temperature: 0, maxTokens: 100, ignoreEos: true }
  const before = [plain.metrics.steps, engine.metrics.steps]
  const { usage } = await engine.generate("go", options)
  await plain.generate("go", options)
  expect(usage.acceptedTokens).toBeGreaterThan(70)
  expect(usage.draftedTokens).toBeGreaterThanOrEqual(usage.acceptedTokens)
  expect(engine.metrics.steps - before[1]).toBeLessThan(0.35 * (plain.metrics.steps - before[0]))
  const none = await engine.generate("go", { ...options, draftTokens: 0 })
  expect([none.usage.draftedTokens, none.usage.acceptedTokens]).toEqual([0, 0])
})

test("a prediction that comes true takes fewer steps, and one that does not changes nothing", async () => {
  const engine = await openTiny({ speculation: { method: "ngram", adaptive: false } })
  const options: GenerateOptions = { regex: "[a-z]{80}", seed: 3n }
  const { text } = await plain.generate("go", options)
  const none = await engine.generate("go", options)
  const right = await engine.generate("go", { ...options, prediction: text })
  const wrong = await engine.generate("go", { ...options, prediction: text.toUpperCase() })
  expect([none.text, right.text, wrong.text]).toEqual([text, text, text])
  expect(right.usage.acceptedTokens).toBeGreaterThan(50)
  expect(none.usage.acceptedTokens).toBeLessThan(30)
})

test("log-probabilities are those of plain decoding but for rounding", async () => {
  const engine = await openTiny({ speculation: { method: "model", model: write({ noise: 0.05 }) } })
  const options: GenerateOptions = { seed: 4n, maxTokens: 30, ignoreEos: true, logprobs: 2 }
  const [one, other] = [await plain.generate("go", options), await engine.generate("go", options)]
  expect(other.logprobs!.map(({ token }) => token)).toEqual(one.logprobs!.map(({ token }) => token))
  for (const [at, { logprob }] of other.logprobs!.entries()) {
    expect(logprob).toBeCloseTo(one.logprobs![at].logprob, 3)
  }
})

describe("reject: the law of plain decoding", () => {
  const n = 1600
  const regex = "[ab][abc][ab]"
  const askMany = (engine: Engine, start: number, options: GenerateOptions) =>
    Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        engine.generate("go", { regex, ...options, seed: BigInt(start + at) }),
      ),
    )
  /** By text: what plain decoding writes it with. */
  const law = new Map<string, number>()
  beforeAll(async () => {
    for (let start = 0; law.size < 12 && start < 2000; start += 100) {
      for (const { text, logprobs } of await askMany(plain, start, { temperature: 2, logprobs: 0 })) {
        // Raw log-probabilities are of temperature 1, over what the constraint allows.
        law.set(text, Math.exp(logprobs!.reduce((sum, { logprob }) => sum + logprob, 0)))
      }
    }
  })
  test.each<[string, () => OpenOptions["speculation"]]>([
    [
      "drafts that were certain",
      () => ({
        method: "proposer",
        tokens: 2,
        create: () => ({ needs: {}, propose: () => ({ tokens: [97, 98] }) }),
      }),
    ],
    ["drafts drawn by a model like it", () => ({ method: "model", model: write({ noise: 0.3 }), tokens: 2 })],
  ])("%s", async (_, speculation) => {
    const engine = await openTiny({ speculation: speculation(), slots: 8 })
    expect([...law.values()].reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 4)
    const texts = [...law.keys()]
    const counts = new Array<number>(texts.length).fill(0)
    for (let start = 0; start < n; start += 100) {
      for (const { text } of await askMany(engine, start, { verify: "reject" })) counts[texts.indexOf(text)]++
    }
    expect(engine.metrics.acceptedTokens).toBeGreaterThan(0.05 * n)
    const shares = texts.map((text) => law.get(text)!)
    expect(chiSquare(counts, shares, n).ratio).toBeLessThan(1)
    // The test can tell: a law that is a little off fails.
    const off = shares.map((share, at) => share * (at % 2 ? 1.4 : 0.6))
    const total = off.reduce((sum, share) => sum + share, 0)
    expect(
      chiSquare(
        counts,
        off.map((share) => share / total),
        n,
      ).ratio,
    ).toBeGreaterThan(1)
  })

  test("greedy is greedy", async () => {
    const engine = await openTiny({ speculation: { method: "ngram" } })
    const options: GenerateOptions = { temperature: 0, maxTokens: 50, ignoreEos: true }
    const expected = await plain.generate("a b a b a", options)
    expect((await engine.generate("a b a b a", { ...options, verify: "reject" })).text).toBe(expected.text)
  })

  test("the same seed gives the same tokens in any company", async () => {
    const engine = await openTiny({ speculation: { method: "model", model: write({ noise: 0.1 }) } })
    const ask = (index: number) =>
      engine.generate("p".repeat(20 + 40 * index), {
        seed: BigInt(index),
        verify: "reject",
        maxTokens: 30,
        ignoreEos: true,
      })
    const alone: string[] = []
    for (let index = 0; index < 8; index++) alone.push((await ask(index)).text)
    const together = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(index)))
    expect(together.map(({ text }) => text)).toEqual(alone)
  })
})

describe("refused", () => {
  test.each<[name: string, speculation: () => OpenOptions["speculation"], message: RegExp]>([
    [
      "K of 0",
      () => ({ method: "ngram", tokens: 0 }),
      /speculation.tokens: 0 is not an integer from 1 to 16/,
    ],
    ["K of 17", () => ({ method: "ngram", tokens: 17 }), /17 is not an integer from 1 to 16/],
    ["endings of 3 to 2", () => ({ method: "ngram", min: 3, max: 2 }), /ngram: 3 to 2/],
    ["an unknown method", () => ({ method: "magic" }) as never, /speculation.method: magic is not/],
    [
      "S3-21: hidden states that nobody exports",
      () => ({
        method: "proposer",
        create: () => ({ needs: { hidden: [2] }, propose: () => ({ tokens: [] }) }),
      }),
      /hidden layers 2, the model exports no hidden layer/,
    ],
    [
      "a draft model of another vocabulary",
      () => ({ method: "model", model: write({ tokens: ["x", "y", "z"] }) }),
      /draft model .*: its token 0 is "x", the model's is .*needs the model's vocabulary/,
    ],
    ["a draft model that is not there", () => ({ method: "model", model: "/nowhere" }), /nowhere/],
  ])("%s", async (_, speculation, message) => {
    await expect(openTiny({ speculation: speculation() })).rejects.toThrow(message)
  })

  const fake = (fields: Partial<Model>) =>
    ({ slotCount: 1, contextLength: 99, width: 4, description: "a graph", ...fields }) as Model
  const openFake = (fields: Partial<Model>) =>
    openSpeculator({ method: "ngram" }, fake(fields), () => Promise.reject(new Error("none")))

  test("a model whose cache only grows", async () => {
    const refusal = await openFake({ canRewind: false }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ModelError)
    expect((refusal as Error).message).toMatch(
      /^speculation: a graph: .*refused tokens cannot be taken out.*leave it out/,
    )
  })

  test("a model whose logits depend on what runs beside them", async () => {
    const forward: Model["forward"] = async ([{ tokens }]) =>
      hostLogits(Float32Array.of(9, tokens.length, 0, 0), 4)
    await expect(openFake({ canRewind: true, forward })).rejects.toThrow(
      /logits change by 4.0 of 9.0 when several tokens run at once/,
    )
  })

  test("a request that asks for more drafts than there are", async () => {
    const engine = await openTiny({ speculation: { method: "ngram", tokens: 3 } })
    await expect(engine.start("a", { draftTokens: 4 })).rejects.toThrow(
      "draft_tokens: 4 is not an integer from 0 to 3",
    )
    await expect(plain.start("a", { draftTokens: 1 })).rejects.toThrow(/this engine makes none/)
    await expect(plain.start("a", { verify: "maybe" as never })).rejects.toThrow(
      'verify: "maybe" is not match or reject',
    )
  })
})
