/**
 * The arithmetic of properties: which keys may come next so that the object can still be finished.
 *
 * With R = required names still to come: count + |R| + extra ≤ max, where extra is the further keys of a plan
 * (`objectplan.ts`) that meets the obligations; and count + all that is still available ≥ min. The first names of a spec may have to
 * come in its order: of these only the names ahead of the last one read are available. All other names and the classes come in any
 * order behind them.
 */
import { checkTime } from "../../deadline.ts"
import { checkLimit, type Limits } from "../../errors.ts"
import { Infinite } from "../facts/conjunction.ts"
import type { Lookup } from "../facts/satisfiable.ts"
import { type Demands, NoPart } from "../values.ts"
import { findPlan, type Plan, type PlanOptions, planOptions } from "./objectplan.ts"
import type { Chance, KeyClass, ObjectSpec } from "./objectspec.ts"

/** What is known of the keys so far. */
export interface Progress {
  /** Bit i: declared name i has been read. None is where nothing asks any more. Shape [ceil(names / 32)]. */
  readonly seen: Int32Array
  /** Set of the other keys read: a trie of excluded names, 0 for none; or `UnknownKeys`. */
  readonly others: number
  readonly count: number
  /** Bit set of obligations that are not met yet. */
  readonly unmet: bigint
  /** First of the ordered names that is still ahead; their number where none is. */
  readonly next: number
  /** Required names that have not been read. */
  readonly requiredCount: number
}

const noClasses: readonly number[] = []

/** One of the other keys is not known: masks ask what follows before the key's text is there. */
export const UnknownKeys = -1

/** A way to read a key: what its value must satisfy, and the progress after it. */
export interface KeyWay {
  readonly value: number
  readonly progress: Progress
}

export class ObjectRules {
  readonly spec: ObjectSpec
  /** So many names come in the order of the spec, before all others. */
  private readonly ordered: number
  /** Before the first key. */
  readonly start: Progress
  /** Classes whose values have a value. */
  readonly classes: readonly KeyClass[]
  /** Whether declared name i has a value that exists. */
  private readonly isOffered: readonly boolean[]
  /** Names from index i on that are offered. Shape [names + 1]. */
  private readonly offeredFrom: Int32Array
  /** Index behind the last ordered name that is required. */
  private readonly lastRequired: number
  private readonly demands: Demands
  private readonly isProductive: Lookup
  private readonly limits: Limits
  private readonly plans = new Map<string, Plan | null>()
  /** The one that was found last. */
  private lastPlan: Plan | null = null
  /** Once a plan has been asked for. */
  private options: PlanOptions | undefined
  /** 0 … classes - 1. */
  private readonly allClasses: readonly number[]
  private readonly noneSeen: Int32Array
  /** Bit i: reading declared name i, or giving it up, may meet an obligation. */
  private readonly planned: Int32Array

  /** The first `ordered` names of `spec` come in its order. */
  constructor(spec: ObjectSpec, ordered: number, demands: Demands, isProductive: Lookup, limits: Limits) {
    this.limits = limits
    this.spec = spec
    this.ordered = ordered
    this.demands = demands
    this.isProductive = isProductive
    this.isOffered = spec.names.map(({ name, value }) => name.isWellFormed() && isProductive(value))
    this.offeredFrom = new Int32Array(spec.names.length + 1)
    for (let i = spec.names.length - 1; i >= 0; i--)
      this.offeredFrom[i] = this.offeredFrom[i + 1] + (this.isOffered[i] ? 1 : 0)
    this.lastRequired = 1 + spec.names.slice(0, ordered).findLastIndex(({ isRequired }) => isRequired)
    this.classes = spec.classes.filter(({ value }) => isProductive(value))
    this.allClasses = this.classes.map((_, index) => index)
    this.noneSeen = new Int32Array((spec.names.length + 31) >>> 5)
    this.planned = this.noneSeen.slice()
    for (let i = 0; i < spec.names.length; i++) {
      const { absence, chances } = spec.names[i]
      if (absence !== 0n || chances.length > 0) this.planned[i >>> 5] |= 1 << (i & 31)
    }
    let requiredCount = 0
    for (const { isRequired } of spec.names) if (isRequired) requiredCount++
    const unmet = (1n << BigInt(spec.obligationCount)) - 1n
    this.start = { seen: this.noneSeen, others: 0, count: 0, unmet, next: 0, requiredCount }
  }

  /** Whether any object at all satisfies the spec. Throws `limit` where other names can be read in too many ways. */
  isPossible(): boolean {
    if (this.spec.min > this.spec.max) return false
    if (this.spec.names.some(({ isRequired }, i) => isRequired && !this.isOffered[i])) return false
    if (!this.canFinish(this.start)) return false
    this.checkWays()
    return true
  }

  /**
   * A key of a class may come anywhere, so what is too much for it is told before anything is read. Before the first key most
   * is open: a class that can be read in so many ways then never has more.
   */
  private checkWays(): void {
    for (const [c, { chances }] of this.classes.entries())
      if (2 ** chances.length > this.limits.threads) this.classWays(this.start, c, this.start.others)
  }

  canClose(progress: Progress): boolean {
    const { requiredCount, count, unmet } = progress
    if (requiredCount !== 0 || count < this.spec.min || count > this.spec.max) return false
    return unmet === 0n || this.lacking(progress) === 0n
  }

  /** Obligations that are not met if the object ends here: neither by a value nor by a name that is not there. */
  private lacking(progress: Progress): bigint {
    let { unmet } = progress
    for (const [i, { absence }] of this.spec.names.entries()) {
      if (absence !== 0n && !this.isSeen(progress, i)) unmet &= ~absence
    }
    return unmet
  }

  /** Whether some key may come next. */
  canContinue(progress: Progress): boolean {
    return this.availableClasses(progress).length > 0 || this.available(progress, 1).length > 0
  }

  /** Declared names that may be the next key, ascending; the first `most` of them. */
  available(progress: Progress, most = Number.POSITIVE_INFINITY): number[] {
    const { names } = this.spec
    const available: number[] = []
    const isRoomy = this.isRoomy(progress)
    for (let i = progress.next; i < names.length && available.length < most; i++) {
      if (this.isSeen(progress, i)) continue
      if (this.isOffered[i] && (isRoomy || this.nameWays(progress, i, 1).length > 0)) available.push(i)
      if (i < this.ordered && names[i].isRequired) break
    }
    return available
  }

  /** Whether any key may come next as far as counts and obligations go: the common case, told at once. */
  private isRoomy({ unmet, count, requiredCount }: Progress): boolean {
    const { min, max } = this.spec
    return unmet === 0n && count + requiredCount >= min && count + 1 + requiredCount <= max
  }

  /** Classes that may give the next key. */
  availableClasses(progress: Progress): readonly number[] {
    if (progress.next < this.lastRequired) return noClasses
    if (this.allClasses.length === 0 || this.isRoomy(progress)) return this.allClasses
    return this.allClasses.filter((c) => this.classWays(progress, c, progress.others, 1).length > 0)
  }

  /** Ways to read declared name `index` next: the first `most` of them. */
  nameWays(before: Progress, index: number, most = Number.POSITIVE_INFINITY): KeyWay[] {
    const progress = this.passed(before, index)
    const { value, chances, isRequired } = this.spec.names[index]
    return this.ways(progress, value, chances, most, (met) => {
      const unmet = progress.unmet & ~met
      return {
        seen: this.seenAfter(progress.seen, index, unmet),
        others: progress.others,
        count: progress.count + 1,
        unmet,
        next: Math.min(index + 1, this.ordered),
        requiredCount: progress.requiredCount - (isRequired ? 1 : 0),
      }
    })
  }

  /** Ordered names that were read lie behind `next`: only obligations ask which ones they were. */
  private seenAfter(before: Int32Array, index: number, unmet: bigint): Int32Array {
    const isForgotten = unmet === 0n
    if (isForgotten && index < this.ordered) return this.noneSeen
    const seen = before.slice()
    seen[index >>> 5] |= 1 << (index & 31)
    if (isForgotten && this.ordered > 0) {
      seen.fill(0, 0, this.ordered >>> 5)
      seen[this.ordered >>> 5] &= -1 << (this.ordered & 31)
    }
    return seen
  }

  /** Ways to read a key of class `index` next, after which the set of other keys is `others`: the first `most` of them. */
  classWays(before: Progress, index: number, others: number, most = Number.POSITIVE_INFINITY): KeyWay[] {
    const { value, chances } = this.classes[index]
    const next = this.ordered
    const progress = this.passed(before, next)
    const { seen, count, unmet, requiredCount } = progress
    return this.ways(progress, value, chances, most, (met) => {
      return { seen, others, count: count + 1, unmet: unmet & ~met, next, requiredCount }
    })
  }

  /** Ordered names ahead of `index` are given up where it is read next: that meets obligations for good. */
  private passed(progress: Progress, index: number): Progress {
    if (progress.unmet === 0n) return progress
    let { unmet } = progress
    for (let i = progress.next; i < Math.min(index, this.ordered); i++)
      if (!this.isSeen(progress, i)) unmet &= ~this.spec.names[i].absence
    return unmet === progress.unmet ? progress : { ...progress, unmet }
  }

  /** A declared name that has to come, or that a plan reads to meet an obligation; -1 if there is none. */
  neededName(progress: Progress): number {
    const planned = new Set(this.plan(progress)?.names)
    const { names } = this.spec
    const isRoomy = this.isRoomy(progress)
    // An ordered name that is passed over is given up: the first one comes first.
    for (let i = progress.next; i < names.length; i++) {
      if (this.isSeen(progress, i)) continue
      const isNeeded = names[i].isRequired || planned.has(i)
      if (isNeeded && this.isOffered[i] && (isRoomy || this.nameWays(progress, i, 1).length > 0)) return i
      if (i < this.ordered && names[i].isRequired) break
    }
    return -1
  }

  /**
   * Keys that complete an object without obligations: declared names, and `-1 - c` for a new key of class c. Linear in
   * the names and the keys.
   */
  *rest(progress: Progress): Generator<number> {
    const { names, min } = this.spec
    const ahead: number[] = []
    for (let i = progress.next; i < names.length; i++)
      if (this.isOffered[i] && !this.isSeen(progress, i)) ahead.push(i)
    const wanted = min - progress.count
    let optional = this.classes.length > 0 ? 0 : wanted - progress.requiredCount
    // Where any will do, short ones; ordered ones must lie on the way.
    const chosen = new Set<number>()
    const byLength = ahead.filter((i) => !names[i].isRequired && optional > 0)
    byLength.sort((a, b) => names[a].bytes.length - names[b].bytes.length)
    for (const i of byLength) if (optional-- > 0) chosen.add(i)
    for (const i of ahead) if (names[i].isRequired || chosen.has(i)) yield i
    for (let count = progress.requiredCount + chosen.size; count < wanted; count++) yield -1
  }

  /** A class whose keys a plan reads to meet an obligation; -1 if there is none. */
  neededClass(progress: Progress): number {
    return this.plan(progress)?.keyClass ?? -1
  }

  private plan(progress: Progress): Plan | null {
    const { unmet, count, requiredCount } = progress
    if (unmet === 0n) return null
    const key = this.planKey(progress)
    let plan = this.plans.get(key)
    if (plan === undefined) {
      this.options ??= planOptions({ ...this.spec, classes: this.classes })
      plan = findPlan({
        options: this.options,
        limits: this.limits,
        isSeen: (i) => this.isSeen(progress, i),
        isOpen: (i) => this.isOpen(progress, i),
        isPossible: (value, facts) => this.isProductive(this.demand(value, facts)),
        count,
        requiredCount,
        unmet,
      })
      this.plans.set(key, plan)
      if (plan !== null) this.lastPlan = plan
    }
    return plan
  }

  /**
   * Whether the plan that was found last is one for `progress` as well, where all names that it does not read are given up: between
   * most keys nothing changes that it rests on, and a new one takes a search.
   */
  private isPlanned(progress: Progress): boolean {
    const { lastPlan: plan } = this
    if (plan === null) return false
    const { unmet, count, requiredCount } = progress
    const { names, min, max } = this.spec
    if (plan.cost > max - count - requiredCount) return false
    if (this.classes.length === 0 && count + requiredCount < min) return false
    for (const i of plan.names) if (!this.isOpen(progress, i)) return false
    let left = unmet & ~plan.met
    for (let i = 0; i < names.length && left !== 0n; i++) {
      const { absence, isRequired } = names[i]
      if (absence === 0n || this.isSeen(progress, i) || plan.names.includes(i)) continue
      if (!isRequired || !this.isOpen(progress, i)) left &= ~absence
    }
    return left === 0n
  }

  /** Whether a declared name can still be read, as far as its own value goes. */
  private isOpen(progress: Progress, index: number): boolean {
    return this.isOffered[index] && !this.isSeen(progress, index) && index >= progress.next
  }

  /** Equal keys, equal plans: names that meet nothing count, but it does not matter which they were. */
  private planKey({ seen, unmet, count, next, requiredCount }: Progress): string {
    const { min, max } = this.spec
    const isShort = this.classes.length === 0 && count + requiredCount < min
    const names = isShort ? seen : seen.map((word, i) => word & this.planned[i])
    const room = max === Infinite ? "" : max - count - requiredCount
    return `${names} ${unmet} ${room} ${isShort ? count : ""} ${next}`
  }

  /**
   * The ways to read a value with `chances`, those that meet most first. Scalars are told apart by what they meet: each belongs to
   * one way, and there are as many ways as differences, not as sets of chances. What holds containers is not: there is a way for
   * each set of chances that the value takes.
   */
  private ways(
    progress: Progress,
    value: number,
    chances: readonly Chance[],
    most: number,
    after: (met: bigint) => Progress,
  ): KeyWay[] {
    if (progress.unmet === 0n || chances.length === 0) {
      const next = after(0n)
      return this.canFinish(next) ? [{ value, progress: next }] : []
    }
    let free = 0n
    const open: Chance[] = []
    for (const chance of chances) {
      if (this.demand(value, [chance.fact]) === value) free |= chance.bits
      else open.push(chance)
    }
    const useful = open.filter(({ bits }) => (bits & progress.unmet & ~free) !== 0n)
    const ways: KeyWay[] = []
    const add = (demand: number, met: bigint) => {
      const what = "ways in which one property meets obligations"
      checkLimit(this.limits, "threads", ways.length + 1, "", what, "simplify the not or oneOf around it")
      ways.push({ value: demand, progress: after(met) })
    }
    /** What the first chances could meet together, by their number. */
    const left = [0n]
    for (const { bits } of useful) left.push(left[left.length - 1] | bits)
    // From the last one down: with it, then without.
    const choose = (count: number, demand: number, met: bigint): void => {
      checkTime()
      if (ways.length === most) return
      // What meets all that is left meets as much as can be met.
      if (!this.canFinish(after(met | left[count]))) return
      if (count === 0) {
        if (demand === value || this.isProductive(demand)) add(demand, met)
        return
      }
      const { fact, bits } = useful[count - 1]
      const without = this.demands.scalarPart(demand, fact, false)
      if (without === NoPart) {
        choose(count - 1, demand, met | bits)
        return
      }
      const part = this.demands.scalarPart(demand, fact, true)
      const both = part ?? this.demand(demand, [fact])
      if (part === null ? this.demands.canBeMet(both) : part !== NoPart) choose(count - 1, both, met | bits)
      choose(count - 1, without ?? demand, met)
    }
    choose(useful.length, value, free)
    return ways
  }

  /** The conjunction of `value` and of what chances ask. */
  private demand(value: number, facts: readonly number[]): number {
    const asked = facts.filter((fact) => fact !== this.spec.anything)
    return asked.length === 0 ? value : this.demands.and(value, asked)
  }

  /** What the values read so far may have had to satisfy; obligations that they met aside. */
  valuesRead(progress: Progress): number[] {
    // The last ordered name is known where all of them are forgotten.
    const named = this.spec.names.filter((_, i) => this.isSeen(progress, i) || i === progress.next - 1)
    return [...named, ...this.classes].map(({ value }) => value)
  }

  private isSeen(progress: Progress, index: number): boolean {
    return ((progress.seen[index >>> 5] >>> (index & 31)) & 1) === 1
  }

  /** Whether the object can still be completed. */
  private canFinish(progress: Progress): boolean {
    const { min, max } = this.spec
    const { count, requiredCount, unmet } = progress
    if (count + requiredCount > max) return false
    if (unmet !== 0n) return this.isPlanned(progress) || this.plan(progress) !== null
    if (this.classes.length > 0 || count + requiredCount >= min) return true
    // All keys so far are names of the spec. Ordered ones that were passed over are given up, and of the others all will do.
    const { ordered, offeredFrom } = this
    if (ordered === 0) return offeredFrom[0] >= min
    return count + offeredFrom[progress.next] - this.freeCount(progress) >= min
  }

  /** How many names that are not ordered have been read. */
  private freeCount({ seen, next }: Progress): number {
    const { ordered } = this
    if (next < ordered) return 0
    let count = 0
    for (let i = ordered >>> 5; i < seen.length; i++) {
      const word = i === ordered >>> 5 ? seen[i] & (-1 << (ordered & 31)) : seen[i]
      for (let left = word; left !== 0; left &= left - 1) count++
    }
    return count
  }
}
