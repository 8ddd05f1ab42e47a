/**
 * Draws have the law of the softmax, by chi-square at fixed seeds; and the same tests fail on planted faults, so that they
 * could have found one.
 *
 * TOKENRAIL_TESTS=full draws four times as often.
 */
import { describe, expect, test } from "vitest"
import { Selector } from "../../sampler/fast/select.ts"
import { gumbel, rowKey, tokenBits } from "../../sampler/rng.ts"
import type { SampleRow } from "../../sampler/row.ts"
import { type RowOptions, rowOf } from "../support/sampler/rows.ts"
import { chiSquare, criticalChiSquare, normalise } from "../support/sampler/statistics.ts"

const N = process.env.TOKENRAIL_TESTS === "full" ? 200_000 : 50_000
const selector = new Selector()

/** Counts of N draws at positions 0 … N − 1. */
function countDraws(width: number, draw: (position: number) => number): Float64Array {
  const counts = new Float64Array(width)
  for (let position = 0; position < N; position++) counts[draw(position)]++
  return counts
}

function sampled(logits: readonly number[], options: RowOptions): Float64Array {
  const row: SampleRow = rowOf(logits.length, { seed: 11, ...options })
  const values = Float32Array.from(logits)
  return countDraws(logits.length, (position) => selector.select(values, { ...row, position }).token)
}

const slope = Array.from({ length: 64 }, (_, i) => -i / 8)
const slopeLaw = normalise(slope.map(Math.exp))
const heated = (t: number) => normalise(slope.map((z) => Math.exp(z / t)))
const firstOf = (count: number) => normalise(slope.map((z, i) => (i < count ? Math.exp(z) : 0)))

test("critical values are those of the published table", () => {
  for (const [df, value] of [
    [7, 59.2],
    [15, 75.7],
    [63, 155.9],
    [255, 414.9],
  ]) {
    expect(Math.abs(criticalChiSquare(df) - value)).toBeLessThan(1)
  }
})

describe("the law of the draw", () => {
  test.each<[string, readonly number[], RowOptions, readonly number[]]>([
    ["S1-09, S3-03, S4-T11: 64 tokens, weights e^(−i/8)", slope, {}, slopeLaw],
    ["S1-06, S1-11, S2-08, S3-10, S4-T10: temperature .7", slope, { temperature: 0.7 }, heated(0.7)],
    ["temperature 2", slope, { temperature: 2 }, heated(2)],
    ["S0-14: top-k 10 renormalises", slope, { topK: 10 }, firstOf(10)],
    ["S0-08: top-k 10, top-p .5", slope, { topK: 10, topP: 0.5 }, firstOf(4)],
    [
      "mask of the even tokens",
      slope,
      { mask: slope.map((_, i) => i).filter((i) => i % 2 === 0) },
      normalise(slope.map((z, i) => (i % 2 === 0 ? Math.exp(z) : 0))),
    ],
    [
      "257 tokens",
      Array.from({ length: 257 }, (_, i) => -(i % 7)),
      {},
      normalise(Array.from({ length: 257 }, (_, i) => Math.exp(-(i % 7)))),
    ],
    ["another seed", slope, { seed: -123456789012345n }, slopeLaw],
    ["another choice", slope, { choice: 5 }, slopeLaw],
  ])("%s", (_, logits, options, law) => {
    expect(chiSquare(sampled(logits, options), law, N).ratio).toBeLessThan(1)
  })

  test("S0-13, S3-06: half-precision logits keep their tail, one part in 20 000", () => {
    // −9.9 as float16; bfloat16 would make it −9.875 and a float16 softmax would lose it.
    const logits = [0, -9.8984375]
    const p = 1 / (1 + Math.exp(9.8984375))
    const counts = sampled(logits, { seed: 3 })
    expect(Math.abs(counts[1] - N * p)).toBeLessThan(7 * Math.sqrt(N * p) + 3)
    expect(counts[1]).toBeGreaterThan(0)
  })

  test("S1-09: five equal tokens, each at least 10 % of 2000", () => {
    const counts = new Float64Array(5)
    const row = rowOf(5, { seed: 1 })
    for (let position = 0; position < 2000; position++) {
      counts[selector.select(new Float32Array(5), { ...row, position }).token]++
    }
    for (const count of counts) expect(count).toBeGreaterThanOrEqual(200)
  })

  test("S0-08: top-k 3 of 23: 200 draws see exactly the three", () => {
    const logits = Float32Array.from([5, 4, 3, ...Array(20).fill(-100)])
    const row = rowOf(23, { topK: 3, seed: 2 })
    const seen = new Set<number>()
    for (let position = 0; position < 200; position++)
      seen.add(selector.select(logits, { ...row, position }).token)
    expect([...seen].sort()).toEqual([0, 1, 2])
  })
})

describe("the same tests fail on planted faults", () => {
  const values = Float64Array.from(slope)
  const drawWith = (bits: (token: number, position: number) => number, t = 1) => {
    return countDraws(64, (position) => {
      let best = -Infinity
      let token = -1
      for (let id = 0; id < 64; id++) {
        const score = values[id] / t + gumbel(bits(id, position))
        if (score > best) {
          best = score
          token = id
        }
      }
      return token
    })
  }
  // One key a position, for its 64 tokens.
  let last = { position: -1, key: rowKey(11n, 0, 0, 0) }
  const key = (position: number) => {
    if (position !== last.position) last = { position, key: rowKey(11n, position, 0, 0) }
    return last.key
  }

  test.each<[string, () => Float64Array, readonly number[]]>([
    ["temperature off by 5 %", () => sampled(slope, { temperature: 1.05 }), slopeLaw],
    ["temperature applied twice", () => sampled(slope, { temperature: 0.49 }), heated(0.7)],
    [
      "neighbours share their bits",
      () => drawWith((id, position) => tokenBits(id & ~1, key(position))),
      slopeLaw,
    ],
    ["the position is not in the key", () => drawWith((id) => tokenBits(id, key(0))), slopeLaw],
    ["a nucleus of one token too many", () => sampled(slope, { topK: 5 }), firstOf(4)],
    ["a nucleus of one token too few", () => sampled(slope, { topK: 3 }), firstOf(4)],
    [
      "the mask of the last token is ignored",
      () => sampled(slope, {}),
      normalise(slope.map((z, i) => (i < 63 ? Math.exp(z) : 0))),
    ],
    [
      "a penalty applied twice",
      () => sampled(slope, { presencePenalty: 0.4, output: [0] }),
      normalise(slope.map((z, i) => Math.exp(i === 0 ? z - 0.2 : z))),
    ],
  ])("%s", (_, faulty, law) => {
    expect(chiSquare(faulty(), law, N).ratio).toBeGreaterThan(1)
  })

  test("the honest draw passes in the same harness", () => {
    const counts = drawWith((id, position) => tokenBits(id, key(position)))
    expect(chiSquare(counts, slopeLaw, N).ratio).toBeLessThan(1)
  })
})

describe("token bits are independent of their neighbours'", () => {
  const offsets = [1, 2, 3, 4, 8, 32, 256, 4096, 65536]
  const law = Array(256).fill(1 / 256)
  const tokens = 2 ** 16

  test.each(offsets)("pairs at offset %i: top, middle and low four bits", (offset) => {
    for (const shift of [28, 14, 0]) {
      for (const position of [0, 1, 77]) {
        const key = rowKey(42n, position, 0, 0)
        const counts = new Float64Array(256)
        for (let token = 0; token < tokens; token++) {
          const a = (tokenBits(token, key) >>> shift) & 15
          const b = (tokenBits(token + offset, key) >>> shift) & 15
          counts[16 * a + b]++
        }
        expect(chiSquare(counts, law, tokens).ratio).toBeLessThan(1)
      }
    }
  })

  test("a weak hash fails the pair test", () => {
    const counts = new Float64Array(256)
    const weak = (token: number) => Math.imul(token, 0x9e3779b9) >>> 28
    for (let token = 0; token < tokens; token++) counts[16 * weak(token) + weak(token + 1)]++
    expect(chiSquare(counts, law, tokens).ratio).toBeGreaterThan(1)
  })

  test("the arg-min over 256 tokens is uniform over them", () => {
    const counts = new Float64Array(256)
    const n = 20_000
    for (let position = 0; position < n; position++) {
      const key = rowKey(7n, position, 0, 0)
      let best = 0
      for (let token = 1; token < 256; token++) if (tokenBits(token, key) < tokenBits(best, key)) best = token
      counts[best]++
    }
    expect(chiSquare(counts, law, n).ratio).toBeLessThan(1)
  })
})
