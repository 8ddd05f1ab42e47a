/**
 * How many readings a key leaves open in all alternatives of one object, told before anything is
 * read.
 *
 * Each alternative tells the values of a key apart by the obligations that they meet, and
 * alternatives add up: a oneOf of open objects that ask different things of one name can have more
 * readings behind that name than may be open.
 */
import { checkLimit, type Limits } from "../../errors.ts"
import type { Scalars } from "../scalar/scalars.ts"
import type { Demands } from "../values.ts"
import type { KeyWay, ObjectRules } from "./objectrules.ts"
import type { Chance, ObjectSpec } from "./objectspec.ts"

/** The other keys, in place of a name. */
const Others = null

/** Beyond so many facts their sets are too many anyway. */
const ManyChances = 30

/**
 * Whether there may be too many: only then is it worth the time to ask. Values that lists tell
 * apart are so many parts, each with a few lexemes; those that sets of facts tell apart are as many
 * as there are sets.
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
   * Lexemes that values begin with, and values whose lexemes are not made yet: while they are
   * surely few, none is made.
   */
  readonly lexemes: Set<number>
  pending: number[]
  mostPending: number
}

/**
 * Throws `limit` where the first key would leave too many open: in ways to read it, or in lexemes
 * that its scalars begin with. Reads each name in each alternative.
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
