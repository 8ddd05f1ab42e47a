/**
 * The lengths of the shortest texts of rules, found before any text is built. A part that needs
 * more bytes than any text may have can never be finished. So a grammar that can reach such a part
 * is refused before its first byte, even if it has short texts as well.
 *
 * Only numbers are computed: the fewest bytes of each term from those of its parts, repeated until
 * none gets smaller (as in `shortest.ts`, which builds the texts themselves); then the most bytes
 * that a rule may still need once it has begun, see `lexeme/expr/rests.ts`.
 */
import { checkTime } from "../deadline.ts"
import { fixedBounds, limitError } from "../errors.ts"
import { leastBytes } from "../lexeme/completion.ts"
import { mostNeeded } from "../lexeme/expr/rests.ts"
import { rawTexts } from "../lexeme/expr/shortest.ts"
import { leastOfNested } from "./shortest.ts"
import { Kind, type Term, type Terms } from "./terms.ts"

/** The length of a term that has no text. */
const NoText = Number.POSITIVE_INFINITY
/** Greater lengths saturate here, so that their sums are exact. */
const Endless = 2 ** 50

/**
 * Throws `limit` if a text of `start` can reach a part that needs more bytes than any text may
 * have. Linear in the terms that `start` reaches. Most grammars take one pass, because rules are
 * lowered callees first.
 */
export function checkRules(
  terms: Terms,
  start: number,
  bodyOf: (rule: number) => Term,
  nameOf: (rule: number) => string,
): void {
  const { rules, order } = reached(terms, start, bodyOf)
  const lengths = new LeastLengths(terms, bodyOf)
  if (lengths.improve(order)) {
    checkTime()
    // Only terms with parts can get shorter in a later pass.
    const wholes = order.filter((term) => terms.kind(term) === Kind.Rule || terms.parts(term).length > 0)
    while (lengths.improve(wholes)) checkTime()
  }
  for (const term of order) lengths.measureNeed(term)
  for (const rule of rules) {
    const bytes = lengths.need[bodyOf(rule)]
    if (bytes <= fixedBounds.shortestBytes) continue
    throw limitError(fixedBounds, "shortestBytes.rulePart", bytes, "", { rule: nameOf(rule) })
  }
}

/**
 * Returns the rules that `start` reaches, and their terms: parts before the terms that contain
 * them.
 */
function reached(
  terms: Terms,
  start: number,
  bodyOf: (rule: number) => Term,
): { rules: readonly number[]; order: readonly Term[] } {
  const rules = new Set([start])
  const isSeen = new Uint8Array(terms.count)
  // A set's loop also visits members that are added meanwhile.
  for (const rule of rules) {
    const open = [bodyOf(rule)]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (isSeen[at] === 1) continue
      isSeen[at] = 1
      if (terms.kind(at) === Kind.Rule) rules.add(terms.at(at, 1))
      terms.addParts(open, at)
    }
  }
  // A term's id is greater than those of its parts.
  const order: Term[] = []
  for (let term = 0; term < isSeen.length; term++) if (isSeen[term] === 1) order.push(term)
  return { rules: [...rules], order }
}

class LeastLengths {
  private readonly terms: Terms
  private readonly bodyOf: (rule: number) => Term
  /** By term: the fewest bytes of its texts, as far as they are known. */
  private readonly least: number[] = []
  /** By term: the most bytes that it may still need once it has begun, without what follows it. */
  readonly need: number[] = []

  constructor(terms: Terms, bodyOf: (rule: number) => Term) {
    this.terms = terms
    this.bodyOf = bodyOf
  }

  /**
   * Improves the lengths of the terms once, in order. Returns whether another pass may improve
   * more.
   */
  improve(order: readonly Term[]): boolean {
    const { least } = this
    /** Whether a rule was read before its body in this pass. */
    let isAhead = false
    let isShorter = false
    for (const term of order) {
      if (this.terms.kind(term) === Kind.Rule && this.bodyOf(this.terms.at(term, 1)) > term) isAhead = true
      const found = this.leastOf(term)
      if (found >= (least[term] ?? NoText)) {
        least[term] ??= NoText
        continue
      }
      least[term] = found
      isShorter = true
    }
    return isAhead && isShorter
  }

  private leastOf(term: Term): number {
    const { terms, least } = this
    const of = (part: Term) => least[part] ?? NoText
    switch (terms.kind(term)) {
      case Kind.Never:
        return NoText
      case Kind.Expr:
      case Kind.Greedy:
        return rawTexts.least(terms.at(term, 1))
      case Kind.Lexeme:
        return leastBytes(terms.at(term, 1))
      case Kind.Rule:
        return of(this.bodyOf(terms.at(term, 1)))
      case Kind.Concat:
        return sum(of(terms.at(term, 1)), of(terms.at(term, 2)))
      case Kind.Or: {
        let best = NoText
        for (let i = 1; i < terms.length(term); i++) best = Math.min(best, of(terms.at(term, i)))
        return best
      }
      case Kind.Repeat: {
        const [body, min] = [of(terms.at(term, 1)), terms.at(term, 2)]
        return min === 0 ? 0 : body === NoText ? NoText : Math.min(Endless, body * min)
      }
      case Kind.Branch: {
        const { lexeme, rests } = terms.branches[terms.at(term, 1)]
        let rest = NoText
        for (const part of rests.values()) rest = Math.min(rest, of(part))
        return sum(leastBytes(lexeme), rest)
      }
      case Kind.Nested:
        return leastOfNested(terms.grammars[terms.at(term, 1)])
      case Kind.Capture:
        return of(terms.at(term, 2))
      case Kind.Budget:
        return of(terms.at(term, 1))
      default:
        return 0
    }
  }

  /**
   * Records what `term` needs; its parts must be recorded before. Parts without a text are never
   * begun.
   */
  measureNeed(term: Term): void {
    this.need[term] = this.least[term] === NoText ? 0 : this.needOf(term)
  }

  private needOf(term: Term): number {
    const { terms, least, need } = this
    switch (terms.kind(term)) {
      case Kind.Expr:
      case Kind.Greedy:
        return mostNeeded(terms.at(term, 1))
      case Kind.Concat:
        return Math.max(need[terms.at(term, 1)] + least[terms.at(term, 2)], need[terms.at(term, 2)])
      case Kind.Or: {
        let most = 0
        for (let i = 1; i < terms.length(term); i++) most = Math.max(most, need[terms.at(term, i)])
        return most
      }
      case Kind.Star:
      case Kind.Budget:
        return need[terms.at(term, 1)]
      case Kind.Repeat: {
        const body = terms.at(term, 1)
        if (least[body] === NoText) return 0
        return Math.min(Endless, need[body] + least[body] * Math.max(0, terms.at(term, 2) - 1))
      }
      case Kind.Branch: {
        const { lexeme, rests } = terms.branches[terms.at(term, 1)]
        let most = 0
        for (const rest of rests.values())
          if (least[rest] !== NoText) most = Math.max(most, need[rest], leastBytes(lexeme) + least[rest])
        return most
      }
      case Kind.Capture:
        return need[terms.at(term, 2)]
      default:
        // A rule that has begun has its own frame, and the caller reports needs rule by rule.
        return least[term]
    }
  }
}

function sum(a: number, b: number): number {
  return a === NoText || b === NoText ? NoText : Math.min(Endless, a + b)
}
