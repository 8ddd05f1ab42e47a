/**
 * The arithmetic of properties: the keys that may come next so that the object can still be
 * finished.
 *
 * With R = required names still to come: count + |R| + extra ≤ max, where extra is the number of
 * further keys of a plan (`objectplan.ts`) that meets the obligations; and count + all that is
 * still available ≥ min. The first names of a spec may have to come in its order: only those ahead
 * of the last one read are available. All other names and the classes come in any order behind
 * them.
 */
import { checkTime } from "../../deadline.ts"
import { checkLimit, type Limits } from "../../errors.ts"
import { Infinite } from "../facts/conjunction.ts"
import type { Lookup } from "../facts/satisfiable.ts"
import type { ListedPart } from "../scalar/listed.ts"
import { type Demands, NoPart } from "../values.ts"
import { judge } from "./conditions.ts"
import { emptyPlan, findPlan, type Plan } from "./objectplan.ts"
import type { Chance, KeyClass, ObjectSpec } from "./objectspec.ts"
import { type PlanOptions, planOptions, withoutAbsences } from "./planoptions.ts"

/** The state of an object after some of its keys. */
export interface Progress {
  /**
   * Bit i: declared name i has been read. No bit is set if nothing depends on it any more. Shape
   * [ceil(names / 32)].
   */
  readonly seen: Int32Array
  /** Set of the other keys read: a trie of excluded names, 0 for none; or `UnknownKeys`. */
  readonly others: number
  readonly count: number
  /** Bit set of obligations that are not met yet. */
  readonly unmet: bigint
  /**
   * Index of the first ordered name that is still ahead, or the number of ordered names if none is.
   */
  readonly next: number
  /** Number of required names that have not been read. */
  readonly requiredCount: number
  /**
   * Bit set of obligations that are met if no further name comes except the required ones. It
   * follows from `seen`.
   */
  readonly absent: bigint
}

const noClasses: readonly number[] = []

/** The number of ways to read a key whose remaining plans are compared. */
const FewWays = 8

/** The greatest number of plans that are memoized. */
const KeptPlans = 4_096

/**
 * Some other key is unknown: masks ask for the continuation before the text of the key is known.
 */
export const UnknownKeys = -1

/** A way to read a key: the constraint on its value, and the progress after it. */
export interface KeyWay {
  readonly value: number
  readonly progress: Progress
}

/** A search for the ways to read a key: at most `most` of them, and the progress after each. */
interface WaySearch {
  readonly ways: KeyWay[]
  readonly unmet: bigint
  readonly most: number
  after(met: bigint): Progress
}

export class ObjectRules {
  readonly spec: ObjectSpec
  /** This many names come in the order of the spec, before all others. */
  private readonly ordered: number
  /** The progress before the first key. */
  readonly start: Progress
  /** Key classes whose value schema some value satisfies. */
  readonly classes: readonly KeyClass[]
  /** Whether some value satisfies the schema of declared name i. */
  private readonly isOffered: readonly boolean[]
  /** Number of offered names from index i on. Shape [names + 1]. */
  private readonly offeredFrom: Int32Array
  /** Index behind the last ordered name that is required. */
  private readonly lastRequired: number
  private readonly demands: Demands
  private readonly isProductive: Lookup
  private readonly limits: Limits
  private readonly plans = new Map<string, Plan | null>()
  /** The plan that was found first, which needs least, and the plan that was found last. */
  private firstPlan: Plan = emptyPlan
  private lastPlan: Plan = emptyPlan
  /** Made when a plan is needed for the first time. */
  private madeOptions: PlanOptions | undefined
  /**
   * The obligations met when names are passed over, see `passed`: for the names from `from` on, the
   * set before each of the next names.
   */
  private passedOver: { from: number; bits: bigint[] } = { from: 0, bits: [0n] }
  /** The numbers 0 … classes - 1. */
  private readonly allClasses: readonly number[]
  private readonly noneSeen: Int32Array
  /** Bit i: reading or passing over declared name i may meet an obligation. */
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
    let absent = 0n
    for (const { isRequired, absence } of spec.names) {
      if (isRequired) requiredCount++
      else if (absence !== 0n) absent |= absence
    }
    const unmet = spec.obligationCount === 0 ? 0n : (1n << BigInt(spec.obligationCount)) - 1n
    this.start = { seen: this.noneSeen, others: 0, count: 0, unmet, next: 0, requiredCount, absent }
  }

  private get options(): PlanOptions {
    this.madeOptions ??= planOptions({ ...this.spec, classes: this.classes })
    return this.madeOptions
  }

  /** Whether only counts and required names decide how the object continues. */
  isFree(unmet: bigint): boolean {
    return unmet === 0n && this.spec.conditions.length === 0
  }

  /**
   * Whether any object satisfies the spec. Throws `limit` if other names can be read in too many
   * ways.
   */
  isPossible(): boolean {
    if (this.spec.min > this.spec.max) return false
    if (this.spec.names.some(({ isRequired }, i) => isRequired && !this.isOffered[i])) return false
    if (!this.canFinish(this.start)) return false
    this.checkWays()
    return true
  }

  /**
   * A key of a class may come anywhere, so its limit is checked before anything is read. Before the
   * first key most is open: a class that passes the check there never has more ways later.
   */
  private checkWays(): void {
    for (const [c, { chances }] of this.classes.entries())
      if (2 ** chances.length > this.limits.threads) this.classWays(this.start, c, this.start.others)
  }

  canClose({ requiredCount, count, unmet, absent }: Progress): boolean {
    if (requiredCount !== 0 || count < this.spec.min || count > this.spec.max) return false
    return this.isFree(unmet) || this.isSettled(unmet & ~absent, this.spec.counted)
  }

  /**
   * Whether no owed obligation is unmet and all conditions hold. `unmet` contains the unmet
   * obligations among those in `known` and the owed ones.
   */
  private isSettled(unmet: bigint, known: bigint): boolean {
    const { owed, conditions } = this.spec
    return (unmet & owed) === 0n && conditions.every((condition) => judge(condition, unmet, known) === true)
  }

  /** Whether some key may come next. */
  canContinue(progress: Progress): boolean {
    return this.availableClasses(progress).length > 0 || this.available(progress, 1).length > 0
  }

  /**
   * Returns the declared names that may be the next key, ascending; at most the first `most` of
   * them.
   */
  available(progress: Progress, most = Number.POSITIVE_INFINITY): number[] {
    const { names } = this.spec
    const available: number[] = []
    const isRoomy = this.isRoomy(progress)
    /**
     * Names from this index on cannot come, since a name before them cannot be passed over. It is
     * computed once a name cannot come.
     */
    let end = -1
    for (let i = progress.next; i < names.length && available.length < most; i++) {
      if (this.isSeen(progress, i)) continue
      if (this.isOffered[i]) {
        if (isRoomy || this.nameWays(progress, i, 1).length > 0) available.push(i)
        else if (end < 0) end = this.endAfter(progress, i)
      }
      if (i === end || (i < this.ordered && names[i].isRequired)) break
    }
    return available
  }

  /**
   * Returns the first name from `index` on that cannot be passed over, or the number of names if
   * there is none.
   */
  private endAfter(progress: Progress, index: number): number {
    const canGiveUp = (end: number) => this.canFinish({ ...this.passed(progress, end), next: end })
    if (index >= this.ordered || canGiveUp(this.ordered)) return this.spec.names.length
    // Passing over is monotonic: no name behind one that cannot be passed over can come.
    let [low, high] = [index, this.ordered - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (canGiveUp(middle + 1)) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * Whether counts and obligations allow any next key. This is the common case and is decided
   * without a search.
   */
  private isRoomy({ unmet, count, requiredCount }: Progress): boolean {
    const { min, max } = this.spec
    return this.isFree(unmet) && count + requiredCount >= min && count + 1 + requiredCount <= max
  }

  /** Returns the classes that may give the next key. */
  availableClasses(progress: Progress): readonly number[] {
    if (progress.next < this.lastRequired) return noClasses
    if (this.allClasses.length === 0 || this.isRoomy(progress)) return this.allClasses
    return this.allClasses.filter((c) => this.classWays(progress, c, progress.others, 1).length > 0)
  }

  /** Returns the ways to read declared name `index` next; at most the first `most` of them. */
  nameWays(before: Progress, index: number, most = Number.POSITIVE_INFINITY): KeyWay[] {
    const progress = this.passed(before, index)
    const { value, chances, isRequired } = this.spec.names[index]
    const absent = isRequired ? progress.absent : this.absentWithout(progress, index)
    return this.ways(progress, value, chances, most, (met) => {
      const unmet = progress.unmet & ~met
      return {
        seen: this.seenAfter(progress.seen, index, unmet),
        others: progress.others,
        count: progress.count + 1,
        unmet,
        next: Math.min(index + 1, this.ordered),
        requiredCount: progress.requiredCount - (isRequired ? 1 : 0),
        absent,
      }
    })
  }

  /**
   * Ordered names that were read lie behind `next`; only obligations depend on which ones they
   * were.
   */
  private seenAfter(before: Int32Array, index: number, unmet: bigint): Int32Array {
    const isForgotten = this.isFree(unmet)
    if (isForgotten && index < this.ordered) return this.noneSeen
    const seen = before.slice()
    seen[index >>> 5] |= 1 << (index & 31)
    if (isForgotten && this.ordered > 0) {
      seen.fill(0, 0, this.ordered >>> 5)
      seen[this.ordered >>> 5] &= -1 << (this.ordered & 31)
    }
    return seen
  }

  /** Returns the obligations that absent names meet if `index` comes. */
  private absentWithout(progress: Progress, index: number): bigint {
    if (this.spec.names[index].absence === 0n) return progress.absent
    const isThere = (name: number) => name === index || this.isSeen(progress, name)
    return withoutAbsences(progress.absent, this.options.keys[index].absences, isThere)
  }

  /**
   * Returns the ways to read a key of class `index` next, after which the set of other keys is
   * `others`; at most the first `most` of them.
   */
  classWays(before: Progress, index: number, others: number, most = Number.POSITIVE_INFINITY): KeyWay[] {
    const { value, chances } = this.classes[index]
    const next = this.ordered
    const progress = this.passed(before, next)
    const { seen, count, unmet, requiredCount, absent } = progress
    return this.ways(progress, value, chances, most, (met) => {
      return { seen, others, count: count + 1, unmet: unmet & ~met, next, requiredCount, absent }
    })
  }

  /**
   * Returns the progress if the key at `index` comes next. The ordered names before it are then
   * absent for good, which meets obligations.
   */
  private passed(progress: Progress, index: number): Progress {
    if ((progress.unmet & this.spec.owed) === 0n) return progress
    const end = Math.min(index, this.ordered)
    if (end <= progress.next) return progress
    // The names ahead have not been read. Most calls ask for one index after the other.
    if (this.passedOver.from !== progress.next) this.passedOver = { from: progress.next, bits: [0n] }
    const { from, bits } = this.passedOver
    for (let i = from + bits.length - 1; i < end; i++)
      bits.push(bits[bits.length - 1] | this.spec.names[i].absence)
    const unmet = progress.unmet & ~(bits[end - from] & this.spec.owed)
    return unmet === progress.unmet ? progress : { ...progress, unmet }
  }

  /**
   * Returns a declared name that must come, or that a plan reads, and the way to read it. Returns
   * null if there is none.
   */
  needed(progress: Progress): { index: number; way: KeyWay } | null {
    const plan = this.plan(progress)
    const planned = new Set(plan?.keys.map(({ id }) => id))
    const { names } = this.spec
    // An ordered name that is passed over cannot come later, so the first one comes first.
    for (let i = progress.next; i < names.length; i++) {
      if (this.isSeen(progress, i)) continue
      if ((names[i].isRequired || planned.has(i)) && this.isOffered[i]) {
        const way = this.plannedWay(progress, i, plan)
        if (way !== undefined) return { index: i, way }
      }
      if (i < this.ordered && names[i].isRequired) break
    }
    return null
  }

  /**
   * Returns a way to read declared name `index`, if there is one. If conditions count values, it is
   * a way from which `plan` continues.
   */
  private plannedWay(progress: Progress, index: number, plan: Plan | null): KeyWay | undefined {
    if (plan === null || this.spec.conditions.length === 0) return this.nameWays(progress, index, 1)[0]
    const ways = this.nameWays(progress, index)
    return ways.find((way) => this.isPlanned(way.progress, plan)) ?? this.easiest(ways)
  }

  /**
   * Yields the keys that complete an object without obligations: declared names, and `-1 - c` for a
   * new key of class c. Linear in the names and the keys.
   */
  *rest(progress: Progress): Generator<number> {
    const { names, min } = this.spec
    const ahead: number[] = []
    for (let i = progress.next; i < names.length; i++)
      if (this.isOffered[i] && !this.isSeen(progress, i)) ahead.push(i)
    const wanted = min - progress.count
    let optional = this.classes.length > 0 ? 0 : wanted - progress.requiredCount
    // If any name will do, short ones are taken. Ordered names must lie ahead.
    const chosen = new Set<number>()
    const byLength = ahead.filter((i) => !names[i].isRequired && optional > 0)
    byLength.sort((a, b) => names[a].bytes.length - names[b].bytes.length)
    for (const i of byLength) if (optional-- > 0) chosen.add(i)
    for (const i of ahead) if (names[i].isRequired || chosen.has(i)) yield i
    for (let count = progress.requiredCount + chosen.size; count < wanted; count++) yield -1
  }

  /** Returns a class whose keys a plan reads to meet an obligation, or -1 if there is none. */
  neededClass(progress: Progress): number {
    return -1 - Math.min(0, ...(this.tightPlan(progress)?.keys ?? []).map(({ id }) => id))
  }

  /**
   * Returns the one of `ways` after which the fewest keys are needed, comparing at most `FewWays`
   * of them.
   */
  easiest(ways: readonly KeyWay[]): KeyWay {
    if (ways.length < 2 || this.spec.conditions.length === 0) return ways[0]
    const done = ways.find(({ progress }) => this.isPlanned(progress, emptyPlan))
    if (done !== undefined) return done
    const lengths = ways
      .slice(0, FewWays)
      .map(({ progress }) => this.tightPlan(progress)?.keys.length ?? Number.POSITIVE_INFINITY)
    return ways[lengths.indexOf(Math.min(...lengths))]
  }

  /**
   * Returns a plan without unnecessary keys of classes: the obligations for which they were planned
   * may be met by now.
   */
  private tightPlan(progress: Progress): Plan | null {
    let plan = this.plan(progress)
    for (const key of plan?.keys ?? []) {
      if (plan === null || key.id >= 0) continue
      const fewer: Plan = { kept: plan.kept, keys: plan.keys.filter((other) => other !== key) }
      if (this.isPlanned(progress, fewer)) plan = fewer
    }
    return plan
  }

  private plan(progress: Progress): Plan | null {
    const { unmet, count, requiredCount, absent } = progress
    if (this.isFree(unmet)) return null
    const known = [emptyPlan, this.lastPlan, this.firstPlan].find((plan) => this.isPlanned(progress, plan))
    if (known !== undefined) return known
    const key = this.planKey(progress)
    let plan = this.plans.get(key)
    if (plan === undefined) {
      plan = findPlan({
        options: this.options,
        limits: this.limits,
        demands: this.demands,
        isSeen: (i) => this.isSeen(progress, i),
        isOpen: (i) => this.isOpen(progress, i),
        isPossible: (value) => this.isProductive(value),
        count,
        requiredCount,
        unmet,
        absent,
      })
      if (this.plans.size < KeptPlans) this.plans.set(key, plan)
    }
    if (plan !== null) {
      if (this.firstPlan === emptyPlan) this.firstPlan = plan
      this.lastPlan = plan
    }
    return plan
  }

  /**
   * Whether `plan` is also valid for `progress` if all names that it does not read stay absent.
   * Between most keys nothing changes on which a plan depends, and a new plan takes a search.
   */
  private isPlanned(progress: Progress, plan: Plan): boolean {
    const { count, requiredCount } = progress
    const { min, max, counted } = this.spec
    let [unmet, cost] = [progress.unmet, 0]
    /** Obligations that the values of planned names may or may not meet. */
    let open = 0n
    const isPlannedName = (name: number) => plan.keys.some(({ id }) => id === name)
    for (const { id, met } of plan.keys) {
      if (id < 0) {
        unmet &= ~met
        cost++
        continue
      }
      if (this.isSeen(progress, id)) continue
      if (!this.isOpen(progress, id)) return false
      const { bits, isRequired } = this.options.keys[id]
      unmet &= ~met
      open |= bits
      if (!isRequired) cost++
    }
    if (cost > max - count - requiredCount) return false
    if (count + requiredCount + cost < min && !this.hasFreeClass()) return false
    unmet &= ~this.absentWith(progress, plan)
    if ((unmet & this.spec.owed) !== 0n) return false
    if (this.spec.conditions.length === 0) return true
    // A required name whose value is counted is part of a plan.
    for (const { id, bits } of this.options.askedAndRequired)
      if ((bits & counted & progress.unmet) !== 0n && !this.isSeen(progress, id) && !isPlannedName(id))
        return false
    return this.isSettled(unmet, counted & ~(unmet & open & ~plan.kept))
  }

  /**
   * Returns the obligations that missing names still meet if the keys of the plan come. Only
   * watching names are examined.
   */
  private absentWith(progress: Progress, { keys: planned }: Plan): bigint {
    let { absent } = progress
    if (absent === 0n || planned.length === 0) return absent
    const { keys } = this.options
    if (!planned.some(({ id }) => id >= 0 && keys[id].absences.length > 0)) return absent
    const isThere = (name: number) => this.isSeen(progress, name) || planned.some(({ id }) => id === name)
    const { seen } = progress
    for (let i = 0; i < seen.length; i++) {
      for (let left = seen[i]; left !== 0; left &= left - 1) {
        const name = 32 * i + 31 - Math.clz32(left & -left)
        absent = withoutAbsences(absent, keys[name].watched, isThere)
      }
    }
    for (const { id } of planned) if (id >= 0) absent = withoutAbsences(absent, keys[id].watched, isThere)
    return absent
  }

  /** Whether there is a class whose keys are not counted. It gives as many keys as needed. */
  private hasFreeClass(): boolean {
    const { counted } = this.spec
    return this.classes.some(({ chances }) => chances.every(({ bits }) => (bits & counted) === 0n))
  }

  /** Whether a declared name can still be read, as far as its own value allows. */
  private isOpen(progress: Progress, index: number): boolean {
    return this.isOffered[index] && !this.isSeen(progress, index) && index >= progress.next
  }

  /**
   * Returns a key such that equal keys have equal plans. Names that meet nothing matter by their
   * number only.
   */
  private planKey({ seen, unmet, count, next, requiredCount }: Progress): string {
    const { min, max } = this.spec
    const isShort = this.classes.length === 0 && count + requiredCount < min
    const names = isShort ? seen : seen.map((word, i) => word & this.planned[i])
    const room = max === Infinite ? "" : max - count - requiredCount
    return `${names} ${unmet.toString(32)} ${room} ${isShort ? count : ""} ${next}`
  }

  /**
   * Returns the ways to read a value with `chances`, beginning with those that meet most. Scalars
   * are distinguished by the obligations that they meet: each belongs to one way, so there are as
   * many ways as differences, not as sets of chances. Values that may be containers are not
   * distinguished: there is a way for each set of chances that the value can meet, or for counted
   * chances, that it can meet exactly.
   */
  private ways(
    progress: Progress,
    value: number,
    chances: readonly Chance[],
    most: number,
    after: (met: bigint) => Progress,
  ): KeyWay[] {
    const { unmet } = progress
    if (unmet === 0n || chances.length === 0) {
      const next = after(0n)
      return this.canFinish(next) ? [{ value, progress: next }] : []
    }
    const ways: KeyWay[] = []
    const listed = this.demands.listedParts(value, chances)
    const search = { ways, unmet, most, after }
    if (listed === null) this.addWays(search, { value, met: 0n }, chances)
    for (const part of listed?.parts ?? []) {
      if (ways.length >= most) break
      // The test whether a part has values follows the cheaper test whether it would do.
      if (listed !== null && (listed.open.length > 0 || this.canFinish(after(part.met)))) {
        if (this.isProductive(part.value)) this.addWays(search, part, listed.open)
      }
    }
    return ways
  }

  /** Adds the ways to read `value` with `chances`. All its values meet the obligations in `met`. */
  private addWays(
    { ways, unmet, most, after }: WaySearch,
    { value, met: sure }: ListedPart,
    chances: readonly Chance[],
  ): void {
    let free = sure
    const open: Chance[] = []
    for (const chance of chances) {
      if (this.demand(value, [chance.fact]) === value) free |= chance.bits
      else open.push(chance)
    }
    const useful = open.filter(({ bits }) => (bits & unmet & ~free) !== 0n)
    const add = (demand: number, met: bigint) => {
      checkLimit(this.limits, "threads.property", ways.length + 1)
      ways.push({ value: demand, progress: after(met) })
    }
    /** `left[i]`: the obligations that the first i chances could meet together. */
    const left = [0n]
    for (const { bits } of useful) left.push(left[left.length - 1] | bits)
    // From the last chance down: first with it, then without.
    const choose = (count: number, demand: number, met: bigint): void => {
      checkTime()
      if (ways.length >= most) return
      // A way that meets everything that is left meets as much as possible.
      const isDecided = count === 0 || (left[count] & this.spec.counted) === 0n
      if (isDecided && !this.canFinish(after(met | left[count]))) return
      if (count === 0) {
        if (demand === value || this.isProductive(demand)) add(demand, met)
        return
      }
      const { fact, bits } = useful[count - 1]
      const without = this.without(demand, fact, (bits & unmet & this.spec.counted) !== 0n)
      if (without === NoPart) {
        choose(count - 1, demand, met | bits)
        return
      }
      const part = this.demands.scalarPart(demand, fact, true)
      const both = part ?? this.demand(demand, [fact])
      if (part === null ? this.demands.canBeMet(both) : part !== NoPart) choose(count - 1, both, met | bits)
      choose(count - 1, without, met)
    }
    choose(useful.length, value, free)
  }

  /**
   * Returns the part of `demand` for which `fact` does not hold, or `NoPart`. If the chance is not
   * counted and containers belong to the part, no negation is added.
   */
  private without(demand: number, fact: number, isCounted: boolean): number {
    const part = this.demands.scalarPart(demand, fact, false)
    if (part !== null) return part
    if (!isCounted) return demand
    const other = this.demands.and(demand, [this.demands.negation(fact) as number])
    return this.demands.canBeMet(other) ? other : NoPart
  }

  /** Returns the conjunction of `value` and the facts of chances. */
  private demand(value: number, facts: readonly number[]): number {
    const asked = facts.filter((fact) => fact !== this.spec.anything)
    return asked.length === 0 ? value : this.demands.and(value, asked)
  }

  /**
   * Returns the conjunctions that the values read so far may have had to satisfy, without the
   * obligations that they met.
   */
  valuesRead(progress: Progress): number[] {
    // If all ordered names are forgotten, the last one is still known.
    const named = this.spec.names.filter((_, i) => this.isSeen(progress, i) || i === progress.next - 1)
    return [...named, ...this.classes].map(({ value }) => value)
  }

  /** Returns the required names that are still to come, ascending. */
  missing(progress: Progress): number[] {
    const isAhead = (i: number) => i >= this.ordered || i >= progress.next
    return [...this.spec.names.keys()].filter(
      (i) => this.spec.names[i].isRequired && isAhead(i) && !this.isSeen(progress, i),
    )
  }

  private isSeen(progress: Progress, index: number): boolean {
    return ((progress.seen[index >>> 5] >>> (index & 31)) & 1) === 1
  }

  /** Whether the object can still be completed. */
  private canFinish(progress: Progress): boolean {
    const { min, max } = this.spec
    const { count, requiredCount, unmet } = progress
    if (count + requiredCount > max) return false
    if (!this.isFree(unmet)) return this.plan(progress) !== null
    if (this.classes.length > 0 || count + requiredCount >= min) return true
    // All keys so far are names of the spec. Ordered names that were passed over cannot come any
    // more; all other names can.
    const { ordered, offeredFrom } = this
    if (ordered === 0) return offeredFrom[0] >= min
    return count + offeredFrom[progress.next] - this.freeCount(progress) >= min
  }

  /** Returns the number of names outside the order that have been read. */
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
