/**
 * The threads of an engine's walks: the *home*, which serves all quick constraints; the *nursery*,
 * where an unknown constraint is tried while others run; and threads that each belong to one slow
 * constraint.
 */
import { sharedWords } from "./protocol.ts"
import { type ThreadHandlers, type ThreadOptions, WalkThread } from "./thread.ts"

export interface PoolOptions extends Omit<ThreadOptions, "shared" | "maxHeapMb" | "isPatient"> {
  /**
   * Threads beside the home that are kept ready, the nursery first; those that are missing are
   * started when needed.
   */
  readonly spareCount: number
}

/** Of one thread's heap. */
export const maxHeapMb = 2_048
/**
 * Threads that belong to one constraint each; twice as many where answers have begun, see `leave`.
 */
export const maxOwnedThreads = 4
/** Milliseconds between the starts of spare threads. */
const startGapMs = 2_000
/**
 * How long such a thread is kept for the next request with its constraint, and how long if its
 * memory is needed for others.
 */
const keptMs = 30_000
const sharedKeptMs = 5_000
/** A thread that holds more bytes is not given to another constraint. */
const maxReusedBytes = 256 << 20

export class WalkThreads {
  home: WalkThread
  /** Words that all threads share. */
  readonly shared = new Int32Array(new SharedArrayBuffer(4 * sharedWords))
  private readonly options: PoolOptions
  private readonly handlers: ThreadHandlers
  private readonly threads = new Set<WalkThread>()
  private nurseryThread: WalkThread | undefined
  private readonly spares: WalkThread[] = []
  /** By the key of their constraint, least recently used first. */
  private readonly owners = new Map<string, WalkThread>()
  /** Homes that have grown too large: they end once they are idle. */
  private readonly retiring = new Set<WalkThread>()
  /** Threads that were shared before they were left to one constraint. */
  private readonly left = new Set<WalkThread>()
  /** Threads that belong to one constraint and have nothing to do, since when. */
  private readonly idleSince = new Map<WalkThread, number>()
  /** Until the next spare thread is started. */
  private gap: ReturnType<typeof setTimeout> | undefined

  constructor(options: PoolOptions, handlers: ThreadHandlers) {
    this.options = options
    this.handlers = {
      ...handlers,
      onAnswer: (thread, answer) => {
        if (answer.kind === "ready") this.prepare()
        handlers.onAnswer(thread, answer)
      },
    }
    this.home = this.start()
  }

  get nursery(): WalkThread {
    this.nurseryThread ??= this.spares.shift() ?? this.start()
    return this.nurseryThread
  }

  /** Whether `thread` serves more than one constraint. */
  isShared(thread: WalkThread): boolean {
    return thread === this.home || thread === this.nurseryThread
  }

  get all(): readonly WalkThread[] {
    return [...this.threads]
  }

  /** Whether no thread is at work. */
  isQuiet(now: number): boolean {
    return this.all.every((thread) => thread.work(now) === undefined)
  }

  /** The thread that belongs to the constraint of `key`. */
  ownerOf(key: string | undefined): WalkThread | undefined {
    const owner = key === undefined ? undefined : this.owners.get(key)
    if (owner) this.own(key, owner)
    return owner
  }

  own(key: string | undefined, thread: WalkThread): void {
    const name = key ?? nameOf(thread)
    this.owners.delete(name)
    this.owners.set(name, thread)
  }

  /** Forgets the thread of a refused constraint. */
  disown(key: string | undefined): void {
    const owner = key === undefined ? undefined : this.owners.get(key)
    if (key === undefined || owner === undefined) return
    this.owners.delete(key)
    this.own(undefined, owner)
  }

  /**
   * A thread for one constraint: one that keeps nothing for another, or a fresh one, or one of
   * those that `isIdle` where there are enough. `isPatient`: others go before a fresh one.
   */
  take(isIdle: (thread: WalkThread) => boolean, isPatient: boolean): WalkThread | undefined {
    const idle = [...this.owners].filter(([, thread]) => !this.isShared(thread) && isIdle(thread))
    const isFull = this.ownedThreads().size >= maxOwnedThreads
    const reused = idle.find(
      ([name, thread]) => thread.bytes <= maxReusedBytes && (isFull || name === nameOf(thread)),
    )
    if (reused) {
      this.owners.delete(reused[0])
      this.idleSince.delete(reused[1])
      return reused[1]
    }
    return this.makeRoom(isIdle, maxOwnedThreads) ? this.start(isPatient) : undefined
  }

  /**
   * Leaves `thread`, the home or the nursery, to one constraint. False: there is no room for one
   * more. There is more room where answers have begun.
   */
  leave(thread: WalkThread, isIdle: (thread: WalkThread) => boolean, isRunning: boolean): boolean {
    if (!this.makeRoom(isIdle, isRunning ? 2 * maxOwnedThreads : maxOwnedThreads)) return false
    this.left.add(thread)
    this.replace(thread)
    return true
  }

  /** Gives a shared thread that is lost a successor: the nursery becomes the home. */
  replace(thread: WalkThread): void {
    const spare = this.spares.indexOf(thread)
    if (spare >= 0) this.spares.splice(spare, 1)
    if (thread === this.nurseryThread) this.nurseryThread = undefined
    if (thread === this.home) {
      this.home = this.nursery
      this.nurseryThread = undefined
    }
    this.prepare()
  }

  /** Retires the home: it serves its walks to their end. */
  retire(): void {
    this.retiring.add(this.home)
    this.replace(this.home)
  }

  /**
   * Ends idle threads that were not used again. Returns whether other idle threads are kept for a
   * while.
   */
  endIdle(isIdle: (thread: WalkThread) => boolean, now: number): boolean {
    for (const thread of this.retiring) if (isIdle(thread)) this.end(thread)
    for (const thread of this.owners.values()) {
      const since = this.idleSince.get(thread)
      if (!isIdle(thread)) this.idleSince.delete(thread)
      else if (since === undefined) this.idleSince.set(thread, now)
      else if (now - since >= (this.left.has(thread) ? sharedKeptMs : keptMs)) this.end(thread)
    }
    return this.idleSince.size > 0
  }

  end(thread: WalkThread): void {
    this.threads.delete(thread)
    this.retiring.delete(thread)
    this.idleSince.delete(thread)
    this.left.delete(thread)
    for (const [key, owner] of this.owners) if (owner === thread) this.owners.delete(key)
    void thread.end()
  }

  async close(): Promise<void> {
    clearTimeout(this.gap)
    await Promise.all(this.all.map((thread) => thread.end()))
    this.threads.clear()
  }

  /**
   * Starts the spare threads of the options one after the other: each takes 0.3 s of a core to load
   * its code, and the first requests need the cores too.
   */
  private prepare(): void {
    const { spareCount } = this.options
    if (spareCount === 0 || this.gap !== undefined) return
    this.nurseryThread ??= this.spares.shift()
    if (this.nurseryThread && this.spares.length >= spareCount - 1) return
    this.gap = setTimeout(() => {
      this.gap = undefined
      if (!this.nurseryThread) this.nurseryThread = this.start()
      else if (this.spares.length < spareCount - 1) this.spares.push(this.start())
    }, startGapMs)
    this.gap.unref?.()
  }

  /**
   * Ends idle threads until there are fewer than `most` that belong to one constraint; whether it
   * could.
   */
  private makeRoom(isIdle: (thread: WalkThread) => boolean, most: number): boolean {
    const owned = this.ownedThreads()
    let count = owned.size
    for (const thread of owned) {
      if (count < most) break
      if (!isIdle(thread)) continue
      this.end(thread)
      count--
    }
    return count < most
  }

  private ownedThreads(): Set<WalkThread> {
    return new Set([...this.owners.values()].filter((thread) => !this.isShared(thread)))
  }

  private start(isPatient = false): WalkThread {
    const shared = this.shared.buffer as SharedArrayBuffer
    const thread = new WalkThread({ ...this.options, shared, maxHeapMb, isPatient }, this.handlers)
    this.threads.add(thread)
    return thread
  }
}

/** What a thread is kept under that has no constraint to keep. */
function nameOf(thread: WalkThread): string {
  return `thread ${thread.number}`
}
