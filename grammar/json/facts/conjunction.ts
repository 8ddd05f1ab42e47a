/**
 * The canonical form: conjunctions of facts, closed under and, or and not.
 *
 * A fact is one statement about a value: a schema with a polarity, "equals this value", "has this
 * property". A conjunction is an interned, sorted set of facts, so `$ref` and `allOf` only add to a
 * set, intersections never nest and cycles end. A choice (`anyOf`, `oneOf`, `if`, most negations)
 * is a clause: a list of alternatives, each a list of facts. A clause is met once all facts of one
 * alternative are in the set, so to choose an alternative is to add its facts; giving an
 * alternative up keeps the union exact. Nothing is ever multiplied out beyond the JSON type being
 * read.
 */
import { TupleTable } from "../../intern.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import type { JsonNode } from "../read/reader.ts"
import { valueKey } from "../read/value.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { Structures } from "../refs/structure.ts"

export type Fact =
  | { readonly kind: "schema"; readonly node: SchemaNode; readonly positive: boolean }
  | { readonly kind: "equals"; readonly value: JsonNode; readonly positive: boolean }
  /** Objects: the property is present, or is absent. */
  | { readonly kind: "present" | "absent"; readonly name: string }
  /** Objects: if the property is present, its value satisfies `fact`. */
  | { readonly kind: "property"; readonly name: string; readonly fact: number }
  /** Objects: some property whose name is one of `names` has a value that satisfies `fact`. */
  | { readonly kind: "some"; readonly names: Names; readonly fact: number }
  /** Objects and arrays: number of members. */
  | { readonly kind: "size"; readonly min: number; readonly max: number }
  /** Arrays: the item at `index`, if there is one, satisfies `fact`. */
  | { readonly kind: "item"; readonly index: number; readonly fact: number }
  /** Arrays: from index `from` on, `min` to `max` items satisfy `fact`. */
  | {
      readonly kind: "contains"
      readonly from: number
      readonly fact: number
      readonly min: number
      readonly max: number
    }
  /** Arrays: no two items are equal, or some two are. */
  | { readonly kind: "unique"; readonly positive: boolean }
  /** At least one of these facts holds, or none does. */
  | { readonly kind: "either"; readonly facts: readonly number[]; readonly positive: boolean }
  /**
   * Places no constraint: the branch does not rely on the members that this schema would cover
   * (`coverage.ts`).
   */
  | { readonly kind: "uncounted"; readonly node: SchemaNode }
  /** No value satisfies it. */
  | { readonly kind: "never" }

/** A language of names, or a set that stands for all names outside it. */
export type Names = ExprId | ReadonlySet<string>

/** One way to satisfy a clause: facts that must all hold. */
export type Alternative = readonly number[]

/** No upper bound on a count. */
export const Infinite = Number.POSITIVE_INFINITY

/** Facts that are interned by their content. Schemas are interned by their node. */
type Told = Exclude<Fact, { kind: "schema" }>

// Facts and conjunctions that always exist.
const anything: Told = { kind: "size", min: 0, max: Infinite }
const never: Told = { kind: "never" }
const Anything = 0
const Never = 1
const EverythingSet = 0
const NeverSet = 1

export class Conjunctions {
  readonly facts: Fact[] = [anything, never]
  private factIds: Map<string, number> | null = null
  /** Facts of positive and of negated schemas, by node id. */
  private readonly schemaFacts: (number | undefined)[] = []
  private readonly negatedFacts: (number | undefined)[] = []
  /** The facts of each conjunction, ascending. */
  private readonly lists: (readonly number[])[] = [[], [Never]]
  /** Conjunctions of one fact, by fact. */
  private readonly singles: (number | undefined)[] = [undefined, NeverSet]
  /** Conjunctions of several facts, by their index in the table. */
  private readonly several: number[] = []
  private sets: TupleTable | null = null
  private structures: Structures | null = null
  private meant: (node: SchemaNode) => SchemaNode = (node) => node
  /** The fact that holds of every value. */
  readonly anything = Anything
  /** The fact that holds of no value. */
  readonly impossible = Never
  /** The empty conjunction: every value satisfies it. */
  readonly everything = EverythingSet
  readonly never = NeverSet

  get count(): number {
    return this.lists.length
  }

  /** Returns the id of a fact; equal facts have equal ids. */
  fact(fact: Told): number {
    this.factIds ??= new Map([
      [factKey(anything), Anything],
      [factKey(never), Never],
    ])
    const key = factKey(fact)
    const known = this.factIds.get(key)
    if (known !== undefined) return known
    const id = this.facts.push(fact) - 1
    this.factIds.set(key, id)
    return id
  }

  /**
   * Sets the function that maps a schema to the schema whose facts it shares, see
   * `KeywordReader.meant`.
   */
  bindMeaning(meant: (node: SchemaNode) => SchemaNode): void {
    this.meant = meant
  }

  /**
   * Returns the fact of a schema. A reference and its target share one fact, and so do negated
   * schemas that are written alike.
   */
  schema(node: SchemaNode, positive = true): number {
    const known = positive ? this.schemaFacts : this.negatedFacts
    let id = known[node.id]
    if (id === undefined) {
      const meant = this.meant(node)
      const first = positive ? meant : this.first(meant)
      id = known[first.id] ?? this.facts.push({ kind: "schema", node: first, positive }) - 1
      known[first.id] = id
      known[node.id] = id
    }
    return id
  }

  /** Returns the first schema found so far that is written like `node` and means the same. */
  first(node: SchemaNode): SchemaNode {
    this.structures ??= new Structures()
    return this.structures.first(node)
  }

  isNegative(id: number): boolean {
    const fact = this.facts[id]
    return fact.kind === "schema" && !fact.positive
  }

  /**
   * Whether the conjunction contains a `false` schema. Deeper contradictions are found by the
   * satisfiability test.
   */
  isFalse(conjunction: number): boolean {
    return this.factsOf(conjunction).some((id) => {
      const fact = this.facts[id]
      return (
        fact.kind === "never" || (fact.kind === "schema" && fact.positive && fact.node.value.kind === "false")
      )
    })
  }

  /** Whether the facts contain both a schema, or one written like it, and its negation. */
  isContradiction(facts: readonly number[]): boolean {
    if (!facts.some((id) => this.isNegative(id))) return false
    const wrong = new Set<SchemaNode>()
    for (const id of facts) {
      const fact = this.facts[id]
      if (fact.kind === "schema" && !fact.positive) wrong.add(fact.node)
    }
    return facts.some((id) => {
      const fact = this.facts[id]
      return fact.kind === "schema" && fact.positive && wrong.has(this.first(fact.node))
    })
  }

  /** Returns the fact that at least one of `facts` holds. */
  either(facts: Iterable<number>): number {
    const distinct = [...new Set(facts)].sort((a, b) => a - b)
    return distinct.length === 1
      ? distinct[0]
      : this.fact({ kind: "either", facts: distinct, positive: true })
  }

  /** Returns the fact that holds where `id`, a schema, a value or a choice, does not. */
  negation(id: number): number {
    const fact = this.facts[id]
    if (fact.kind !== "schema" && fact.kind !== "equals" && fact.kind !== "either")
      throw new Error(`internal: no negation of ${fact.kind}`)
    if (fact.kind === "schema") return this.schema(fact.node, !fact.positive)
    return this.fact({ ...fact, positive: !fact.positive })
  }

  /** Returns the conjunction of these facts. */
  of(facts: readonly number[]): number {
    if (facts.length === 0) return this.everything
    if (facts.length === 1) return this.isTrivial(facts[0]) ? this.everything : this.internSet(facts)
    return this.internSet([...new Set(facts)].filter((id) => !this.isTrivial(id)).sort((a, b) => a - b))
  }

  /**
   * Interns a set. `facts` is distinct and ascending, and the caller must not change it afterwards.
   */
  private internSet(facts: readonly number[]): number {
    if (facts.length === 0) return EverythingSet
    if (facts.length === 1) {
      const known = this.singles[facts[0]]
      if (known !== undefined) return known
      const id = this.lists.push(facts) - 1
      this.singles[facts[0]] = id
      return id
    }
    this.sets ??= new TupleTable()
    const place = this.sets.intern(facts)
    this.several[place] ??= this.lists.push(facts) - 1
    return this.several[place]
  }

  /** Returns the conjunction of `conjunction` and these facts. */
  and(conjunction: number, facts: readonly number[]): number {
    const before = this.factsOf(conjunction)
    if (facts.length !== 1 || before.length === 0) return this.of([...before, ...facts])
    const [fact] = facts
    if (this.isTrivial(fact)) return conjunction
    let place = before.length
    while (place > 0 && before[place - 1] > fact) place--
    if (place > 0 && before[place - 1] === fact) return conjunction
    return this.internSet([...before.slice(0, place), fact, ...before.slice(place)])
  }

  factsOf(conjunction: number): readonly number[] {
    return this.lists[conjunction]
  }

  /**
   * Returns the pointer of a schema that the conjunction comes from, for messages, or "" if there
   * is none.
   */
  pathOf(conjunction: number): string {
    for (const id of this.factsOf(conjunction)) {
      const fact = this.facts[id]
      if (fact.kind === "schema") return fact.node.pointer
    }
    return ""
  }

  /** Whether fact `id` excludes a single value. */
  isExclusion(id: number): boolean {
    const fact = this.facts[id]
    return fact.kind === "equals" && !fact.positive
  }

  /** Returns the conjunction without the facts that exclude single values. */
  withoutExclusions(conjunction: number): number {
    const facts = this.factsOf(conjunction)
    const lasting = facts.filter((id) => !this.isExclusion(id))
    return lasting.length === facts.length ? conjunction : this.of(lasting)
  }

  private isTrivial(id: number): boolean {
    const fact = this.facts[id]
    return fact.kind === "schema" && fact.positive && fact.node.value.kind === "true"
  }
}

function factKey(fact: Told): string {
  switch (fact.kind) {
    case "equals":
      return `=${fact.positive ? "+" : "-"}${valueKey(fact.value)}`
    case "present":
    case "absent":
      return `${fact.kind} ${fact.name}`
    case "property":
      return `p${fact.fact} ${fact.name}`
    case "some":
      return `e${fact.fact} ${namesKey(fact.names)}`
    case "item":
      return `i${fact.fact} ${fact.index}`
    case "size":
      return `#${fact.min},${fact.max}`
    case "contains":
      return `c${fact.fact} ${fact.from} ${fact.min},${fact.max}`
    case "unique":
      return `u${fact.positive}`
    case "either":
      return `|${fact.positive ? "+" : "-"}${fact.facts}`
    case "uncounted":
      return `?${fact.node.id}`
    case "never":
      return "never"
    default:
      return fact satisfies never
  }
}

/** Returns a key of `names`; equal names have equal keys. */
export function namesKey(names: Names): string {
  return typeof names === "number" ? `${names}` : JSON.stringify([...names].sort())
}

/** Bits of the JSON types. */
export const Types = { null: 1, boolean: 2, number: 4, string: 8, object: 16, array: 32 } as const
export const AllTypes = 63

export function typeBit(value: JsonNode): number {
  switch (value.kind) {
    case "true":
    case "false":
      return Types.boolean
    default:
      return Types[value.kind]
  }
}
