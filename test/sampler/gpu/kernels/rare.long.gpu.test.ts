/**
 * Stages that the device has only for rows of few legal tokens: typical, epsilon and eta cutoffs, XTC, dynamic temperature,
 * mirostat 1. Tokens of the definition, with nothing left to the CPU.
 */
import { expect, test } from "vitest"
import { TokenCounts } from "../../../../sampler/counts.ts"
import { sampleRow } from "../../../../sampler/cpu.ts"
import { compareRows } from "../../../support/sampler/compare.ts"
import { describeGpu, gpu } from "../../../support/sampler/opened.ts"
import { normalOf, type RowOptions, randomOf, rowOf } from "../../../support/sampler/rows.ts"

const isFull = process.env.TOKENRAIL_TESTS === "full"

describeGpu("GPU rare stages", () => {
  const width = 40_000
  const counts = [2, 3, 31, 64, 255, 256, 257, 1000, 1024]

  test("each stage alone and all together, from 2 to 1,024 legal tokens", async () => {
    const random = randomOf(71)
    const normal = normalOf(random)
    const logits = Float32Array.from({ length: 4 * width }, (_, at) => normal() * (at < 2 * width ? 1 : 4))
    for (let at = 0; at < width; at += 3) logits[width + at] = 0.75
    logits.fill(-2, 3 * width)
    const stages: ((share: number) => RowOptions)[] = [
      (share) => ({ typicalP: share }),
      (share) => ({ epsilonCutoff: 0.2 * share ** 3 }),
      (share) => ({ etaCutoff: 0.5 * share ** 4 }),
      (share) => ({ xtcProbability: 1, xtcThreshold: 0.3 * share ** 3 }),
      (share) => ({ xtcProbability: share, xtcThreshold: 0.02 }),
      (share) => ({ dynatempRange: 1.2 * share, dynatempExponent: 0.3 + share, temperature: 1 }),
      (share) => ({ dynatempRange: share, temperature: share }),
      (share) => ({ mirostat: 1, mirostatTau: 6 * share }),
      (share) => ({ topK: 1 + Math.floor(60 * share), typicalP: 0.6, topP: 0.9 }),
      (share) => ({
        ...{ temperature: 0.8, topNSigma: 2.5, minP: 0.01 * share, typicalP: 0.9, epsilonCutoff: 0.001 },
        ...{
          etaCutoff: 0.002,
          topP: 0.95,
          xtcProbability: 0.5,
          xtcThreshold: 0.1 * share,
          dynatempRange: 0.3,
        },
        ...{ repetitionPenalty: 1.2, prompt: [0, 3, 9, 33, 1000] },
      }),
    ]
    const rows = Array.from({ length: (isFull ? 4000 : 240) as number }, (_, index) =>
      rowOf(width, {
        ...stages[index % stages.length](0.02 + 0.98 * random()),
        mask: Array.from({ length: counts[index % counts.length] }, () => Math.floor(random() * width)),
        logitsRow: Math.floor(4 * random()),
        seed: index,
        position: 3 * index,
      }),
    )
    const before = { ...gpu.stats }
    const { tieCount } = await compareRows(gpu, logits, width, rows, { once: true })
    expect(tieCount).toBeLessThanOrEqual(rows.length / 60)
    expect(gpu.stats.cpuRows).toBe(before.cpuRows)
    expect(gpu.stats.dispatches - before.dispatches).toBe(Math.ceil(rows.length / 1024))
  }, 600_000)

  test("what each keeps is what the definition keeps: every token is drawn that can be, and no other", async () => {
    const logits = Float32Array.from({ length: 40 }, (_, id) => -0.13 * ((7 * id) % 40))
    const mask = Array.from({ length: 30 }, (_, id) => id + 3)
    const kinds: RowOptions[] = [
      { typicalP: 0.4 },
      { epsilonCutoff: 0.04 },
      { etaCutoff: 0.3 },
      { xtcProbability: 1, xtcThreshold: 0.03 },
      { dynatempRange: 0.9, topP: 0.6 },
      { mirostat: 1, mirostatTau: 1.4 },
    ]
    // At V 40 a slot of the atlas has room for 2 ids: the row is laid out in a wider one.
    const wide = new Float32Array(4000).fill(Number.NEGATIVE_INFINITY)
    wide.set(logits)
    for (const options of kinds) {
      const rows = Array.from({ length: 120 }, (_, seed) => rowOf(4000, { ...options, mask, seed }))
      const expected = new Set(rows.map((row) => sampleRow(wide, row).token))
      const found = await gpu.sample(wide, 4000, rows)
      expect(new Set(found.map(({ token }) => token))).toEqual(expected)
    }
  })

  test("S4-11: mirostat 1 on the device, step by step: token, surprise and μ of the definition", async () => {
    const normal = normalOf(randomOf(72))
    const history = [new TokenCounts([1, 2]), new TokenCounts([1, 2])] as const
    const mask = Array.from({ length: 150 }, (_, at) => 32 * at)
    const before = { ...gpu.stats }
    for (let step = 0; step < 60; step++) {
      const logits = Float32Array.from({ length: 5000 }, () => 2 * normal())
      const base = rowOf(5000, {
        mirostat: 1,
        mirostatTau: 3,
        temperature: step % 2 ? 1 : 0.8,
        seed: 77,
        mask,
      })
      const [own, other] = history.map((tokens) => ({ ...base, tokens, position: tokens.length }))
      const expected = sampleRow(logits, own)
      const [found] = await gpu.sample(logits, 5000, [other])
      expect(found.token).toBe(expected.token)
      expect(found.surprise).toBeCloseTo(expected.surprise!, 4)
      for (const tokens of history) tokens.push(expected.token)
      const [mu, gpuMu] = history.map((tokens) => tokens.muBefore(tokens.length, 0))
      expect(gpuMu).toBeCloseTo(mu, 3)
    }
    expect(gpu.stats.cpuRows).toBe(before.cpuRows)
  })

  test("the vectors of the definition", async () => {
    const rowsOf = (probabilities: number[], options: RowOptions) => {
      const logits = new Float32Array(4000).fill(Number.NEGATIVE_INFINITY)
      for (const [id, share] of probabilities.entries()) logits[id] = Math.log(share)
      const mask = Array.from(probabilities.keys())
      const rows = Array.from({ length: 60 }, (_, seed) => rowOf(4000, { ...options, mask, seed }))
      return { logits, rows }
    }
    const head = [0.4, 0.3, 0.2, 0.1]
    const vectors: [number[], RowOptions, number[]][] = [
      [[0.97, 0.01, 0.01, 0.01], { typicalP: 0.5 }, [0]],
      [[0.4, 0.2, 0.2, 0.2], { typicalP: 0.5 }, [1, 2, 3]],
      [head, { xtcProbability: 1, xtcThreshold: 0.09 }, [3]],
      [head, { xtcProbability: 1, xtcThreshold: 0.19 }, [2, 3]],
      [head, { xtcProbability: 1, xtcThreshold: 0.29 }, [1, 2, 3]],
      [head, { xtcProbability: 1, xtcThreshold: 0.39 }, [0, 1, 2, 3]],
    ]
    for (const [probabilities, options, kept] of vectors) {
      const { logits, rows } = rowsOf(probabilities, options)
      const found = await gpu.sample(logits, 4000, rows)
      expect([...new Set(found.map(({ token }) => token))].sort()).toEqual(kept)
    }
    // Zipf of slope 1.2 over 1,000 ids, μ 6: the ten first.
    const zipf = Float32Array.from({ length: 32_000 }, (_, id) =>
      id < 1000 ? -1.2 * Math.log(id + 1) : Number.NEGATIVE_INFINITY,
    )
    const mask = Array.from({ length: 1000 }, (_, id) => id)
    const rows = Array.from({ length: 150 }, (_, seed) =>
      rowOf(32_000, { mirostat: 1, mirostatTau: 3, mask, seed }),
    )
    const expected = new Set(rows.map((row) => sampleRow(zipf, row).token))
    const found = new Set((await gpu.sample(zipf, 32_000, rows)).map(({ token }) => token))
    expect(found).toEqual(expected)
    expect(Math.max(...found)).toBe(expected.size - 1)
  })
})
