/** Speculation: matched drafts change nothing, rejected drafts keep the law. */
import { describe, expect, test } from "vitest"
import { lawOf, sampleRow } from "../../../sampler/cpu.ts"
import { gumbel, rowKey, Stream, tokenBits } from "../../../sampler/rng.ts"
import type { SampleRow } from "../../../sampler/row.ts"
import { type DraftRow, isWithin, matchDraft, rejectDraft } from "../../../sampler/search/rejection.ts"
import { probabilities } from "../../support/sampler/law.ts"
import { normalOf, randomOf, rowOf } from "../../support/sampler/rows.ts"
import { chiSquare } from "../../support/sampler/statistics.ts"

const logs = (probs: readonly number[]) => Float32Array.from(probs, Math.log)
const p = logs([0.5, 0.3, 0.2])
const q = new Map([
  [0, 0.7],
  [1, 0.2],
  [2, 0.1],
])

/** A token of the draft's law, by the noise of the draft stream. */
function drawDraft(position: number): number {
  const key = rowKey(9n, position, Stream.draft, 0)
  let best = -Infinity
  let token = -1
  for (const [id, share] of q) {
    const score = Math.log(share) + gumbel(tokenBits(id, key))
    if (score > best) {
      best = score
      token = id
    }
  }
  return token
}

describe("match", () => {
  const width = 40
  /** A model of two tokens' memory. */
  function logitsAfter(history: readonly number[]): Float32Array {
    const normal = normalOf(randomOf(1 + 41 * (history.at(-1) ?? 0) + 1681 * (history.at(-2) ?? 0)))
    return Float32Array.from({ length: width }, normal)
  }
  const options = {
    seed: 4,
    temperature: 0.9,
    topP: 0.9,
    repetitionPenalty: 1.2,
    logitBias: { 3: 1 },
    minP: 0.01,
  }
  const rowAfter = (history: readonly number[]): SampleRow => rowOf(width, { ...options, output: history })

  test("S1-22, S4-13: the output is bit-identical to none, with any drafter", () => {
    const plain: number[] = []
    while (plain.length < 60) plain.push(sampleRow(logitsAfter(plain), rowAfter(plain)).token)
    const random = randomOf(2)
    const output: number[] = []
    let accepted = 0
    while (output.length < 60) {
      const draft = Array.from({ length: 4 }, (_, at) => {
        return random() < 0.7 ? (plain[output.length + at] ?? 0) : Math.floor(random() * width)
      })
      const drawn = Array.from({ length: 5 }, (_, at) => {
        const history = [...output, ...draft.slice(0, at)]
        return sampleRow(logitsAfter(history), rowAfter(history))
      })
      const verdict = matchDraft(draft, drawn)
      accepted += verdict.acceptedCount
      output.push(...verdict.tokens)
    }
    expect(output.slice(0, 60)).toEqual(plain)
    expect(accepted).toBeGreaterThan(10)
  })

  test("a row without a token ends the step after what was accepted", () => {
    const none = { token: -1, status: "empty_mask" } as const
    const one = { token: 1, status: "ok" } as const
    expect(matchDraft([1, 2], [one, none, one])).toEqual({
      tokens: [1],
      acceptedCount: 1,
      status: "empty_mask",
    })
    expect(() => matchDraft([1, 2], [one])).toThrow(/needs 3 rows, not 1/)
  })

  test("a drafter with the same noise is accepted by the published rate .79355", () => {
    const n = 40_000
    let accepted = 0
    for (let position = 0; position < n; position++) {
      const row = rowOf(3, { seed: 9, position })
      const target = sampleRow(p, row).token
      const draft = sampleRow(logs([0.7, 0.2, 0.1]), row).token
      if (target === draft) accepted++
    }
    expect(accepted / n).toBeCloseTo(0.79355, 2)
  })
})

describe("reject", () => {
  const N = 40_000
  const verdictAt = (position: number, draft: number, law: ReadonlyMap<number, number> | null) => {
    const row = rowOf(3, { seed: 9, position })
    const rows: DraftRow[] = [
      { logits: p, row },
      { logits: p, row: { ...row, position: position + 1 } },
    ]
    return rejectDraft([draft], [law], rows)
  }

  test("S3-19: the law of the output is the target's", () => {
    const counts = new Float64Array(3)
    let accepted = 0
    for (let position = 0; position < N; position++) {
      const { tokens, acceptedCount } = verdictAt(position, drawDraft(position), q)
      counts[tokens[0]]++
      accepted += acceptedCount
    }
    expect(chiSquare(counts, [0.5, 0.3, 0.2], N).ratio).toBeLessThan(1)
    expect(accepted / N).toBeCloseTo(0.8, 2)
  })

  test("draft 0 passes five times of seven, and what replaces it is 1 or 2 by halves", () => {
    const residual = new Float64Array(3)
    let accepted = 0
    for (let position = 0; position < N; position++) {
      const { tokens, acceptedCount } = verdictAt(position, 0, q)
      accepted += acceptedCount
      if (acceptedCount === 0) residual[tokens[0]]++
    }
    expect(accepted / N).toBeCloseTo(5 / 7, 2)
    expect(residual[0]).toBe(0)
    expect(chiSquare(residual, [0, 0.5, 0.5], N - accepted).ratio).toBeLessThan(1)
  })

  test("a certain draft passes with p(d); without it p is renormalised", () => {
    const counts = new Float64Array(3)
    let accepted = 0
    for (let position = 0; position < N; position++) {
      const { tokens, acceptedCount } = verdictAt(position, 1, null)
      counts[tokens[0]]++
      accepted += acceptedCount
    }
    expect(accepted / N).toBeCloseTo(0.3, 2)
    expect(chiSquare(counts, [0.5, 0.3, 0.2], N).ratio).toBeLessThan(1)
  })

  test("the ratio test is strict: u = 0 lets nothing pass that the target forbids", () => {
    expect(isWithin(0, 0, 0.5)).toBe(false)
    expect(isWithin(0, 1e-300, 0.5)).toBe(true)
    expect(isWithin(0.5, 0.5, 0)).toBe(false)
    const masked = rowOf(3, { seed: 1, mask: [1, 2] })
    const { tokens } = rejectDraft(
      [0],
      [null],
      [
        { logits: p, row: masked },
        { logits: p, row: masked },
      ],
    )
    expect(tokens).toHaveLength(1)
    expect([1, 2]).toContain(tokens[0])
  })

  test("greedy rows accept the arg-max and nothing else", () => {
    const row = rowOf(3, { temperature: 0 })
    const rows = [0, 1, 2].map(() => ({ logits: p, row }))
    expect(rejectDraft([0, 1], [q, q], rows)).toEqual({ tokens: [0, 0], acceptedCount: 1, status: "ok" })
    expect(probabilities(lawOf(p, row))).toEqual([[0, 1]])
  })
})
