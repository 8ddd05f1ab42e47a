/**
 * The tail of the law on the CPU: thousands of tokens 10 nats below one, a seventh of the mass in all; and a vocabulary of
 * 200,000. Planted faults fail the same test.
 *
 * TOKENRAIL_TESTS=full: 14 nats over 20,000 tokens; 18 nats over 200,000, a tail of .6 %, 500,000 draws: a quarter of an hour.
 */
import { describe, expect, test } from "vitest"
import { Selector } from "../../sampler/fast/select.ts"
import { gumbel, rowKey, tokenBits } from "../../sampler/rng.ts"
import { rowOf } from "../support/sampler/rows.ts"
import { leakyMask, type Tail, tailOf } from "../support/sampler/tail.ts"

const isFull = process.env.TOKENRAIL_TESTS === "full"
const selector = new Selector()

/** The plain race with noise of another kind. `ceiling`: for what bits the noise is no larger than that of others. */
function racing({ legal, logits }: Tail, noise: (bits: number) => number, ceiling: (bits: number) => number) {
  const top = Math.max(...[0, 2, 3, 5, 6, 8].map((id) => logits[id]))
  return (position: number): number => {
    const key = rowKey(23n, position, 0, 0)
    let best = Number.NEGATIVE_INFINITY
    let token = -1
    let bound = 2 ** 32
    for (const id of legal) {
      const bits = tokenBits(id, key)
      // What cannot win by the largest noise that its bits could have needs no logarithm.
      if (ceiling(bits) > bound && logits[id] <= top) continue
      const score = logits[id] + noise(bits)
      if (score <= best) continue
      best = score
      token = id
      bound = Math.min(2 ** 32, 2 ** 32 * -Math.expm1(-Math.exp(top - best)) + 1)
    }
    return token
  }
}

function* upTo(n: number, draw: (position: number) => number): Generator<number> {
  for (let position = 0; position < n; position++) yield draw(position)
}

interface TailCase {
  readonly name: string
  readonly tail: Tail
  readonly n: number
  /** Draws in which a fault is found. */
  readonly faultN: number
  readonly leastShare: number
}

const cases: readonly TailCase[] = isFull
  ? [
      { name: "V 20,000", tail: tailOf(20_000, 14, 6), n: 200_000, faultN: 200_000, leastShare: 0.01 },
      { name: "V 200,000", tail: tailOf(200_000, 18, 60), n: 500_000, faultN: 100_000, leastShare: 0.005 },
    ]
  : [
      { name: "V 3,000", tail: tailOf(3000, 10, 6), n: 5000, faultN: 5000, leastShare: 0.1 },
      { name: "V 200,000", tail: tailOf(200_000, 14, 60), n: 1000, faultN: 1000, leastShare: 0.2 },
    ]

describe.each(cases)("$name", ({ tail, n, faultN, leastShare }) => {
  const row = rowOf(tail.width, { seed: 23, mask: tail.mask })
  const leaky = leakyMask(tail)
  const honest = (position: number) => selector.select(tail.logits, { ...row, position }).token

  test("the tail has its share, by weight and by place", () => {
    expect(tail.share).toBeGreaterThan(leastShare)
    expect(tail.ratio(upTo(n, honest))).toBeLessThan(1)
  }, 3_600_000)

  test.each<[string, (position: number) => number, part?: number]>([
    [
      "noise of 12 bits",
      racing(
        tail,
        (bits) => gumbel(((bits & 0xfff00000) | 0x80000) >>> 0),
        (bits) => bits - 0x100000,
      ),
      2,
    ],
    [
      "noise cut off at 9",
      racing(
        tail,
        (bits) => Math.min(9, gumbel(bits)),
        (bits) => bits,
      ),
      2,
    ],
    [
      "the last 64 tokens' mask is ignored",
      (position) => selector.select(tail.logits, { ...row, mask: leaky, position }).token,
      20,
    ],
    [
      "a temperature off by 5 %",
      (position) => {
        const { params } = row
        return selector.select(tail.logits, { ...row, params: { ...params, temperature: 1.05 }, position })
          .token
      },
    ],
  ])(
    "the same test fails on a planted fault: %s",
    (_, faulty, part = 1) => {
      expect(tail.ratio(upTo(tail.width > 100_000 ? faultN / part : faultN, faulty))).toBeGreaterThan(1)
    },
    3_600_000,
  )

  test("the plain race without a fault passes", () => {
    const race = racing(tail, gumbel, (bits) => bits)
    const few = Math.min(faultN, 100)
    expect(Array.from(upTo(few, race))).toEqual(Array.from(upTo(few, honest)))
  }, 3_600_000)
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
