/**
 * Capabilities of the source systems, by the ids of the specification, that no other suite names; and their pitfalls, each
 * beside the wrong computation, which must come out otherwise.
 */
import { describe, expect, test } from "vitest"
import { lawOf, sampleRow } from "../../sampler/cpu.ts"
import { Selector } from "../../sampler/fast/select.ts"
import { vllmOrder } from "../../sampler/order.ts"
import { gumbel, rowKey, tokenBits } from "../../sampler/rng.ts"
import { probabilities } from "../support/sampler/law.ts"
import { normalOf, type RowOptions, randomOf, rowOf } from "../support/sampler/rows.ts"

const { log, exp } = Math
const law = (logits: readonly number[], options: RowOptions) =>
  probabilities(lawOf(Float32Array.from(logits), rowOf(logits.length, options)))
const kept = (logits: readonly number[], options: RowOptions) => law(logits, options).map(([id]) => id)
const token = (logits: readonly number[], options: RowOptions) =>
  sampleRow(Float32Array.from(logits), rowOf(logits.length, options)).token

describe("S0-05, S2-01, S3-09, S3-11, S3-12, S3-13, S4-01: the order of the stages", () => {
  test("penalties, temperature, value filters, top-k, entropy filters, top-p, XTC", () => {
    expect(vllmOrder.join(" ")).toBe("penalties dry temperature top_n_sigma min_p top_k typical_p top_p xtc")
  })

  // Each row tells two neighbours apart: with the stages swapped the set would be the other one.
  const logits = [log(0.1), log(0.2), log(0.3), log(0.4)]
  test.each<[string, RowOptions, number[], readonly string[]]>([
    [
      "penalties before temperature",
      { temperature: 0.5, presencePenalty: 0.5, output: [3], minP: 0.6 },
      [2, 3],
      ["temperature", "penalties"],
    ],
    ["temperature before min-p", { temperature: 2, minP: 0.6 }, [3, 2, 1], ["min_p", "temperature"]],
    ["top-k before top-p", { topK: 2, topP: 0.57 }, [3], ["top_p", "top_k"]],
    ["top-p before XTC", { topP: 0.8, xtcProbability: 1, xtcThreshold: 0.1 }, [1], ["xtc", "top_p"]],
  ])("%s", (_, options, expected, [moved, before]) => {
    expect(kept(logits, options)).toEqual(expected)
    const order = vllmOrder.filter((name) => name !== moved)
    order.splice(order.indexOf(before as (typeof order)[number]), 0, moved as (typeof order)[number])
    expect(kept(logits, { ...options, samplerOrder: order })).not.toEqual(expected)
  })
})

describe("S0-08, S1-12, S4-T04, S4-T06: top-k", () => {
  test("[1, 5, 3, 2] k 1 is token 1; k off is the row without the stage", () => {
    expect(token([1, 5, 3, 2], { topK: 1 })).toBe(1)
    const logits = Array.from({ length: 300 }, normalOf(randomOf(1)))
    for (let seed = 0; seed < 50; seed++) {
      expect(token(logits, { topK: 0, seed })).toBe(token(logits, { seed }))
      expect(token(logits, { topK: 9999, seed })).toBe(token(logits, { seed }))
    }
  })
})

describe("S0-09, S0-10, S1-08, S1-13, S2-10, S4-06, S4-T07: top-p", () => {
  test("the token that crosses stays, whatever the share", () => {
    const random = randomOf(2)
    for (let round = 0; round < 200; round++) {
      const weights = Array.from({ length: 1 + Math.floor(random() * 20) }, random)
      const share = random() || 0.5
      const found = law(weights.map(log), { topP: share })
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const masses = found.map(([id]) => weights[id] / total)
      const mass = masses.reduce((sum, value) => sum + value, 0)
      expect(mass).toBeGreaterThanOrEqual(share - 1e-6)
      // Without its last token the set would not reach the share.
      expect(mass - masses.at(-1)!).toBeLessThan(share + 1e-6)
    }
  })
})

describe("penalties by counts", () => {
  const values = (options: RowOptions) =>
    Array.from(lawOf(new Float32Array(3), rowOf(3, options)).candidates.values)
  test("S1-04, S2-05: presence takes once what is in the output, nothing of the prompt", () => {
    expect(values({ presencePenalty: 1, prompt: [0, 0], output: [1, 1, 1] })).toEqual([0, -1, 0])
  })
  test("S1-05, S2-04: frequency takes by the count in the output", () => {
    expect(values({ frequencyPenalty: 0.5, prompt: [0, 0], output: [1, 1, 1, 2] })).toEqual([0, -1.5, -0.5])
  })
  test("S2-02: repetition looks at prompt and output", () => {
    const { candidates } = lawOf(
      Float32Array.of(2, 2, 2),
      rowOf(3, { repetitionPenalty: 2, prompt: [0], output: [1] }),
    )
    expect(Array.from(candidates.values)).toEqual([1, 1, 2])
  })
})

describe("S0-19, S0-20: seven pitfalls, each beside the wrong computation", () => {
  const P = [0.1, 0.2, 0.3, 0.4]

  test("1: dividing by a temperature of 0", () => {
    expect(token([1, 3, 2], { temperature: 0 })).toBe(1)
    expect([1, 3, 2].map((z) => (z - 3) / 0).some(Number.isNaN)).toBe(true)
  })

  test("2: the first row's k for all rows", () => {
    const logits = P.map(log)
    const rows = [1, 3].map((topK) => kept(logits, { topK }).length)
    expect(rows).toEqual([1, 3])
    expect(rows).not.toEqual([1, 1])
  })

  test("3: top-p without the token that crosses is empty", () => {
    expect(kept([log(0.9), log(0.1)], { topP: 0.5 })).toEqual([0])
    expect([0.9, 0.1].filter((_, at, all) => all.slice(0, at + 1).reduce((a, b) => a + b) <= 0.5)).toEqual([])
  })

  test("4: dividing a negative score by the repetition penalty favours it", () => {
    const { values } = lawOf(
      Float32Array.of(-4, -3),
      rowOf(2, { repetitionPenalty: 2, output: [0] }),
    ).candidates
    expect(values[0]).toBe(-8)
    expect(-4 / 2).toBeGreaterThan(-3)
  })

  test("5: padding the history with a token penalises that token", () => {
    const { values } = lawOf(
      Float32Array.of(4, 4),
      rowOf(2, { repetitionPenalty: 2, output: [1] }),
    ).candidates
    expect(Array.from(values)).toEqual([4, 2])
    const padded = lawOf(
      Float32Array.of(4, 4),
      rowOf(2, { repetitionPenalty: 2, output: [1, 0, 0] }),
    ).candidates
    expect(Array.from(padded.values)).toEqual([2, 2])
  })

  test("6: a draw in half precision has no tail", () => {
    const tail = law([0, ...Array(99).fill(-12)], {})
      .slice(1)
      .reduce((sum, [, p]) => sum + p, 0)
    expect(tail).toBeCloseTo((99 * exp(-12)) / (1 + 99 * exp(-12)), 9)
    // 1 + e^−12 in bfloat16, which has 8 bits of mantissa.
    expect(Math.round(exp(-12) * 256) / 256).toBe(0)
  })

  test("7: drawing with the probabilities from before the cut loses their sum", () => {
    const after = law(P.map(log), { topK: 2 }).map(([, p]) => p)
    expect(after.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12)
    expect(0.3 + 0.4).toBeLessThan(1)
  })
})

test("S1-21: any bitmask is a mask, from whatever made it", () => {
  const random = randomOf(8)
  const logits = Float32Array.from({ length: 100 }, normalOf(random))
  for (let round = 0; round < 300; round++) {
    const mask = Uint32Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32))
    mask[3] &= 0b1111
    const found = sampleRow(logits, { ...rowOf(100, { seed: round, topP: 0.9 }), mask })
    expect((mask[found.token >>> 5] >>> (found.token & 31)) & 1).toBe(1)
  }
})

test("S2-12, S4-07: there is no cumulative sum to fall off: zero mass is never drawn, for any bits", () => {
  const selector = new Selector()
  const logits = Float32Array.of(-Infinity, 5, -Infinity, 5.5, -Infinity)
  const row = rowOf(5, { bits: 0b11010 })
  for (let position = 0; position < 5000; position++) {
    expect([1, 3]).toContain(selector.select(logits, { ...row, position }).token)
  }
  // The trap: with u = 0 the first index of cdf ≥ u is one of no mass; cdf > u is not.
  const cdf = [0, 0.4, 0.4, 1, 1]
  expect(cdf.findIndex((sum) => sum >= 0)).toBe(0)
  expect(cdf.findIndex((sum) => sum > 0)).toBe(1)
})

test("S3-05: the exponential race has the same winner as the Gumbel maximum", () => {
  const logits = Array.from({ length: 40 }, normalOf(randomOf(5)))
  for (let position = 0; position < 300; position++) {
    const key = rowKey(3n, position, 0, 0)
    const race = logits.map((z, id) => -Math.log1p(-(tokenBits(id, key) + 0.5) * 2 ** -32) / exp(z))
    expect(token(logits, { seed: 3, position })).toBe(race.indexOf(Math.min(...race)))
    expect(gumbel(tokenBits(0, key))).toBeCloseTo(-log(race[0] * exp(logits[0])), 9)
  }
})

test("S4-16: values far outside any window are cut as the definition cuts them", () => {
  const selector = new Selector()
  const random = randomOf(6)
  for (let round = 0; round < 200; round++) {
    const scale = 10 ** (40 * random() - 20)
    const logits = Float32Array.from({ length: 400 }, () => (random() - 0.5) * scale)
    const options = { topK: [0, 5, 300][round % 3], topP: [0.9, 1][round % 2], seed: round }
    const row = rowOf(400, options)
    expect(selector.select(logits, row)).toEqual(sampleRow(logits, row))
  }
})

test("S2-27: one row is one call: logits, parameters and what is known of the sequence", () => {
  const result = sampleRow(Float32Array.of(1, 2, 3), rowOf(3, { temperature: 0, logprobs: 1 }))
  expect(result).toMatchObject({
    token: 2,
    status: "ok",
    logprobs: { token: 2, rank: 1, top: [{ token: 2 }] },
  })
})
