/**
 * A sequence's draft: tokens that may follow, and the request's rules for verifying and sizing
 * drafts.
 */

import { type DraftLaw, DraftLength } from "../../sampler/index.ts"

/** match: the tokens are those of plain decoding; reject: only their distribution is. */
export type Verify = "match" | "reject"

/**
 * Tokens that may follow a sequence, and the distribution that each was drawn from; null if the
 * token was certain.
 */
export interface Draft {
  readonly tokens: readonly number[]
  readonly laws: readonly DraftLaw[]
  /** Whether the constraint forces each of the tokens. */
  readonly forced: readonly boolean[]
}

export const noDraft: Draft = { tokens: [], laws: [], forced: [] }

/** Returns a draft of guessed tokens: each was certain to its guesser. */
export function guessedDraft({ tokens, forced }: Pick<Draft, "tokens" | "forced">): Draft {
  return { tokens, forced, laws: tokens.map(() => null) }
}

/** Returns the rest of a draft after its first `taken` tokens. */
export function draftFrom({ tokens, laws, forced }: Draft, taken: number): Draft {
  return { tokens: tokens.slice(taken), laws: laws.slice(taken), forced: forced.slice(taken) }
}

/** The speculation of one request. */
export class Speculation {
  readonly verify: Verify
  private readonly tokens: number
  private readonly isAdaptive: boolean
  private readonly breakEven: () => number
  private readonly maxShare: number
  private readonly length: DraftLength

  /**
   * `breakEven`: share of proposed tokens that must be accepted so that drafts pay, with the
   * present number of sequences. `maxShare`: a measured cost counts at most as this many times the
   * expected one.
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

  /**
   * Returns the number of tokens to propose in this step. `isMeasuring`: returns 0, if that changes
   * no token.
   */
  next(isMeasuring: boolean): number {
    // Only the number of accepted tokens decides the size of the next drafts. If the clock did,
    // another run would draw other tokens.
    if (this.verify === "reject" || !this.isAdaptive) return this.tokens
    return isMeasuring ? 0 : this.length.next()
  }

  /**
   * `cost`: number of tokens that could have been written in the additional time of the draft's
   * step; undefined if it was not measured.
   */
  record(proposedCount: number, gain: number, cost: number | undefined): void {
    // One slow step without drafts would make drafts seem free, so the measurement at the model's
    // opening is a lower bound.
    const expected = this.breakEven() * proposedCount
    const least = Math.max(cost ?? expected, expected / 2)
    this.length.record(Math.min(least, this.maxShare * expected), gain)
  }

  /** Records that a token was written. */
  advance(): void {
    this.length.advance(1)
  }
}
