/**
 * Decides in which thread the walks of each request run: at home, in the nursery, or in a thread
 * that belongs to their constraint.
 *
 * One thread, the *home*, serves all quick constraints. If others run there, an unknown constraint
 * is compiled in a second thread, the *nursery*, and moves home once its first mask is found. A
 * compilation that is not quick waits for a thread of its own. If a constraint holds up a shared
 * thread for longer, it keeps that thread, and all others move to another one, where their tokens
 * are replayed. Work that exceeds its time limit is ended together with its thread, and only its
 * request fails.
 */
import { GrammarError } from "../../grammar/index.ts"
import { AbortError, ModelError, RequestError } from "../errors.ts"
import { Crowding } from "./crowding.ts"
import type { Group } from "./group.ts"
import type { Opening } from "./opening.ts"
import { excused } from "./priority.ts"
import {
  type FromThread,
  maxHeapMb,
  type PlainOpening,
  packOpening,
  timedWork,
  type UnitKindName,
  unpackOpening,
  type WorkLimits,
} from "./protocol.ts"
import type { WalkThread, Work } from "./thread.ts"
import { type PoolOptions, WalkThreads } from "./threads.ts"

export interface PlacementOptions extends PoolOptions {
  readonly limits: WorkLimits
  /** Maximum number of compilations that run at once and are not quick. */
  readonly maxSlow: number
  readonly log: (line: string) => void
}

export interface PlacementHandlers {
  onAnswer(thread: WalkThread, answer: FromThread): void
  /** Called when the group has ended. */
  onFailure(group: Group, error: Error): void
}

/**
 * A constraint that compiles within this time is quick. Running answers wait at most this long for
 * others in their thread.
 */
export const patienceMs = 30
/** How long requests that are being opened wait for another one in their thread. */
const openingPatienceMs = 250
/** Maximum time of a compilation at home if other requests run there. */
const trialMs = 25
/** How long the home waits for a compilation if no other thread can be started. */
const crowdedMs = 150
/** How long work may continue after its request has ended. */
const abandonedMs = 20
/** Interval of the checks of the threads, and the interval if none of them works. */
const watchMs = 8
const quietWatchMs = 5_000
/** A home that holds more bytes is replaced by a new one. */
const maxThreadBytes = 1_024 << 20
/** How long a compilation that is not quick waits for a thread of its own before it is refused. */
const maxLineMs = 15_000
/** How long a refusal for time is remembered. */
const refusalMs = 60_000
const maxRefusals = 1_024
/**
 * Number of constraints that the home is assumed to remember; older ones are compiled in the
 * nursery again.
 */
const maxKnown = 256
/** Number of threads that may end in a row without an answer before the engine gives up. */
const maxStillborn = 3

export class Placement {
  readonly threads: WalkThreads
  private readonly options: PlacementOptions
  private readonly handlers: PlacementHandlers
  private readonly groups = new Map<number, Group>()
  /** Groups that wait to be compiled, one at a time; masks are filled in between. */
  private arriving: Group[] = []
  /**
   * Keys of constraints that were quick at home. The value is the opening of a request that
   * contains only the constraint, if it is known.
   */
  private known = new Map<string, PlainOpening | undefined>()
  /** Groups that wait for a thread of their own. */
  private slow: Group[] = []
  private readonly refusals = new Map<string, { error: Error; until: number }>()
  private stillborn = 0
  private readonly crowding = new Crowding()
  private watch: ReturnType<typeof setInterval> | undefined
  private quietWatch: ReturnType<typeof setTimeout> | undefined
  private isClosing = false

  constructor(options: PlacementOptions, handlers: PlacementHandlers) {
    this.options = options
    this.handlers = handlers
    this.threads = new WalkThreads(options, {
      onAnswer: (thread, answer) => {
        this.stillborn = 0
        handlers.onAnswer(thread, answer)
      },
      onDeath: (thread, error) => this.died(thread, error),
    })
  }

  /** Returns the refusal of a constraint that recently took too long. */
  refusalOf({ key }: Group): Error | undefined {
    const refusal = key === undefined ? undefined : this.refusals.get(key)
    return refusal && refusal.until > performance.now() ? refusal.error : undefined
  }

  /** Sends a group with its guides to a thread, at once or when it is its turn. */
  admit(group: Group): void {
    this.groups.set(group.id, group)
    this.watch ??= setInterval(() => this.inspect(), watchMs)
    this.watch.unref?.()
    const owner = this.threads.ownerOf(group.key)
    const isKnown = group.key !== undefined && this.known.has(group.key)
    if (owner) this.send(group, owner)
    else if (isKnown) this.sendKnown(group, this.known.get(group.key!))
    else this.arriving.push(group)
    this.sendNext()
  }

  /**
   * Sends a group with a known constraint to the home. The constraint itself cannot be refused
   * again, so without further options the request does not wait for the thread, and its first mask
   * is found while the model reads the prompt.
   */
  private sendKnown(group: Group, known: PlainOpening | undefined): void {
    const { maxHealed, closes, stopRegexes, badWords, wantsReport, written } = group.request
    const asksMore =
      maxHealed > 0 || closes || stopRegexes.length > 0 || badWords.length > 0 || wantsReport || written
    const isTold = known !== undefined && !asksMore
    // If the answer is already known, the thread is only woken for the first mask.
    this.send(group, this.threads.home, isTold ? "tell" : "post")
    if (!isTold || !this.groups.has(group.id)) return
    group.opening = unpackOpening(known, group.request)
    group.resolve(group.opening)
  }

  /**
   * Returns the group of an id if it is in `thread`; undefined otherwise: answers of other threads
   * about it are outdated.
   */
  groupOf(id: number, thread: WalkThread): Group | undefined {
    const group = this.groups.get(id)
    return group?.thread === thread ? group : undefined
  }

  async close(): Promise<void> {
    this.isClosing = true
    clearInterval(this.watch)
    clearTimeout(this.quietWatch)
    for (const group of [...this.groups.values()]) this.handlers.onFailure(group, new AbortError())
    await this.threads.close()
  }

  /**
   * Records that a constraint's first mask was found in time: it counts as quick and moves home.
   */
  graduate(group: Group): void {
    const { thread, key } = group
    if (!thread || !this.threads.isShared(thread)) return
    const { home } = this.threads
    if (!group.isProven && key !== undefined) {
      if (this.known.size >= maxKnown) this.known.clear()
      // If the prompt is healed, or tokens are already written, the text does not begin at the
      // start state.
      const { opening, request } = group
      const tellsAll = opening !== undefined && request.maxHealed === 0 && !request.written
      const next = tellsAll ? packOpening({ ...opening, compileMs: 0, isCached: true }, false) : undefined
      this.known.set(key, next ?? this.known.get(key))
    }
    group.isProven = true
    if (thread === home) return
    if (group.guides.some(({ token, isLooking }) => token !== undefined || isLooking)) return
    this.leaveThread(group)
    this.send(group, home)
    this.sendNext()
  }

  /** Compiles one constraint at a time, at home if no group is there. */
  private sendNext(): void {
    while (this.arriving.length > 0) {
      const { home } = this.threads
      const thread = this.groupsOn(home).length === 0 ? home : this.threads.nursery
      if (this.groupsOn(thread).some(({ opening }) => !opening)) return
      this.send(this.arriving.shift()!, thread)
    }
  }

  private send(group: Group, thread: WalkThread, how: "post" | "tell" = "post"): void {
    const { compileMs } = this.options.limits
    group.thread = thread
    // If no other request waits, the compilation may take longer than a trial.
    group.isTrial = !group.isSlow && compileMs > trialMs && this.hasOthers(group, thread)
    try {
      thread[how]({
        kind: "open",
        owner: group.id,
        places: group.guides.map(({ place }) => place),
        request: group.request,
        key: group.key,
        compileMs: group.isTrial ? trialMs : patience(group) * compileMs,
      })
    } catch (error) {
      // The schema's value cannot be sent in a message.
      this.handlers.onFailure(group, error as Error)
      return
    }
    for (const guide of group.guides) guide.detach()
  }

  /** Returns whether a shared thread serves other groups besides `group`. */
  private hasOthers(group: Group, thread: WalkThread): boolean {
    if (!this.threads.isShared(thread)) return false
    return this.arriving.length > 0 || this.groupsOn(thread).some((other) => other !== group)
  }

  /**
   * Handles the message that a thread has opened the group. `bytes`: the memory that the thread
   * holds.
   */
  opened(group: Group, opening: Opening, bytes: number): void {
    // A walk that was replayed was opened before.
    if (!group.opening) {
      group.opening = opening
      group.resolve(opening)
    }
    if (bytes > maxThreadBytes && group.thread === this.threads.home) {
      this.threads.retire()
      this.known.clear()
      this.threads.endIdle(this.isIdle, performance.now())
    }
    this.sendNext()
    this.pump()
  }

  /**
   * Handles the message that a thread has refused the group. `isLate`: whether the compilation
   * exceeded its time.
   */
  refused(group: Group, error: Error, isLate: boolean): void {
    if (isLate && group.isTrial) {
      const { thread } = group
      group.isSlow = true
      if (thread && !this.threads.isShared(thread)) this.send(group, thread)
      else this.delay(group)
    } else {
      if (isLate) this.remember(group, error)
      if (group.thread && this.groupsOn(group.thread).length === 1) this.threads.disown(group.key)
      this.handlers.onFailure(group, error)
    }
    this.sendNext()
    this.pump()
  }

  /**
   * Remembers a refusal for time. Work that took too long while other programs ran may be in time
   * without them, so that refusal is not remembered.
   */
  private remember({ key }: Group, error: Error): void {
    if (key === undefined || !this.isAlone) return
    if (this.refusals.size >= maxRefusals) this.refusals.clear()
    this.refusals.set(key, { error, until: performance.now() + refusalMs })
  }

  /** Forgets a group of which all guides have ended. */
  forget(group: Group): void {
    this.groups.delete(group.id)
    this.arriving = this.arriving.filter((other) => other !== group)
    this.slow = this.slow.filter((other) => other !== group)
    this.threads.endIdle(this.isIdle, performance.now())
    this.sendNext()
    this.pump()
  }

  // ---- Threads that belong to one constraint

  private groupsOn(thread: WalkThread): Group[] {
    return [...this.groups.values()].filter((group) => group.thread === thread)
  }

  private readonly isIdle = (thread: WalkThread): boolean =>
    this.groupsOn(thread).length === 0 && thread.work(performance.now()) === undefined

  /**
   * Whether no other program uses the cores. If others do, a thread of low priority would hardly
   * run.
   */
  private get isAlone(): boolean {
    return this.crowding.factor === 1
  }

  /** Number of compilations in threads that belong to one constraint. */
  private get slowCount(): number {
    return [...this.groups.values()].filter(
      ({ thread, opening }) => thread && !this.threads.isShared(thread) && !opening,
    ).length
  }

  /** Makes the group wait for a thread of its own. */
  private delay(group: Group): void {
    group.thread = undefined
    group.isSlow = true
    group.delayedAt = performance.now()
    this.slow.push(group)
  }

  /**
   * Refuses constraints that have waited too long, so that the client gets an answer before its own
   * timeout.
   */
  private endWaits(now: number): void {
    for (const group of this.slow) {
      if (group.opening || now - group.delayedAt < maxLineMs) continue
      const message = `this constraint takes long to compile and has waited for others ${maxLineMs / 1_000} s: try again later`
      this.handlers.onFailure(group, new RequestError("queue_full", message))
    }
  }

  /** Gives a thread to each group that waits for one, as far as there are threads. */
  private pump(): void {
    while (this.slow.length > 0 && this.slowCount < this.options.maxSlow && !this.isClosing) {
      const thread = this.threads.take(this.isIdle, this.isAlone)
      if (!thread) return
      const group = this.slow.shift()!
      this.threads.own(group.key, thread)
      this.send(group, thread)
    }
  }

  // ---- Checks of running work

  private inspect(): void {
    const now = performance.now()
    for (const thread of this.threads.all) {
      const work = thread.work(now)
      if (work && !thread.isDead) this.judge(thread, work, this.groupOf(work.owner, thread))
    }
    this.endWaits(now)
    const hasKept = this.threads.endIdle(this.isIdle, now)
    if (this.groups.size > 0 || !this.threads.isQuiet(now)) return
    clearInterval(this.watch)
    this.watch = undefined
    if (!hasKept || this.isClosing) return
    clearTimeout(this.quietWatch)
    this.quietWatch = setTimeout(() => this.inspect(), quietWatchMs)
    this.quietWatch.unref?.()
  }

  private judge(thread: WalkThread, work: Work, group: Group | undefined): void {
    const { factor } = this.crowding
    const bound = factor * patience(group) * this.options.limits[`${work.kind}Ms`]
    // Most work stops by itself a moment after its limit; only if it does not, its thread is ended.
    if (!group) {
      if (work.age > factor * abandonedMs) this.stop(thread, undefined, undefined)
    } else if (work.age > bound + slackMs && work.age > bound + slackMs + excused(thread.waited, bound))
      this.stop(thread, group, tooLong(work.kind, Math.round(bound)))
    else if (this.hasOthers(group, thread) && work.age > factor * this.patienceOf(group, thread))
      this.isolate(thread, group, work)
  }

  /** Returns how long the other groups in the thread of `culprit` wait for it. */
  private patienceOf(culprit: Group, thread: WalkThread): number {
    const isRunning = this.groupsOn(thread).some((other) => other !== culprit && other.opening)
    return isRunning ? patienceMs : openingPatienceMs
  }

  /** Handles a shared thread that one request holds up while others wait there. */
  private isolate(thread: WalkThread, culprit: Group, work: Work): void {
    const isRunning = culprit.opening !== undefined
    if (!this.threads.leave(thread, this.isIdle, isRunning)) {
      // Work that was in progress is awaited. If too many constraints compile already, this one
      // starts again later.
      if (isRunning || work.age < crowdedMs) return
      this.delay(culprit)
      this.stop(thread, undefined, undefined)
      return
    }
    this.options.log("masks: one constraint takes long, so the others move to another thread")
    this.known.clear()
    this.threads.own(culprit.key, thread)
    // A constraint whose answers have begun may only seem slow because the machine is busy.
    if (!isRunning && this.isAlone) thread.makePatient()
    for (const group of this.groupsOn(thread)) {
      if (group === culprit) continue
      this.leaveThread(group)
      this.replay(group)
    }
    this.tidyHome()
    this.sendNext()
  }

  /**
   * After the nursery has become the home, moves its groups without a first mask to the next
   * nursery.
   */
  private tidyHome(): void {
    for (const group of this.groupsOn(this.threads.home)) {
      if (group.isProven) continue
      this.leaveThread(group)
      this.replay(group)
    }
  }

  private leaveThread(group: Group): void {
    group.thread?.post({ kind: "release", guides: group.guides.map(({ id }) => id) })
  }

  /**
   * Ends a thread for good. `group` fails with the error, and the other groups are replayed in
   * other threads.
   */
  private stop(thread: WalkThread, group: Group | undefined, error: Error | undefined): void {
    const others = this.groupsOn(thread).filter((other) => other !== group)
    this.threads.replace(thread)
    this.threads.end(thread)
    this.known.clear()
    if (group && error) {
      if (!group.opening && error instanceof GrammarError) this.remember(group, error)
      group.thread = undefined
      this.handlers.onFailure(group, error)
    }
    for (const other of others) this.replay(other)
    this.tidyHome()
    this.sendNext()
    this.pump()
  }

  /** Recreates the walks of a group, in the thread that it should be in. */
  private replay(group: Group): void {
    group.thread = undefined
    if (group.isSlow) this.slow.unshift(group)
    else if (group.opening) this.send(group, group.isProven ? this.threads.home : this.threads.nursery)
    else this.arriving.unshift(group)
  }

  /**
   * Handles a thread that ended by itself. The group that it worked for is tried once more, unless
   * the memory was full.
   */
  private died(thread: WalkThread, error: Error): void {
    if (this.isClosing) return
    const work = thread.work(performance.now())
    const group = work && this.groupOf(work.owner, thread)
    this.options.log(`masks: a thread ended: ${error.message}`)
    if (!thread.isReady && ++this.stillborn >= maxStillborn) {
      const lost = new ModelError(`the thread for constraints does not start: ${error.message}`, {
        cause: error,
      })
      for (const each of [...this.groups.values()]) this.handlers.onFailure(each, lost)
      return
    }
    const isMemory = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY"
    const failure = isMemory
      ? new GrammarError("limit", "", `the constraint needs more than ${maxHeapMb} MB of memory: simplify it`)
      : new Error(`internal: the thread of this constraint ended: ${error.message}`)
    const isFinal = isMemory || (group !== undefined && ++group.deathCount > 1)
    this.stop(thread, isFinal ? group : undefined, isFinal ? failure : undefined)
  }
}

/**
 * Returns a factor for time limits. Work that was in time once gets a longer limit when it is
 * repeated, so that a busy machine does not fail an answer that has begun.
 */
function patience(group: Group | undefined): number {
  return group?.opening ? 5 : 1
}

/**
 * Milliseconds above its limit after which work is ended with its thread, if it has not stopped by
 * itself.
 */
const slackMs = 50

function tooLong(kind: UnitKindName, bound: number): Error {
  const { what, option } = timedWork[kind]
  const message = `${what} more than the bound of ${bound} ms. Raise ${option} or make the constraint simpler`
  return new GrammarError("limit", "", message)
}
