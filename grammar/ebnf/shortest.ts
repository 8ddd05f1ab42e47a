/**
 * Shortest texts of terms, with which a text that has begun is finished.
 *
 * Each rule keeps the shortest text found for it, its witness. Missing witnesses are found together
 * by iteration, until nothing gets shorter (Knuth 1977, A generalization of Dijkstra's algorithm,
 * by iteration).
 */

import { EmptyLexeme } from "../budget.ts"
import { concatenate } from "../bytes.ts"
import { Completions } from "../completions.ts"
import { fixedBounds, limitError } from "../errors.ts"
import type { Step } from "../frame.ts"
import type { Grammar } from "../grammar.ts"
import { leastBytes, shortestCompletion } from "../lexeme/completion.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { States } from "../state.ts"
import type { NormalRules } from "./normal.ts"
import { Kind, type Term, type Terms } from "./terms.ts"

const noBytes = new Uint8Array(0)

export class ShortestTexts {
  private readonly normal: NormalRules
  private readonly terms: Terms
  /** A shortest text by rule. They are found for all rules together at the first request. */
  private readonly witnesses = new Map<number, Uint8Array>()
  /** Whether a rule was met that has no witness yet. */
  private isMissing = false

  constructor(normal: NormalRules) {
    this.normal = normal
    this.terms = normal.terms
  }

  /** Returns a shortest text of `term`. Throws `limit` if it is too long. */
  shortest(term: Term): Uint8Array {
    const { witnesses } = this
    for (;;) {
      this.isMissing = false
      const text = this.shortestKnown(term)
      if (text !== null && !this.isMissing) return text
      let isChanged = false
      // Rules without a witness, and all rules below them, are improved until nothing changes
      // (Knuth 1977, by iteration).
      for (const rule of this.rulesBelow(term)) {
        const known = witnesses.get(rule)
        const found = this.shortestKnown(this.normal.body(rule))
        if (found === null || (known !== undefined && found.length >= known.length)) continue
        witnesses.set(rule, found)
        isChanged = true
      }
      if (isChanged) continue
      const settled = this.shortestKnown(term)
      if (settled === null) throw new Error(`internal: term ${term} has no text`)
      return settled
    }
  }

  private rulesBelow(term: Term): number[] {
    const { terms } = this
    const rules = new Set<number>()
    const seen = new Set<Term>()
    const open = [term]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      if (terms.kind(at) === Kind.Rule) {
        rules.add(terms.at(at, 1))
        open.push(this.normal.body(terms.at(at, 1)))
      }
      terms.addParts(open, at)
    }
    return [...rules].reverse()
  }

  /** Returns a shortest text of `term` that uses only known witnesses; null if there is none. */
  private shortestKnown(term: Term): Uint8Array | null {
    const { terms } = this
    switch (terms.kind(term)) {
      case Kind.Never:
        return null
      case Kind.Expr:
        return shortestCompletion(exprLexeme(terms.at(term, 1))).bytes
      case Kind.Lexeme:
        return shortestCompletion(terms.at(term, 1)).bytes
      case Kind.Rule: {
        if (terms.at(term, 2) === 0 && this.normal.isNullable(term)) return noBytes
        const known = this.witnesses.get(terms.at(term, 1))
        if (known === undefined) this.isMissing = true
        return known ?? null
      }
      case Kind.Concat: {
        const texts: Uint8Array[] = []
        for (const part of terms.row(term)) {
          const text = this.shortestKnown(part)
          if (text === null) return null
          texts.push(text)
        }
        return this.checked(concatenate(texts))
      }
      case Kind.Or: {
        let best: Uint8Array | null = null
        for (const member of terms.members(term)) {
          const text = this.shortestKnown(member)
          if (text !== null && (best === null || text.length < best.length)) best = text
        }
        return best
      }
      case Kind.Repeat: {
        const min = terms.at(term, 2)
        if (min === 0) return noBytes
        const body = this.shortestKnown(terms.at(term, 1))
        if (body === null) return null
        if (body.length * min > fixedBounds.shortestBytes) this.refuse(body.length * min)
        return concatenate(new Array(min).fill(body))
      }
      case Kind.Capture:
        return this.shortestKnown(terms.at(term, 2))
      case Kind.Budget:
        return this.shortestKnown(terms.at(term, 1))
      case Kind.Branch:
        return this.shortestOfBranch(term)
      case Kind.Nested: {
        const states = new States(terms.grammars[terms.at(term, 1)])
        return new Completions(states).shortest(states.start)
      }
      default:
        return noBytes
    }
  }

  private shortestOfBranch(term: Term): Uint8Array | null {
    const { rests, narrow, ends } = this.terms.branches[this.terms.at(term, 1)]
    const known = ends?.()
    const ways = Array.from(rests, ([tag, rest]) => {
      const before = known?.get(tag) ?? shortestCompletion(narrow(new Set([tag]))).bytes
      return { before, rest, least: before.length + this.least(rest) }
    })
    const textOf = ({ before, rest }: (typeof ways)[number]) => {
      const after = this.shortestKnown(rest)
      return after === null ? null : concatenate([before, after])
    }
    // A text that is surely longer than another is not built: a hundred tools have a hundred
    // shortest calls.
    const nearest = ways.reduce((a, b) => (b.least < a.least ? b : a), ways[0])
    const near = nearest === undefined ? null : textOf(nearest)
    const bound = near?.length ?? Number.POSITIVE_INFINITY
    let best: Uint8Array | null = null
    for (const way of ways) {
      if (way.least > bound || (best !== null && way.least >= best.length)) continue
      const text = way === nearest ? near : textOf(way)
      if (text !== null && (best === null || text.length < best.length)) best = text
    }
    return best === null ? null : this.checked(best)
  }

  /**
   * Returns a lower bound of the bytes of any text of `term`. Cost: linear in its parts; rules that
   * it references are not followed.
   */
  private least(term: Term): number {
    const { terms } = this
    switch (terms.kind(term)) {
      case Kind.Expr:
        return leastBytes(exprLexeme(terms.at(term, 1)))
      case Kind.Lexeme:
        return leastBytes(terms.at(term, 1))
      case Kind.Concat:
        return terms.row(term).reduce((bytes, part) => bytes + this.least(part), 0)
      case Kind.Nested:
        return leastOfNested(terms.grammars[terms.at(term, 1)])
      default:
        return 0
    }
  }

  private checked(text: Uint8Array): Uint8Array {
    if (text.length > fixedBounds.shortestBytes) this.refuse(text.length)
    return text
  }

  private refuse(length: number): never {
    throw limitError(fixedBounds, "shortestBytes.rule", length)
  }
}

/** Returns a lower bound of the bytes of any text of `grammar`. */
export function leastOfNested({ start }: Grammar): number {
  return start.length === 0
    ? 0
    : start.reduce((least, step) => Math.min(least, leastOfStep(step)), Number.POSITIVE_INFINITY)
}

/** Returns a lower bound of the bytes of any text that begins with a step. */
function leastOfStep({ lexeme, frames }: Step): number {
  return frames.reduce(
    (sum, frame) => sum + frame.leastBytes,
    lexeme === EmptyLexeme ? 0 : leastBytes(lexeme),
  )
}
