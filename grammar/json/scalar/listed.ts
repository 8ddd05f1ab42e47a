/**
 * Values that lists distinguish. If hundreds of facts are about a few scalars each, like the
 * constants of a discriminator, the parts of a value are these scalars one by one, and all others
 * together.
 *
 * Cutting a value by one fact after the other takes as many steps per part as there are facts. Here
 * each scalar is looked up in the lists that contain it: linear in the size of the lists.
 */
import { type Conjunctions, typeBit } from "../facts/conjunction.ts"
import type { PlainSchemas } from "../facts/plain.ts"
import type { Chance } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import { valueKey } from "../read/value.ts"
import type { Scalars } from "./scalars.ts"

/**
 * A part of a value: a conjunction, and the obligations that all its values meet by the listed
 * facts.
 */
export interface ListedPart {
  readonly value: number
  readonly met: bigint
}

/** The parts of a value, and the chances that are not lists. */
export interface ListedParts {
  readonly parts: readonly ListedPart[]
  readonly open: readonly Chance[]
}

/**
 * A fact that holds of exactly the scalars in `values`, or of all others if `holds` is false. Maps
 * the key of a scalar to the fact "equals it".
 */
interface List {
  readonly values: ReadonlyMap<string, number>
  readonly holds: boolean
}

/** With fewer lists, each list cuts the value. */
const FewLists = 3

export class ListedValues {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  private readonly scalars: Scalars
  private readonly plain: PlainSchemas
  private readonly lists: (List | null | undefined)[] = []
  private readonly known = new Map<readonly Chance[], Map<number, ListedParts | null>>()

  constructor(all: Conjunctions, reader: KeywordReader, scalars: Scalars, plain: PlainSchemas) {
    this.all = all
    this.reader = reader
    this.scalars = scalars
    this.plain = plain
  }

  /** Whether `fact` is about a few scalars: it holds of exactly these, or of all other values. */
  isListed(fact: number): boolean {
    return this.listOf(fact) !== null
  }

  /**
   * Returns the parts of `conjunction`, or null if few of `chances` are lists. Memoized by the list
   * of chances.
   */
  partsOf(conjunction: number, chances: readonly Chance[]): ListedParts | null {
    if (chances.length < FewLists) return null
    let ofChances = this.known.get(chances)
    if (ofChances === undefined) {
      ofChances = new Map()
      this.known.set(chances, ofChances)
    }
    let parts = ofChances.get(conjunction)
    if (parts === undefined) {
      parts = this.makeParts(conjunction, chances)
      ofChances.set(conjunction, parts)
    }
    return parts
  }

  private makeParts(conjunction: number, chances: readonly Chance[]): ListedParts | null {
    const listed: { list: List; bits: bigint }[] = []
    const open: Chance[] = []
    for (const chance of chances) {
      const list = this.listOf(chance.fact)
      if (list === null) open.push(chance)
      else listed.push({ list, bits: chance.bits })
    }
    if (listed.length < FewLists) return null
    /** By scalar: the fact "equals it", and the lists that contain it. */
    const values = new Map<string, { equals: number; lists: number[] }>()
    for (const [i, { list }] of listed.entries()) {
      for (const [key, equals] of list.values) {
        const value = values.get(key)
        if (value === undefined) values.set(key, { equals, lists: [i] })
        else value.lists.push(i)
      }
    }
    // Obligations that all other values meet, and the part of them that they meet in more than one
    // way.
    let others = 0n
    let twice = 0n
    for (const { list, bits } of listed) {
      if (list.holds) continue
      twice |= others & bits
      others |= bits
    }
    const metBy = (lists: readonly number[]): bigint => {
      let [lost, gained] = [0n, 0n]
      for (const i of lists) {
        if (listed[i].list.holds) gained |= listed[i].bits
        else lost |= listed[i].bits
      }
      let met = (others & ~lost) | gained
      if ((lost & twice) === 0n) return met
      const held = new Set(lists)
      for (const [i, { list, bits }] of listed.entries()) if (list.holds === held.has(i)) met |= bits
      return met
    }
    // Scalars in the same lists form one part.
    const groups = new Map<string, { equals: number[]; lists: readonly number[] }>()
    for (const { equals, lists } of values.values()) {
      const key = lists.join()
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { equals: [equals], lists })
      else group.equals.push(equals)
    }
    const { all: taken } = this.plain.ofConjunction(conjunction)
    const isTakenAnyway = (equals: number) => {
      const fact = this.all.facts[equals]
      return fact.kind === "equals" && (taken & typeBit(fact.value)) !== 0
    }
    const parts: ListedPart[] = []
    for (const { equals, lists } of groups.values()) {
      const value = this.all.and(conjunction, [this.all.either(equals)])
      if (equals.some(isTakenAnyway) || this.scalars.hasValue(value)) parts.push({ value, met: metBy(lists) })
    }
    const differs = [...values.values()].map(({ equals }) => this.all.negation(equals))
    parts.push({ value: this.all.and(conjunction, differs), met: others })
    return { parts, open }
  }

  private listOf(id: number): List | null {
    let list = this.lists[id]
    if (list === undefined) {
      list = this.makeList(id)
      this.lists[id] = list
    }
    return list
  }

  private makeList(id: number): List | null {
    const fact = this.all.facts[id]
    if (fact.kind === "equals") {
      if (fact.value.kind === "object" || fact.value.kind === "array") return null
      const equals = fact.positive ? id : this.all.negation(id)
      return { values: new Map([[valueKey(fact.value), equals]]), holds: fact.positive }
    }
    if (fact.kind !== "schema") return null
    const keywords = this.reader.of(fact.node)
    if (keywords.enum === null || keywords.isCombined) return null
    const schema = this.all.schema(fact.node)
    const values = new Map<string, number>()
    for (const value of keywords.enum) {
      if (value.kind === "object" || value.kind === "array") return null
      const equals = this.all.fact({ kind: "equals", value, positive: true })
      if (isTaken(keywords, typeBit(value)) || this.scalars.hasValue(this.all.of([schema, equals])))
        values.set(valueKey(value), equals)
    }
    return { values, holds: fact.positive }
  }
}

/**
 * Whether a schema accepts all values of this type in its list, because it has no other constraint
 * on them.
 */
function isTaken(keywords: Keywords, type: number): boolean {
  return (
    (keywords.types & type) !== 0 &&
    keywords.patterns.length === 0 &&
    keywords.minLength === 0 &&
    keywords.maxLength === Number.POSITIVE_INFINITY &&
    keywords.number === null
  )
}
