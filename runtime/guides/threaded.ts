/**
 * Walks in separate threads, so that no constraint can block the event loop or another request.
 *
 * Questions are queued and sent as one message per thread; answers are kept until they are read.
 * `placement.ts` decides in which thread a walk is, and may move it: a walk is a function of its
 * request and its tokens, so its output does not change.
 */
import { onAbort } from "../aborts.ts"
import { AbortError } from "../errors.ts"
import type { DraftedTokens } from "./draft.ts"
import { Group, ThreadedGuide } from "./group.ts"
import { type Awaited, type Guide, type GuideHost, hasArrived, type OpenedGuides } from "./guide.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import { Placement, type PlacementOptions, patienceMs } from "./placement.ts"
import { BusyTurn, type FromThread, unpackError, unpackOpening } from "./protocol.ts"
import type { WalkThread } from "./thread.ts"
import { type Glimpse, isMisfit, type Misfit, type Outlook, type Verdict } from "./walk.ts"

/**
 * Milliseconds for which the engine's thread blocks until an answer arrives: a wake-up by the event
 * loop takes 30 to 50 µs.
 */
const blockMs = 0.3

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
  private readonly placement: Placement
  private readonly byId = new Map<number, ThreadedGuide>()
  private queued: ThreadedGuide[] = []
  /** Threads that `flush` wakes. */
  private readonly told = new Set<WalkThread>()
  private readonly asks = new Map<number, Ask>()
  private waiters: Waiter[] = []
  private lastId = 0

  constructor(options: PlacementOptions) {
    this.placement = new Placement(options, {
      onAnswer: (thread, answer) => this.answer(thread, answer),
      onFailure: (group, error) => this.fail(group, error),
    })
  }

  isBusy(isBusy: boolean): void {
    const { shared } = this.placement.threads
    const wasBusy = (Atomics.load(shared, BusyTurn) & 1) === 1
    if (isBusy !== wasBusy) Atomics.add(shared, BusyTurn, 1)
  }

  async open(request: WalkRequest, count: number, signal?: AbortSignal): Promise<OpenedGuides> {
    let group: Group | undefined
    let callOff = (): void => {}
    const opened = new Promise<Opening>((resolve, reject) => {
      group = new Group(++this.lastId, request, { resolve, reject })
      this.makeGuides(group, count)
      const refusal = this.placement.refusalOf(group)
      if (refusal) return this.fail(group, refusal)
      this.placement.admit(group)
      const abort = (): void => this.fail(group!, new AbortError("", { cause: signal?.reason }))
      callOff = onAbort(signal, () => group!.opening || abort())
    })
    const opening = await opened.finally(() => callOff())
    return { opening, guides: group!.guides }
  }

  /** States of the machines of all threads, as last reported. */
  get stateCount(): number {
    return this.placement.threads.all.reduce((sum, thread) => sum + thread.stateCount, 0)
  }

  begin(guide: Guide, slot: number): void {
    const own = guide as ThreadedGuide
    own.slot = slot
    own.isLooking = true
    const { thread } = own.group
    if (!thread) return
    thread.tell({ kind: "begin", guide: own.id, slot })
    this.told.add(thread)
  }

  accept(guide: Guide, token: number, ahead: number): void {
    const own = guide as ThreadedGuide
    own.token = token
    own.ahead = ahead
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
    const steps = new Map<WalkThread, { accepts: [number, number, number][]; looks: number[] }>()
    for (const guide of queued) {
      guide.isQueued = false
      const { thread } = guide.group
      // If the walk has no thread now, its question is asked again in the next one.
      if (!thread || guide.isReleased) continue
      const step = steps.get(thread) ?? { accepts: [], looks: [] }
      steps.set(thread, step)
      if (guide.token !== undefined) step.accepts.push([guide.id, guide.token, guide.ahead])
      else if (guide.isLooking) step.looks.push(guide.id)
    }
    for (const [thread, step] of steps) thread.post({ kind: "step", ...step })
    for (const thread of this.told) if (!steps.has(thread)) thread.wake()
    this.told.clear()
  }

  /** The threads work by themselves; queued questions are sent while the model runs. */
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
    if (group.guides.length === 0) this.placement.forget(group)
  }

  close(): Promise<void> {
    return this.placement.close()
  }

  private makeGuides(group: Group, count: number): void {
    group.guides = Array.from({ length: count }, () => new ThreadedGuide(this, ++this.lastId, group))
    for (const guide of group.guides) this.byId.set(guide.id, guide)
  }

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
    switch (answer.kind) {
      case "ready":
        break
      case "opened": {
        const group = this.placement.groupOf(answer.owner, thread)
        if (group) this.placement.opened(group, unpackOpening(answer.opening, group.request), answer.bytes)
        break
      }
      case "refused": {
        const group = this.placement.groupOf(answer.owner, thread)
        if (group) this.placement.refused(group, unpackError(answer.error), answer.isLate)
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
        for (const [id, outlook] of answer.entries) this.seen(this.guideOf(id, thread), outlook, thread)
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
      guide.walk(verdict.run ?? [])
      guide.outlook = undefined
      guide.isLooking = true
    }
    guide.token = undefined
  }

  private seen(guide: ThreadedGuide | undefined, outlook: Outlook, thread: WalkThread): void {
    if (!guide?.isLooking) return
    guide.see(outlook, thread)
    guide.walk(outlook.run)
    this.placement.graduate(guide.group)
  }

  private wake(): void {
    if (this.waiters.length === 0) return
    this.waiters = this.waiters.filter(({ guides, what, resolve }) => {
      if (!guides.every((guide) => hasArrived(guide, what))) return true
      resolve()
      return false
    })
  }

  /**
   * Returns the guide of an id if it is in `thread`: answers of a thread that a walk has left are
   * ignored.
   */
  private guideOf(id: number, thread: WalkThread): ThreadedGuide | undefined {
    const guide = this.byId.get(id)
    return guide?.group.thread === thread ? guide : undefined
  }

  /** Ends a group: its opening is refused, or its guides fail. */
  private fail(group: Group, error: Error): void {
    if (group.opening) {
      for (const guide of group.guides) guide.failure = error
      this.wake()
      return
    }
    group.reject(error)
    for (const guide of [...group.guides]) this.release(guide)
  }
}
