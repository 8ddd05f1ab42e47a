/**
 * The branches of a conjunction for one container type: sets of facts in which every clause is met.
 *
 * A value satisfies the conjunction iff it satisfies some branch. The search meets one clause after
 * the other, like a satisfiability solver (Davis, Putnam, Logemann, Loveland 1962): it drops
 * clauses that the facts so far imply, turns clauses with one alternative left into facts, and then
 * makes one choice (`choices.ts`).
 */
import { checkTime } from "../../deadline.ts"
import { checkLimit, fixedBounds, type Limits } from "../../errors.ts"
import { memberValues } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { choices, type Partial, type ValueTest } from "./choices.ts"
import { type Alternative, type Conjunctions, Infinite, namesKey, Types } from "./conjunction.ts"
import { type Expansion, exactlyOne, expandFact } from "./expand.ts"
import { KeyClauses } from "./keyclauses.ts"
import { ComparisonWork, Known } from "./known.ts"
import { type Event, type Obligation, obligationOf } from "./obligations.ts"
import { areDisjoint } from "./oneof.ts"
import { commonOrder, leavesOf, type Verdict, Verdicts } from "./verdicts.ts"

/**
 * Above this many open branches each new one is tested for satisfiability before it is kept, and
 * objects keep all clauses that can be met key by key.
 */
const ManyBranches = 16

/**
 * Up to this many branches are preferred to objects with more than `EasyEvents` events, because a
 * plan for so many events is hard to find.
 */
const MostBranches = 128
const EasyEvents = 64
/**
 * The same bound for the events of one name, without those whose facts split the values of that
 * name into scalars and others. Each set of the counted events is a separate way to read the value.
 */
const EasyChances = 8

/** The number of pairs of branches that can be compared in the time that one fact takes. */
const PairsPerFact = 4

/** The number of facts that count as one step of the satisfiability test. */
const WorkPerStep = 2

/** The cost of judging an alternative, in facts. */
const StatusWork = 8

/**
 * Up to this many clauses are left to the frame, whatever they require. `some` facts are
 * obligations too.
 */
const FewClauses = 24
/**
 * The same bound if the clauses require little of each name, like those of objects that exclude
 * each other by names of their own.
 */
const KeptClauses = 248
/** The greatest number of names that may distinguish cases. */
const MostDiscriminators = 2
/**
 * The number of ways in which a value can begin: a string, a number, a word, an object or an array.
 * Values in other notations do not share a beginning.
 */
const Beginnings = 5
/**
 * Up to this many overlapping objects are multiplied out, not counted, if no order of names suits
 * each of them.
 */
const OrderedBranches = 32
/** Up to this many implied facts are added one by one. */
const FewUnits = 16
/** Above this many clauses, the search first tries whether an object can keep them all. */
const ManyClauses = 32

/**
 * How clauses are met. *Chosen*: by one of the alternatives, except for clauses that already are
 * obligations. *Kept*: objects keep the clauses that can be met key by key, and those that are
 * counted when the object ends. *Whole*: objects keep all that can be met key by key, up to the
 * fixed limit of obligations.
 */
type Manner = "chosen" | "kept" | "whole"

/** Facts in the order in which they were met, and the clauses that objects meet key by key. */
export interface Branch {
  readonly facts: readonly number[]
  readonly clauses: readonly (readonly Alternative[])[]
  readonly obligations: readonly Obligation[]
  /** Conditions that must hold as well; they are evaluated after all keys are read. */
  readonly verdicts: readonly Verdict[]
}

const none: readonly never[] = []
const nothing: Partial = { facts: [], clauses: [], verdicts: none }

/** A clause that is left to the object, and the form that it has there. */
interface Kept {
  readonly clause: readonly Alternative[]
  readonly obligations: readonly Obligation[]
  readonly verdict: Verdict | null
}

export class Branches {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  private readonly limits: Limits
  private readonly test: ValueTest
  private readonly expansions = new Map<number, Expansion>()
  /** Made on first use, since most schemas have few branches. */
  private madeKeyClauses: KeyClauses | null = null
  private madeVerdicts: Verdicts | null = null
  /** By the list of a `oneOf`. Null: the list becomes a clause. */
  private readonly ones = new Map<readonly SchemaNode[], Verdict | null>()
  /** Number of facts and clauses examined so far for one question. */
  private work = 0

  constructor(all: Conjunctions, reader: KeywordReader, limits: Limits, test: ValueTest) {
    this.all = all
    this.reader = reader
    this.limits = limits
    this.test = test
  }

  /** Returns the branches of `conjunction` for the type with bit `type`. */
  of(conjunction: number, type: number): readonly Branch[] {
    const facts = this.all.factsOf(conjunction)
    if (facts.length === 1 && this.isWhole(facts[0], type))
      return [{ facts, clauses: none, obligations: none, verdicts: none }]
    return this.search(conjunction, type)
  }

  /**
   * Whether a fact alone is a branch: a schema for this type without in-place subschemas and
   * without conditions.
   */
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

  private get keyClauses(): KeyClauses {
    this.madeKeyClauses ??= new KeyClauses(
      this.all,
      this.reader,
      (fact) => this.expand(fact, Types.object),
      (fact) => this.test.isListed(fact),
    )
    return this.madeKeyClauses
  }

  private get verdicts(): Verdicts {
    this.madeVerdicts ??= new Verdicts(this.all, this.reader, this.keyClauses)
    return this.madeVerdicts
  }

  /** Returns the branches of any conjunction. The tests compare `of` with it. */
  search(conjunction: number, type: number): readonly Branch[] {
    if (!this.test.isWithinQuestion()) this.work = 0
    const { work } = this
    if (type !== Types.object) return this.branch(conjunction, type, "kept") as Branch[]
    if (this.isWide(conjunction)) {
      const whole = this.branch(conjunction, type, "whole", ManyBranches)
      if (whole?.every((branch) => this.isToldApart(branch)) === true) return whole
      this.work = work
    }
    const chosen = this.branch(conjunction, type, "chosen", MostBranches)
    if (chosen !== null && chosen.length <= ManyBranches) return chosen
    this.work = work
    const kept = this.branch(conjunction, type, "kept") as Branch[]
    return chosen !== null && (chosen.length <= kept.length || !kept.every((branch) => this.isEasy(branch)))
      ? chosen
      : kept
  }

  /** Whether a choice for each clause would make many branches of objects. */
  private isWide(conjunction: number): boolean {
    const facts = new Set(this.all.factsOf(conjunction))
    let [clauses, product] = [0, 1]
    for (const id of facts) {
      const expansion = this.expand(id, Types.object)
      for (const implied of expansion.facts) facts.add(implied)
      for (const clause of expansion.clauses) {
        if (clause.length > MostBranches) return true
        clauses += this.keyClauses.lengthOf(clause)
      }
      for (const nodes of expansion.ones) {
        const count = this.alternativesOf(nodes, new Set())
        if (count > ManyBranches) return true
        product *= count
      }
    }
    return clauses > ManyClauses || product > MostBranches
  }

  /**
   * Returns the number of alternatives of a `oneOf`, counting those of nested `oneOf`s one by one.
   * The count stops above `ManyBranches`.
   */
  private alternativesOf(nodes: readonly SchemaNode[], around: Set<SchemaNode>): number {
    let sum = 0
    for (const node of nodes) {
      if (sum > ManyBranches) break
      let product = 1
      if (!around.has(node)) {
        around.add(node)
        for (const inner of this.reader.of(node).one) product *= this.alternativesOf(inner, around)
        around.delete(node)
      }
      sum += product
    }
    return sum
  }

  /** Whether one key can meet only few sets of obligations. */
  private isEasy(branch: Branch): boolean {
    return branch.obligations.flat().length <= EasyEvents && this.isToldApart(branch)
  }

  /** Whether the required facts distinguish the values of each name, up to `EasyChances` facts. */
  private isToldApart({ facts, obligations, verdicts }: Branch): boolean {
    const asked = new Map<string, Set<number>>()
    const ask = (obligation: Obligation) => {
      for (const event of obligation) {
        if (event.kind !== "value" || this.test.isListed(event.fact)) continue
        const ofName = asked.get(event.name)
        if (ofName === undefined) asked.set(event.name, new Set([event.fact]))
        else ofName.add(event.fact)
      }
    }
    obligations.forEach(ask)
    for (const verdict of verdicts) for (const { obligation } of leavesOf(verdict)) ask(obligation)
    const values = memberValues(this.all, this.reader, facts)
    return [...asked].every(([name, ofName]) => {
      if (ofName.size <= EasyChances) return true
      const open = [...ofName].filter((fact) => !this.test.isCutBy(values(name), fact))
      return open.length <= EasyChances
    })
  }

  /**
   * Returns the branches of `conjunction`, or null if there are more than `most`. Without `most`,
   * the only bound is the limit `threads`.
   */
  private branch(conjunction: number, type: number, manner: Manner, most?: number): Branch[] | null {
    const done: Branch[] = []
    const open: Partial[] = []
    /** Above this many finished branches, the weaker ones are dropped. */
    const looked = most ?? this.limits.threads
    const first = this.close(nothing, this.all.factsOf(conjunction), type, manner)
    if (first !== null) open.push(first)
    while (open.length > 0) {
      const partial = this.propagate(open.pop() as Partial, type, manner)
      if (partial === null) continue
      const { kept, open: left } = this.partition(partial.clauses, type, manner)
      if (left.length === 0) {
        done.push({
          facts: partial.facts,
          clauses: kept.map(({ clause }) => clause),
          obligations: kept.flatMap(({ obligations }) => obligations),
          verdicts: [...partial.verdicts, ...kept.flatMap(({ verdict }) => verdict ?? [])],
        })
        if (done.length > looked) {
          this.dropWeaker(done)
          if (most !== undefined && done.length > most) return null
          checkLimit(this.limits, "threads.value", done.length)
        }
        continue
      }
      const { facts, verdicts } = partial
      const chosen = choices(this.all, this.reader, this.test, { facts, clauses: left, verdicts }, type)
      // "Whole" is only an attempt to keep everything in objects, so it gives up where it would
      // have to choose among too many alternatives.
      if (manner === "whole" && done.length + open.length + chosen.length > looked) return null
      // Each alternative meets the clause. So the clause is dropped here: with hundreds of
      // alternatives, it would be expensive to find out again which of them was chosen.
      const rest = { facts, clauses: partial.clauses.filter((clause) => clause !== chosen), verdicts }
      // The stack is last in, first out: pushed in reverse, alternatives are tried in the order of
      // the text.
      for (const alternative of chosen.toReversed()) {
        const next = this.close(rest, alternative, type, manner)
        if (next === null) continue
        const isMany = type === Types.object && open.length + done.length >= ManyBranches
        // The test looks up each of the names in each of the facts.
        if (isMany) this.spend(next.facts.length ** 2 * ComparisonWork)
        if (!isMany || this.test.isPossibleObject(next.facts)) open.push(next)
      }
    }
    this.dropWeaker(done)
    return most !== undefined && done.length > most ? null : done
  }

  /**
   * Returns the verdict "exactly one of `nodes` holds", which an object evaluates when it ends.
   * Returns null if `nodes` must become a clause.
   */
  private oneOf(nodes: readonly SchemaNode[]): Verdict | null {
    let verdict = this.ones.get(nodes)
    if (verdict === undefined) {
      verdict = nodes.length <= MostBranches && this.areApart(nodes) ? null : this.verdicts.of("one", nodes)
      // If an alternative gets a frame of its own, it keeps the order of its names.
      if (verdict !== null && nodes.length <= OrderedBranches) {
        const orders = [...leavesOf(verdict)].map(({ names }) => names)
        if (commonOrder(orders) === null) verdict = null
      }
      this.ones.set(nodes, verdict)
    }
    return verdict
  }

  /**
   * Whether every two of `nodes` provably exclude each other. Then at most one of them can hold.
   */
  private areApart(nodes: readonly SchemaNode[]): boolean {
    return nodes.every((a, i) =>
      nodes.every((b, j) => j <= i || areDisjoint(this.reader, a, b, Types.object)),
    )
  }

  /** Removes each branch that requires everything that another branch requires, and more. */
  private dropWeaker(branches: Branch[]): void {
    if (branches.length < 2) return
    const sets = branches.map(
      ({ facts, clauses, verdicts }) =>
        new Set<number | string | Verdict>([
          ...facts,
          ...clauses.map((clause) => clause.join("|")),
          ...verdicts,
        ]),
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

  /**
   * Separates the clauses that an object frame can keep from those that must be chosen from now.
   */
  private partition(
    clauses: Partial["clauses"],
    type: number,
    manner: Manner,
  ): { kept: Kept[]; open: Partial["clauses"] } {
    const kept: Kept[] = []
    const open: (readonly Alternative[])[] = []
    const most = manner === "whole" ? fixedBounds.obligations : KeptClauses
    let count = 0
    const isLittle = (fact: number) => manner === "whole" && this.test.isListed(fact)
    const areCases = manner === "whole" && this.areCases(clauses)
    /** The requirements of the clauses that are kept, once there are more than a few. */
    let asked: Asked | null = null
    for (const clause of clauses) {
      const obligations =
        type === Types.object && count < most ? this.obligations(clause, manner, areCases) : null
      const after = count + (obligations?.length ?? 0)
      let isKept = obligations !== null && after <= most
      if (obligations !== null && isKept && after > FewClauses) {
        asked ??= new Asked(
          kept.flatMap((each) => each.obligations),
          isLittle,
        )
        const each = asked.with(obligations)
        isKept =
          each <= EasyChances &&
          (manner === "whole" || after * (1 + each) * Beginnings <= this.limits.threads)
        if (isKept) asked.add(obligations)
      }
      if (obligations !== null && isKept) {
        kept.push({ clause, obligations, verdict: null })
        count = after
        continue
      }
      const verdict =
        manner === "whole" && clause.length > MostBranches ? this.verdicts.ofClause(clause) : null
      if (verdict === null) open.push(clause)
      else kept.push({ clause, obligations: none, verdict })
    }
    return { kept, open }
  }

  /** Returns the clause as obligations, or null if it cannot be written so. */
  private obligations(
    clause: readonly Alternative[],
    manner: Manner,
    areCases: boolean,
  ): readonly Obligation[] | null {
    const obligation = obligationOf(this.all, clause)
    if (obligation !== null) return [obligation]
    if (manner === "chosen") return null
    return this.keyClauses.of(clause) ?? (areCases ? this.keyClauses.ofCases(clause) : null)
  }

  /**
   * Whether the values of the same one or two names distinguish the cases of all `clauses`. Such
   * cases become obligations, since few of them remain once a value has been read. With dozens of
   * names, a plan would have to be searched for. Objects that are closed by policy need to know
   * their case.
   */
  private areCases(clauses: Partial["clauses"]): boolean {
    if (this.reader.closesObjects) return false
    const names = new Set<string>()
    for (const clause of clauses) {
      for (const name of this.keyClauses.discriminatorsOf(clause) ?? []) names.add(name)
      if (names.size > MostDiscriminators) return false
    }
    return names.size > 0
  }

  /** Returns `partial` with `facts` and everything that they imply, or null on a contradiction. */
  private close(partial: Partial, facts: readonly number[], type: number, manner: Manner): Partial | null {
    const result: number[] = [...partial.facts]
    const seen = new Set(result)
    const clauses: (readonly Alternative[])[] = [...partial.clauses]
    const verdicts = [...partial.verdicts]
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
      for (const nodes of expansion.ones) {
        const verdict = type === Types.object && manner !== "chosen" ? this.oneOf(nodes) : null
        if (verdict === null) clauses.push(this.clauseOf(nodes, type))
        else verdicts.push(verdict)
      }
    }
    return this.isContradictory(result) ? null : { facts: result, clauses, verdicts }
  }

  private spend(work: number): void {
    this.work += work
    checkTime()
    checkLimit(this.limits, "satSteps.alternatives", Math.floor(this.work / WorkPerStep))
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

  /** Returns "exactly one of `nodes`" as a clause. */
  private clauseOf(nodes: readonly SchemaNode[], type: number): readonly Alternative[] {
    this.spend(nodes.length ** 2 / PairsPerFact)
    return exactlyOne(this.all, this.reader, nodes, type)
  }

  /**
   * Drops clauses that always hold and alternatives that cannot hold. A clause with one alternative
   * left becomes facts. Returns null on a contradiction.
   */
  private propagate(from: Partial, type: number, manner: Manner): Partial | null {
    let partial = from
    for (;;) {
      if (partial.clauses.length === 0) return partial
      const mayHaveValue = (conjunction: number) => {
        // Scalar facts are combined pairwise.
        this.spend(this.all.factsOf(conjunction).length ** 2)
        return this.test.mayHaveValue(conjunction)
      }
      const spend = (workPerFact: number) => this.spend(workPerFact * partial.facts.length)
      const known = new Known(this.all, this.reader, partial.facts, type, { mayHaveValue, spend })
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
      const { facts, verdicts } = partial
      if (unit === null) return { facts, clauses, verdicts }
      const units = clauses.filter(({ length }) => length === 1)
      // A few facts are added one after the other, which keeps their order. Hundreds are added at
      // once, since each addition examines everything.
      const isBatch = units.length > FewUnits
      const rest = isBatch ? clauses.filter(({ length }) => length > 1) : clauses
      const implied = isBatch ? [...unit, ...units.flat(2)] : unit
      const next = this.close({ facts, clauses: rest, verdicts }, implied, type, manner)
      if (next === null) return null
      partial = next
    }
  }

  /** Replaces each alternative that is a clause itself by the alternatives of that clause. */
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

/** Returns a key for the name, or the class of names, that the event is about. */
function askedOf(event: Exclude<Event, { kind: "absent" }>): string {
  return event.kind === "value" ? `=${event.name}` : namesKey(event.names)
}

/**
 * The requirements of obligations: for each name or class of names, the facts that meet an event
 * there. Facts for which `isLittle` returns true are left out.
 */
class Asked {
  private readonly facts = new Map<string, Set<number>>()
  private readonly isLittle: (fact: number) => boolean
  private most = 0

  constructor(obligations: readonly Obligation[], isLittle: (fact: number) => boolean) {
    this.isLittle = isLittle
    this.add(obligations)
  }

  /**
   * Returns the greatest number of facts required of one name, including those of `obligations`.
   */
  with(obligations: readonly Obligation[]): number {
    let { most } = this
    for (const event of obligations.flat()) {
      if (event.kind === "absent" || this.isLittle(event.fact)) continue
      const known = this.facts.get(askedOf(event))
      if (known?.has(event.fact) !== true) most = Math.max(most, (known?.size ?? 0) + 1)
    }
    return most
  }

  add(obligations: readonly Obligation[]): void {
    for (const event of obligations.flat()) {
      if (event.kind === "absent" || this.isLittle(event.fact)) continue
      const what = askedOf(event)
      const known = this.facts.get(what)
      if (known === undefined) this.facts.set(what, new Set([event.fact]))
      else known.add(event.fact)
      this.most = Math.max(this.most, known?.size ?? 1)
    }
  }
}
