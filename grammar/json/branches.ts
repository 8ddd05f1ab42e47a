/**
 * The branches of a conjunction for one container type: sets of facts in which every clause is met.
 *
 * A value satisfies the conjunction iff it satisfies some branch. Clauses are chosen one after the other; facts that
 * contradict each other at once (a name both present and absent, counts that cross) end a branch early, and so does
 * `isPossible`, which the satisfiability test provides once the choices become many.
 */
import { checkLimit, type Limits } from "../errors.ts"
import { type Conjunctions, Infinite } from "./conjunction.ts"
import { type Alternative, type Expansion, expandFact } from "./expand.ts"
import type { KeywordReader } from "./keywords.ts"

/** Above this many open branches each new one is tested for satisfiability before it is kept. */
const ManyBranches = 16

export class Branches {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  private readonly limits: Limits
  private readonly expansions = new Map<number, Expansion>()

  constructor(all: Conjunctions, reader: KeywordReader, limits: Limits) {
    this.all = all
    this.reader = reader
    this.limits = limits
  }

  /**
   * The branches of `conjunction` for the type with bit `type`: facts in the order in which they were met.
   * `isPossible` may discard sets of facts that nothing satisfies.
   */
  of(conjunction: number, type: number, isPossible: (facts: readonly number[]) => boolean): number[][] {
    const done: number[][] = []
    const keys = new Set<string>()
    const open: Partial[] = []
    const first = this.close({ facts: [], clauses: [] }, this.all.factsOf(conjunction), type)
    if (first !== null) open.push(first)
    while (open.length > 0) {
      const partial = open.pop() as Partial
      const clause = this.nextClause(partial)
      if (clause === null) {
        const key = [...partial.facts].sort((a, b) => a - b).join()
        if (!keys.has(key)) done.push(partial.facts)
        keys.add(key)
        checkLimit(this.limits, "threads", done.length, "", "alternatives of one value")
        continue
      }
      // Last in, first out: pushed in reverse, alternatives are tried in the order of the text.
      for (const alternative of clause.toReversed()) {
        const next = this.close(partial, alternative, type)
        if (next === null) continue
        if (open.length + done.length >= ManyBranches && !isPossible(next.facts)) continue
        open.push(next)
      }
      checkLimit(this.limits, "satSteps", open.length, "", "open alternatives of one value")
    }
    return done
  }

  /** `partial` with `facts` and all they imply, or null on a contradiction. */
  private close(partial: Partial, facts: readonly number[], type: number): Partial | null {
    const result: number[] = [...partial.facts]
    const seen = new Set(result)
    const clauses = [...partial.clauses]
    const queue = [...facts]
    for (let at = 0; at < queue.length; at++) {
      const id = queue[at]
      if (seen.has(id)) continue
      seen.add(id)
      result.push(id)
      const expansion = this.expand(id, type)
      queue.push(...expansion.facts)
      clauses.push(...expansion.clauses)
    }
    return this.isContradictory(result) ? null : { facts: result, clauses }
  }

  private expand(id: number, type: number): Expansion {
    const key = id * 64 + type
    let expansion = this.expansions.get(key)
    if (expansion === undefined) {
      expansion = expandFact(this.all, this.reader, this.all.facts[id], type, this.limits)
      this.expansions.set(key, expansion)
    }
    return expansion
  }

  /** A clause that is not met yet, the shortest first; met ones are dropped. Null if there is none. */
  private nextClause(partial: Partial): readonly Alternative[] | null {
    const facts = new Set(partial.facts)
    partial.clauses = partial.clauses.filter(
      (clause) => !clause.some((alternative) => alternative.every((id) => facts.has(id))),
    )
    let best: readonly Alternative[] | null = null
    for (const clause of partial.clauses) if (best === null || clause.length < best.length) best = clause
    return best
  }

  private isContradictory(ids: readonly number[]): boolean {
    const present = new Set<string>()
    const absent = new Set<string>()
    const signs = new Map<number, boolean>()
    let min = 0
    let max = Infinite
    for (const id of ids) {
      const fact = this.all.facts[id]
      if (fact.kind === "never") return true
      if (fact.kind === "present") present.add(fact.name)
      if (fact.kind === "absent") absent.add(fact.name)
      if (fact.kind === "size") {
        min = Math.max(min, fact.min)
        max = Math.min(max, fact.max)
      }
      if (fact.kind === "schema") {
        if (signs.get(fact.node.id) === !fact.positive) return true
        signs.set(fact.node.id, fact.positive)
        if (fact.positive) for (const name of this.reader.of(fact.node).required) present.add(name)
      }
    }
    if (min > max) return true
    for (const name of present) if (absent.has(name)) return true
    return false
  }
}

interface Partial {
  facts: number[]
  clauses: (readonly Alternative[])[]
}
