/**
 * Walks in threads of their own, so that no constraint holds the event loop, or another request, whatever it costs.
 *
 * One thread, the *home*, serves all that is quick. Beside others a constraint that nobody knows is compiled in a second one,
 * the *nursery*, and moves home once its first mask is there. A compilation that is not done in a moment waits for a thread of
 * its own; whoever makes a shared thread wait longer than that keeps the thread to itself, and everybody else moves to another
 * one, where their tokens are replayed: a walk is a function of its request and its tokens, so nothing changes in their output.
 * What outlives its bound is ended with its thread and fails alone.
 */
import { GrammarError } from "../../grammar/index.ts"
import { AbortError, ModelError, RequestError } from "../errors.ts"
import type { DraftedTokens } from "./draft.ts"
import { Group, ThreadedGuide } from "./group.ts"
import { type Awaited, type Guide, type GuideHost, hasArrived, type OpenedGuides } from "./guide.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import {
  type FromThread,
  IsBusy,
  timedWork,
  type UnitKindName,
  unpackError,
  unpackOpening,
} from "./protocol.ts"
import type { WalkThread, Work } from "./thread.ts"
import { maxHeapMb, maxOwnedThreads, type PoolOptions, WalkThreads } from "./threads.ts"
import { type Glimpse, isMisfit, type Misfit, type Outlook, type Verdict } from "./walk.ts"

/** What one piece of work may take, in milliseconds; then it is stopped. */
export interface WorkLimits {
  /** One compilation. Default 2,000. */
  compileMs: number
  /** One mask, with the tokens that are forced before it. Default 1,000. */
  maskMs: number
  /** One completion of a text that must close in its budget, with its mask. Default 1,000. */
  completionMs: number
}

export const defaultWorkLimits: Readonly<WorkLimits> = {
  compileMs: 2_000,
  maskMs: 1_000,
  completionMs: 1_000,
}

export interface ThreadedOptions extends PoolOptions {
  readonly limits: WorkLimits
  /** Compilations at once that are not quick. */
  readonly maxSlow: number
  readonly log: (line: string) => void
}

/** A constraint that compiles within this is quick; and so long the home waits for anybody. */
const patienceMs = 30
/** What a compilation may take at home beside others. */
const trialMs = 25
/** So long the home waits where there is no other thread to be had. */
const crowdedMs = 150
/** How long work for a request that is gone may go on. */
const abandonedMs = 20
/** How often the threads are looked at. */
const watchMs = 8
/** So long the engine's thread itself waits for an answer: to be woken by the event loop takes 30 to 50 µs. */
const blockMs = 0.3
/** A home that keeps more is replaced by a fresh one. */
const maxThreadBytes = 1_024 << 20
/** A refusal for time is believed so long. */
const refusalMs = 60_000
const maxRefusals = 1_024
/** Constraints that the home is thought to remember; then they are compiled beside it once more. */
const maxKnown = 256
/** Threads that ended one after the other without an answer: nothing will run here. */
const maxStillborn = 3

interface Ask {
  readonly guide: ThreadedGuide
  resolve(answer: unknown): void
}

interface Waiter {
  readonly guides: readonly Guide[]
  readonly what: Awaited
  resolve(): void
}

export class ThreadedGuides implements GuideHost {
  readonly description = "masks in a thread of their own"
  private readonly options: ThreadedOptions
  private readonly threads: WalkThreads
  private readonly groups = new Map<number, Group>()
  private readonly byId = new Map<number, ThreadedGuide>()
  /** Wait to be compiled, one at a time: masks come in between. */
  private arriving: Group[] = []
  /** Constraints that were quick at home. */
  private known = new Set<string>()
  /** Wait for a thread of their own. */
  private slow: Group[] = []
  private readonly refusals = new Map<string, { error: Error; until: number }>()
  private queued: ThreadedGuide[] = []
  private readonly asks = new Map<number, Ask>()
  private waiters: Waiter[] = []
  private lastId = 0
  private stillborn = 0
  private watch: ReturnType<typeof setInterval> | undefined
  private isClosing = false

  constructor(options: ThreadedOptions) {
    this.options = options
    this.threads = new WalkThreads(options, {
      onAnswer: (thread, answer) => this.answer(thread, answer),
      onDeath: (thread, error) => this.died(thread, error),
    })
  }

  isBusy(isBusy: boolean): void {
    Atomics.store(this.threads.shared, IsBusy, isBusy ? 1 : 0)
  }

  async open(request: WalkRequest, count: number, signal?: AbortSignal): Promise<OpenedGuides> {
    const id = ++this.lastId
    let group: Group | undefined
    const opening = await new Promise<Opening>((resolve, reject) => {
      group = new Group(id, request, { resolve, reject })
      const refusal = group.key === undefined ? undefined : this.refusals.get(group.key)
      if (refusal && refusal.until > performance.now()) return reject(refusal.error)
      this.admit(group, count)
      const abort = (): void => this.fail(group!, new AbortError("", { cause: signal?.reason }))
      signal?.addEventListener("abort", () => group!.opening || abort(), { once: true })
    })
    return { opening, guides: group!.guides }
  }

  begin(guide: Guide, slot: number): void {
    const own = guide as ThreadedGuide
    own.slot = slot
    own.isLooking = true
    const { thread } = own.group
    if (!thread) return
    own.mask = thread.row(slot)
    thread.post({ kind: "begin", guide: own.id, slot })
  }

  accept(guide: Guide, token: number): void {
    const own = guide as ThreadedGuide
    own.token = token
    this.queue(own)
  }

  look(guide: Guide): void {
    const own = guide as ThreadedGuide
    own.outlook = undefined
    own.isLooking = true
    this.queue(own)
  }

  flush(): void {
    const { queued } = this
    this.queued = []
    const steps = new Map<WalkThread, { accepts: [number, number][]; looks: number[] }>()
    for (const guide of queued) {
      guide.isQueued = false
      const { thread } = guide.group
      // Where there is no thread now, the question goes with the walk to the next one.
      if (!thread || guide.isReleased) continue
      const step = steps.get(thread) ?? { accepts: [], looks: [] }
      steps.set(thread, step)
      if (guide.token !== undefined) step.accepts.push([guide.id, guide.token])
      else if (guide.isLooking) step.looks.push(guide.id)
    }
    for (const [thread, step] of steps) thread.post({ kind: "step", ...step })
  }

  /** The threads work by themselves; what is queued for them goes out beside the run of the model. */
  prepare(): void {
    this.flush()
  }

  async arrived(guides: readonly Guide[], what: Awaited, ms: number): Promise<void> {
    this.flush()
    const isMissing = (guide: Guide): boolean => !hasArrived(guide, what)
    const until = performance.now() + blockMs
    for (;;) {
      const missing = guides.filter(isMissing) as ThreadedGuide[]
      if (missing.length === 0) return
      const threads = new Set(missing.map(({ group }) => group.thread))
      const [thread] = threads
      if (threads.size > 1 || !thread?.isReady) break
      const seen = thread.answered
      thread.drain()
      if (!guides.some(isMissing)) return
      const left = until - performance.now()
      if (left <= 0) break
      thread.pause(left, seen)
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.waiters = this.waiters.filter((other) => other !== waiter)
        resolve()
      }, ms)
      const waiter: Waiter = {
        guides,
        what,
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      this.waiters.push(waiter)
    })
  }

  draft(guide: Guide, proposed: readonly number[], bound: number): Promise<DraftedTokens | undefined> {
    return this.ask(guide as ThreadedGuide, (ask, id) => ({ kind: "draft", ask, guide: id, proposed, bound }))
  }

  glimpse(guide: Guide, tokens: readonly number[]): Promise<Glimpse | undefined> {
    return this.ask(guide as ThreadedGuide, (ask, id) => ({ kind: "glimpse", ask, guide: id, tokens }))
  }

  release(guide: Guide): void {
    const own = guide as ThreadedGuide
    if (own.isReleased) return
    own.isReleased = true
    const { group } = own
    this.byId.delete(own.id)
    group.guides = group.guides.filter((other) => other !== own)
    group.thread?.post({ kind: "release", guides: [own.id] })
    for (const [id, ask] of this.asks) if (ask.guide === own) this.settleAsk(id, undefined)
    if (group.guides.length === 0) this.forget(group)
  }

  async close(): Promise<void> {
    this.isClosing = true
    clearInterval(this.watch)
    for (const group of [...this.groups.values()]) this.fail(group, new AbortError())
    await this.threads.close()
  }

  // ---- questions and answers

  private queue(guide: ThreadedGuide): void {
    if (guide.isQueued) return
    guide.isQueued = true
    this.queued.push(guide)
  }

  private async ask<T>(
    guide: ThreadedGuide,
    question: (ask: number, guide: number) => Parameters<WalkThread["post"]>[0],
  ): Promise<T | undefined> {
    const { thread } = guide.group
    if (!thread || guide.failure || guide.isReleased) return undefined
    const id = ++this.lastId
    return new Promise<T | undefined>((resolve) => {
      const timer = setTimeout(() => this.settleAsk(id, undefined), patienceMs)
      const settle = (answer: unknown): void => {
        clearTimeout(timer)
        resolve(answer as T | undefined)
      }
      this.asks.set(id, { guide, resolve: settle })
      thread.post(question(id, guide.id))
    })
  }

  private settleAsk(id: number, answer: unknown): void {
    const ask = this.asks.get(id)
    this.asks.delete(id)
    ask?.resolve(answer)
  }

  private answer(thread: WalkThread, answer: FromThread): void {
    this.stillborn = 0
    switch (answer.kind) {
      case "ready":
        break
      case "opened": {
        const group = this.groupOf(answer.owner, thread)
        if (group) this.opened(group, unpackOpening(answer.opening, group.request))
        if (answer.bytes > maxThreadBytes && thread === this.threads.home) {
          this.threads.retire()
          this.known.clear()
          this.threads.endRetired(this.isIdle)
        }
        this.sendNext()
        break
      }
      case "refused": {
        const group = this.groupOf(answer.owner, thread)
        if (group) this.refused(group, unpackError(answer.error), answer.isLate)
        this.sendNext()
        break
      }
      case "failed": {
        const guide = this.guideOf(answer.guide, thread)
        if (guide) guide.failure = unpackError(answer.error)
        break
      }
      case "verdicts":
        for (const [id, verdict] of answer.entries) this.judged(this.guideOf(id, thread), verdict)
        break
      case "outlooks":
        for (const [id, outlook] of answer.entries) this.seen(this.guideOf(id, thread), outlook)
        break
      case "drafted":
        this.settleAsk(answer.ask, answer.drafted)
        break
      case "glimpsed":
        this.settleAsk(answer.ask, answer.glimpse)
        break
      default:
        answer satisfies never
    }
    this.wake()
  }

  private judged(guide: ThreadedGuide | undefined, verdict: Verdict | Misfit): void {
    if (guide?.token === undefined) return
    guide.verdict = verdict
    if (!isMisfit(verdict)) {
      guide.walked.push(guide.token)
      guide.outlook = undefined
      guide.isLooking = true
    }
    guide.token = undefined
  }

  private seen(guide: ThreadedGuide | undefined, outlook: Outlook): void {
    if (!guide?.isLooking) return
    guide.isLooking = false
    guide.outlook = outlook
    // Behind a token that ends the text nothing is replayed.
    for (const { token, isExhausted } of outlook.run) if (!isExhausted) guide.walked.push(token)
    this.graduate(guide.group)
  }

  /** A constraint whose first mask was found in time is quick, as far as anybody knows, and moves home. */
  private graduate(group: Group): void {
    const { thread, key } = group
    if (!thread || !this.threads.isShared(thread)) return
    const { home } = this.threads
    if (!group.isProven && key !== undefined) {
      if (this.known.size >= maxKnown) this.known.clear()
      this.known.add(key)
    }
    group.isProven = true
    if (thread === home) return
    if (group.guides.some(({ token, isLooking }) => token !== undefined || isLooking)) return
    this.leaveThread(group)
    this.send(group, home)
    this.sendNext()
  }

  private wake(): void {
    if (this.waiters.length === 0) return
    this.waiters = this.waiters.filter(({ guides, what, resolve }) => {
      if (!guides.every((guide) => hasArrived(guide, what))) return true
      resolve()
      return false
    })
  }

  /** What a thread says of a walk that has moved on to another one is of no interest. */
  private guideOf(id: number, thread: WalkThread): ThreadedGuide | undefined {
    const guide = this.byId.get(id)
    return guide?.group.thread === thread ? guide : undefined
  }

  private groupOf(id: number, thread: WalkThread): Group | undefined {
    const group = this.groups.get(id)
    return group?.thread === thread ? group : undefined
  }

  // ---- opening

  private admit(group: Group, count: number): void {
    group.guides = Array.from({ length: count }, () => new ThreadedGuide(this, ++this.lastId, group))
    for (const guide of group.guides) this.byId.set(guide.id, guide)
    this.groups.set(group.id, group)
    this.startWatch()
    const owner = this.threads.ownerOf(group.key)
    const isKnown = group.key !== undefined && this.known.has(group.key)
    if (owner) this.send(group, owner)
    else if (isKnown) this.send(group, this.threads.home)
    else this.arriving.push(group)
    this.sendNext()
  }

  /** One constraint is compiled at a time, at home while nobody else is there. */
  private sendNext(): void {
    while (this.arriving.length > 0) {
      const { home } = this.threads
      const thread = this.groupsOn(home).length === 0 ? home : this.threads.nursery
      if (this.groupsOn(thread).some(({ opening }) => !opening)) return
      this.send(this.arriving.shift()!, thread)
    }
  }

  private send(group: Group, thread: WalkThread): void {
    const { compileMs } = this.options.limits
    group.thread = thread
    // Where nobody else waits it may take its time.
    group.isTrial = !group.isSlow && compileMs > trialMs && this.hasOthers(group, thread)
    try {
      thread.post({
        kind: "open",
        owner: group.id,
        places: group.guides.map(({ place }) => place),
        request: group.request,
        key: group.key,
        compileMs: group.isTrial ? trialMs : compileMs,
      })
    } catch (error) {
      // The schema's value holds what no message can carry.
      this.fail(group, error as Error)
      return
    }
    for (const guide of group.guides) guide.moveTo(thread)
  }

  /** Whether a shared thread has anybody to serve besides `group`. */
  private hasOthers(group: Group, thread: WalkThread): boolean {
    if (!this.threads.isShared(thread)) return false
    return this.arriving.length > 0 || this.groupsOn(thread).some((other) => other !== group)
  }

  private opened(group: Group, opening: Opening): void {
    // A walk that was replayed had been opened before.
    if (group.opening) return
    group.opening = opening
    group.resolve(opening)
    this.pump()
  }

  private refused(group: Group, error: Error, isLate: boolean): void {
    if (isLate && group.isTrial) {
      const { thread } = group
      group.isSlow = true
      if (thread && !this.threads.isShared(thread)) this.send(group, thread)
      else this.delay(group)
    } else {
      if (isLate) this.remember(group, error)
      this.fail(group, error)
    }
    this.pump()
  }

  /** Nothing more comes of a group: its opening is refused, or its guides fail. */
  private fail(group: Group, error: Error): void {
    if (group.opening) {
      for (const guide of group.guides) guide.failure = error
      this.wake()
      return
    }
    group.reject(error)
    for (const guide of [...group.guides]) this.release(guide)
  }

  private remember({ key }: Group, error: Error): void {
    if (key === undefined) return
    if (this.refusals.size >= maxRefusals) this.refusals.clear()
    this.refusals.set(key, { error, until: performance.now() + refusalMs })
  }

  private forget(group: Group): void {
    this.groups.delete(group.id)
    this.arriving = this.arriving.filter((other) => other !== group)
    this.slow = this.slow.filter((other) => other !== group)
    this.threads.endRetired(this.isIdle)
    this.sendNext()
    this.pump()
  }

  // ---- threads of their own

  private groupsOn(thread: WalkThread): Group[] {
    return [...this.groups.values()].filter((group) => group.thread === thread)
  }

  private readonly isIdle = (thread: WalkThread): boolean =>
    this.groupsOn(thread).length === 0 && thread.work(performance.now()) === undefined

  /** Compilations that have a thread of their own. */
  private get slowCount(): number {
    const { home } = this.threads
    return [...this.groups.values()].filter(({ thread, opening }) => thread && thread !== home && !opening)
      .length
  }

  /** The group waits for a thread of its own. */
  private delay(group: Group): void {
    group.thread = undefined
    group.isSlow = true
    this.slow.push(group)
  }

  /** Gives threads of their own to those that wait for one. */
  private pump(): void {
    while (this.slow.length > 0 && this.slowCount < this.options.maxSlow && !this.isClosing) {
      const thread = this.threads.take(this.isIdle)
      if (!thread) return
      const group = this.slow.shift()!
      this.keep(group, thread)
      this.send(group, thread)
    }
  }

  /** The thread belongs to the group's constraint from now on, and others come first where cores are few. */
  private keep(group: Group, thread: WalkThread): void {
    this.threads.own(group.key, thread)
    thread.lowerPriority()
  }

  // ---- the watch

  private startWatch(): void {
    this.watch ??= setInterval(() => this.inspect(), watchMs)
    this.watch.unref?.()
  }

  private inspect(): void {
    const now = performance.now()
    for (const thread of this.threads.all) {
      const work = thread.work(now)
      if (work && !thread.isDead) this.judge(thread, work, this.groupOf(work.owner, thread))
    }
    if (this.groups.size > 0 || !this.threads.isQuiet(now)) return
    clearInterval(this.watch)
    this.watch = undefined
  }

  private judge(thread: WalkThread, work: Work, group: Group | undefined): void {
    const bound = this.options.limits[`${work.kind}Ms`]
    // Most work ends by its own clock; that takes a moment.
    if (!group) {
      if (work.age > abandonedMs) this.stop(thread, undefined, undefined)
    } else if (work.age > bound + slackMs) this.stop(thread, group, tooLong(work.kind, bound))
    else if (work.age > patienceMs && this.hasOthers(group, thread)) this.isolate(thread, group, work)
  }

  /** A shared thread is held up by one request, and others wait there. */
  private isolate(thread: WalkThread, culprit: Group, work: Work): void {
    if (!this.threads.leave(thread, this.isIdle)) {
      if (work.age < crowdedMs) return
      if (!culprit.opening) {
        // Too many compile already: this one begins again later.
        this.delay(culprit)
        this.stop(thread, undefined, undefined)
        return
      }
      const message = `the constraint takes more than ${crowdedMs} ms at a time, and all ${maxOwnedThreads} threads for such constraints are taken: try again later, or make it simpler`
      this.stop(thread, culprit, new RequestError("queue_full", message))
      return
    }
    this.options.log("masks: one constraint takes long, the others move to another thread")
    this.known.clear()
    this.keep(culprit, thread)
    for (const group of this.groupsOn(thread)) {
      if (group === culprit) continue
      this.leaveThread(group)
      this.replay(group)
    }
    this.tidyHome()
    this.sendNext()
  }

  /** A home that was the nursery: whose first mask is still to come goes to the next one. */
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

  /** Ends a thread for good; `group` fails with the error, the others are replayed elsewhere. */
  private stop(thread: WalkThread, group: Group | undefined, error: Error | undefined): void {
    const others = this.groupsOn(thread).filter((other) => other !== group)
    this.threads.replace(thread)
    this.threads.end(thread)
    this.known.clear()
    if (group && error) {
      if (!group.opening && error instanceof GrammarError) this.remember(group, error)
      group.thread = undefined
      this.fail(group, error)
    }
    for (const other of others) this.replay(other)
    this.tidyHome()
    this.sendNext()
    this.pump()
  }

  /** Makes the walks of a group again, in the thread that is right for them. */
  private replay(group: Group): void {
    group.thread = undefined
    if (group.isSlow) this.slow.unshift(group)
    else if (group.opening) this.send(group, group.isProven ? this.threads.home : this.threads.nursery)
    else this.arriving.unshift(group)
  }

  /** A thread that ended by itself: whoever it worked for fails, if somebody did. */
  private died(thread: WalkThread, error: Error): void {
    if (this.isClosing) return
    const work = thread.work(performance.now())
    const group = work && this.groupOf(work.owner, thread)
    this.options.log(`masks: a thread ended: ${error.message}`)
    if (!thread.isReady && ++this.stillborn >= maxStillborn) {
      const lost = new ModelError(`the thread for constraints does not start: ${error.message}`, {
        cause: error,
      })
      for (const each of [...this.groups.values()]) this.fail(each, lost)
      return
    }
    const isMemory = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY"
    const failure = isMemory
      ? new GrammarError("limit", "", `the constraint needs more than ${maxHeapMb} MB of memory: simplify it`)
      : new Error(`internal: the thread of this constraint ended: ${error.message}`)
    this.stop(thread, group, group && failure)
  }
}

/** More than its bound a piece of work gets only where nothing in it looks at the clock. */
const slackMs = 50

function tooLong(kind: UnitKindName, bound: number): Error {
  const { what, option } = timedWork[kind]
  const message = `${what} more than the bound of ${bound} ms. Raise ${option} or make the constraint simpler`
  return new GrammarError("limit", "", message)
}
