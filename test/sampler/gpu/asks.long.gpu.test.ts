/**
 * S1-02, S1-16, S3-07: log-probabilities on the device, in every mode: the values, ids and ranks of the definition, with
 * nothing read back but what was asked for.
 */
import { expect, test } from "vitest"
import { sampleRow } from "../../../sampler/cpu.ts"
import type { RankedLogprob, SampleRow } from "../../../sampler/row.ts"
import { logitsOf } from "../../../sampler/sampler.ts"
import { describeGpu, device, gpu } from "../../support/sampler/opened.ts"
import {
  normalOf,
  type RowOptions,
  randomLogits,
  randomOf,
  randomOptions,
  rowOf,
} from "../../support/sampler/rows.ts"
import { nearTie } from "../../support/sampler/ties.ts"

const isFull = process.env.TOKENRAIL_TESTS === "full"
const modes = [
  "raw_logprobs",
  "unmasked_logprobs",
  "processed_logprobs",
  "raw_logits",
  "processed_logits",
] as const

describeGpu("GPU log-probabilities", () => {
  function bufferOf(logits: Float32Array): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
    const buffer = device.device.createBuffer({ size: logits.byteLength, usage })
    device.device.queue.writeBuffer(buffer, 0, logits as Float32Array<ArrayBuffer>)
    return buffer
  }

  /** Rows on both sides; returns how many were near ties. */
  async function compare(logits: Float32Array, width: number, rows: readonly SampleRow[]): Promise<number> {
    const buffer = bufferOf(logits)
    const found = await gpu.sampleBuffer(buffer, width, rows)
    buffer.destroy()
    let ties = 0
    for (const [index, row] of rows.entries()) {
      const own = logitsOf(logits, width, row.logitsRow)
      const expected = sampleRow(own, row)
      const { token, status, logprobs } = found[index]
      const what = `row ${index}: ${row.params.logprobsMode}, seed ${row.params.seed}, width ${width}`
      const isSame =
        token === expected.token &&
        status === expected.status &&
        (status !== "ok" || isNear(logprobs!, expected.logprobs!))
      if (isSame) continue
      if (nearTie(own, row)) ties++
      else expect.soft({ token, status, logprobs }, what).toEqual(expected)
    }
    return ties
  }

  type Described = RankedLogprob & { top: readonly RankedLogprob[]; named: readonly RankedLogprob[] }

  /** The same ids and ranks, and values within the tolerance of a value. */
  function isNear(found: Described, expected: Described): boolean {
    const isNearOne = (a: RankedLogprob | undefined, b: RankedLogprob): boolean =>
      a !== undefined &&
      a.token === b.token &&
      a.rank === b.rank &&
      Math.abs(a.logprob - b.logprob) <= 1e-5 * Math.max(1, Math.abs(b.logprob))
    return (
      isNearOne(found, expected) &&
      found.top.length === expected.top.length &&
      found.named.length === expected.named.length &&
      expected.top.every((one, at) => isNearOne(found.top[at], one)) &&
      expected.named.every((one, at) => isNearOne(found.named[at], one))
    )
  }

  const kinds: [string, RowOptions][] = [
    ["greedy", { temperature: 0 }],
    ["temperature .7", { temperature: 0.7 }],
    ["temperature .05", { temperature: 0.05 }],
    ["top-k 5, fewer than are asked for", { topK: 5 }],
    ["top-k 300, top-p .9", { topK: 300, topP: 0.9 }],
    ["top-p .8", { topP: 0.8 }],
    ["min-p .05", { minP: 0.05, temperature: 1.5 }],
    ["top-nσ 1", { topNSigma: 1 }],
    ["mirostat 2", { mirostat: 2, mirostatTau: 3 }],
    ["mirostat 2, the first alone", { mirostat: 2, mirostatTau: 0.05 }],
    ["a forced token", { mask: [17] }],
    ["a few legal tokens", { mask: [3, 9, 20, 21, 22, 300], topP: 0.9 }],
    ["a few allowed tokens", { allowedTokenIds: [5, 6, 7, 900] }],
    [
      "penalties and bans",
      {
        repetitionPenalty: 1.4,
        logitBias: { 7: 3, 8: -100 },
        minTokens: 9,
        endIds: [2],
        prompt: [1, 7],
        output: [7, 8],
      },
    ],
  ]

  test.each(isFull ? [1001, 4097, 32_000, 128_256] : [1001, 5000])(
    "every mode and kind of row, V %i",
    async (width) => {
      const random = randomOf(width)
      const normal = normalOf(random)
      const logits = Float32Array.from({ length: 3 * width }, (_, at) => normal() * (at < width ? 1 : 4))
      // Ties across tiles, and values of −∞.
      for (let at = 0; at < width; at += 5) logits[width + at] = 2.5
      for (let at = 1; at < width; at += 3) logits[2 * width + at] = Number.NEGATIVE_INFINITY
      const half = Array.from({ length: width }, (_, id) => id).filter((id) => id % 2 === 1)
      const rows = kinds.flatMap(([, options], kind) =>
        modes.map((logprobsMode, mode) =>
          rowOf(width, {
            mask: kind % 3 === 1 ? half : undefined,
            ...options,
            logprobsMode,
            logprobs: [0, 1, 5, 20][(kind + mode) % 4],
            logprobTokenIds: [0, 17, width - 1, 7, 3 * kind + 2].slice(0, kind % 6),
            logitsRow: (kind + mode) % 3,
            seed: 10 * kind + mode,
          }),
        ),
      )
      const before = { ...gpu.stats }
      expect(await compare(logits, width, rows)).toBeLessThanOrEqual(1)
      expect(gpu.stats.cpuRows).toBe(before.cpuRows)
      expect(gpu.stats.readBackBytes).toBe(before.readBackBytes)
    },
    isFull ? 1_200_000 : 120_000,
  )

  test("all equal, huge ties, more in doubt than can be sorted: the cut of the law", async () => {
    const width = 9500
    const random = randomOf(63)
    const logits = new Float32Array(3 * width)
    for (let id = 0; id < width; id++) {
      logits[id] = 1.25
      logits[width + id] = 0.5 * Math.floor(3 * random())
      logits[2 * width + id] = 0.04 * random()
    }
    const cuts: RowOptions[] = [{ topP: 0.5 }, { topK: 9000 }, { topK: 3000, topP: 0.75 }, { topK: 1 }]
    const rows = cuts.flatMap((options, cut) =>
      [0, 1, 2].map((logitsRow) =>
        rowOf(width, { ...options, logitsRow, seed: cut, logprobs: 8, logprobsMode: "processed_logprobs" }),
      ),
    )
    expect(await compare(logits, width, rows)).toBeLessThanOrEqual(1)
  })

  test("random rows", async () => {
    const random = randomOf(64)
    let ties = 0
    for (let round = 0; round < (isFull ? 300 : 12); round++) {
      const width = [1, 2, 31, 33, 64, 600, 2100, 4500][round % 8]
      const logits = new Float32Array(3 * width)
      for (let source = 0; source < 3; source++) logits.set(randomLogits(width, random), source * width)
      const rows = Array.from({ length: 20 }, (_, index) => {
        const options = randomOptions(width, random)
        return rowOf(width, {
          ...options,
          logprobs: Math.floor(21 * random()),
          logprobsMode: modes[index % modes.length],
          logprobTokenIds: Array.from({ length: Math.floor(random() * 4) }, () =>
            Math.floor(random() * width),
          ),
          logitsRow: index % 3,
        })
      })
      ties += await compare(logits, width, rows)
    }
    expect(ties).toBeLessThanOrEqual(isFull ? 60 : 3)
  })

  test("two launches more, 8 bytes a number back; all of the vocabulary is the row itself", async () => {
    const width = 6000
    const logits = Float32Array.from({ length: width }, normalOf(randomOf(65)))
    const buffer = bufferOf(logits)
    const few = Array.from({ length: 100 }, (_, at) => 3 * at)
    const cost = async (options: RowOptions) => {
      const before = { ...gpu.stats }
      await gpu.sampleBuffer(buffer, width, [rowOf(width, options)])
      const { dispatches, readBackBytes, cpuRows } = gpu.stats
      return [dispatches - before.dispatches, readBackBytes - before.readBackBytes, cpuRows - before.cpuRows]
    }
    expect(await cost({ temperature: 0, logprobs: 5 })).toEqual([4, 0, 0])
    expect(await cost({ logprobs: 0 })).toEqual([4, 0, 0])
    expect(await cost({ topP: 0.9, logprobs: 20, logprobsMode: "processed_logprobs" })).toEqual([9, 0, 0])
    expect(await cost({ topP: 0.9, mask: few, logprobs: 2 })).toEqual([3, 0, 0])
    expect(await cost({ logprobs: 2, logprobTokenIds: few })).toEqual([4, 0, 0])
    expect(await cost({ temperature: 0, logprobs: -1 })).toEqual([2, 4 * width, 0])
    expect(await cost({ temperature: 0, logprobs: -1, logprobsMode: "processed_logprobs" })).toEqual([
      0,
      4 * width,
      1,
    ])
    buffer.destroy()
  })
})
