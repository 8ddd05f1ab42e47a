/**
 * The choices of any plan for the objects of a spec: which keys can meet which obligations, by
 * their values or by their absence.
 */
import type { Chance, ObjectSpec } from "./objectspec.ts"

/** The obligations that one key can meet in a plan for the objects of a spec. */
export interface PlanKey {
  readonly id: number
  readonly value: number
  readonly chances: readonly Chance[]
  /** The obligations that its values may meet. */
  readonly bits: bigint
  readonly isRequired: boolean
  /** Set of the obligations that are met as long as the key is absent. */
  readonly absence: bigint
  /** The absences that list this name. */
  readonly absences: readonly Absence[]
  /** Some of these absences. Each absence is watched by exactly one of its names. */
  readonly watched: readonly Absence[]
}

/**
 * A group of obligations that are met while at least one of `names` is missing. Required names are
 * not listed.
 */
interface Absence {
  /** Names with the fewest absences come first. */
  readonly names: readonly number[]
  readonly bits: bigint
}

/** The choices of any plan for the objects of a spec. */
export interface PlanOptions {
  readonly spec: ObjectSpec
  /** First the names, by id; then the classes, where class c has id -1 - c. */
  readonly keys: readonly PlanKey[]
  /** By obligation: the names whose absence meets it, including required names. */
  readonly absentees: readonly (readonly number[])[]
  /** Returns the keys that may meet an obligation by their values. */
  servants(obligation: number): readonly PlanKey[]
  /** Required names that may meet an obligation. */
  readonly askedAndRequired: readonly PlanKey[]
}

const none: readonly never[] = []

/** Up to this many obligations, the keys that serve one are found by looking through all keys. */
export const FewServed = 16

/** Returns the options of a spec. Called once per spec; linear in the events of its obligations. */
export function planOptions(spec: ObjectSpec): PlanOptions {
  const { names, classes, obligationCount } = spec
  const bitsOfAll = (chances: readonly Chance[]) => chances.reduce((bits, chance) => bits | chance.bits, 0n)
  const absentees: number[][] = Array.from({ length: obligationCount }, () => [])
  for (const [id, { absence }] of names.entries()) for (const i of bitsOf(absence)) absentees[i].push(id)
  const { absences, watched } = absencesOf(absentees, (id) => names[id].isRequired)
  const keys: PlanKey[] = names.map(({ value, chances, isRequired, absence }, id) => {
    const own = { absence, absences: absences[id] ?? none, watched: watched[id] ?? none }
    return { id, value, chances, bits: bitsOfAll(chances), isRequired, ...own }
  })
  for (const [c, { value, chances }] of classes.entries()) {
    const own = { isRequired: false, absence: 0n, absences: none, watched: none }
    keys.push({ id: -1 - c, value, chances, bits: bitsOfAll(chances), ...own })
  }
  const askedAndRequired = keys.filter(({ isRequired, bits }) => isRequired && bits !== 0n)
  // In a closed object each name serves most obligations. So the lists of all obligations are made
  // only after `FewServed` of them have been requested.
  let servants: readonly (readonly PlanKey[])[] | null = null
  const few = new Map<number, readonly PlanKey[]>()
  const servantsOf = (obligation: number) => {
    if (servants !== null) return servants[obligation]
    let found = few.get(obligation)
    if (found !== undefined) return found
    if (few.size === FewServed) {
      servants = byObligation(keys, obligationCount)
      return servants[obligation]
    }
    const bit = 1n << BigInt(obligation)
    found = keys.filter(({ bits }) => (bits & bit) !== 0n)
    few.set(obligation, found)
    return found
  }
  return { spec, keys, absentees, servants: servantsOf, askedAndRequired }
}

function byObligation(keys: readonly PlanKey[], obligationCount: number): PlanKey[][] {
  const servants: PlanKey[][] = Array.from({ length: obligationCount }, () => [])
  for (const key of keys) for (const i of bitsOf(key.bits)) servants[i].push(key)
  return servants
}

/**
 * Returns, by name, the absences that list it and those that it watches. The name with the fewest
 * absences watches.
 */
function absencesOf(
  absentees: readonly (readonly number[])[],
  isRequired: (name: number) => boolean,
): { absences: Absence[][]; watched: Absence[][] } {
  const groups = new Map<string, { names: number[]; bits: bigint }>()
  for (const [i, all] of absentees.entries()) {
    const names = all.filter((name) => !isRequired(name))
    if (names.length === 0) continue
    const group = groups.get(names.join())
    if (group === undefined) groups.set(names.join(), { names, bits: 1n << BigInt(i) })
    else group.bits |= 1n << BigInt(i)
  }
  const absences: Absence[][] = []
  const watched: Absence[][] = []
  for (const group of groups.values()) {
    for (const name of group.names) {
      absences[name] ??= []
      absences[name].push(group)
    }
  }
  for (const group of groups.values()) {
    group.names.sort((a, b) => absences[a].length - absences[b].length)
    const [first] = group.names
    watched[first] ??= []
    watched[first].push(group)
  }
  return { absences, watched }
}

/** Returns `absent` without the obligations of those `absences` whose names are all present. */
export function withoutAbsences(
  absent: bigint,
  absences: readonly Absence[],
  isThere: (name: number) => boolean,
): bigint {
  let left = absent
  for (const { names, bits } of absences) if (names.every(isThere)) left &= ~bits
  return left
}

/**
 * 64 bits of a set as two words, the lower one first. Reading words is eight times as fast as
 * shifting a bigint.
 */
const chunk = new BigUint64Array(1)
const words = new Int32Array(chunk.buffer)

/** Returns the numbers of the bits in `bits`, ascending. */
export function bitsOf(bits: bigint): number[] {
  const numbers: number[] = []
  for (let left = bits, at = 0; left !== 0n; left >>= 64n, at += 64) {
    chunk[0] = left
    for (let half = 0; half < 2; half++) {
      for (let word = words[half]; word !== 0; word &= word - 1)
        numbers.push(at + 32 * half + 31 - Math.clz32(word & -word))
    }
  }
  return numbers
}

/** Returns the number of bits that are set. */
export function weightOf(bits: bigint): number {
  let weight = 0
  for (let left = bits; left !== 0n; left >>= 64n) {
    chunk[0] = left
    for (let half = 0; half < 2; half++) for (let word = words[half]; word !== 0; word &= word - 1) weight++
  }
  return weight
}
