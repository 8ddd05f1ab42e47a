/**
 * Speculative decoding: which tokens of a draft stay, and what follows them.
 *
 * A draft of K tokens is judged by K + 1 ordinary rows: row i has the mask, the counts and the position of the history
 * with the first i draft tokens. `matchDraft` compares each draft token with the row's own draw, so the output is the very
 * one of no speculation, whoever drafted. `rejectDraft` is the classic acceptance by ratio (Leviathan 2023; Chen 2023):
 * the law of the output is the model's, the tokens are others.
 */
import { draw, first, lawOf } from "./cpu.ts"
import { gumbel, rowKey, Stream, tokenBits, uniform } from "./rng.ts"
import type { SampleResult, SampleRow } from "./row.ts"
import { softmax } from "./truncation.ts"

/** What a draft token was drawn from: probabilities by token. null: it was certain. */
export type DraftLaw = ReadonlyMap<number, number> | null

export interface Verdict {
  /** The accepted draft tokens and the one after them; without it when its row has no token. */
  readonly tokens: readonly number[]
  readonly acceptedCount: number
  /** Of the row at which it ended. */
  readonly status: SampleResult["status"]
}

/**
 * Keeps draft tokens while they are the rows' own draws. `drawn` has a result for each draft token and one more. The
 * first difference is replaced by its row's draw, which ends the step.
 */
export function matchDraft(draft: readonly number[], drawn: readonly SampleResult[]): Verdict {
  checkRows(draft, drawn.length)
  const tokens: number[] = []
  for (const { token, status } of drawn) {
    if (status !== "ok") return { tokens, acceptedCount: tokens.length, status }
    tokens.push(token)
    const index = tokens.length - 1
    if (index === draft.length || token !== draft[index]) {
      return { tokens, acceptedCount: index, status }
    }
  }
  throw new Error("internal: a draft ended without a verdict")
}

export interface DraftRow {
  /** Shape [V]. */
  readonly logits: Float32Array
  readonly row: SampleRow
}

/**
 * Accepts draft token d with probability min(1, p(d) / q(d)), strictly, so that what the target forbids never passes. The
 * first refusal is replaced by a draw from max(0, p − q); after the last acceptance comes the ordinary draw.
 */
export function rejectDraft(
  draft: readonly number[],
  laws: readonly DraftLaw[],
  rows: readonly DraftRow[],
): Verdict {
  checkRows(draft, rows.length)
  const tokens: number[] = []
  for (const [index, { logits, row }] of rows.entries()) {
    const law = lawOf(logits, row)
    if (law.status !== "ok") return { tokens, acceptedCount: index, status: law.status }
    const end = (token: number): Verdict => {
      return { tokens: [...tokens, token], acceptedCount: index, status: "ok" }
    }
    if (index === draft.length)
      return end(law.isGreedy ? first(law.candidates) : draw(law.candidates, law.key))
    const token = draft[index]
    if (law.isGreedy) {
      const best = first(law.candidates)
      if (token !== best) return end(best)
    } else {
      const { ids, probs } = softmax(law.candidates)
      const target = new Map(ids.map((id, at) => [id, probs[at]]))
      const q = laws[index] ?? new Map([[token, 1]])
      if (!isAccepted(token, target, q, row)) return end(drawResidual(target, q, row))
    }
    tokens.push(token)
  }
  throw new Error("internal: a draft ended without a verdict")
}

function isAccepted(
  token: number,
  p: ReadonlyMap<number, number>,
  q: ReadonlyMap<number, number>,
  row: SampleRow,
): boolean {
  const qToken = q.get(token) ?? 0
  const u = uniform(rowKey(row.params.seed, row.position, Stream.acceptance, row.choice))
  return isWithin(u, p.get(token) ?? 0, qToken)
}

/** u · q < p and q > 0. Strict: u = 0 does not let a probability of 0 pass. */
export function isWithin(u: number, p: number, q: number): boolean {
  return q > 0 && u * q < p
}

/** A Gumbel draw from max(0, p − q), or from p where that is nothing. */
function drawResidual(
  p: ReadonlyMap<number, number>,
  q: ReadonlyMap<number, number>,
  row: SampleRow,
): number {
  const key = rowKey(row.params.seed, row.position, Stream.residual, row.choice)
  const residual = [...p].map(([id, share]): [number, number] => [id, Math.max(0, share - (q.get(id) ?? 0))])
  const hasMass = residual.some(([, share]) => share > 0)
  let best = Number.NEGATIVE_INFINITY
  let token = -1
  // Ids ascend: of equal scores the lowest wins.
  for (const [id, share] of hasMass ? residual : p) {
    if (share === 0) continue
    const score = Math.log(share) + gumbel(tokenBits(id, key))
    if (score > best) {
      best = score
      token = id
    }
  }
  return token
}

function checkRows(draft: readonly number[], rowCount: number): void {
  if (rowCount === draft.length + 1) return
  throw new RangeError(
    `rows: a draft of ${draft.length} tokens needs ${draft.length + 1} rows, not ${rowCount}`,
  )
}
