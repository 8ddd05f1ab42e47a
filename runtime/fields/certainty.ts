/**
 * How sure the model was of each value of an answer: sums over the tokens that wrote it.
 *
 * A token was drawn among those that its mask allowed. Its log-probability among them says how
 * clear the choice was. Their share of the model's probability says how well the constraint matched
 * the model. Logarithms of both add up along a text, so a place in it is a pair of sums, and a
 * range of tokens is the difference of two places.
 *
 * A value's tokens are those from the one that its first character came with to the one that its
 * last character came with. So a token that two values share counts for both.
 */
import type { FieldEvent } from "./reader.ts"

/** Sums over the first tokens of an answer, natural logarithms. */
export interface Certainty {
  readonly logprob: number
  readonly logMass: number
}

/** A range of tokens: the sums before the first of them, and with the last. */
export interface CertaintySpan {
  readonly before: Certainty
  readonly after: Certainty
}

const nothing: Certainty = { logprob: 0, logMass: 0 }

/** The tokens of a text that is sent piece by piece. O(1) a token. */
export class CertaintyTrail {
  /**
   * Tokens of which a part is not sent yet: the units of text before them and with them, and the
   * sums with them.
   */
  private tokens: { start: number; end: number; after: Certainty }[] = []
  /** Sums over the tokens that were sent whole, and over all. */
  private sent = nothing
  private all = nothing
  private length = 0

  /** A token after which the text has `end` units. */
  push({ logprob, logMass }: Certainty, end: number): void {
    this.all = { logprob: this.all.logprob + logprob, logMass: this.all.logMass + logMass }
    this.tokens.push({ start: this.length, end, after: this.all })
    this.length = end
  }

  /**
   * The tokens that wrote what is sent now, up to `end` units of the text. Infinity: all that are
   * left.
   */
  take(end: number): CertaintySpan {
    const before = this.sent
    // A token without text of its own joins the next one with text.
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
  /** The starts of the open values, outermost first. */
  private readonly begun: Certainty[] = []
  private last: CertaintySpan = { before: nothing, after: nothing }

  /**
   * `span`: the tokens of the piece that the events came with; undefined: it has none of its own.
   */
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
