/**
 * The branches of a conjunction for one container type: sets of facts in which every clause is met.
 *
 * A value satisfies the conjunction iff it satisfies some branch. Clauses are met one after the other as in a
 * satisfiability solver (Davis, Putnam, Logemann, Loveland 1962): what the facts so far imply is dropped or made a fact,
 * then one choice is made (`choices.ts`).
 */
import { checkTime } from "../../deadline.ts"
import { checkLimit, fixedBounds, type Limits } from "../../errors.ts"
import { memberValues } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import { choices, type Partial, type ValueTest } from "./choices.ts"
import { type Alternative, type Conjunctions, Infinite, Types } from "./conjunction.ts"
import { type Expansion, expandFact } from "./expand.ts"
import { KeyClauses } from "./keyclauses.ts"
import { ComparisonWork, Known } from "./known.ts"
import { type Obligation, obligationOf } from "./obligations.ts"

/**
 * Above this many open branches each new one is tested for satisfiability before it is kept, and objects keep all clauses that
 * can be met key by key.
 */
const ManyBranches = 16

/** So many branches are better than objects that have many events to choose from: to plan for those is a puzzle. */
const MostBranches = 128
const EasyEvents = 64
/** The same for events of one name that its values are not told apart by: each set of them is a way to read it. */
const EasyChances = 8

/** So many pairs of branches are compared in the time that it takes to look at a fact. */
const PairsPerFact = 4

/** So many facts are looked at in a step of the satisfiability test. */
const WorkPerStep = 2

/** What judging an alternative costs, in facts looked at. */
const StatusWork = 8

/** Clauses left to the frame, whatever they ask; `some` facts are obligations too. */
const FewClauses = 24
/** The same where they ask little of each name, as those of objects that exclude each other by names of their own. */
const KeptClauses = fixedBounds.obligations - 6
/** Ways in which a value can begin: a string, a number, a word, a container of either kind. Inside other notations none are joined. */
const Beginnings = 5

/** Facts in the order in which they were met, and clauses that objects meet key by key. */
export interface Branch {
  readonly facts: readonly number[]
  readonly clauses: readonly (readonly Alternative[])[]
  readonly obligations: readonly Obligation[]
}

const none: readonly never[] = []

/** A clause that is left to the object, and what it is there. */
interface Kept {
  readonly clause: readonly Alternative[]
  readonly obligations: readonly Obligation[]
}

export class Branches {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  private readonly limits: Limits
  private readonly test: ValueTest
  private readonly expansions = new Map<number, Expansion>()
  /** Most schemas have few branches. */
  private keyClauses: KeyClauses | null = null
  /** Facts and clauses looked at so far for one question. */
  private work = 0

  constructor(all: Conjunctions, reader: KeywordReader, limits: Limits, test: ValueTest) {
    this.all = all
    this.reader = reader
    this.limits = limits
    this.test = test
  }

  /** The branches of `conjunction` for the type with bit `type`. */
  of(conjunction: number, type: number): readonly Branch[] {
    const facts = this.all.factsOf(conjunction)
    if (facts.length === 1 && this.isWhole(facts[0], type))
      return [{ facts, clauses: none, obligations: none }]
    return this.search(conjunction, type)
  }

  /** Whether a fact alone is a branch: a schema for such values, without any other in place and without conditions. */
  private isWhole(id: number, type: number): boolean {
    const fact = this.all.facts[id]
    if (fact.kind !== "schema" || !fact.positive) return false
    const keywords = this.reader.of(fact.node)
    return (
      (keywords.types & type) !== 0 &&
      keywords.enum === null &&
      !keywords.isCombined &&
      keywords.dependentRequired.length + keywords.dependentSchemas.length === 0
    )
  }

  /** The branches of any conjunction. The tests hold `of` to it. */
  search(conjunction: number, type: number): readonly Branch[] {
    if (!this.test.isWithinQuestion()) this.work = 0
    const { work } = this
    const chosen = type === Types.object ? this.branch(conjunction, type, MostBranches) : null
    if (chosen !== null && chosen.length <= ManyBranches) return chosen
    this.work = work
    const kept = this.branch(conjunction, type, null) as Branch[]
    return chosen !== null && (chosen.length <= kept.length || !kept.every((branch) => this.isEasy(branch)))
      ? chosen
      : kept
  }

  /** Whether few sets of obligations can be met by one key. */
  private isEasy({ facts, obligations }: Branch): boolean {
    const events = obligations.flat()
    if (events.length > EasyEvents) return false
    const asked = new Map<string, Set<number>>()
    for (const event of events) {
      if (event.kind !== "value") continue
      const ofName = asked.get(event.name) ?? new Set<number>()
      asked.set(event.name, ofName.add(event.fact))
    }
    const values = memberValues(this.all, this.reader, facts)
    return [...asked].every(([name, ofName]) => {
      const open = [...ofName].filter((fact) => !this.test.isCutBy(values(name), fact))
      return open.length <= EasyChances
    })
  }

  /**
   * The branches of `conjunction`; null: there are more than `most`. Where that is null, all of them, and objects keep every clause
   * that can be met key by key, also those that speak of several keys.
   */
  private branch(conjunction: number, type: number, most: number | null): Branch[] | null {
    const done: Branch[] = []
    const open: Partial[] = []
    /** So many are done when the weaker ones are dropped. */
    const looked = most ?? this.limits.threads
    const first = this.close({ facts: [], clauses: [] }, this.all.factsOf(conjunction), type)
    if (first !== null) open.push(first)
    while (open.length > 0) {
      const partial = this.propagate(open.pop() as Partial, type)
      if (partial === null) continue
      const { kept, open: left } = this.partition(partial.clauses, type, most === null)
      if (left.length === 0) {
        done.push({
          facts: partial.facts,
          clauses: kept.map(({ clause }) => clause),
          obligations: kept.flatMap(({ obligations }) => obligations),
        })
        if (done.length > looked) {
          this.dropWeaker(done)
          if (most !== null && done.length > most) return null
          checkLimit(this.limits, "threads", done.length, "", "alternatives of one value")
        }
        continue
      }
      const chosen = choices(this.all, this.reader, this.test, { facts: partial.facts, clauses: left }, type)
      // A clause is met by each of its alternatives: among hundreds it is not asked again which of them it was.
      const rest = { facts: partial.facts, clauses: partial.clauses.filter((clause) => clause !== chosen) }
      // Last in, first out: pushed in reverse, alternatives are tried in the order of the text.
      for (const alternative of chosen.toReversed()) {
        const next = this.close(rest, alternative, type)
        if (next === null) continue
        const isMany = type === Types.object && open.length + done.length >= ManyBranches
        // Each of its names is looked up in each of its facts.
        if (isMany) this.spend(next.facts.length ** 2 * ComparisonWork)
        if (!isMany || this.test.isPossibleObject(next.facts)) open.push(next)
      }
    }
    this.dropWeaker(done)
    return most !== null && done.length > most ? null : done
  }

  /** Removes branches that ask for everything that another one asks, and more. */
  private dropWeaker(branches: Branch[]): void {
    if (branches.length < 2) return
    const sets = branches.map(
      ({ facts, clauses }) =>
        new Set<number | string>([...facts, ...clauses.map((clause) => clause.join("|"))]),
    )
    const isKept = sets.map(() => true)
    this.spend(branches.length ** 2 / PairsPerFact)
    for (const [i, set] of sets.entries()) {
      isKept[i] = !sets.some((other, j) => {
        if (i === j || !isKept[j] || other.size > set.size) return false
        for (const fact of other) if (!set.has(fact)) return false
        return true
      })
    }
    branches.splice(0, branches.length, ...branches.filter((_, i) => isKept[i]))
  }

  /** Clauses that an object frame can keep, and those that must be chosen from now. */
  private partition(
    clauses: Partial["clauses"],
    type: number,
    isWide: boolean,
  ): { kept: Kept[]; open: Partial["clauses"] } {
    const kept: Kept[] = []
    const open: Partial["clauses"] = []
    let count = 0
    /** What those that are kept ask, once there are more than a few. */
    let asked: Asked | null = null
    for (const clause of clauses) {
      const obligations =
        type === Types.object && count < KeptClauses ? this.obligations(clause, isWide) : null
      const after = count + (obligations?.length ?? 0)
      if (obligations !== null && after > FewClauses) {
        asked ??= askedBy(kept.flatMap((each) => each.obligations))
        const both = askedBy(obligations, asked)
        if (after <= KeptClauses && this.isLittle(both, after)) asked = both
        else {
          open.push(clause)
          continue
        }
      }
      if (obligations === null) open.push(clause)
      else {
        kept.push({ clause, obligations })
        count = after
      }
    }
    return { kept, open }
  }

  /**
   * Whether each name is asked so little that it can be read in every alternative: so many clauses mostly exclude as many alternatives,
   * and each of those tells the values of a name apart by each fact.
   */
  private isLittle(asked: Asked, count: number): boolean {
    let most = 0
    for (const { size } of asked.values()) most = Math.max(most, size)
    return most <= EasyChances && count * (1 + most) * Beginnings <= this.limits.threads
  }

  /** The clause as obligations, or null. */
  private obligations(clause: readonly Alternative[], isWide: boolean): readonly Obligation[] | null {
    const obligation = obligationOf(this.all, clause)
    if (obligation !== null) return [obligation]
    if (!isWide) return null
    this.keyClauses ??= new KeyClauses(this.all, this.reader, (fact) => this.expand(fact, Types.object))
    return this.keyClauses.of(clause)
  }

  /** `partial` with `facts` and all they imply, or null on a contradiction. */
  private close(partial: Partial, facts: readonly number[], type: number): Partial | null {
    const result: number[] = [...partial.facts]
    const seen = new Set(result)
    const clauses = [...partial.clauses]
    const queue = [...facts]
    this.spend(result.length + clauses.length)
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

  private spend(work: number): void {
    this.work += work
    checkTime()
    checkLimit(
      this.limits,
      "satSteps",
      Math.floor(this.work / WorkPerStep),
      "",
      "work to combine alternatives",
    )
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

  /**
   * Drops clauses that hold in any case and alternatives that cannot hold; what is left of a clause with one alternative
   * is a fact. Null on a contradiction.
   */
  private propagate(from: Partial, type: number): Partial | null {
    let partial = from
    for (;;) {
      if (partial.clauses.length === 0) return partial
      const mayHaveValue = (conjunction: number) => {
        // Scalars are combined pairwise.
        this.spend(this.all.factsOf(conjunction).length ** 2)
        return this.test.mayHaveValue(conjunction)
      }
      const spend = (workPerFact: number) => this.spend(workPerFact * partial.facts.length)
      const known = new Known(this.all, this.reader, partial.facts, type, mayHaveValue, spend)
      this.spend(partial.facts.length)
      const clauses: Alternative[][] = []
      let unit: Alternative | null = null
      for (const clause of partial.clauses) {
        const left: Alternative[] = []
        let holds = false
        this.spend(StatusWork * clause.length)
        for (const alternative of this.flatten(clause, type)) {
          const status = known.statusOf(alternative)
          if (status === "holds") {
            holds = true
            break
          }
          if (status === "open") left.push(alternative)
        }
        if (holds) continue
        if (left.length === 0) return null
        if (left.length === 1 && unit === null) unit = left[0]
        else clauses.push(left)
      }
      if (unit === null) return { facts: partial.facts, clauses }
      const next = this.close({ facts: partial.facts, clauses }, unit, type)
      if (next === null) return null
      partial = next
    }
  }

  /** An alternative that is a clause of its own gives its alternatives to the clause around it. */
  private flatten(clause: readonly Alternative[], type: number): readonly Alternative[] {
    if (!clause.some((alternative) => alternative.length === 1)) return clause
    return clause.flatMap((alternative) => {
      if (alternative.length !== 1) return [alternative]
      const { facts, clauses } = this.expand(alternative[0], type)
      const isClause = this.all.isNegative(alternative[0]) && facts.length === 0 && clauses.length === 1
      return isClause ? clauses[0] : [alternative]
    })
  }

  private isContradictory(ids: readonly number[]): boolean {
    if (this.all.isContradiction(ids)) return true
    const absent = new Set<string>()
    let min = 0
    let max = Infinite
    for (const id of ids) {
      const fact = this.all.facts[id]
      if (fact.kind === "never") return true
      if (fact.kind === "absent") absent.add(fact.name)
      if (fact.kind === "size") {
        min = Math.max(min, fact.min)
        max = Math.min(max, fact.max)
      }
    }
    if (min > max) return true
    if (absent.size === 0) return false
    return ids.some((id) => {
      const fact = this.all.facts[id]
      if (fact.kind === "present") return absent.has(fact.name)
      return (
        fact.kind === "schema" &&
        fact.positive &&
        this.reader.of(fact.node).required.some((name) => absent.has(name))
      )
    })
  }
}

/** By name or names: the facts that meet something there. */
type Asked = ReadonlyMap<string | number, ReadonlySet<number>>

/** What obligations ask, and `before`. */
function askedBy(obligations: readonly Obligation[], before: Asked = new Map()): Asked {
  const asked = new Map(before)
  for (const event of obligations.flat()) {
    if (event.kind === "absent") continue
    const what = event.kind === "value" ? event.name : event.names
    asked.set(what, new Set([...(asked.get(what) ?? []), event.fact]))
  }
  return asked
}
