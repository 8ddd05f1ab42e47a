/**
 * Walks in threads of their own, so that no constraint holds the event loop, or another request, whatever it costs.
 *
 * One thread, the *home*, serves all that is quick. A compilation that is not done in a moment goes on in a thread of its
 * own; whoever makes the home wait longer than that keeps the thread to itself, and everybody else moves to a fresh one,
 * where their tokens are replayed: a walk is a function of its request and its tokens, so nothing changes in their output.
 * What outlives its bound is ended with its thread and fails alone.
 */
import { createHash } from "node:crypto"
import { GrammarError } from "../../grammar/index.ts"
import { keyOf } from "../compiled.ts"
import { AbortError, ModelError, RequestError } from "../errors.ts"
import type { DraftedTokens } from "./draft.ts"
import { type Awaited, Guide, type GuideHost, hasArrived, type OpenedGuides } from "./guide.ts"
import type { Opening, WalkRequest } from "./opening.ts"
import {
  type FromThread,
  type GuidePlace,
  IsBusy,
  sharedWords,
  type UnitKindName,
  unpackError,
} from "./protocol.ts"
import { type ThreadOptions, WalkThread, type Work } from "./thread.ts"
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

export interface ThreadedOptions extends Omit<ThreadOptions, "shared" | "maxHeapMb"> {
  readonly limits: WorkLimits
  /** A second thread waits for the moment when it is needed; without it, it is started then. */
  readonly hasSpare: boolean
  /** Threads at once, the home and the spare among them. */
  readonly maxThreads: number
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
/** Of one thread's heap. */
const maxHeapMb = 2_048
/** A home that keeps more is replaced by a fresh one. */
const maxThreadBytes = 1_024 << 20
/** A refusal for time is believed so long. */
const refusalMs = 60_000
const maxRefusals = 1_024
/** Threads that ended one after the other without an answer: nothing will run here. */
const maxStillborn = 3

class ThreadedGuide extends Guide {
  readonly id: number
  readonly group: Group
  slot = -1
  isReleased = false
  /** Tokens that the walk has gone past. */
  readonly walked: number[] = []
  /** Asked, and not answered. */
  token: number | undefined
  isLooking = false
  /** To be sent by `flush`. */
  isQueued = false

  constructor(host: GuideHost, id: number, group: Group) {
    super(host)
    this.id = id
    this.group = group
  }
}

/** The walks of one request: they share a constraint, and so a thread. */
interface Group {
  readonly id: number
  readonly request: WalkRequest
  readonly key: string | undefined
  guides: ThreadedGuide[]
  /** Undefined: it waits for one. */
  thread: WalkThread | undefined
  opening: Opening | undefined
  /** The compilation may take the whole of its time. */
  isSlow: boolean
  /** It has been sent to its thread. */
  isSent: boolean
  /** It was sent to be compiled at once or not at all. */
  isTrial: boolean
  resolve(opening: Opening): void
  reject(error: Error): void
}

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
  private readonly options: ThreadedOptions
  private readonly shared = new SharedArrayBuffer(4 * sharedWords)
  private readonly sharedWords = new Int32Array(this.shared)
  private readonly threads = new Set<WalkThread>()
  private home: WalkThread
  private spare: WalkThread | undefined
  /** Threads that belong to one constraint, by its key; the one used longest ago first. */
  private readonly owners = new Map<string, WalkThread>()
  private readonly groups = new Map<number, Group>()
  private readonly byGuide = new Map<number, ThreadedGuide>()
  /** Wait to be compiled at home, one at a time: masks come in between. */
  private arriving: Group[] = []
  private readonly retiring = new Set<WalkThread>()
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
    this.home = this.startThread()
  }

  get description(): string {
    return "masks in a thread of their own"
  }

  isBusy(isBusy: boolean): void {
    Atomics.store(this.sharedWords, IsBusy, isBusy ? 1 : 0)
  }

  async open(request: WalkRequest, count: number, signal?: AbortSignal): Promise<OpenedGuides> {
    const key = request.constraint ? keyHash(request.constraint) : undefined
    const refusal = key === undefined ? undefined : this.refusals.get(key)
    if (refusal && refusal.until > performance.now()) throw refusal.error
    let group: Group | undefined
    const opening = await new Promise<Opening>((resolve, reject) => {
      group = {
        id: ++this.lastId,
        request,
        key,
        guides: [],
        thread: undefined,
        opening: undefined,
        isSlow: false,
        isSent: false,
        isTrial: false,
        resolve,
        reject,
      }
      const made = group
      made.guides = Array.from({ length: count }, () => new ThreadedGuide(this, ++this.lastId, made))
      for (const guide of made.guides) this.byGuide.set(guide.id, guide)
      this.groups.set(made.id, made)
      this.startWatch()
      signal?.addEventListener(
        "abort",
        () => {
          if (made.opening) return
          reject(new AbortError("", { cause: signal.reason }))
          for (const guide of [...made.guides]) this.release(guide)
        },
        { once: true },
      )
      const owner = key === undefined ? undefined : this.owners.get(key)
      if (owner) this.send(made, owner)
      else this.arrive(made)
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
      const { thread, isSent } = guide.group
      // Where there is no thread now, the question goes with the walk to the next one.
      if (!thread || !isSent || guide.isReleased) continue
      const step = steps.get(thread) ?? { accepts: [], looks: [] }
      steps.set(thread, step)
      if (guide.token !== undefined) step.accepts.push([guide.id, guide.token])
      else if (guide.isLooking) step.looks.push(guide.id)
    }
    for (const [thread, step] of steps) thread.post({ kind: "step", ...step })
  }

  prepare(): void {}

  async arrived(guides: readonly Guide[], what: Awaited, ms: number): Promise<void> {
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
      const waiter: Waiter = { guides, what, resolve }
      const timer = setTimeout(() => {
        this.waiters = this.waiters.filter((other) => other !== waiter)
        resolve()
      }, ms)
      waiter.resolve = () => {
        clearTimeout(timer)
        resolve()
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
    this.byGuide.delete(own.id)
    group.guides = group.guides.filter((other) => other !== own)
    group.thread?.post({ kind: "release", guides: [own.id] })
    for (const [id, ask] of this.asks) if (ask.guide === own) this.settleAsk(id, undefined)
    if (group.guides.length === 0) this.forget(group)
  }

  async close(): Promise<void> {
    this.isClosing = true
    clearInterval(this.watch)
    for (const group of [...this.groups.values()]) this.fail(group, new AbortError())
    await Promise.all([...this.threads].map((thread) => thread.end()))
    this.threads.clear()
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
    const { thread, isSent } = guide.group
    if (!thread || !isSent || guide.failure || guide.isReleased) return undefined
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
        if (group) this.opened(group, answer.opening)
        if (answer.bytes > maxThreadBytes) this.retire(thread)
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
    for (const { token } of outlook.run) guide.walked.push(token)
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
    const guide = this.byGuide.get(id)
    return guide?.group.thread === thread ? guide : undefined
  }

  private groupOf(id: number, thread: WalkThread): Group | undefined {
    const group = this.groups.get(id)
    return group?.thread === thread ? group : undefined
  }

  // ---- opening

  private arrive(group: Group): void {
    this.arriving.push(group)
    this.sendNext()
  }

  /** The home compiles one constraint at a time: the steps of those that run come in between. */
  private sendNext(): void {
    const isBusy = [...this.groups.values()].some(
      ({ thread, isSent, opening }) => thread === this.home && isSent && !opening,
    )
    const next = isBusy ? undefined : this.arriving.shift()
    if (next) this.send(next, this.home)
  }

  private send(group: Group, thread: WalkThread): void {
    const isOwn = thread !== this.home
    if (isOwn && group.key !== undefined && this.owners.get(group.key) === thread) {
      this.owners.delete(group.key)
      this.owners.set(group.key, thread)
    }
    group.thread = thread
    group.isSent = true
    const places = group.guides.map((guide) => placeOf(guide))
    const { compileMs } = this.options.limits
    // Where nobody else waits it may take its time.
    group.isTrial = !isOwn && !group.isSlow && compileMs > trialMs && this.hasOthers(group)
    try {
      thread.post({
        kind: "open",
        owner: group.id,
        places,
        request: group.request,
        key: group.key,
        compileMs: group.isTrial ? trialMs : compileMs,
      })
    } catch (error) {
      // The schema's value holds what no message can carry.
      this.fail(group, error as Error)
      return
    }
    for (const guide of group.guides) this.moveRow(guide, thread)
  }

  /** Whether the home has anybody to serve besides `group`. */
  private hasOthers(group: Group): boolean {
    return this.arriving.length > 0 || this.groupsOn(this.home).some((other) => other !== group)
  }

  /** The mask that the engine has been told of goes with the walk. */
  private moveRow(guide: ThreadedGuide, thread: WalkThread): void {
    if (guide.slot < 0) return
    const before = guide.mask
    guide.mask = thread.row(guide.slot)
    if (before && guide.outlook) guide.mask.set(before)
  }

  private opened(group: Group, opening: Opening): void {
    if (group.opening) return
    group.opening = opening
    group.resolve(opening)
    this.pump()
  }

  private refused(group: Group, error: Error, isLate: boolean): void {
    if (isLate && group.isTrial) {
      group.isSlow = true
      if (group.thread && group.thread !== this.home) this.send(group, group.thread)
      else {
        group.thread = undefined
        group.isSent = false
        this.slow.push(group)
      }
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
    this.forget(group)
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
    this.endRetired()
    // The thread may still be at it: the watch sees that nobody waits.
    if (this.groups.size === 0 && this.isQuiet()) this.stopWatch()
    this.pump()
  }

  // ---- threads

  /** Gives threads of their own to those that wait for one. */
  private pump(): void {
    while (this.slow.length > 0 && !this.isClosing) {
      const compiling = [...this.groups.values()].filter(
        ({ thread, isSlow, opening }) => thread && isSlow && !opening,
      ).length
      if (compiling >= this.options.maxSlow) return
      const thread = this.takeThread()
      if (!thread) return
      const group = this.slow.shift()!
      this.own(group, thread)
      this.send(group, thread)
    }
  }

  private own({ key }: Group, thread: WalkThread): void {
    this.owners.set(key ?? `thread ${thread.number}`, thread)
  }

  private startThread(): WalkThread {
    const { model, dtype, width, words, slotCount, warms } = this.options
    const thread = new WalkThread(
      { model, dtype, width, words, slotCount, warms, shared: this.shared, maxHeapMb },
      {
        onAnswer: (from, answer) => this.answer(from, answer),
        onDeath: (dead, error) => this.died(dead, error),
      },
    )
    this.threads.add(thread)
    return thread
  }

  /** A thread that nobody has: the spare, a fresh one, or one whose constraint nobody uses. */
  private takeThread(): WalkThread | undefined {
    const { spare } = this
    if (spare) {
      this.spare = undefined
      this.prepareSpare()
      return spare
    }
    if (this.threads.size >= this.options.maxThreads && !this.endIdle()) return undefined
    const thread = this.startThread()
    this.prepareSpare()
    return thread
  }

  /** Keeps a thread ready where the options ask for one. */
  private prepareSpare(): void {
    const hasRoom = this.threads.size < this.options.maxThreads
    if (this.options.hasSpare && !this.spare && hasRoom && !this.isClosing) this.spare = this.startThread()
  }

  private endIdle(): boolean {
    for (const [key, thread] of this.owners) {
      if (thread === this.home || this.groupsOn(thread).length > 0 || thread.work(performance.now())) continue
      this.owners.delete(key)
      this.endThread(thread)
      return true
    }
    return false
  }

  private endThread(thread: WalkThread): void {
    this.threads.delete(thread)
    for (const [key, owner] of this.owners) if (owner === thread) this.owners.delete(key)
    void thread.end()
  }

  private groupsOn(thread: WalkThread): Group[] {
    return [...this.groups.values()].filter((group) => group.thread === thread)
  }

  // ---- the watch

  private startWatch(): void {
    this.prepareSpare()
    this.watch ??= setInterval(() => this.inspect(), watchMs)
    this.watch.unref?.()
  }

  private stopWatch(): void {
    clearInterval(this.watch)
    this.watch = undefined
  }

  private isQuiet(): boolean {
    const now = performance.now()
    return [...this.threads].every((thread) => thread.work(now) === undefined)
  }

  private inspect(): void {
    const now = performance.now()
    for (const thread of [...this.threads]) {
      const work = thread.work(now)
      if (work && !thread.isDead) this.judge(thread, work, this.groupOf(work.owner, thread))
    }
    if (this.groups.size === 0 && this.isQuiet()) this.stopWatch()
  }

  private judge(thread: WalkThread, work: Work, group: Group | undefined): void {
    const bound = this.options.limits[`${work.kind}Ms`]
    // A cooperative compilation has ended by its own clock; some time more is for the rest of the opening.
    const slack = work.kind === "compile" ? 100 : 0
    if (!group) {
      if (work.age > abandonedMs) this.stop(thread, undefined, undefined)
    } else if (work.age > bound + slack) this.stop(thread, group, tooLong(work.kind, bound))
    else if (work.age > patienceMs && thread === this.home && this.hasOthers(group))
      this.isolate(thread, group, work.age)
  }

  /** The home is held up by one request: it keeps the thread, and everybody else moves. */
  private isolate(thread: WalkThread, culprit: Group, age: number): void {
    const next = this.takeThread()
    if (!next) {
      if (age < crowdedMs) return
      const { maxThreads } = this.options
      const message = `the constraint takes more than ${crowdedMs} ms at a time, and all ${maxThreads} threads for such constraints are taken: try again later, or make it simpler`
      this.stop(thread, culprit, new RequestError("queue_full", message))
      return
    }
    this.options.log(`masks: one constraint takes long, the others move to another thread`)
    this.home = next
    this.own(culprit, thread)
    for (const group of this.groupsOn(thread)) if (group !== culprit) this.move(group)
    this.sendNext()
  }

  /** Replays a group in the home. */
  private move(group: Group): void {
    const { thread } = group
    thread?.post({ kind: "release", guides: group.guides.map(({ id }) => id) })
    if (group.opening) this.send(group, this.home)
    else {
      group.thread = undefined
      group.isSent = false
      this.arriving.unshift(group)
    }
  }

  /** A home that has grown too large serves whom it has, and ends. */
  private retire(thread: WalkThread): void {
    if (thread !== this.home) return
    const next = this.takeThread()
    if (!next) return
    this.home = next
    this.retiring.add(thread)
    this.endRetired()
  }

  private endRetired(): void {
    for (const thread of this.retiring) {
      if (this.groupsOn(thread).length > 0) continue
      this.retiring.delete(thread)
      this.endThread(thread)
    }
  }

  /** Ends a thread for good; `group` fails with the error, the others are replayed elsewhere. */
  private stop(thread: WalkThread, group: Group | undefined, error: Error | undefined): void {
    const others = this.groupsOn(thread).filter((other) => other !== group)
    this.endThread(thread)
    if (group && error) {
      if (!group.opening && error instanceof GrammarError) this.remember(group, error)
      group.thread = undefined
      this.fail(group, error)
    }
    if (thread === this.home) this.home = this.takeThread() ?? this.startThread()
    if (thread === this.spare) this.spare = undefined
    for (const other of others) this.replay(other)
    this.prepareSpare()
    this.sendNext()
    this.pump()
  }

  private replay(group: Group): void {
    group.thread = undefined
    group.isSent = false
    if (group.isSlow) {
      this.slow.unshift(group)
      this.pump()
    } else if (group.opening) this.send(group, this.home)
    else this.arriving.unshift(group)
  }

  /** A thread that ended by itself: whoever it worked for fails, if somebody did. */
  private died(thread: WalkThread, error: Error): void {
    if (this.isClosing) return
    const isMemory = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY"
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
    const failure = isMemory
      ? new GrammarError("limit", "", `the constraint needs more than ${maxHeapMb} MB of memory: simplify it`)
      : new Error(`internal: the thread of this constraint ended: ${error.message}`)
    this.stop(thread, group, group && failure)
  }
}

function placeOf(guide: ThreadedGuide): GuidePlace {
  const { id, slot, walked, token, isLooking, outlook } = guide
  const next = isLooking ? "look" : outlook ? "seen" : "none"
  return { guide: id, slot, walked: [...walked], token, next }
}

function tooLong(kind: UnitKindName, bound: number): Error {
  const what = {
    compile: "compiling the constraint takes",
    mask: "finding the tokens that may come next takes",
    completion: "finding a completion that fits into the budget takes",
  }[kind]
  const option = { compile: "compileMs", mask: "maskMs", completion: "completionMs" }[kind]
  return new GrammarError(
    "limit",
    "",
    `${what} more than the bound of ${bound} ms. Raise ${option} or make the constraint simpler`,
  )
}

/** Undefined for what JSON cannot write: such a constraint is compiled each time. */
function keyHash({ input, policies }: NonNullable<WalkRequest["constraint"]>): string | undefined {
  if (!("kind" in input)) throw new Error("internal: a compiled constraint cannot change its thread")
  const hash = createHash("sha256")
  if (input.kind === "json" && typeof input.schema === "string") {
    // A schema's text is not quoted first: it may be long.
    const key = keyOf({ kind: "json", schema: null }, policies)
    return key === undefined ? undefined : hash.update(`text ${key} `).update(input.schema).digest("base64")
  }
  const key = keyOf(input, policies)
  return key === undefined ? undefined : hash.update(`value ${key}`).digest("base64")
}
