import { expect, test } from "vitest"
import { resolveParams } from "../../sampler/index.ts"
import { certaintyOf, describe, describeRow, Impossible } from "../../sampler/logprobs.ts"

const width = 700
const params = (options: object) => resolveParams(options, { width, endIds: [0], seed: 1n })

/** Logits with equal ones among them. */
const values = Float32Array.from({ length: width }, (_, id) => Math.round(40 * Math.sin(id * id)) / 8)

test.each([
  ["the token alone", { logprobs: 0 }],
  ["some", { logprobs: 5 }],
  ["many", { logprobs: 20 }],
  ["logits", { logprobs: 3, logprobsMode: "raw_logits" }],
])("a row whose every token may come is described to the same bits: %s", (_, options) => {
  const alive = new Uint8Array(width).fill(1)
  for (const token of [0, 1, 17, 350, width - 1])
    expect(describeRow(values, token, params(options))).toEqual(
      describe({ values, alive }, token, params(options)),
    )
})

test("a logit of −∞ is impossible, and no alternative", () => {
  const few = Float32Array.of(1, Number.NEGATIVE_INFINITY, 0)
  const { logprob, top } = describeRow(few, 1, params({ logprobs: 3 }))
  expect([logprob, top.map(({ token }) => token)]).toEqual([Impossible, [0, 2]])
})

test("what is no number is seen", () => {
  expect(describeRow(Float32Array.of(1, Number.NaN), 0, params({ logprobs: 0 })).logprob).toBeNaN()
})

test.each([
  ["all", [0xffffffff]],
  ["some", [0b101]],
  ["one", [0b100]],
] as const)("a token's certainty adds up to its log-probability among all tokens: %s allowed", (_, words) => {
  const few = Float32Array.of(3, -1, 0.5, 1000, Number.NEGATIVE_INFINITY)
  const { logprob, logMass } = certaintyOf(few, Uint32Array.from(words), 2)
  const among = [...few.keys()].filter((id) => words[0] & (1 << id))
  expect(logprob).toBeCloseTo(0.5 - logSum(among.map((id) => few[id])), 12)
  expect(logprob + logMass).toBeCloseTo(0.5 - 1000, 12)
  expect(logMass <= 0 && (words[0] & 8) === 0).toBe(logMass < 0)
})

function logSum(values: readonly number[]): number {
  const max = Math.max(...values)
  return max + Math.log(values.reduce((sum, value) => sum + Math.exp(value - max), 0))
}
