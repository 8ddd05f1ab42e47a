/**
 * Schemas whose verdict on an object can be kept while its keys are read, so that a `oneOf` over
 * hundreds of them is counted when the object ends and never multiplied out.
 *
 * The constraints of a schema on single keys hold unless one of several events happens: a name is
 * missing, a value is wrong, a key has a name that it must not have. These events are an obligation
 * (`obligations.ts`) with the opposite meaning: the schema holds if the obligation is not met. So
 * the verdict on `oneOf` is "exactly one of these obligations is not met", and `anyOf`, `allOf`,
 * `not` and `if` combine verdicts likewise, at any depth. Counts of keys and conditions on
 * evaluated members have no verdict.
 */
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type Alternative, type Conjunctions, Types } from "./conjunction.ts"
import type { KeyClauses } from "./keyclauses.ts"
import { negateContainer } from "./negate.ts"
import { distinctEvents, type Event, type Obligation, obligationOf } from "./obligations.ts"

/** How many parts of a verdict must hold. */
export type Quantity = "one" | "some" | "all"

export type Verdict =
  /**
   * Holds if the obligation is not met. `names` are the names that the schema declares, in the
   * order of the text.
   */
  | { readonly kind: "unmet"; readonly obligation: Obligation; readonly names: readonly string[] }
  /** Holds if one, some or all of the parts hold. `isNegated` inverts it. */
  | { readonly kind: Quantity; readonly isNegated: boolean; readonly parts: readonly Verdict[] }

const holds: Verdict = { kind: "all", isNegated: false, parts: [] }
const fails: Verdict = { kind: "some", isNegated: false, parts: [] }

export class Verdicts {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  private readonly keyClauses: KeyClauses
  /**
   * By node. Also null while the node is being examined, so a schema that leads back to itself has
   * no verdict.
   */
  private readonly known = new Map<SchemaNode, Verdict | null>()

  constructor(all: Conjunctions, reader: KeywordReader, keyClauses: KeyClauses) {
    this.all = all
    this.reader = reader
    this.keyClauses = keyClauses
  }

  /**
   * Returns the verdict that one, some or all of `nodes` hold for an object, or null if there is
   * none.
   */
  of(kind: Quantity, nodes: readonly SchemaNode[]): Verdict | null {
    const parts: Verdict[] = []
    for (const node of nodes) {
      const part = this.ofNode(node)
      if (part === null) return null
      parts.push(part)
    }
    return { kind, isNegated: false, parts }
  }

  /** Returns the verdict that one of the alternatives holds, or null if there is none. */
  ofClause(clause: readonly Alternative[]): Verdict | null {
    const parts: Verdict[] = []
    for (const alternative of clause) {
      const together: Verdict[] = []
      for (const id of alternative) {
        const fact = this.all.facts[id]
        const part = fact.kind === "schema" ? this.ofNode(fact.node) : null
        if (part === null || fact.kind !== "schema") return null
        together.push(fact.positive ? part : negated(part))
      }
      parts.push(allOf(together))
    }
    return { kind: "some", isNegated: false, parts }
  }

  private ofNode(node: SchemaNode): Verdict | null {
    const known = this.known.get(node)
    if (known !== undefined) return known
    this.known.set(node, null)
    const verdict = this.make(this.reader.of(node))
    this.known.set(node, verdict)
    return verdict
  }

  private make(keywords: Keywords): Verdict | null {
    if ((keywords.types & Types.object) === 0) return fails
    const { isObserved, counted, unevaluatedProperties } = keywords
    const saysMore =
      keywords.enum !== null || isObserved || counted.length > 0 || unevaluatedProperties !== null
    const own = saysMore ? null : this.ofOwn(keywords)
    if (own === null) return null
    const parts: (Verdict | null)[] = [own]
    for (const node of keywords.all) parts.push(this.ofNode(node))
    for (const nodes of keywords.any) parts.push(this.of("some", nodes))
    for (const nodes of keywords.one) parts.push(this.of("one", nodes))
    for (const node of keywords.not) parts.push(this.not(node))
    if (keywords.conditional !== null) {
      const { test, yes, no } = keywords.conditional
      if (yes !== null) parts.push(someOf(this.not(test), this.ofNode(yes)))
      if (no !== null) parts.push(someOf(this.ofNode(test), this.ofNode(no)))
    }
    return parts.every((part) => part !== null) ? allOf(parts) : null
  }

  /** Returns the verdict of the schema's own constraints on keys. */
  private ofOwn(keywords: Keywords): Verdict | null {
    const clause = negateContainer.object(this.all, keywords)
    const single = obligationOf(this.all, clause)
    const wrong = single === null ? this.keyClauses.of(clause) : [single]
    if (wrong === null) return null
    const names = [...keywords.properties.keys()]
    const parts = wrong.map((obligation): Verdict => ({ kind: "unmet", obligation, names }))
    return parts.length === 1 ? parts[0] : { kind: "some", isNegated: false, parts }
  }

  private not(node: SchemaNode): Verdict | null {
    const verdict = this.ofNode(node)
    return verdict === null ? null : negated(verdict)
  }
}

function negated(verdict: Verdict): Verdict {
  if (verdict.kind === "unmet") return { kind: "all", isNegated: true, parts: [verdict] }
  return { ...verdict, isNegated: !verdict.isNegated }
}

function someOf(a: Verdict | null, b: Verdict | null): Verdict | null {
  return a === null || b === null ? null : { kind: "some", isNegated: false, parts: [a, b] }
}

/**
 * Returns the conjunction of `parts`. The parts that constrain single keys only are merged into
 * one.
 */
function allOf(parts: readonly Verdict[]): Verdict {
  const rest: Verdict[] = []
  const events: Event[] = []
  const names: string[] = []
  for (const part of parts) {
    if (part.kind !== "unmet") {
      if (part.kind === "all" && !part.isNegated && part.parts.length === 0) continue
      rest.push(part)
      continue
    }
    for (const event of part.obligation) events.push(event)
    names.push(...part.names)
  }
  if (events.length > 0 || names.length > 0)
    rest.unshift({ kind: "unmet", obligation: distinctEvents(events), names: [...new Set(names)] })
  if (rest.length === 0) return holds
  return rest.length === 1 ? rest[0] : { kind: "all", isNegated: false, parts: rest }
}

/**
 * Yields the obligations that a verdict depends on, with the names that their schemas declare. An
 * obligation may occur several times.
 */
export function* leavesOf(verdict: Verdict): Generator<Extract<Verdict, { kind: "unmet" }>> {
  if (verdict.kind === "unmet") yield verdict
  else for (const part of verdict.parts) yield* leavesOf(part)
}

/**
 * Returns an order of all names that contains each of `lists` in its own order, or null if there is
 * none. Names that occur earlier come first. Linear in the names.
 */
export function commonOrder(lists: readonly (readonly string[])[]): string[] | null {
  const after = new Map<string, string[]>()
  const waits = new Map<string, number>()
  for (const list of lists) {
    for (const [i, name] of list.entries()) {
      if (!waits.has(name)) waits.set(name, 0)
      if (i === 0) continue
      const before = after.get(list[i - 1])
      if (before === undefined) after.set(list[i - 1], [name])
      else before.push(name)
      waits.set(name, (waits.get(name) as number) + 1)
    }
  }
  // Among the names without predecessors, the one that occurs first comes next. The names that it
  // releases follow right behind it.
  const order: string[] = []
  const open = [...waits.keys()].filter((name) => waits.get(name) === 0).reverse()
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    order.push(name)
    for (const next of (after.get(name) ?? []).toReversed()) {
      const left = (waits.get(next) as number) - 1
      waits.set(next, left)
      if (left === 0) open.push(next)
    }
  }
  return order.length === waits.size ? order : null
}
