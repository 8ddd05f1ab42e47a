/**
 * The rests of a call's body that are still to be read, as lists that share their tails. Equal
 * rests of one reading are one object, so that ids identify threads with the same future.
 *
 * A rest holds the terms of the rules and marks, which read nothing. Two kinds of marks are
 * conditions on the bytes that are read between the place where the mark is put and where it is
 * met. The first byte that is read there removes the mark or ends the thread, so marks do not keep
 * threads apart.
 */
import type { Term } from "../terms.ts"
import type { CapturingRules } from "./rules.ts"

/** Ends a span. */
export const CloseSpan = -1
/** Requires that something has been read. */
export const MustRead = -2
/** Requires that nothing has been read. */
export const MustNotRead = -3

/** A list of parts, the next one first. */
export interface Rest {
  readonly id: number
  readonly rules: CapturingRules
  /** The term of the first part, or a mark. */
  readonly term: Term
  /** Null if nothing is left; then `term` is the empty term. */
  readonly next: Rest | null
  /** Rests with one more part in front, by its rules and its term. */
  readonly longer: Map<CapturingRules, Map<Term, Rest>>
  /**
   * This rest after one more byte has been read; null if none may be read; undefined if not
   * computed yet.
   */
  afterByte: Rest | null | undefined
}

/** The rests of one reading. */
export class Rests {
  readonly nothing: Rest
  private count = 0

  constructor(rules: CapturingRules) {
    this.nothing = this.make(rules, rules.terms.empty, null)
  }

  /** Returns `next` with one more part, or a mark, in front. */
  with(rules: CapturingRules, term: Term, next: Rest): Rest {
    let byTerm = next.longer.get(rules)
    if (byTerm === undefined) {
      byTerm = new Map()
      next.longer.set(rules, byTerm)
    }
    let rest = byTerm.get(term)
    if (rest === undefined) {
      rest = this.make(rules, term, next)
      byTerm.set(term, rest)
    }
    return rest
  }

  /** Returns `rest` after a byte has been read in front of it; null if no byte may be read. */
  afterByte(rest: Rest): Rest | null {
    if (rest.afterByte === undefined) rest.afterByte = this.withoutMarks(rest)
    return rest.afterByte
  }

  private withoutMarks(rest: Rest): Rest | null {
    const { rules, term, next } = rest
    if (next === null) return rest
    if (term === MustNotRead) return null
    const after = this.afterByte(next)
    if (term === MustRead || after === null) return after
    return after === next ? rest : this.with(rules, term, after)
  }

  private make(rules: CapturingRules, term: Term, next: Rest | null): Rest {
    return { id: this.count++, rules, term, next, longer: new Map(), afterByte: undefined }
  }
}
