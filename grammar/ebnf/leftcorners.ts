/**
 * Rules that begin with each other, solved together.
 *
 * Their linear forms are equations: A_k = Σ A_j·m_jk + b_k. A text of A_i begins with some b_j, which completes A_j, and goes on from
 * there: m_jk completes A_k, and so on, until A_i is complete (the left-corner transform: Rosenkrantz & Lewis, Deterministic left
 * corner parsing, 1970). What may follow a complete A_j on the way to A_i is a term, an alternative for each m_jk with what follows
 * A_k behind it. Where ways come round in A_i alone they are one loop (Arden 1961); for those that come round elsewhere there are
 * rules of their own, which end with each other, and begin with each other only where nothing is read between: solved in turn, those
 * have ways between which nothing is read, and end there. Linear in the equations for each A_i that is asked for:
 * eliminating one rule after the other gave terms in which sixteen operators had more places than memory holds.
 */
import { checkTime } from "../deadline.ts"
import { Kind, type LinearForm, type Term, type Terms } from "./terms.ts"

/** What the equations are made of. */
export interface LeftRules {
  readonly terms: Terms
  /** The first symbols of the texts of `rule` that are not empty, as its body has them. */
  firsts(rule: number): LinearForm
  /** Adds rules that some text satisfies, by their bodies. Of `idempotent` two texts in a row are one, and the empty one is its. */
  add(bodies: ReadonlyMap<number, Term>, idempotent: number): void
}

interface Way {
  readonly to: number
  /** m: what is read between. */
  readonly between: Term
}

export class LeftCorners {
  private readonly rules: LeftRules
  private readonly members: readonly number[]
  /** By rule: to what it leads once it is complete, itself left out; what is read between it and itself; and b. */
  private readonly ways = new Map<number, Way[]>()
  private readonly again = new Map<number, Term>()
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

  /** The first symbols of the texts of `goal` that are not empty, none of them a member: each with what remains behind it. */
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

  /** What may follow each member, once it is complete, on the way to `goal`. */
  private afterAll(goal: number): ReadonlyMap<number, Term> {
    const { order, rounds } = this.inOrder(goal)
    return rounds.size === 0 ? this.loop(goal, order) : this.ownRules(goal, order, rounds)
  }

  /** All ways come round in `goal`: that is a loop, and others lead to it. */
  private loop(goal: number, order: readonly number[]): ReadonlyMap<number, Term> {
    const { terms } = this.rules
    // What leads to `goal` for the first time.
    const until = new Map<number, Term>([[goal, terms.empty]])
    for (const rule of order) if (rule !== goal) until.set(rule, this.after(rule, until))
    const again = this.again.get(goal) ?? terms.never
    const loop = terms.star(terms.or([again, this.next(goal, until)]))
    return new Map([...until].map(([rule, term]) => [rule, terms.concat(term, loop)]))
  }

  /** Ways come round in `rounds`, too: what follows these, and `goal`, are rules. */
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

  /** What follows `rule`, by what follows all to which it leads. */
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
   * All members, each behind those to which it leads, as far as ways past `goal` do not come round; and where they do: the members
   * that are come to again. By depth first, without recursion.
   */
  private inOrder(goal: number): { order: readonly number[]; rounds: ReadonlySet<number> } {
    const order: number[] = []
    const rounds = new Set<number>()
    /** Members that were met, and whether they are on the way to the one at hand. */
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
