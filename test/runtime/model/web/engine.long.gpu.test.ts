/** Model and sampler on one device: the answers of the CPU, and what crosses to the host. */

import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Engine, GenerateOptions } from "../../../../runtime/index.ts"
import { open } from "../../../../runtime/open.ts"
import type { GpuSamplerStats } from "../../../../sampler/index.ts"
import { killModel } from "../../../support/killmodel.ts"
import { writeTinyModel } from "../../../support/onnx.ts"
import { AdapterVariable } from "../../../support/sampler/adapter.ts"

const adapter = process.env[AdapterVariable]
type Request = [prompt: string, options: GenerateOptions]

const drawn = { maxTokens: 40, ignoreEos: true }
const seeded = { temperature: 0.9, topP: 0.95, topK: 40, repetitionPenalty: 1.1 }
/** Rows of lengths on both sides of 32 and 64, greedy and seeded. */
const requests: Request[] = [3, 9, 20, 31, 33, 64, 70].flatMap((length, index): Request[] => {
  const prompt = Array.from({ length }, (_, at) => "abcdefg"[(at * index) % 7]).join("")
  return [
    [prompt, { temperature: 0, ...drawn }],
    [prompt, { ...seeded, seed: BigInt(index), logprobs: 3, ...drawn }],
  ]
})
const schema = {
  type: "object",
  properties: { name: { type: "string", minLength: 8, maxLength: 12 }, tags: { enum: ["red", "blue"] } },
  required: ["name", "tags"],
}
const constrained: Request[] = [0, 1, 2, 3].map((seed) => [
  "a schema",
  { schema, seed: BigInt(seed), temperature: seed === 0 ? 0 : 1, maxTokens: 60 },
])

describe.skipIf(!adapter)(`the model runtime web (${adapter ?? "no adapter"})`, () => {
  const model = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { isGrouped: true })
  const lines: string[] = []
  let engine: Engine
  let reference: Engine
  beforeAll(async () => {
    engine = await open({ model, device: "gpu", runtime: "web", slots: 6, log: (line) => lines.push(line) })
    reference = await open({ model, device: "cpu", slots: 6 })
  }, 300_000)
  afterAll(async () => {
    await engine?.close()
    await reference?.close()
  })

  const stats = (): GpuSamplerStats => ({
    ...(engine as unknown as { parts: { sampler: { stats: GpuSamplerStats } } }).parts.sampler.stats,
  })

  async function answer(of: Engine, asked: readonly Request[]): Promise<string[]> {
    const generations = await Promise.all(asked.map(([prompt, options]) => of.start(prompt, options)))
    const results = await Promise.all(generations.map(({ result }) => result))
    return results.map(({ choices: [{ tokens, message }] }) => message ?? tokens.join(" "))
  }

  /** Runs requests, and returns what they added to the counters. */
  async function count(asked: readonly Request[]) {
    const [before, traffic] = [stats(), engine.deviceTraffic()!]
    const answers = await answer(engine, asked)
    const [after, now] = [stats(), engine.deviceTraffic()!]
    return {
      answers,
      gpuRows: after.gpuRows - before.gpuRows,
      submissions: after.submissions - before.submissions,
      readBackBytes: after.readBackBytes - before.readBackBytes,
      maps: now.sampler.maps - traffic.sampler.maps,
      down: now.sampler.readBytes - traffic.sampler.readBytes,
      up: now.sampler.uploadedBytes - traffic.sampler.uploadedBytes,
      modelDown: now.model.readBytes - traffic.model.readBytes,
    }
  }

  test("more than 500 tokens that its kernels draw are those of the CPU", async () => {
    const before = stats()
    expect(await answer(engine, requests)).toEqual(await answer(reference, requests))
    const after = stats()
    expect(after.gpuRows - before.gpuRows).toBeGreaterThanOrEqual(500)
    expect(after.cpuRows - before.cpuRows).toBe(0)
    expect(lines.at(-1)).toMatch(/onnxruntime-web\/webgpu, batched, sampler on its device/)
  }, 300_000)

  test("answers under a schema are those of the CPU", async () => {
    expect(await answer(engine, constrained)).toEqual(await answer(reference, constrained))
  }, 300_000)

  test("16 bytes a row come to the host in one map a step, and nothing of the graph's", async () => {
    const found = await count([["count", { temperature: 0, ignoreEos: true, maxTokens: 12 }]])
    expect(found).toMatchObject({ gpuRows: 12, submissions: 12, maps: 12, readBackBytes: 0, modelDown: 0 })
    expect(found.down).toBe(16 * 12)
    // The record of a row, the shape, and the edits of its penalties.
    expect(found.up / 12).toBeLessThanOrEqual(300)
  }, 300_000)

  test("a mask that was used is not sent again", async () => {
    await count(constrained.slice(0, 1))
    const second = await count(constrained.slice(0, 1))
    const third = await count(constrained.slice(0, 1))
    expect(third).toEqual(second)
    expect(second.up / second.gpuRows).toBeLessThanOrEqual(300)
  }, 300_000)

  test("rows that the kernels do not compute come to the host one by one", async () => {
    const asked: Request[] = [
      ["rare", { temperature: 0, maxTokens: 5, ignoreEos: true, processors: [() => {}] }],
    ]
    const found = await count(asked)
    expect(found.answers).toEqual(await answer(reference, asked))
    expect(found).toMatchObject({ gpuRows: 0, maps: 5, down: 5 * 4 * 261, readBackBytes: 5 * 4 * 261 })
    expect(found.modelDown).toBe(0)
  }, 300_000)

  test("when the thread dies, its answers end with an error, and the next ones are right", async () => {
    const running = await engine.start("long", { temperature: 0, maxTokens: 400, ignoreEos: true })
    await killModel(engine)
    expect((await running.result).error?.message).toMatch(/the model's thread failed: .*started again/)
    expect(await answer(engine, constrained)).toEqual(await answer(reference, constrained))
  }, 300_000)
})
