/**
 * S1-22, S3-19, S4-13: the rejection sampler on the device. K + 1 rows of a draft, judged in one submission: the verdicts
 * and the tokens of the definition, and the law of the output.
 */
import { expect, test } from "vitest"
import { lawOf } from "../../../../sampler/cpu.ts"
import { gumbel, rowKey, Stream, tokenBits, uniform } from "../../../../sampler/rng.ts"
import type { DraftLaw, SampleRow } from "../../../../sampler/row.ts"
import { logitsOf } from "../../../../sampler/sampler.ts"
import { drawDraft, judgeRow } from "../../../../sampler/search/rejection.ts"
import { probabilities } from "../../../support/sampler/law.ts"
import { describeGpu, gpu } from "../../../support/sampler/opened.ts"
import { normalOf, type RowOptions, randomOf, rowOf } from "../../../support/sampler/rows.ts"
import { chiSquare } from "../../../support/sampler/statistics.ts"
import { nearTie } from "../../../support/sampler/ties.ts"

const isFull = process.env.TOKENRAIL_TESTS === "full"

/** Whether float32 may judge otherwise: acceptance by a hair, or two replacements of nearly one score. */
function isNearVerdict(logits: Float32Array, row: SampleRow): boolean {
  if (nearTie(logits, row)) return true
  const { token, law } = row.judged!
  const p = new Map(probabilities(lawOf(logits, row)))
  const { params, position, choice } = row
  const u = uniform(rowKey(params.seed, position, Stream.acceptance, choice))
  const share = p.get(token) ?? 0
  if (Math.abs(u * (law ? (law.get(token) ?? 0) : 1) - share) < 1e-5 * share) return true
  const key = rowKey(params.seed, position, Stream.residual, choice)
  const scores = [...p]
    .map(([id, mass]) => ({ id, mass, rest: mass - (law ? (law.get(id) ?? 0) : Number(id === token)) }))
    .filter(({ rest }) => rest > 0)
    .map(({ id, mass, rest }) => ({
      score: Math.log(rest) + gumbel(tokenBits(id, key)),
      // What is left of a difference has the rounding of its terms.
      doubt: 1e-4 + (1e-6 * mass) / rest,
    }))
    .sort((a, b) => b.score - a.score)
  return scores.length > 1 && scores[0].score - scores[1].score < scores[0].doubt + scores[1].doubt
}

describeGpu("GPU judgement of drafts", () => {
  test("verdicts and tokens of the definition: drafts that were certain, and drafts of another law", async () => {
    const width = 3000
    const random = randomOf(81)
    const normal = normalOf(random)
    const logits = Float32Array.from({ length: 3 * width }, () => 3 * normal())
    for (let at = 0; at < width; at++) logits[2 * width + at] = logits[at] + 0.4 * normal()
    const kinds: RowOptions[] = [
      {},
      { temperature: 0 },
      { temperature: 0.6, topP: 0.9 },
      { topK: 40 },
      { topK: 300, topP: 0.8 },
      { minP: 0.02 },
      { mask: [5, 6, 7, 8, 1200, 2999] },
      { mask: Array.from({ length: 1500 }, (_, at) => 2 * at), repetitionPenalty: 1.3, prompt: [2, 4, 8] },
      { logitBias: { 9: 8 }, minTokens: 3, endIds: [9] },
    ]
    const rows = Array.from({ length: isFull ? 3000 : 180 }, (_, index) => {
      const options = { ...kinds[index % kinds.length], seed: index, position: 10 + index }
      const row = rowOf(width, { ...options, logitsRow: index % 2 })
      // A drafter of its own logits; a certain draft among the likely ones; one that may be impossible.
      const drafter = { logits: logitsOf(logits, width, 2), row: rowOf(width, { ...options, logitsRow: 2 }) }
      const drawn = drawDraft(drafter)!
      const likely = probabilities(lawOf(logitsOf(logits, width, row.logitsRow), row))
      const judged: { token: number; law: DraftLaw }[] = [
        drawn,
        { token: likely[Math.floor(likely.length * random() ** 4)][0], law: null },
        { token: Math.floor(random() * width), law: null },
      ]
      return { ...row, judged: judged[Math.floor(index / kinds.length) % 3] }
    })
    const before = { ...gpu.stats }
    const found = await gpu.sample(logits, width, rows)
    expect(gpu.stats.submissions - before.submissions).toBe(1)
    expect(gpu.stats.cpuRows).toBe(before.cpuRows)
    let ties = 0
    let accepted = 0
    for (const [index, row] of rows.entries()) {
      const own = logitsOf(logits, width, row.logitsRow)
      const expected = judgeRow(own, row)
      if (expected.isAccepted) accepted++
      const { token, status, isAccepted } = found[index]
      if (token === expected.token && status === expected.status && isAccepted === expected.isAccepted)
        continue
      if (isNearVerdict(own, row)) ties++
      else expect.soft({ token, status, isAccepted }, `row ${index}`).toEqual(expected)
    }
    expect(ties).toBeLessThanOrEqual(rows.length / 60)
    expect(accepted).toBeGreaterThan(rows.length / 6)
    expect(accepted).toBeLessThan((5 * rows.length) / 6)
  }, 600_000)

  test("the output has the target's law, and acceptance its share: p [.5,.3,.2], q [.7,.2,.1]", async () => {
    const p = [0.5, 0.3, 0.2]
    const q = [0.7, 0.2, 0.1]
    const logits = Float32Array.from([...p, ...q], Math.log)
    const n = isFull ? 60_000 : 600
    const counts = new Float64Array(3)
    let accepted = 0
    for (let start = 0; start < n; start += 200) {
      const rows = Array.from({ length: 200 }, (_, at) => {
        const row = rowOf(3, { seed: 4, position: start + at })
        const judged = drawDraft({ logits: logits.subarray(3), row })!
        return { ...row, judged }
      })
      for (const { token, isAccepted } of await gpu.sample(logits, 3, rows)) {
        counts[token]++
        if (isAccepted) accepted++
      }
    }
    expect(chiSquare(counts, p, n).ratio).toBeLessThan(1)
    expect(chiSquare(counts, q, n).ratio).toBeGreaterThan(1)
    // 1 − the distance of the laws.
    expect(accepted / n).toBeGreaterThan(0.75)
    expect(accepted / n).toBeLessThan(0.85)
  }, 600_000)

  test("a draft's rows and its bonus row are one submission; four launches more than without", async () => {
    const width = 5000
    const logits = Float32Array.from({ length: 4 * width }, normalOf(randomOf(82)))
    const rows = Array.from({ length: 4 }, (_, logitsRow) => ({
      ...rowOf(width, { topP: 0.9, seed: 3, logitsRow, position: logitsRow }),
      ...(logitsRow < 3 ? { judged: { token: 17 * logitsRow, law: null } } : {}),
    }))
    const before = { ...gpu.stats }
    const found = await gpu.sample(logits, width, rows)
    expect(gpu.stats.dispatches - before.dispatches).toBe(11)
    expect(gpu.stats.submissions - before.submissions).toBe(1)
    expect(found.map(({ isAccepted }) => isAccepted !== undefined)).toEqual([true, true, true, false])
  })
})
