/**
 * The number of readings that a key leaves open over all alternatives of one object, checked before
 * anything is read.
 *
 * Each alternative distinguishes the values of a key by the obligations that they meet, and the
 * numbers of all alternatives add up. So a `oneOf` of open objects with different requirements on
 * one name can have more readings behind that name than the limit allows.
 */
import { checkLimit, type Limits } from "../../errors.ts"
import type { Scalars } from "../scalar/scalars.ts"
import type { Demands } from "../values.ts"
import type { KeyWay, ObjectRules } from "./objectrules.ts"
import type { Chance, ObjectSpec } from "./objectspec.ts"

/** Stands for all other keys in place of a name. */
const Others = null

/** With more facts than this, the number of their sets exceeds every limit. */
const ManyChances = 30

/**
 * Whether there may be too many readings; only then is the exact check worth its time. If lists
 * distinguish the values, there is one reading per part, each with a few lexemes. If sets of facts
 * distinguish them, there is one reading per set.
 */
export function mayLeaveMany(
  specs: readonly ObjectSpec[],
  listedParts: Demands["listedParts"],
  scalars: Scalars,
  { threads }: Limits,
): boolean {
  const most = new Map<string | null, number>()
  for (const { names, classes, anything } of specs) {
    const setsOf = (chances: readonly Chance[]) =>
      2 ** Math.min(chances.filter(({ fact }) => fact !== anything).length, ManyChances)
    const add = (name: string | null, value: number, chances: readonly Chance[]) => {
      const before = most.get(name) ?? 0
      const sets = setsOf(chances)
      const listed = before + sets <= threads ? null : listedParts(value, chances)
      if (listed === null) most.set(name, before + sets)
      else {
        const lexemes = listed.parts.reduce(
          (sum, part) => sum + Math.max(1, scalars.mostLexemes(part.value)),
          0,
        )
        most.set(name, before + setsOf(listed.open) * lexemes)
      }
    }
    for (const { name, value, chances } of names) add(name, value, chances)
    for (const { value, chances } of classes) add(Others, value, chances)
  }
  return [...most.values()].some((count) => count > threads)
}

/** The readings of one key. */
interface Readings {
  ways: number
  /**
   * The first lexemes of values, and the values whose lexemes have not been made yet. As long as
   * there are surely few lexemes, none are made.
   */
  readonly lexemes: Set<number>
  pending: number[]
  mostPending: number
}

/**
 * Throws `limit` if the first key would leave too many readings open, counted as ways to read it or
 * as first lexemes of its scalars. Reads each name in each alternative.
 */
export function checkKeyReadings(
  alternatives: readonly ObjectRules[],
  scalars: Scalars,
  limits: Limits,
): void {
  const readings = new Map<string | null, Readings>()
  const check = (count: number) => checkLimit(limits, "threads.key", count)
  const add = (name: string | null, ways: readonly KeyWay[]) => {
    const all = readings.get(name) ?? { ways: 0, lexemes: new Set(), pending: [], mostPending: 0 }
    readings.set(name, all)
    all.ways += ways.length
    check(all.ways)
    for (const { value } of ways) {
      all.pending.push(value)
      all.mostPending += scalars.mostLexemes(value)
    }
    if (all.lexemes.size + all.mostPending <= limits.threads) return
    for (const value of all.pending) for (const lexeme of scalars.lexemes(value)) all.lexemes.add(lexeme)
    all.pending = []
    all.mostPending = 0
    check(all.lexemes.size)
  }
  for (const rules of alternatives) {
    const { start, spec } = rules
    for (const i of rules.available(start)) add(spec.names[i].name, rules.nameWays(start, i))
    for (const c of rules.availableClasses(start)) add(Others, rules.classWays(start, c, start.others))
  }
}
