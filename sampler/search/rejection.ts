/**
 * Speculative decoding: decides which tokens of a draft are kept, and which token follows them.
 *
 * A draft of K tokens is judged by K + 1 ordinary rows: row i has the mask, the counts and the
 * position after the first i draft tokens. `matchDraft` compares each draft token with the row's
 * own draw, so the output is exactly that of decoding without drafts, whatever the draft.
 * `rejectDraft` is the classic acceptance by ratio (Leviathan 2023; Chen 2023): the output has the
 * model's distribution, but the individual tokens differ.
 */
import { describeDrawn, draw, first, lawOf } from "../cpu.ts"
import { gumbel, rowKey, Stream, tokenBits, uniform } from "../rng.ts"
import type { DraftLaw, Relaxation, SampleResult, SampleRow } from "../row.ts"
import { softmax } from "../truncation.ts"

/** The result of judging a draft: the tokens to write, and how many of them are the draft's. */
export interface Verdict {
  /**
   * The accepted draft tokens and the one after them; the latter is missing if its row has no
   * token.
   */
  readonly tokens: readonly number[]
  readonly acceptedCount: number
  /** Status of the row at which the draft ended. */
  readonly status: SampleResult["status"]
}

/**
 * Keeps draft tokens as long as they equal the rows' own draws. `drawn` has a result for each draft
 * token and one more. At the first difference, the row's own draw replaces the draft token and ends
 * the step.
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

/** The logits that follow a prefix of a draft, and the row that draws from them. */
export interface DraftRow {
  /** Shape [V]. */
  readonly logits: Float32Array
  readonly row: SampleRow
}

/**
 * Accepts draft token d with probability min(1, p(d) / q(d)). The comparison is strict, so a token
 * that the target forbids is never accepted. The first refused token is replaced by a draw from
 * max(0, p − q); if all are accepted, an ordinary draw follows.
 */
export function rejectDraft(
  draft: readonly number[],
  laws: readonly DraftLaw[],
  rows: readonly DraftRow[],
): Verdict {
  checkRows(draft, rows.length)
  const tokens: number[] = []
  for (const [index, row] of rows.entries()) {
    const { token, status, isAccepted } = judgeToken(draft[index], laws[index] ?? null, row)
    if (status !== "ok") return { tokens, acceptedCount: index, status }
    tokens.push(token)
    if (!isAccepted) return { tokens, acceptedCount: index, status }
  }
  throw new Error("internal: a draft ended without a verdict")
}

/** The result for one draft token: the token itself or its replacement. */
export interface Judgement {
  /** −1 unless the status is `ok`. */
  readonly token: number
  readonly status: SampleResult["status"]
  readonly isAccepted: boolean
  readonly relaxed: readonly Relaxation[]
}

/**
 * Judges one row of `rejectDraft`. An undefined `token` is the row after the draft: an ordinary
 * draw.
 */
export function judgeToken(token: number | undefined, law: DraftLaw, { logits, row }: DraftRow): Judgement {
  const { status, candidates, isGreedy, key, relaxed } = lawOf(logits, row)
  const end = (token: number): Judgement => ({ token, status, isAccepted: false, relaxed })
  if (status !== "ok") return end(-1)
  if (token === undefined) return end(isGreedy ? first(candidates) : draw(candidates, key))
  if (isGreedy) {
    const best = first(candidates)
    if (token !== best) return end(best)
  } else {
    const { ids, probs } = softmax(candidates)
    const target = new Map(ids.map((id, at) => [id, probs[at]]))
    const q = law ?? new Map([[token, 1]])
    if (!isTokenAccepted(row, target.get(token) ?? 0, q.get(token) ?? 0))
      return end(drawResidual(target, q, row))
  }
  return { token, status, isAccepted: true, relaxed }
}

/**
 * Returns the result of a judged row in the form of any other row. Throws in the processed modes of
 * log-probabilities, which need the distribution of the row.
 */
export function judgeRow(logits: Float32Array, row: SampleRow): SampleResult {
  const { token, law } = row.judged!
  const judgement = judgeToken(token, law, { logits, row })
  if (judgement.status !== "ok") return { token: -1, status: judgement.status }
  const { relaxed, isAccepted } = judgement
  return {
    token: judgement.token,
    status: "ok",
    ...(row.params.logprobs === null ? {} : { logprobs: describeDrawn(logits, row, judgement.token) }),
    ...(relaxed.length > 0 ? { relaxed } : {}),
    isAccepted,
  }
}

/**
 * Returns whether a draft token with draft probability `q` and target probability `p` is accepted.
 */
export function isTokenAccepted(row: SampleRow, p: number, q: number): boolean {
  const u = uniform(rowKey(row.params.seed, row.position, Stream.acceptance, row.choice))
  return isWithin(u, p, q)
}

/**
 * Draws a draft token from a drafter's own logits, and returns it with the distribution that
 * `rejectDraft` needs. Returns undefined if nothing can be drawn.
 */
export function drawDraft({ logits, row }: DraftRow): { token: number; law: DraftLaw } | undefined {
  const { status, candidates, isGreedy } = lawOf(logits, row)
  if (status !== "ok") return undefined
  if (isGreedy) return { token: first(candidates), law: null }
  const { ids, probs } = softmax(candidates)
  const key = rowKey(row.params.seed, row.position, Stream.draft, row.choice)
  return { token: draw(candidates, key), law: new Map(ids.map((id, at) => [id, probs[at]])) }
}

/**
 * Returns whether u · q < p and q > 0. The comparison is strict, so that u = 0 does not accept a
 * probability of 0.
 */
export function isWithin(u: number, p: number, q: number): boolean {
  return q > 0 && u * q < p
}

/** Draws by Gumbel noise from max(0, p − q), or from p if that is 0 everywhere. */
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
  // Ids ascend, so the lowest of those with equal scores wins.
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
