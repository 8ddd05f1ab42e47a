/**
 * A plan: which further keys would meet all obligations of an object within its bounds on keys.
 *
 * Depth first over the obligations that are left, the one with the fewest ways first: each is met by giving a name up, or by a key
 * whose value meets the facts asked of it so far and one more. One key may serve several; keys of a class may be as many as there is room for.
 */
import { checkTime } from "../../deadline.ts"
import { type Limits, limitError } from "../../errors.ts"
import type { Chance, ObjectSpec } from "./objectspec.ts"

export interface Plan {
  /** Declared names that the plan reads, required ones aside. */
  readonly names: readonly number[]
  /** A class that it reads a key of, or -1. */
  readonly keyClass: number
  /** Obligations that the values of its keys meet. */
  readonly met: bigint
  /** Keys that it reads besides required ones. */
  readonly cost: number
}

export interface PlanProblem {
  readonly options: PlanOptions
  readonly limits: Limits
  /** Names that have been read, and names that can still be. */
  isSeen(index: number): boolean
  isOpen(index: number): boolean
  /** Whether `value` and `facts` together have a value. */
  isPossible(value: number, facts: readonly number[]): boolean
  readonly count: number
  readonly requiredCount: number
  readonly unmet: bigint
}

interface Key {
  /** Declared name, or -1 − class. */
  readonly id: number
  readonly facts: readonly number[]
  readonly met: bigint
}

/** A way to meet an obligation by the value of a key. */
interface Service extends Chance {
  /** As of a key. */
  readonly id: number
  /** Conjunction of the key's value in any case. */
  readonly value: number
}

/** Ways to meet one obligation, as long as the names are open. */
interface Options {
  readonly bit: bigint
  /** Names that may be given up. */
  readonly forgone: readonly number[]
  readonly services: readonly Service[]
}

/** What there is to choose from in any plan for the objects of a spec. */
export interface PlanOptions {
  readonly spec: ObjectSpec
  /** Names that may be given up for some obligation. */
  readonly optional: readonly number[]
  /** By obligation. */
  readonly ways: readonly Options[]
}

/** Made once a spec: names times obligations. */
export function planOptions(spec: ObjectSpec): PlanOptions {
  const { names, classes, obligationCount } = spec
  const optional = names.flatMap(({ absence, isRequired }, i) => (absence !== 0n && !isRequired ? [i] : []))
  const keys = [
    ...names.map(({ value, chances }, id) => ({ id, value, chances })),
    ...classes.map(({ value, chances }, c) => ({ id: -1 - c, value, chances })),
  ].filter(({ chances }) => chances.length > 0)
  const ways = Array.from({ length: obligationCount }, (_, i): Options => {
    const bit = 1n << BigInt(i)
    return {
      bit,
      forgone: optional.filter((name) => (names[name].absence & bit) !== 0n),
      services: keys.flatMap(({ id, value, chances }) =>
        chances.filter(({ bits }) => (bits & bit) !== 0n).map((chance) => ({ ...chance, id, value })),
      ),
    }
  })
  return { spec, optional, ways }
}

/** A plan, or null when there is none. */
export function findPlan(problem: PlanProblem): Plan | null {
  const { options, limits, count, requiredCount } = problem
  const { names, classes, min, max } = options.spec
  const optional = options.optional.filter((name) => problem.isOpen(name))
  // What can no longer come is absent for good.
  let { unmet } = problem
  for (const [i, { absence }] of names.entries())
    if (absence !== 0n && !problem.isOpen(i) && !problem.isSeen(i)) unmet &= ~absence
  /** Whether its key may come, and have such a value at all: asked of the fact alone, as who reads the key asks. */
  const known = new Map<Service, boolean>()
  const isPossible = (service: Service): boolean => {
    let isIt = known.get(service)
    if (isIt === undefined) {
      const { id, value, fact } = service
      isIt = (id < 0 || problem.isOpen(id)) && problem.isPossible(value, [fact])
      known.set(service, isIt)
    }
    return isIt
  }
  // Real schemas need a few dozen.
  let steps = 0

  const search = (
    left: bigint,
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
    if (left === 0n) return hasEnough(banned) ? planOf(keys) : null
    const isUsed = (name: number) => keys.some(({ id }) => id === name)
    // Mostly nothing has to be chosen: what is left is met where no more names come than the plan has.
    const others = optional.filter((name) => !isUsed(name))
    const absence = others.reduce((met, name) => met | names[name].absence, 0n)
    if ((left & ~absence) === 0n && hasEnough(new Set([...banned, ...others]))) return planOf(keys)
    const isOption = (service: Service) => {
      const { id } = service
      const hasRoom = room > 0 || (id >= 0 && names[id].isRequired) || isUsed(id)
      return hasRoom && !banned.has(id) && isPossible(service)
    }
    // The one with the fewest ways to meet it: what cannot be met is seen before anything is tried.
    let forgone: number[] = []
    let services: Service[] = []
    let least = Number.POSITIVE_INFINITY
    for (const way of options.ways) {
      if ((left & way.bit) === 0n) continue
      const givenUp = way.forgone.filter((name) => problem.isOpen(name) && !isUsed(name))
      const served = way.services.filter(isOption)
      if (givenUp.length + served.length >= least) continue
      ;[forgone, services, least] = [givenUp, served, givenUp.length + served.length]
      if (least === 0) return null
    }
    for (const i of forgone) {
      const plan = search(left & ~names[i].absence, new Set([...banned, i]), keys, room)
      if (plan !== null) return plan
    }
    for (const service of services) {
      const { id } = service
      // A key that is there already, and of a class as many more as there is room for.
      for (const [at, key] of keys.entries()) {
        if (key.id !== id) continue
        const plan = serve(left, banned, keys, room, at, service)
        if (plan !== null) return plan
        if (id >= 0) break
      }
      const isNew = id < 0 || !isUsed(id)
      const cost = id >= 0 && names[id].isRequired ? 0 : 1
      if (!isNew || room < cost) continue
      const plan = serve(left, banned, keys, room - cost, -1, service)
      if (plan !== null) return plan
    }
    return null
  }

  /** Goes on with key `at`, or with a new one (-1), that also meets what `service` asks. */
  const serve = (
    left: bigint,
    banned: ReadonlySet<number>,
    keys: readonly Key[],
    room: number,
    at: number,
    { id, value, fact, bits: met }: Service,
  ): Plan | null => {
    const facts = [...(at < 0 ? [] : keys[at].facts), fact]
    if (!problem.isPossible(value, facts)) return null
    const key = { id, facts, met: at < 0 ? met : keys[at].met | met }
    return search(left & ~met, banned, at < 0 ? [...keys, key] : keys.with(at, key), room)
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
    met: keys.reduce((all, { met }) => all | met, 0n),
    cost: keys.filter(({ id }) => id < 0 || !names[id].isRequired).length,
  })

  return search(unmet, new Set(), [], max - count - requiredCount)
}
