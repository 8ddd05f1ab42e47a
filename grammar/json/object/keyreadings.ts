/**
 * How many readings a key leaves open in all alternatives of one object, told before anything is read.
 *
 * Each alternative tells the values of a key apart by the obligations that they meet, and alternatives add up: a oneOf of open
 * objects that ask different things of one name can have more readings behind that name than may be open.
 */
import { checkLimit, type Limits } from "../../errors.ts"
import type { KeyWay, ObjectRules } from "./objectrules.ts"
import type { Chance, ObjectSpec } from "./objectspec.ts"

/** The other keys, in place of a name. */
const Others = null

/** Beyond so many facts their sets are too many anyway. */
const ManyChances = 30

/** Whether there may be too many: only then is it worth the time to ask. */
export function mayLeaveMany(specs: readonly ObjectSpec[], { threads }: Limits): boolean {
  const most = new Map<string | null, number>()
  for (const { names, classes, anything } of specs) {
    const add = (name: string | null, chances: readonly Chance[]) => {
      const apart = chances.filter(({ fact }) => fact !== anything).length
      most.set(name, (most.get(name) ?? 0) + 2 ** Math.min(apart, ManyChances))
    }
    for (const { name, chances } of names) add(name, chances)
    for (const { chances } of classes) add(Others, chances)
  }
  return [...most.values()].some((count) => count > threads)
}

/**
 * Throws `limit` where the first key would leave too many open: in ways to read it, or in lexemes of scalars that `lexemesOf` a
 * conjunction begins with. Reads each name in each alternative.
 */
export function checkKeyReadings(
  alternatives: readonly ObjectRules[],
  lexemesOf: (conjunction: number) => readonly number[],
  limits: Limits,
): void {
  const readings = new Map<string | null, { ways: number; lexemes: Set<number> }>()
  const add = (name: string | null, ways: readonly KeyWay[]) => {
    const all = readings.get(name) ?? { ways: 0, lexemes: new Set() }
    readings.set(name, all)
    all.ways += ways.length
    for (const { value } of ways) for (const lexeme of lexemesOf(value)) all.lexemes.add(lexeme)
    const count = Math.max(all.ways, all.lexemes.size)
    const what = "readings of one key in all alternatives of an object"
    checkLimit(limits, "threads", count, "", what, "simplify the not or oneOf around it")
  }
  for (const rules of alternatives) {
    const { start, spec } = rules
    for (const i of rules.available(start)) add(spec.names[i].name, rules.nameWays(start, i))
    for (const c of rules.availableClasses(start)) add(Others, rules.classWays(start, c, start.others))
  }
}
