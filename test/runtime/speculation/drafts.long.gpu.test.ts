/**
 * S1-22, S2-16: the GPU's sampler with speculative drafts, on the shipped model: the tokens of the CPU's sampler with
 * drafts and without, drafts judged on the device, log-probabilities too.
 */
import { expect, test } from "vitest"
import { type Device, openDevice } from "../../../runtime/device.ts"
import { Engine, type EngineParts } from "../../../runtime/engine/engine.ts"
import type { GenerateOptions } from "../../../runtime/index.ts"
import { type OpenOptions, open } from "../../../runtime/open.ts"
import { createCpuSampler, createGpuSampler, type Sampler } from "../../../sampler/index.ts"

const adapter = process.env.TOKENRAIL_TEST_ADAPTER
const schema = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 12 },
    ids: { type: "array", items: { type: "integer", minimum: 0, maximum: 99 }, minItems: 2, maxItems: 3 },
  },
  required: ["name", "ids"],
  additionalProperties: false,
}
const prompt = "Ann Miller, order 44 and 71, Oslo. Ann Miller, order 44 and 71, "
const requests: [name: string, options: GenerateOptions][] = [
  ["greedy", { temperature: 0, maxTokens: 24, ignoreEos: true }],
  ["T 0.8", { temperature: 0.8, maxTokens: 24, ignoreEos: true }],
  ["top_k and top_p", { temperature: 0.7, topK: 40, topP: 0.9, maxTokens: 24, ignoreEos: true }],
  ["JSON", { temperature: 0.8, schema, maxTokens: 60 }],
  [
    "penalties, log-probabilities",
    { repetitionPenalty: 1.2, minP: 0.05, logprobs: 3, maxTokens: 20, ignoreEos: true },
  ],
]

type Answer = Awaited<ReturnType<typeof answersOf>>[number]

async function answersOf(engine: Engine, extra: GenerateOptions) {
  const generations = await Promise.all(
    requests.map(([, options], index) =>
      engine.start(prompt, { ...options, ...extra, seed: BigInt(100 + index) }),
    ),
  )
  const results = await Promise.all(generations.map(({ result }) => result))
  return results.map(({ choices: [{ tokens, text, message, logprobs }] }) => ({
    tokens,
    text,
    message,
    logprobs,
  }))
}

/** The tokens are equal; log-probabilities within the tolerance, and of the same tokens in the same order. */
function expectSame(name: string, found: Answer, expected: Answer): void {
  const { logprobs, ...rest } = found
  const { logprobs: expectedLogprobs, ...expectedRest } = expected
  expect(rest, name).toEqual(expectedRest)
  for (const [at, one] of (expectedLogprobs ?? []).entries()) {
    const own = logprobs![at]
    expect(own.top.map(({ token, rank }) => [token, rank])).toEqual(
      one.top.map(({ token, rank }) => [token, rank]),
    )
    expect(own.rank).toBe(one.rank)
    for (const [place, { logprob }] of one.top.entries())
      expect(own.top[place].logprob).toBeCloseTo(logprob, 3)
  }
}

test.skipIf(!adapter).each<[string, OpenOptions["speculation"], GenerateOptions]>([
  ["no drafts", null, {}],
  ["prompt lookup", { method: "ngram", min: 1 }, {}],
  ["the model itself", { method: "model", model: "runtime/embedded", tokens: 3 }, {}],
  [
    "the model itself, judged by ratio",
    { method: "model", model: "runtime/embedded", tokens: 3 },
    { verify: "reject" },
  ],
])(
  "%s: the tokens of the CPU's sampler",
  async (name, speculation, extra) => {
    const opened = await open({ device: "cpu", threads: 1, slots: 5, context: 256, speculation })
    const { parts } = opened as unknown as { parts: EngineParts }
    const device: Device = await openDevice()
    const gpu = await createGpuSampler(device.device, { shortRows: 0 })
    const answers: Answer[][] = []
    const samplers: Sampler[] = [createCpuSampler(), gpu]
    for (const sampler of samplers) {
      const engine = new Engine({ ...parts, sampler })
      answers.push(await answersOf(engine, extra))
      const { draftedTokens, acceptedTokens, maskViolations } = engine.metrics
      expect(maskViolations).toBe(0)
      if (speculation) expect(draftedTokens).toBeGreaterThan(0)
      if (name.startsWith("the model itself")) expect(acceptedTokens).toBeGreaterThan(0.8 * draftedTokens)
    }
    for (const [index, answer] of answers[1].entries()) {
      expect(answer.message).toBeUndefined()
      expectSame(requests[index][0], answer, answers[0][index])
    }
    expect(gpu.stats.gpuRows).toBeGreaterThan(80)
    // Judged rows that are asked for log-probabilities are read whole.
    if (extra.verify === undefined) expect(gpu.stats.cpuRows).toBe(gpu.stats.redoneRows)
    gpu.close()
    device.close()
    await opened.close()
  },
  300_000,
)
