/**
 * What is left to be read of a call's body, as lists that share their ends: equal rests of one reading are one object, so that
 * threads that will go on alike are found by their ids.
 *
 * Beside the terms of the rules a rest holds marks, which read nothing. Two of them speak of the bytes that are read between the
 * mark being put there and being met. They are gone, or all is over, with the first such byte, and do not keep threads apart.
 */
import type { Term } from "../terms.ts"
import type { CapturingRules } from "./rules.ts"

/** A span ends. */
export const CloseSpan = -1
/** Something must have been read. */
export const MustRead = -2
/** Nothing may have been read. */
export const MustNotRead = -3

/** The next part first. */
export interface Rest {
  readonly id: number
  readonly rules: CapturingRules
  /** Or a mark. */
  readonly term: Term
  /** Null: nothing is left, and `term` is nothing as well. */
  readonly next: Rest | null
  /** Rests with one more part in front, by its rules and its term. */
  readonly longer: Map<CapturingRules, Map<Term, Rest>>
  /** The same once a byte has been read; null: it may not be. Undefined: not known yet. */
  afterByte: Rest | null | undefined
}

/** The rests of one reading. */
export class Rests {
  readonly nothing: Rest
  private count = 0

  constructor(rules: CapturingRules) {
    this.nothing = this.make(rules, rules.terms.empty, null)
  }

  /** `next` with one more part, or a mark, in front. */
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

  /** `rest` once a byte has been read in front of it; null: then all is over. */
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
