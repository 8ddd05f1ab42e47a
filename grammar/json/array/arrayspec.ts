/**
 * The constraints of one branch on arrays: the conjunction of the item at each index, bounds on
 * their number, `contains` rules, and whether items must differ.
 */
import { type Conjunctions, type Fact, Infinite, Types } from "../facts/conjunction.ts"
import { coverageOf } from "../facts/coverage.ts"
import { asserted } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { JsonNode } from "../read/reader.ts"
import type { SchemaNode } from "../refs/refs.ts"

interface ContainsRule {
  /** Index of the first item that the rule examines. */
  readonly from: number
  readonly min: number
  readonly max: number
  /** Fact of an item that counts. */
  readonly fact: number
  /**
   * Fact of an item that does not count, or null if there is no such fact. Only rules without an
   * upper bound may have none.
   */
  readonly complement: number | null
}

export interface ArraySpec {
  /** Conjunction of the item at each index. The last entry is that of all further items. */
  readonly items: readonly number[]
  readonly min: number
  readonly max: number
  readonly contains: readonly ContainsRule[]
  /** No two items are equal. */
  readonly unique: boolean
  /** Some two items are equal. */
  readonly twins: boolean
}

/** Returns the spec for arrays of the branch that consists of `facts`. */
export function arraySpec(all: Conjunctions, reader: KeywordReader, facts: readonly number[]): ArraySpec {
  const parts = new ArrayParts(all, reader, facts)
  const items: number[] = []
  const last = parts.positions()
  for (let index = 0; index <= last; index++) items.push(all.of(parts.factsAt(index)))
  const { min, unique, twins } = parts
  return {
    items,
    min,
    // No array is both.
    max: unique && twins ? -1 : parts.max,
    // `contains` without any bound constrains nothing.
    contains: parts.contains.filter((rule) => rule.min > 0 || rule.max !== Infinite),
    unique,
    twins,
  }
}

/** The constraints of the facts of a branch on arrays, by kind. */
class ArrayParts {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  private readonly facts: readonly number[]
  private readonly keywords: Keywords[] = []
  private readonly constants: Extract<JsonNode, { kind: "array" }>[] = []
  private readonly single: Extract<Fact, { kind: "item" }>[] = []
  /** Facts about all items from an index on. */
  private readonly rests: { from: number; fact: number }[] = []
  readonly contains: ContainsRule[] = []
  min = 0
  max = Infinite
  unique = false
  twins = false

  constructor(all: Conjunctions, reader: KeywordReader, facts: readonly number[]) {
    this.all = all
    this.reader = reader
    this.facts = facts
    for (const id of facts) this.add(all.facts[id])
  }

  /** Returns the first index from which on all items have the same facts. */
  positions(): number {
    let end = 0
    for (const { prefix } of this.keywords) end = Math.max(end, prefix.length)
    for (const { items } of this.constants) end = Math.max(end, items.length)
    for (const { index } of this.single) end = Math.max(end, index + 1)
    for (const { from } of this.contains) end = Math.max(end, from)
    for (const { from } of this.rests) end = Math.max(end, from)
    return end
  }

  /** Returns the facts about the item at `index`. */
  factsAt(index: number): number[] {
    const { all } = this
    const here: number[] = []
    for (const { prefix, rest } of this.keywords) {
      const node = index < prefix.length ? prefix[index] : rest
      if (node !== null) here.push(all.schema(node))
    }
    for (const { items } of this.constants) {
      if (index < items.length) here.push(all.fact({ kind: "equals", value: items[index], positive: true }))
    }
    for (const { from, fact } of this.rests) if (index >= from) here.push(fact)
    for (const fact of this.single) if (fact.index === index) here.push(fact.fact)
    return here
  }

  private add(fact: Fact): void {
    switch (fact.kind) {
      case "schema":
        if (fact.positive) this.addSchema(fact.node)
        return
      case "equals":
        if (!fact.positive || fact.value.kind !== "array") return
        this.constants.push(fact.value)
        this.bound(fact.value.items.length, fact.value.items.length)
        return
      case "size":
        this.bound(fact.min, fact.max)
        return
      case "item":
        this.single.push(fact)
        return
      case "unique":
        if (fact.positive) this.unique = true
        else this.twins = true
        return
      case "contains":
        this.addContains(fact.from, fact.fact, fact.min, fact.max)
    }
  }

  private addSchema(node: SchemaNode): void {
    const { all, reader } = this
    const own = reader.of(node)
    this.keywords.push(own)
    this.bound(own.minItems, own.maxItems)
    this.unique ||= own.unique
    if (own.unevaluatedItems !== null) {
      const known = asserted(all, reader, this.facts)
      const coverage = coverageOf(reader, node, Types.array, known)
      const right = [own.unevaluatedItems, ...coverage.contains].map((part) => all.schema(part))
      if (!coverage.everything) this.rests.push({ from: coverage.prefix, fact: all.either(right) })
    }
    if (own.contains !== null)
      this.addContains(0, all.schema(own.contains.node), own.contains.min, own.contains.max)
  }

  private addContains(from: number, fact: number, min: number, max: number): void {
    const { all } = this
    const isUnsaid = max === Infinite && !["schema", "equals"].includes(all.facts[fact].kind)
    this.contains.push({ from, min, max, fact, complement: isUnsaid ? null : all.negation(fact) })
  }

  private bound(min: number, max: number): void {
    this.min = Math.max(this.min, min)
    this.max = Math.min(this.max, max)
  }
}
