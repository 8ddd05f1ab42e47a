/**
 * A plan: which further keys would meet all obligations of an object within its bounds on keys.
 *
 * Depth first over the obligations that are left: each is met by giving a name up, or by a key whose value meets the
 * facts asked of it so far and one more. One key may serve several; keys of a class may be as many as there is room for.
 */
import { checkTime } from "../../deadline.ts"
import { type Limits, limitError } from "../../errors.ts"
import type { Chance, ObjectSpec } from "./objectspec.ts"

export interface Plan {
  /** Declared names that the plan reads, required ones aside. */
  readonly names: readonly number[]
  /** A class that it reads a key of, or -1. */
  readonly keyClass: number
}

export interface PlanProblem {
  readonly spec: ObjectSpec
  readonly limits: Limits
  /** Names that have been read, and names that can still be. */
  isSeen(index: number): boolean
  isOpen(index: number): boolean
  /** Whether `value` and `facts` together have a value. */
  isPossible(value: number, facts: readonly number[]): boolean
  readonly count: number
  readonly requiredCount: number
  readonly unmet: number
}

interface Key {
  /** Declared name, or -1 − class. */
  readonly id: number
  readonly facts: readonly number[]
}

/** A plan, or null when there is none. */
export function findPlan(problem: PlanProblem): Plan | null {
  const { spec, limits, count, requiredCount } = problem
  const { names, classes, min, max } = spec
  let unmet = problem.unmet
  /** Names that may be given up, and names whose values may meet something: those that can still be read. */
  const forgone: number[] = []
  const useful: number[] = []
  for (let i = 0; i < names.length; i++) {
    const { absence, chances, isRequired } = names[i]
    if (absence === 0 && chances.length === 0) continue
    // What can no longer come is absent for good.
    if (!problem.isOpen(i)) unmet &= problem.isSeen(i) ? -1 : ~absence
    else {
      if (absence !== 0 && !isRequired) forgone.push(i)
      if (chances.length > 0) useful.push(i)
    }
  }
  // Real schemas need a few dozen.
  let steps = 0

  const search = (
    left: number,
    banned: ReadonlySet<number>,
    keys: readonly Key[],
    room: number,
  ): Plan | null => {
    checkTime()
    if (++steps > limits.objectSteps) {
      throw limitError(
        limits,
        "objectSteps",
        steps,
        "",
        (_, bound) => `the obligations of an object need more than ${bound} steps`,
        "simplify the not or oneOf around it",
      )
    }
    if (left === 0) return hasEnough(banned) ? planOf(keys) : null
    const bit = left & -left
    for (const i of forgone) {
      const { absence } = names[i]
      if ((absence & bit) === 0 || keys.some(({ id }) => id === i)) continue
      const plan = search(left & ~absence, new Set([...banned, i]), keys, room)
      if (plan !== null) return plan
    }
    for (const i of useful) {
      if (banned.has(i)) continue
      const { value, chances, isRequired } = names[i]
      const at = keys.findIndex(({ id }) => id === i)
      if (at < 0 && !isRequired && room === 0) continue
      const cost = at < 0 && !isRequired ? 1 : 0
      const plan = serve(left, bit, banned, keys, room - cost, at, i, value, chances)
      if (plan !== null) return plan
    }
    for (let c = 0; c < classes.length; c++) {
      const { value, chances } = classes[c]
      for (let at = 0; at < keys.length; at++) {
        const { id } = keys[at]
        if (id !== -1 - c) continue
        const plan = serve(left, bit, banned, keys, room, at, id, value, chances)
        if (plan !== null) return plan
      }
      if (room === 0) continue
      const plan = serve(left, bit, banned, keys, room - 1, -1, -1 - c, value, chances)
      if (plan !== null) return plan
    }
    return null
  }

  const serve = (
    left: number,
    bit: number,
    banned: ReadonlySet<number>,
    keys: readonly Key[],
    room: number,
    at: number,
    id: number,
    value: number,
    chances: readonly Chance[],
  ): Plan | null => {
    for (const { fact, bits } of chances) {
      if ((bits & bit) === 0) continue
      const facts = [...(at < 0 ? [] : keys[at].facts), fact]
      if (!problem.isPossible(value, facts)) continue
      const key = { id, facts }
      const plan = search(left & ~bits, banned, at < 0 ? [...keys, key] : keys.with(at, key), room)
      if (plan !== null) return plan
    }
    return null
  }

  const hasEnough = (banned: ReadonlySet<number>): boolean => {
    if (classes.length > 0 || count + requiredCount >= min) return true
    let available = 0
    for (let i = 0; i < names.length; i++) if (problem.isOpen(i) && !banned.has(i)) available++
    return count + available >= min
  }

  const planOf = (keys: readonly Key[]): Plan => ({
    names: keys.filter(({ id }) => id >= 0).map(({ id }) => id),
    keyClass: -1 - Math.min(0, ...keys.map(({ id }) => id)),
  })

  return search(unmet, new Set(), [], max - count - requiredCount)
}
