/**
 * Conclusions from the facts of one branch about other facts: whether an alternative always holds,
 * cannot hold, or is open.
 *
 * They are sound, not complete: "open" is always right, and nested containers are assumed to be
 * satisfiable.
 */

import { memberValues } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type Alternative, type Conjunctions, type Fact, Types } from "./conjunction.ts"

/** The cost of a comparison with a fact, in facts. */
export const ComparisonWork = 1 / 8

/** Always holds, cannot hold, or is still open. */
type Status = "holds" | "fails" | "open"

/** Questions that may take long, and the function that accounts for work. */
interface KnownWork {
  mayHaveValue(conjunction: number): boolean
  /** Called before a search among all facts, with the cost per fact. */
  spend(workPerFact: number): void
}

/** Decides other facts from the facts of a branch. */
export class Known {
  private readonly all: Conjunctions
  private readonly work: KnownWork
  private readonly facts: ReadonlySet<number>
  private readonly absent = new Set<string>()
  private readonly present = new Set<string>()
  private readonly members: ((name: string) => number) | null
  private readonly values = new Map<string, number>()
  private readonly statuses = new Map<number, Status>()
  /** The schemas that hold, and those that do not. Each stands for all that are written like it. */
  private readonly said: { right?: Set<SchemaNode>; wrong?: Set<SchemaNode> } = {}

  /** Collects the statements of `facts` about values of the type with bit `type`. */
  constructor(
    all: Conjunctions,
    reader: KeywordReader,
    facts: readonly number[],
    type: number,
    work: KnownWork,
  ) {
    this.all = all
    this.work = work
    this.facts = new Set(facts)
    for (const id of facts) {
      const fact = all.facts[id]
      if (fact.kind === "schema") {
        if (fact.positive) for (const name of reader.of(fact.node).required) this.present.add(name)
      } else if (fact.kind === "present") this.present.add(fact.name)
      else if (fact.kind === "absent") this.absent.add(fact.name)
    }
    this.members = type === Types.object ? memberValues(all, reader, facts) : null
  }

  statusOf(alternative: Alternative): Status {
    let result: Status = "holds"
    for (const id of alternative) {
      const status = this.facts.has(id) ? "holds" : this.status(id)
      if (status === "fails") return "fails"
      if (status === "open") result = "open"
    }
    return result
  }

  private status(id: number): Status {
    let status = this.statuses.get(id)
    if (status === undefined) {
      status = this.judge(this.all.facts[id])
      this.statuses.set(id, status)
    }
    return status
  }

  private judge(fact: Fact): Status {
    switch (fact.kind) {
      case "never":
        return "fails"
      case "schema":
        return this.isSaid(fact.node, !fact.positive) ? "fails" : "open"
      case "present":
        if (this.present.has(fact.name)) return "holds"
        return this.isImpossible(fact.name) ? "fails" : "open"
      case "absent":
        if (this.present.has(fact.name)) return "fails"
        return this.isImpossible(fact.name) ? "holds" : "open"
      case "property": {
        if (this.members === null || this.absent.has(fact.name)) return "holds"
        const value = this.value(fact.name)
        if (!this.work.mayHaveValue(this.all.and(value, [fact.fact])))
          return this.present.has(fact.name) ? "fails" : "open"
        if (!this.work.mayHaveValue(this.all.and(value, [this.all.negation(fact.fact)]))) return "holds"
        return "open"
      }
      default:
        return "open"
    }
  }

  /**
   * Whether some schema among the facts is written like `node`: one that holds, or with `hold`
   * false, one that does not.
   */
  private isSaid(node: SchemaNode, hold: boolean): boolean {
    const known = hold ? "right" : "wrong"
    let nodes = this.said[known]
    if (nodes === undefined) {
      this.work.spend(ComparisonWork)
      nodes = new Set()
      for (const id of this.facts) {
        const fact = this.all.facts[id]
        if (fact.kind === "schema" && fact.positive === hold) nodes.add(this.all.first(fact.node))
      }
      this.said[known] = nodes
    }
    // Most branches have no negated schemas; then there is nothing to compare.
    return nodes.size > 0 && nodes.has(this.all.first(node))
  }

  private isImpossible(name: string): boolean {
    if (this.absent.has(name)) return true
    return this.members !== null && !this.work.mayHaveValue(this.value(name))
  }

  private value(name: string): number {
    let value = this.values.get(name)
    if (value === undefined) {
      this.work.spend(1)
      value = (this.members as (name: string) => number)(name)
      this.values.set(name, value)
    }
    return value
  }
}
