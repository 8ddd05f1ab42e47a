/**
 * The events that meet the obligations of an object, by the key at which they happen.
 *
 * Obligations are numbered; sets of them are bit sets. One pass over all events finds the
 * obligations that each name and each class of names can meet, so the cost for a thousand
 * obligations about a thousand names is linear in their events.
 */
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { matchesText } from "../../lexeme/expr/finite.ts"
import type { Obligation } from "../facts/obligations.ts"

/** Maps a fact to the obligations that a value with this fact meets. */
type MetBy = Map<number, bigint>

const nothing: ReadonlyMap<number, bigint> = new Map()

class Events {
  /** By name: the obligations that are met as long as the name is absent. */
  readonly absences = new Map<string, bigint>()
  private readonly values = new Map<string, MetBy>()
  /** The obligations that all names meet, except those listed by name in `excepted`. */
  private readonly others: MetBy = new Map()
  private readonly excepted = new Map<string, MetBy>()
  private readonly patterns = new Map<ExprId, MetBy>()

  constructor(obligations: readonly Obligation[]) {
    for (const [i, obligation] of obligations.entries()) {
      const bit = 1n << BigInt(i)
      /**
       * Names that do not meet the obligation, by fact. Of two such events, only names excluded by
       * both remain.
       */
      const excepted = new Map<number, ReadonlySet<string>>()
      for (const event of obligation) {
        if (event.kind === "absent") add(this.absences, event.name, bit)
        else if (event.kind === "value") add(inner(this.values, event.name), event.fact, bit)
        else if (typeof event.names === "number") add(inner(this.patterns, event.names), event.fact, bit)
        else {
          const { names: except, fact } = event
          const before = excepted.get(fact)
          excepted.set(
            fact,
            before === undefined ? except : new Set([...except].filter((name) => before.has(name))),
          )
        }
      }
      for (const [fact, names] of excepted) {
        add(this.others, fact, bit)
        for (const name of names) add(inner(this.excepted, name), fact, bit)
      }
    }
  }

  /** Returns the obligations that a declared name can meet. */
  ofName(name: string): ReadonlyMap<number, bigint> {
    if (this.others.size === 0 && this.patterns.size === 0) return this.values.get(name) ?? nothing
    const met = new Map(this.values.get(name))
    const excepted = this.excepted.get(name)
    for (const [fact, bits] of this.others) {
      const left = bits & ~(excepted?.get(fact) ?? 0n)
      if (left !== 0n) add(met, fact, left)
    }
    for (const [names, ofNames] of this.patterns)
      if (matchesText(names, name)) for (const [fact, bits] of ofNames) add(met, fact, bits)
    return met
  }

  /**
   * Returns the obligations that an undeclared name can meet if it belongs to the class that
   * matches the patterns in `matched`.
   */
  ofClass(matched: ReadonlySet<ExprId>): ReadonlyMap<number, bigint> {
    const met = new Map(this.others)
    for (const [names, ofNames] of this.patterns) {
      if (names !== exprs.anyText && !matched.has(names)) continue
      for (const [fact, bits] of ofNames) add(met, fact, bits)
    }
    return met
  }
}

/** Returns the events that meet these obligations. */
export function eventsOf(obligations: readonly Obligation[]): Events {
  return new Events(obligations)
}

function add<K>(map: Map<K, bigint>, key: K, bits: bigint): void {
  map.set(key, (map.get(key) ?? 0n) | bits)
}

function inner<K>(map: Map<K, MetBy>, key: K): MetBy {
  let met = map.get(key)
  if (met === undefined) {
    met = new Map()
    map.set(key, met)
  }
  return met
}
