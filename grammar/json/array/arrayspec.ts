/**
 * What one branch says about arrays: the conjunction of the item at each index, bounds on their number, `contains`
 * rules, and whether items must differ.
 */
import { type Conjunctions, type Fact, Infinite, Types } from "../facts/conjunction.ts"
import { coverageOf } from "../facts/coverage.ts"
import { asserted } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { JsonNode } from "../read/reader.ts"

interface ContainsRule {
  /** First index that is looked at. */
  readonly from: number
  readonly min: number
  readonly max: number
  /** Facts: of an item that counts, and of one that does not. */
  readonly fact: number
  /** Null: it cannot be said; only rules without an upper bound may leave it out. */
  readonly complement: number | null
}

export interface ArraySpec {
  /** Conjunction of the item at each index; the last entry is that of all further items. */
  readonly items: readonly number[]
  readonly min: number
  readonly max: number
  readonly contains: readonly ContainsRule[]
  /** No two items are equal. */
  readonly unique: boolean
  /** Some two items are equal. */
  readonly twins: boolean
}

/** The spec of the branch that consists of `facts`, for arrays. */
export function arraySpec(all: Conjunctions, reader: KeywordReader, facts: readonly number[]): ArraySpec {
  const keywords: Keywords[] = []
  const constants: Extract<JsonNode, { kind: "array" }>[] = []
  const single: Extract<Fact, { kind: "item" }>[] = []
  const contains: ContainsRule[] = []
  /** Facts about all items from an index on. */
  const rests: { from: number; fact: number }[] = []
  let min = 0
  let max = Infinite
  let unique = false
  let twins = false
  const addContains = (from: number, fact: number, low: number, high: number) => {
    contains.push({
      from,
      min: low,
      max: high,
      fact,
      complement:
        high === Infinite && !["schema", "equals"].includes(all.facts[fact].kind) ? null : all.negation(fact),
    })
  }
  for (const id of facts) {
    const fact = all.facts[id]
    if (fact.kind === "schema" && fact.positive) {
      const own = reader.of(fact.node)
      keywords.push(own)
      min = Math.max(min, own.minItems)
      max = Math.min(max, own.maxItems)
      unique ||= own.unique
      if (own.unevaluatedItems !== null) {
        const known = asserted(all, reader, facts)
        const coverage = coverageOf(reader, fact.node, Types.array, known)
        const right = [own.unevaluatedItems, ...coverage.contains].map((node) => all.schema(node))
        if (!coverage.everything) rests.push({ from: coverage.prefix, fact: all.either(right) })
      }
      if (own.contains !== null)
        addContains(0, all.schema(own.contains.node), own.contains.min, own.contains.max)
    } else if (fact.kind === "equals" && fact.positive && fact.value.kind === "array") {
      constants.push(fact.value)
      min = Math.max(min, fact.value.items.length)
      max = Math.min(max, fact.value.items.length)
    } else if (fact.kind === "size") {
      min = Math.max(min, fact.min)
      max = Math.min(max, fact.max)
    } else if (fact.kind === "item") {
      single.push(fact)
    } else if (fact.kind === "unique") {
      if (fact.positive) unique = true
      else twins = true
    } else if (fact.kind === "contains") {
      addContains(fact.from, fact.fact, fact.min, fact.max)
    }
  }
  const positions = Math.max(
    0,
    ...keywords.map(({ prefix }) => prefix.length),
    ...constants.map(({ items }) => items.length),
    ...single.map(({ index }) => index + 1),
    ...contains.map(({ from }) => from),
    ...rests.map(({ from }) => from),
  )
  const items: number[] = []
  for (let index = 0; index <= positions; index++) {
    const here: number[] = []
    for (const { prefix, rest } of keywords) {
      const node = index < prefix.length ? prefix[index] : rest
      if (node !== null) here.push(all.schema(node))
    }
    for (const { items: values } of constants) {
      if (index < values.length) here.push(all.fact({ kind: "equals", value: values[index], positive: true }))
    }
    for (const { from, fact } of rests) if (index >= from) here.push(fact)
    for (const fact of single) if (fact.index === index) here.push(fact.fact)
    items.push(all.of(here))
  }
  // None is both.
  if (unique && twins) max = -1
  // `contains` with no bound at all says nothing.
  return {
    items,
    min,
    max,
    contains: contains.filter((rule) => rule.min > 0 || rule.max !== Infinite),
    unique,
    twins,
  }
}
