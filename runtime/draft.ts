/**
 * A draft in a sequence's hands: tokens that may follow, and the request's rules for judging and sizing them.
 */

import { type DraftLaw, DraftLength } from "../sampler/index.ts"

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

/** How one request speculates. */
export class Speculation {
  readonly verify: Verify
  private readonly length: DraftLength

  /** `breakEven`: share of proposed tokens that must be accepted, with as many sequences as run. */
  constructor(verify: Verify, tokens: number, breakEven: () => number) {
    this.verify = verify
    // What is accepted decides how long the next drafts are: by the clock, another run would draw other tokens.
    this.length = new DraftLength(tokens, verify === "match" ? breakEven : 0)
  }

  /** Tokens to propose in this step. */
  next(): number {
    return this.length.next()
  }

  record(proposedCount: number, acceptedCount: number): void {
    this.length.record(proposedCount, acceptedCount)
  }
}
