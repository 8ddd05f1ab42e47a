/**
 * One suite over both samplers: the GPU returns the tokens of the definition, except at counted near ties.
 *
 * TOKENRAIL_TESTS=full makes the grid bigger.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Device, openDevice } from "../../../runtime/device.ts"
import { sampleRow } from "../../../sampler/cpu.ts"
import { createGpuSampler, type GpuSampler } from "../../../sampler/gpu/sampler.ts"
import type { SampleRow } from "../../../sampler/row.ts"
import { logitsOf } from "../../../sampler/sampler.ts"
import { maskOf, normalOf, type RowOptions, randomOf, rowOf } from "../rows.ts"
import { isNearTie } from "../ties.ts"

const adapter = process.env.TOKENRAIL_TEST_ADAPTER
const isFull = process.env.TOKENRAIL_TESTS === "full"

describe.skipIf(!adapter)(`GPU sampler (${adapter ?? "no adapter"})`, () => {
  let device: Device
  let gpu: GpuSampler
  beforeAll(async () => {
    device = await openDevice()
    gpu = await createGpuSampler(device.device)
  })
  afterAll(() => {
    gpu.close()
    device.close()
  })

  /** Fails on a difference that is no near tie; returns how many were. */
  async function compare(logits: Float32Array, width: number, rows: readonly SampleRow[]): Promise<number> {
    const found = await gpu.sample(logits, width, rows)
    let exempt = 0
    for (const [index, row] of rows.entries()) {
      const own = logitsOf(logits, width, row.logitsRow)
      const expected = sampleRow(own, row)
      const { token, status } = found[index]
      if (token === expected.token && status === expected.status) continue
      if (isNearTie(own, row)) {
        exempt++
        continue
      }
      const { minP, topK, topP, topNSigma, temperature, seed } = row.params
      expect
        .soft(
          { token, status },
          `row ${index}: ${JSON.stringify({ width, minP, topK, topP, topNSigma, temperature, seed: `${seed}`, position: row.position })}`,
        )
        .toEqual({ token: expected.token, status: expected.status })
    }
    return exempt
  }

  const kinds: [string, RowOptions][] = [
    ["greedy", { temperature: 0 }],
    ["temperature 1", {}],
    ["temperature .7", { temperature: 0.7 }],
    ["temperature .05", { temperature: 0.05 }],
    ["top-k 1", { topK: 1 }],
    ["top-k 50", { topK: 50 }],
    ["top-k 300", { topK: 300 }],
    ["top-k 5000", { topK: 5000 }],
    ["top-p .9", { topP: 0.9 }],
    ["top-p .1", { topP: 0.1 }],
    ["top-p .999", { topP: 0.999 }],
    ["top-k 50, top-p .9", { topK: 50, topP: 0.9 }],
    ["min-p .05", { minP: 0.05 }],
    ["top-nσ 1", { topNSigma: 1 }],
    ["all filters", { temperature: 1.3, topNSigma: 2, minP: 0.01, topK: 40, topP: 0.95 }],
  ]
  const penalties: RowOptions = {
    repetitionPenalty: 1.3,
    frequencyPenalty: 0.4,
    presencePenalty: 0.2,
    logitBias: { 0: 2, 1: -3 },
    minTokens: 100,
    endIds: [2],
    prompt: [3, 4, 5, 5, 6, 7, 8],
    output: [9, 10, 10, 10, 11],
  }

  const widths = isFull ? [31, 32, 33, 257, 999, 1024, 2047, 4097, 32000, 128256] : [33, 257, 2049, 32000]
  test.each(widths)("S2-24, S4-14, S4-15: tokens of the definition, V %i", async (width) => {
    const random = randomOf(width)
    const normal = normalOf(random)
    const sources = 4
    const logits = Float32Array.from(
      { length: sources * width },
      (_, at) => normal() * (at < 2 * width ? 1 : 5),
    )
    // Ties across tiles, values of −∞, one row all equal.
    for (let at = 0; at < width; at += 7) logits[width + at] = 1.5
    for (let at = 0; at < width; at++) if (random() < 0.3) logits[2 * width + at] = -Infinity
    logits.fill(0.25, 3 * width)
    const rows: SampleRow[] = []
    for (const [, options] of kinds) {
      for (let source = 0; source < sources; source++) {
        const density = [1, 0.5, 0.01][rows.length % 3]
        const mask =
          density < 1
            ? maskOf(
                width,
                Array.from({ length: width }, (_, id) => id).filter(() => random() < density),
              )
            : undefined
        const extra = rows.length % 2 === 1 && width > 32 ? penalties : {}
        rows.push(
          rowOf(width, {
            ...options,
            ...extra,
            mask,
            seed: 7 + rows.length,
            logitsRow: source,
            position: 20 + rows.length,
          }),
        )
      }
    }
    const before = { ...gpu.stats }
    const exempt = await compare(logits, width, rows)
    console.log(
      width,
      rows.length,
      "exempt",
      exempt,
      "redone",
      gpu.stats.redoneRows - before.redoneRows,
      "gpu",
      gpu.stats.gpuRows - before.gpuRows,
    )
    expect(exempt).toBeLessThanOrEqual(Math.ceil(rows.length / 100))
    expect(gpu.stats.gpuRows - before.gpuRows).toBeGreaterThan(rows.length / 2)
  })
})
