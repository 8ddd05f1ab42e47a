/**
 * A sequence's draft: tokens that may follow, and the request's rules for judging and sizing
 * drafts.
 */

import { type DraftLaw, DraftLength } from "../../sampler/index.ts"

/** match: the tokens of plain decoding; reject: the law of plain decoding. */
export type Verify = "match" | "reject"

/** Tokens that may follow a sequence, and what each was drawn from; null: it was certain. */
export interface Draft {
  readonly tokens: readonly number[]
  readonly laws: readonly DraftLaw[]
  /** Which of the tokens the constraint forces. */
  readonly forced: readonly boolean[]
}

export const noDraft: Draft = { tokens: [], laws: [], forced: [] }

/** Tokens that were guessed: each was certain to its guesser. */
export function guessedDraft({ tokens, forced }: Pick<Draft, "tokens" | "forced">): Draft {
  return { tokens, forced, laws: tokens.map(() => null) }
}

/** Returns the rest of a draft behind its first `taken` tokens. */
export function draftFrom({ tokens, laws, forced }: Draft, taken: number): Draft {
  return { tokens: tokens.slice(taken), laws: laws.slice(taken), forced: forced.slice(taken) }
}

/** How one request speculates. */
export class Speculation {
  readonly verify: Verify
  private readonly tokens: number
  private readonly isAdaptive: boolean
  private readonly breakEven: () => number
  private readonly maxShare: number
  private readonly length: DraftLength

  /**
   * `breakEven`: share of proposed tokens that must be accepted, with as many sequences as run.
   * `maxShare`: a measured cost counts at most as this many times the expected one.
   */
  constructor(
    verify: Verify,
    tokens: number,
    breakEven: () => number,
    { isAdaptive = true, maxShare = Number.POSITIVE_INFINITY } = {},
  ) {
    this.verify = verify
    this.isAdaptive = isAdaptive
    this.maxShare = maxShare
    this.tokens = tokens
    this.breakEven = breakEven
    this.length = new DraftLength(tokens)
  }

  /** Tokens to propose in this step. `isMeasuring`: none, if that changes no token. */
  next(isMeasuring: boolean): number {
    // The number of accepted tokens sizes the next drafts. If the clock did, another run would draw
    // other tokens.
    if (this.verify === "reject" || !this.isAdaptive) return this.tokens
    return isMeasuring ? 0 : this.length.next()
  }

  /**
   * `cost`: tokens that the draft's step cost beyond one without; undefined: it was not measured.
   */
  record(proposedCount: number, gain: number, cost: number | undefined): void {
    // One slow step without drafts would make drafts look free, so the measurement at the model's
    // opening bounds it.
    const expected = this.breakEven() * proposedCount
    const least = Math.max(cost ?? expected, expected / 2)
    this.length.record(Math.min(least, this.maxShare * expected), gain)
  }

  /** A token was written. */
  advance(): void {
    this.length.advance(1)
  }
}
