/**
 * The tail of the law: thousands of tokens 10 nats below one, a seventh of the mass in all, with weights 1, 2, 3, a third
 * of them of no mass. What cuts the noise off, coarsens it or lets a masked token through is found here.
 *
 * TOKENRAIL_TESTS=full: 14 nats, 20,000 tokens.
 */
import { describe, expect, test } from "vitest"
import { gumbel, rowKey, tokenBits } from "../../sampler/rng.ts"
import { Selector } from "../../sampler/select.ts"
import { maskOf, rowOf } from "./rows.ts"
import { chiSquare, normalise } from "./statistics.ts"

const isFull = process.env.TOKENRAIL_TESTS === "full"
const width = isFull ? 20_000 : 3000
const depth = isFull ? 14 : 10
const N = isFull ? 200_000 : 5000
const head = 2221
/** 0: masked or −∞, in turn. */
const weightOf = (id: number) => [1, 0, 2, 3, 0, 1][id % 6]
const logits = Float32Array.from({ length: width }, (_, id) => {
  if (id === head) return 0
  const weight = weightOf(id)
  // What the mask denies is likelier than all the rest.
  return weight > 0 ? Math.log(weight) - depth : id % 6 === 1 ? Number.NEGATIVE_INFINITY : 5
})
const legal = Array.from({ length: width }, (_, id) => id).filter((id) => id === head || id % 6 !== 4)
/** Bins: the head; the tail by weight and by eighth of the vocabulary; what must not be drawn. */
const binOf = (id: number) => {
  if (id === head) return 0
  return weightOf(id) === 0 ? 25 : 1 + 8 * (weightOf(id) - 1) + Math.floor((8 * id) / width)
}
const weights = new Float64Array(26)
for (const id of legal) if (weightOf(id) > 0 || id === head) weights[binOf(id)] += Math.exp(logits[id])
const law = normalise(Array.from(weights))

function ratio(draw: (position: number) => number): number {
  const counts = new Float64Array(26)
  for (let position = 0; position < N; position++) counts[binOf(draw(position))]++
  return chiSquare(counts, law, N).ratio
}

const selector = new Selector()
const row = rowOf(width, { seed: 23, mask: legal })
const honest = (position: number) => selector.select(logits, { ...row, position }).token

/** The plain race with noise of another kind. */
const racing = (noise: (bits: number) => number) => (position: number) => {
  const key = rowKey(23n, position, 0, 0)
  let best = Number.NEGATIVE_INFINITY
  let token = -1
  for (const id of legal) {
    const score = logits[id] + noise(tokenBits(id, key))
    if (score > best) {
      best = score
      token = id
    }
  }
  return token
}

test("the tail has its share, by weight and by place", () => {
  expect(1 - law[0]).toBeGreaterThan(0.02 * (isFull ? 0.1 : 1))
  expect(ratio(honest)).toBeLessThan(1)
}, 600_000)

describe("the same test fails on planted faults", () => {
  test.each<[string, (position: number) => number]>([
    ["noise of 12 bits", racing((bits) => gumbel(((bits & 0xfff00000) | 0x80000) >>> 0))],
    ["noise cut off at 9", racing((bits) => Math.min(9, gumbel(bits)))],
    [
      "the last 64 tokens' mask is ignored",
      (position) => {
        const mask = maskOf(width, legal)
        mask.fill(0xffffffff, mask.length - 2)
        return selector.select(logits, { ...row, mask, position }).token
      },
    ],
    [
      "a temperature off by 5 %",
      (position) => {
        const { params } = row
        return selector.select(logits, { ...row, params: { ...params, temperature: 1.05 }, position }).token
      },
    ],
  ])(
    "%s",
    (_, faulty) => {
      expect(ratio(faulty)).toBeGreaterThan(1)
    },
    600_000,
  )
})

test("half a float's bits and an epsilon in both logarithms fail the tail table", () => {
  // Of 2^32 bits, those whose noise is above x: the table of the specification; the other form ends at 16.6.
  const table = [
    [16, 483],
    [18, 65],
    [20, 9],
    [22, 1],
  ]
  const count = (noise: (bits: number) => number, x: number) => {
    let found = 0
    for (let bits = 0; bits < 1000; bits++) if (noise(bits) > x) found++
    return found
  }
  const withEpsilon = (bits: number) => {
    const u = 1 - ((bits >>> 8) + 1) * 2 ** -24
    return -Math.log(-Math.log(u + 1e-8) + 1e-8)
  }
  for (const [x, expected] of table) {
    expect(count(gumbel, x)).toBe(expected)
    expect(count(withEpsilon, x)).toBeLessThan(expected)
  }
  expect(count(withEpsilon, 17)).toBe(0)
})
