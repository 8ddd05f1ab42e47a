/**
 * A plan: further keys that would meet all obligations of an object within its bounds on keys, and
 * leave unmet those that its conditions require to be unmet.
 *
 * Names that are not needed stay absent, which meets most obligations at once. The search first
 * chooses the obligations on which the conditions depend, above all which schema of a `oneOf`
 * holds. Then it adds keys for the obligations that are still unmet. If only one key can meet an
 * obligation, it is read without a choice. Otherwise the search is depth first and takes the
 * obligation with the fewest ways first. One key may meet several obligations. The number of keys
 * of a class is bounded only by the room that is left.
 */
import { checkTime } from "../../deadline.ts"
import { type Limits, limitError } from "../../errors.ts"
import type { Demands } from "../values.ts"
import { type Condition, judge } from "./conditions.ts"
import type { Chance, ObjectSpec } from "./objectspec.ts"
import {
  bitsOf,
  FewServed,
  type PlanKey,
  type PlanOptions,
  weightOf,
  withoutAbsences,
} from "./planoptions.ts"

/** A key that a plan reads. */
interface PlannedKey {
  /** Index of a declared name, or -1 − class. */
  readonly id: number
  /** Obligations that the value of the key meets. */
  readonly met: bigint
}

export interface Plan {
  readonly keys: readonly PlannedKey[]
  /** Obligations that none of the keys meets. */
  readonly kept: bigint
}

/** The plan with no key but the required ones. */
export const emptyPlan: Plan = { keys: [], kept: 0n }

export interface PlanProblem {
  readonly options: PlanOptions
  readonly limits: Limits
  readonly demands: Demands
  /** Whether a name has been read, and whether it can still be read. */
  isSeen(index: number): boolean
  isOpen(index: number): boolean
  /** Whether some value satisfies `value`. */
  isPossible(value: number): boolean
  readonly count: number
  readonly requiredCount: number
  readonly unmet: bigint
  /** Obligations that are met if no further name comes except the required ones. */
  readonly absent: bigint
}

/**
 * One way to read a key: the constraint on its value, the obligations that this meets, and the
 * facts by which the value could meet more.
 */
interface Reading {
  readonly value: number
  readonly met: bigint
  readonly open: readonly Chance[]
}

/** A condition that should hold, or should not. */
interface Goal {
  readonly condition: Condition
  readonly holds: boolean
}

function wanted(conditions: readonly Condition[], holds: boolean): Goal[] {
  return conditions.map((condition) => ({ condition, holds }))
}

/**
 * Obligations that must be met (`must`), obligations that must stay unmet (`kept`), and undecided
 * obligations of a condition (`live`).
 */
interface Choice {
  readonly must: bigint
  readonly kept: bigint
  readonly live: bigint
}

/** A plan under construction. */
interface Draft {
  /** Obligations that no key meets yet. */
  left: bigint
  /** Obligations that are met if no further name comes. */
  absent: bigint
  readonly banned: Set<number>
  readonly keys: { readonly id: number; reading: Reading }[]
  room: number
}

/**
 * A way to continue a draft, and the obligations that it meets. `next` returns null if the draft
 * has no room for it.
 */
interface Way {
  readonly met: bigint
  next(): Draft | null
}

/** Returns a plan, or null if there is none. */
export function findPlan(problem: PlanProblem): Plan | null {
  return new PlanSearch(problem).find()
}

class PlanSearch {
  private readonly problem: PlanProblem
  private readonly spec: ObjectSpec
  /** Obligations that cannot be met any more. */
  private readonly stuck: bigint
  /** Obligations that are met in any case. */
  private lost = 0n
  /** By key: its readings that leave the kept obligations unmet. */
  private readings = new Map<PlanKey, readonly Reading[]>()
  private kept = 0n
  // Real schemas need a few dozen steps.
  private steps = 0

  constructor(problem: PlanProblem) {
    this.problem = problem
    this.spec = problem.options.spec
    this.stuck = this.findStuck()
  }

  find(): Plan | null {
    const { conditions, owed } = this.spec
    const { unmet } = this.problem
    if ((this.stuck & owed) !== 0n) return null
    if (conditions.length > 0) this.lost = this.findLost()
    const goals = conditions.map((condition) => ({ condition, holds: true }))
    return this.choose(goals, unmet & owed, 0n)
  }

  /** Returns the obligations that absent names do not meet and that no key can meet. */
  private findStuck(): bigint {
    const { options, unmet, absent } = this.problem
    let stuck = unmet & ~absent
    const pending = bitsOf(stuck)
    if (pending.length > FewServed) {
      for (const key of options.keys) {
        if (stuck === 0n) break
        if ((key.bits & stuck) !== 0n && this.isReadable(key)) stuck &= ~key.bits
      }
      return stuck
    }
    for (const i of pending)
      if (options.servants(i).some((key) => this.isReadable(key))) stuck &= ~(1n << BigInt(i))
    return stuck
  }

  /**
   * Returns the obligations of conditions that are met by a name's absence in any case, because the
   * name cannot come or has no room.
   */
  private findLost(): bigint {
    let lost = 0n
    for (const i of bitsOf(this.spec.counted & this.problem.unmet & this.problem.absent))
      if (!this.mayKeep(i)) lost |= 1n << BigInt(i)
    return lost
  }

  /** Whether a key may still come. */
  private isReadable({ id }: PlanKey): boolean {
    return id < 0 || this.problem.isOpen(id)
  }

  private step(): void {
    checkTime()
    const { limits } = this.problem
    if (++this.steps <= limits.objectSteps) return
    throw limitError(limits, "objectSteps", this.steps)
  }

  /**
   * Decides the obligations on which `goals` depend: those that must be met, and those that must
   * not.
   */
  private choose(goals: readonly Goal[], must: bigint, kept: bigint): Plan | null {
    const { unmet, absent } = this.problem
    if ((must & (kept | this.stuck)) !== 0n || (kept & (~unmet | this.lost)) !== 0n) return null
    // Goals that are already decided need no choice, or are impossible.
    const unsettled: Goal[] = []
    const known = ~unmet | this.lost | this.stuck | kept | must
    for (const goal of goals) {
      const verdict = judge(goal.condition, this.stuck | kept, known)
      if (verdict === !goal.holds) return null
      if (verdict === null) unsettled.push(goal)
    }
    if (unsettled.length === 0) return this.meetAll(must, kept)
    this.step()
    const [{ condition, holds }, ...others] = unsettled
    const { kind } = condition
    const isWanted = holds !== condition.isNegated
    const parts = this.inOrder(condition.parts, isWanted && kind !== "all")
    const live = condition.unmet & unmet
    if (kind === "all" && isWanted) {
      if (live !== condition.unmet) return null
      return this.choose([...wanted(parts, true), ...others], must, kept | live)
    }
    if (kind === "some" && !isWanted)
      return this.choose([...wanted(parts, false), ...others], must | live, kept)
    if (kind === "all" && live !== condition.unmet) return this.choose(others, must, kept)
    // The outcome that needs no further key is tried first.
    const byDefault = kind === "all" ? live & absent : live & ~absent
    const bits = function* () {
      yield* bitsOf(byDefault)
      yield* bitsOf(live & ~byDefault)
    }
    if (kind === "one" && isWanted) return this.chooseOne(parts, others, { must, kept, live }, bits())
    if (kind === "one") {
      const none = this.choose([...wanted(parts, false), ...others], must | live, kept)
      return none ?? this.chooseTwo(parts, others, { must, kept, live }, [...bits()])
    }
    // Some of them must hold, or not all of them.
    for (const i of bits()) {
      const bit = 1n << BigInt(i)
      const plan =
        kind === "some" ? this.choose(others, must, kept | bit) : this.choose(others, must | bit, kept)
      if (plan !== null) return plan
    }
    for (const part of parts) {
      const plan = this.choose([{ condition: part, holds: kind === "some" }, ...others], must, kept)
      if (plan !== null) return plan
    }
    return null
  }

  /** Returns `parts`, beginning with those that have the value `holds` if no further name comes. */
  private inOrder(parts: readonly Condition[], holds: boolean): readonly Condition[] {
    if (parts.length < 2) return parts
    const { unmet, absent } = this.problem
    const first = parts.filter((part) => judge(part, unmet & ~absent, -1n) === holds)
    return first.length === 0 ? parts : [...first, ...parts.filter((part) => !first.includes(part))]
  }

  /**
   * Whether obligation `i` can stay unmet: all names whose absence would meet it can still come,
   * and have room.
   */
  private mayKeep(i: number): boolean {
    const { options, count, requiredCount } = this.problem
    let room = this.spec.max - count - requiredCount
    for (const id of options.absentees[i]) {
      if (this.problem.isSeen(id) || options.keys[id].isRequired) continue
      if (!this.problem.isOpen(id) || --room < 0) return false
    }
    return true
  }

  /**
   * Lets exactly one obligation or part hold. `numbers` lists the obligations in `live` in the
   * order in which they are tried.
   */
  private chooseOne(
    parts: readonly Condition[],
    others: readonly Goal[],
    { must, kept, live }: Choice,
    numbers: Iterable<number>,
  ): Plan | null {
    const stuck = live & this.stuck
    if ((stuck & (stuck - 1n)) !== 0n) return null
    for (const i of numbers) {
      const bit = 1n << BigInt(i)
      if ((bit & this.lost) !== 0n) continue
      const plan = this.choose([...wanted(parts, false), ...others], must | (live & ~bit), kept | bit)
      // This obligation cannot be met, so no other one can be the one that holds.
      if (plan !== null || bit === stuck) return plan
    }
    for (const part of parts) {
      const rest = parts.filter((other) => other !== part)
      const next = [{ condition: part, holds: true }, ...wanted(rest, false), ...others]
      const plan = this.choose(next, must | live, kept)
      if (plan !== null) return plan
    }
    return null
  }

  /** Lets two obligations or parts hold, so that it is not exactly one. */
  private chooseTwo(
    parts: readonly Condition[],
    others: readonly Goal[],
    { must, kept }: Choice,
    numbers: readonly number[],
  ): Plan | null {
    for (const [a, first] of numbers.entries()) {
      const one = kept | (1n << BigInt(first))
      for (const second of numbers.slice(a + 1)) {
        const plan = this.choose(others, must, one | (1n << BigInt(second)))
        if (plan !== null) return plan
      }
      for (const condition of parts) {
        const plan = this.choose([{ condition, holds: true }, ...others], must, one)
        if (plan !== null) return plan
      }
    }
    for (const [a, first] of parts.entries()) {
      for (const second of parts.slice(a + 1)) {
        const plan = this.choose([...wanted([first, second], true), ...others], must, kept)
        if (plan !== null) return plan
      }
    }
    return null
  }

  /** Finds keys that meet the obligations in `must` and none of those in `kept`. */
  private meetAll(must: bigint, kept: bigint): Plan | null {
    const { options, absent, count, requiredCount } = this.problem
    this.kept = kept
    this.readings = new Map()
    const room = this.spec.max - count - requiredCount
    const draft: Draft = { left: must, absent, banned: new Set(), keys: [], room }
    const forced = new Set<PlanKey>()
    for (const i of bitsOf(kept)) {
      for (const id of options.absentees[i]) {
        if (this.problem.isSeen(id) || options.keys[id].isRequired) continue
        if (!this.problem.isOpen(id)) return null
        forced.add(options.keys[id])
      }
    }
    const asked = this.spec.counted & this.problem.unmet
    for (const key of options.askedAndRequired)
      if ((key.bits & asked) !== 0n && this.problem.isOpen(key.id)) forced.add(key)
    return this.force([...forced], draft)
  }

  /** Reads the keys in `forced`, in every possible way, and continues the search. */
  private force([key, ...rest]: readonly PlanKey[], draft: Draft): Plan | null {
    if (key === undefined) return this.search(draft)
    for (const reading of byWeight(this.readingsOf(key), draft.left)) {
      this.step()
      const next = copyOf(draft)
      if (!this.read(next, key, reading)) return null
      const plan = this.force(rest, next)
      if (plan !== null) return plan
    }
    return null
  }

  /** Adds the key to the draft. Returns whether the draft had room for it. */
  private read(draft: Draft, key: PlanKey, reading: Reading): boolean {
    draft.left &= ~reading.met
    draft.keys.push({ id: key.id, reading })
    if (key.isRequired) return true
    draft.room--
    const isThere = (id: number) => this.problem.isSeen(id) || draft.keys.some((other) => other.id === id)
    draft.absent = withoutAbsences(draft.absent, key.absences, isThere)
    return draft.room >= 0
  }

  private search(draft: Draft): Plan | null {
    this.step()
    for (;;) {
      const pending = draft.left & ~draft.absent
      if (pending === 0n) break
      let fewest: readonly Way[] | null = null
      let isForced = false
      for (const i of bitsOf(pending)) {
        const bit = 1n << BigInt(i)
        if ((draft.left & ~draft.absent & bit) === 0n) continue
        const most = fewest?.length ?? Number.POSITIVE_INFINITY
        const found = this.services(draft, bit, i, most)
        if (found.length === 0) return null
        const ways = byWeight(found, pending)
        // A key that meets most of what is pending is read at once, without a look at the other
        // obligations.
        if (ways.length > 1 && 2 * weightOf(ways[0].met & pending) > weightOf(pending))
          return this.tryEach(ways.length < most ? ways : byWeight(this.services(draft, bit, i), pending))
        if (ways.length === 1) {
          const next = ways[0].next()
          if (next === null) return null
          Object.assign(draft, next)
          isForced = true
        } else if (fewest === null || ways.length < fewest.length) fewest = ways
      }
      if (isForced || fewest === null) continue
      return this.tryEach(fewest)
    }
    if (this.hasEnough(draft, true)) return this.planOf(draft)
    // Some names must come whose absence would meet obligations. Which of them do is a separate
    // choice.
    if (draft.left === 0n) return this.hasEnough(draft, false) ? this.planOf(draft) : null
    let least: readonly Way[] | null = null
    for (const i of bitsOf(draft.left)) {
      const bit = 1n << BigInt(i)
      const ways = [...this.absences(draft, bit, i), ...this.services(draft, bit, i)]
      if (least === null || ways.length < least.length) least = ways
    }
    return this.tryEach(least ?? [])
  }

  private tryEach(ways: readonly Way[]): Plan | null {
    for (const way of ways) {
      const next = way.next()
      const plan = next === null ? null : this.search(next)
      if (plan !== null) return plan
    }
    return null
  }

  /**
   * Returns ways to meet obligation `i` by the value of a key. The search stops once it has `most`
   * of them.
   */
  private services(draft: Draft, bit: bigint, i: number, most = Number.POSITIVE_INFINITY): Way[] {
    const found: Way[] = []
    for (const key of this.problem.options.servants(i)) {
      if (found.length >= most) break
      const { id } = key
      for (const [at, { id: other, reading }] of draft.keys.entries()) {
        if (other !== id) continue
        // A key that is planned already may meet more.
        for (const longer of this.extended(reading, bit)) {
          const next = () => {
            const next = copyOf(draft)
            next.keys[at] = { id, reading: longer }
            next.left &= ~longer.met
            return next
          }
          found.push({ met: longer.met, next })
        }
        if (id >= 0) break
      }
      if (id >= 0 && draft.keys.some((other) => other.id === id)) continue
      if (draft.banned.has(id) || !this.isReadable(key) || (draft.room < 1 && !key.isRequired)) continue
      for (const reading of this.readingsOf(key)) {
        for (const longer of (reading.met & bit) !== 0n ? [reading] : this.extended(reading, bit)) {
          const next = () => {
            const next = copyOf(draft)
            return this.read(next, key, longer) ? next : null
          }
          found.push({ met: longer.met, next })
        }
      }
    }
    return found
  }

  /** Returns ways to meet obligation `i` by names that stay absent for good. */
  private absences(draft: Draft, bit: bigint, i: number): Way[] {
    if ((draft.absent & bit) === 0n) return []
    const { options } = this.problem
    return options.absentees[i]
      .filter((id) => this.problem.isOpen(id) && !draft.keys.some((key) => key.id === id))
      .map((id) => ({
        met: 0n,
        next: () => {
          const next = copyOf(draft)
          next.banned.add(id)
          next.left &= ~options.keys[id].absence
          return next
        },
      }))
  }

  /**
   * Returns the ways to read a key that leave the kept obligations unmet, by the lists that
   * distinguish its values.
   */
  private readingsOf(key: PlanKey): readonly Reading[] {
    let readings = this.readings.get(key)
    if (readings === undefined) {
      readings = this.makeReadings(key)
      this.readings.set(key, readings)
    }
    return readings
  }

  private makeReadings({ value, chances }: PlanKey): Reading[] {
    const { demands } = this.problem
    const listed = demands.listedParts(value, chances)
    let free = 0n
    const wrong: number[] = []
    const open: Chance[] = []
    for (const chance of listed?.open ?? chances) {
      if (chance.fact === this.spec.anything) free |= chance.bits
      else if ((chance.bits & this.kept) === 0n) open.push(chance)
      else {
        const negation = demands.negation(chance.fact)
        if (negation === null) return []
        wrong.push(negation)
      }
    }
    const readings: Reading[] = []
    for (const part of listed?.parts ?? [{ value, met: 0n }]) {
      const met = part.met | free
      if ((met & this.kept) !== 0n) continue
      const demand = wrong.length === 0 ? part.value : demands.and(part.value, wrong)
      if (demand === value || this.problem.isPossible(demand)) readings.push({ value: demand, met, open })
    }
    return readings
  }

  /** Yields the ways in which a value with this reading can also meet the obligations in `bit`. */
  private *extended({ value, met, open }: Reading, bit: bigint): Generator<Reading> {
    for (const chance of open) {
      if ((chance.bits & bit) === 0n) continue
      const demand = this.problem.demands.and(value, [chance.fact])
      if (!this.problem.isPossible(demand)) continue
      yield { value: demand, met: met | chance.bits, open: open.filter((other) => other !== chance) }
    }
  }

  /**
   * Whether there are enough keys without the banned ones. If `isCautious`, all other names whose
   * absence meets obligations are left out too.
   */
  private hasEnough(draft: Draft, isCautious: boolean): boolean {
    const { names, min } = this.spec
    const { count, requiredCount, options } = this.problem
    if (count + requiredCount >= min) return true
    if (options.keys.slice(names.length).some((key) => this.readingsOf(key).length > 0)) return true
    const planned = new Set(draft.keys.map(({ id }) => id))
    let available = 0
    for (const [i, { isRequired, absence }] of names.entries()) {
      if (!this.problem.isOpen(i) || draft.banned.has(i)) continue
      const key = options.keys[i]
      const isKept = (key.bits & this.kept) === 0n || this.readingsOf(key).length > 0
      if (planned.has(i) || isRequired || ((absence === 0n || !isCautious) && isKept)) available++
    }
    return count + available >= min
  }

  private planOf({ keys }: Draft): Plan | null {
    const planned: PlannedKey[] = []
    for (const { id, reading } of keys) {
      const decided = this.decided(reading)
      if (decided === null) return null
      planned.push({ id, met: decided.met })
    }
    return { keys: planned, kept: this.kept }
  }

  /**
   * Returns `reading` with all facts decided that conditions count, in the way in which the reader
   * of the key decides them. Returns null if that takes values that are not known yet.
   */
  private decided(reading: Reading): Reading | null {
    const { demands, unmet } = this.problem
    let { value, met } = reading
    for (const { fact, bits } of reading.open) {
      if ((bits & this.spec.counted & unmet & ~met) === 0n) continue
      const without = demands.and(value, [demands.negation(fact) as number])
      if (this.problem.isPossible(without)) {
        value = without
        continue
      }
      value = demands.and(value, [fact])
      met |= bits
      if (!this.problem.isPossible(value)) return null
    }
    return { ...reading, value, met }
  }
}

function copyOf({ left, absent, banned, keys, room }: Draft): Draft {
  return { left, absent, banned: new Set(banned), keys: [...keys], room }
}

/** Returns `ways`, beginning with those that meet most of `left`. */
function byWeight<T extends { readonly met: bigint }>(ways: readonly T[], left: bigint): readonly T[] {
  if (ways.length < 2) return ways
  const whole = ways.find(({ met }) => (left & ~met) === 0n)
  if (whole !== undefined) return [whole, ...ways.filter((way) => way !== whole)]
  const weights = new Map(ways.map((way) => [way, weightOf(way.met & left)]))
  return [...ways].sort((a, b) => (weights.get(b) as number) - (weights.get(a) as number))
}
