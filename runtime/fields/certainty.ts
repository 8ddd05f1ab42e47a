/**
 * Computes how sure the model was of each value of an answer: sums over the tokens that wrote it.
 *
 * A token was drawn among those that its mask allowed. Its log-probability among the allowed tokens
 * says how clear the choice was. The probability that the model gave to all allowed tokens together
 * says how well the constraint matched the model. The logarithms of both are additive, so a
 * position in the text is a pair of sums, and a range of tokens is the difference of two positions.
 *
 * The tokens of a value range from the token with its first character to the token with its last
 * one. So a token that two values share counts for both.
 */
import type { FieldEvent } from "./reader.ts"

/** Sums of natural logarithms over the first tokens of an answer. */
export interface Certainty {
  readonly logprob: number
  readonly logMass: number
}

/** A range of tokens: the sums before the first of them, and after the last. */
export interface CertaintySpan {
  readonly before: Certainty
  readonly after: Certainty
}

const nothing: Certainty = { logprob: 0, logMass: 0 }

/** Tracks the tokens of a text that is sent piece by piece. O(1) a token. */
export class CertaintyTrail {
  /**
   * Tokens that have been sent only in part or not at all: the offsets in the text before and after
   * each, and the sums after it.
   */
  private tokens: { start: number; end: number; after: Certainty }[] = []
  /** Sums over the tokens that were sent completely, and over all tokens. */
  private sent = nothing
  private all = nothing
  private length = 0

  /** Adds a token after which the text has `end` units. */
  push({ logprob, logMass }: Certainty, end: number): void {
    this.all = { logprob: this.all.logprob + logprob, logMass: this.all.logMass + logMass }
    this.tokens.push({ start: this.length, end, after: this.all })
    this.length = end
  }

  /**
   * Returns the tokens that wrote the text that is being sent, up to `end` units. Infinity: all
   * remaining tokens.
   */
  take(end: number): CertaintySpan {
    const before = this.sent
    // A token without text joins the next one that has some.
    const whole = this.tokens.findLastIndex((token) => token.end <= end && token.start < token.end)
    const count = end === Number.POSITIVE_INFINITY ? this.tokens.length : whole + 1
    if (count > 0) this.sent = this.tokens[count - 1].after
    this.tokens = this.tokens.slice(count)
    const cut = this.tokens.find(({ start, end: last }) => start < end && last > end)
    return { before, after: cut?.after ?? this.sent }
  }
}

/**
 * Adds to the `close` events of one JSON text how sure the model was of their values. O(1) an
 * event.
 */
export class FieldCertainty {
  /** The sums at the starts of the open values, outermost first. */
  private readonly begun: Certainty[] = []
  private last: CertaintySpan = { before: nothing, after: nothing }

  /** `span`: the tokens of the piece that the events came with; undefined if there were none. */
  judge(events: readonly FieldEvent[], span: CertaintySpan | undefined): readonly FieldEvent[] {
    this.last = span ?? { before: this.last.after, after: this.last.after }
    const { before, after } = this.last
    return events.map((event) => {
      if (event.type === "open") this.begun.push(before)
      if (event.type !== "close") return event
      const { logprob, logMass } = this.begun.pop()!
      return { ...event, logprob: after.logprob - logprob, mass: Math.exp(after.logMass - logMass) }
    })
  }
}
