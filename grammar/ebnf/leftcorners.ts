/**
 * Solves groups of rules that begin with each other.
 *
 * Their linear forms are equations: A_k = Σ A_j·m_jk + b_k. A text of A_i begins with some b_j,
 * which completes A_j. From there, m_jk completes A_k, and so on, until A_i is complete (the
 * left-corner transform: Rosenkrantz & Lewis, Deterministic left corner parsing, 1970). What may
 * follow a complete A_j on the way to A_i is a term. It has an alternative for each m_jk: m_jk,
 * then what may follow A_k. If A_i is on all cycles, the cycles are one loop (Arden 1961). For
 * other cycles, new rules are made, which end with each other. They begin with each other only
 * through parts that read nothing. Solving them in turn yields such parts again, and there the
 * recursion ends. The cost is linear in the equations for each A_i that is requested. Eliminating
 * one rule after the other is not an alternative: its terms for sixteen operators had more places
 * than memory holds.
 */
import { checkTime } from "../deadline.ts"
import { Kind, type LinearForm, type Term, type Terms } from "./terms.ts"

/** The rules that the equations are made from. */
export interface LeftRules {
  readonly terms: Terms
  /** Returns the first symbols of the non-empty texts of `rule`, as its body has them. */
  firsts(rule: number): LinearForm
  /**
   * Adds rules by their bodies. Each of them has a text. The rule `idempotent` matches the empty
   * text and any concatenation of its texts.
   */
  add(bodies: ReadonlyMap<number, Term>, idempotent: number): void
}

interface Way {
  readonly to: number
  /** m: what is read between the two rules. */
  readonly between: Term
}

export class LeftCorners {
  private readonly rules: LeftRules
  private readonly members: readonly number[]
  /** By rule: the other rules that it can complete, each with m. */
  private readonly ways = new Map<number, Way[]>()
  /** By rule: m between the rule and itself. */
  private readonly again = new Map<number, Term>()
  /** By rule: b, as first symbols with what remains after each. */
  private readonly begins = new Map<number, [symbol: Term, rest: Term][]>()

  constructor(rules: LeftRules, members: readonly number[]) {
    this.rules = rules
    this.members = members
    const { terms } = rules
    const isMember = new Set(members)
    for (const rule of members) {
      this.ways.set(rule, [])
      this.begins.set(rule, [])
    }
    for (const rule of members) {
      for (const [symbol, rest] of rules.firsts(rule)) {
        const first = terms.kind(symbol) === Kind.Rule ? terms.at(symbol, 1) : null
        if (first === null || !isMember.has(first)) this.begins.get(rule)?.push([symbol, rest])
        else if (first === rule) this.again.set(rule, rest)
        else this.ways.get(first)?.push({ to: rule, between: rest })
      }
    }
  }

  /**
   * Returns the first symbols of the non-empty texts of `goal`, each with what remains after it.
   * None of them is a member.
   */
  form(goal: number): LinearForm {
    const { terms } = this.rules
    const after = this.afterAll(goal)
    const form = new Map<Term, Term>()
    for (const rule of this.members) {
      for (const [symbol, rest] of this.begins.get(rule) as [Term, Term][]) {
        const behind = terms.concat(rest, after.get(rule) as Term)
        const known = form.get(symbol)
        form.set(symbol, known === undefined ? behind : terms.or([known, behind]))
      }
    }
    return form
  }

  /** Returns what may follow each complete member on the way to `goal`. */
  private afterAll(goal: number): ReadonlyMap<number, Term> {
    const { order, rounds } = this.inOrder(goal)
    return rounds.size === 0 ? this.loop(goal, order) : this.ownRules(goal, order, rounds)
  }

  /**
   * Solves the case in which `goal` is on all cycles: the cycles are one loop, and the other ways
   * lead to it.
   */
  private loop(goal: number, order: readonly number[]): ReadonlyMap<number, Term> {
    const { terms } = this.rules
    // By rule: what is read until `goal` is complete for the first time.
    const until = new Map<number, Term>([[goal, terms.empty]])
    for (const rule of order) if (rule !== goal) until.set(rule, this.after(rule, until))
    const again = this.again.get(goal) ?? terms.never
    const loop = terms.star(terms.or([again, this.next(goal, until)]))
    return new Map([...until].map(([rule, term]) => [rule, terms.concat(term, loop)]))
  }

  /**
   * Solves the case in which there are also cycles through `rounds`: what follows these and `goal`
   * become rules.
   */
  private ownRules(
    goal: number,
    order: readonly number[],
    rounds: ReadonlySet<number>,
  ): ReadonlyMap<number, Term> {
    const { terms } = this.rules
    const own = new Map<number, number>()
    for (const rule of [goal, ...rounds]) own.set(rule, terms.ownRule())
    const after = new Map<number, Term>(Array.from(own, ([rule, id]) => [rule, terms.rule(id)]))
    for (const rule of order) if (!own.has(rule)) after.set(rule, this.after(rule, after))
    const bodies = new Map<number, Term>()
    for (const [rule, id] of own) {
      const body = this.after(rule, after)
      bodies.set(id, rule === goal ? terms.or([terms.star(this.again.get(rule) ?? terms.never), body]) : body)
    }
    this.rules.add(bodies, own.get(goal) as number)
    return after
  }

  /** Returns what follows `rule`, from what follows the rules that it can complete. */
  private after(rule: number, known: ReadonlyMap<number, Term>): Term {
    const { terms } = this.rules
    checkTime()
    return terms.concat(terms.star(this.again.get(rule) ?? terms.never), this.next(rule, known))
  }

  private next(rule: number, known: ReadonlyMap<number, Term>): Term {
    const { terms } = this.rules
    const ways = this.ways.get(rule) as Way[]
    return terms.or(ways.map(({ to, between }) => terms.concat(between, known.get(to) as Term)))
  }

  /**
   * Returns all members, each after those that it can complete. Where a cycle avoids `goal` this
   * order is impossible; `rounds` has the members at which such cycles close. Depth first, without
   * recursion.
   */
  private inOrder(goal: number): { order: readonly number[]; rounds: ReadonlySet<number> } {
    const order: number[] = []
    const rounds = new Set<number>()
    /** By member that was met: whether it is on the path to the current one. */
    const isOpen = new Map<number, boolean>([[goal, false]])
    for (const start of this.members) {
      if (isOpen.has(start)) continue
      isOpen.set(start, true)
      const work = [{ rule: start, next: 0 }]
      while (work.length > 0) {
        const top = work[work.length - 1]
        const way = (this.ways.get(top.rule) as Way[])[top.next++]
        if (way === undefined) {
          isOpen.set(top.rule, false)
          order.push(top.rule)
          work.pop()
        } else if (!isOpen.has(way.to)) {
          isOpen.set(way.to, true)
          work.push({ rule: way.to, next: 0 })
        } else if (isOpen.get(way.to) === true) rounds.add(way.to)
      }
    }
    return { order, rounds }
  }
}
