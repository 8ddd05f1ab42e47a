/**
 * The threads of an engine's walks: the *home*, which serves all quick constraints; the *nursery*,
 * where an unknown constraint is compiled while others run; and threads that belong to one slow
 * constraint each.
 */
import { maxHeapMb, sharedWords } from "./protocol.ts"
import { type ThreadHandlers, type ThreadOptions, WalkThread } from "./thread.ts"

export interface PoolOptions extends Omit<ThreadOptions, "shared" | "maxHeapMb" | "isPatient"> {
  /**
   * Number of threads besides the home that are kept ready, the nursery first. Missing ones are
   * started when they are needed.
   */
  readonly spareCount: number
}

/**
 * Maximum number of threads that belong to one constraint each; twice as many if answers have
 * begun, see `leave`.
 */
export const maxOwnedThreads = 4
/** Milliseconds between the starts of spare threads. */
const startGapMs = 2_000
/**
 * How long a thread of one constraint is kept idle for the next request with that constraint, and
 * how long if it was a shared thread before.
 */
const keptMs = 30_000
const sharedKeptMs = 5_000
/** A thread that holds more bytes is not reused for another constraint. */
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
  /** Threads by the key of their constraint, least recently used first. */
  private readonly owners = new Map<string, WalkThread>()
  /** Homes that have become too large: they end once they are idle. */
  private readonly retiring = new Set<WalkThread>()
  /** Threads that were shared before they were given to one constraint. */
  private readonly left = new Set<WalkThread>()
  /** Idle threads that belong to one constraint, and since when they are idle. */
  private readonly idleSince = new Map<WalkThread, number>()
  /** Timer until the next spare thread is started. */
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

  /** Returns whether no thread works. */
  isQuiet(now: number): boolean {
    return this.all.every((thread) => thread.work(now) === undefined)
  }

  /** Returns the thread that belongs to the constraint of `key`. */
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
   * Returns a thread for one constraint: one that has no constraint to keep; if there are too many
   * threads, an idle one; otherwise a new one. `isPatient`: whether a new thread gets a low
   * priority.
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
   * Gives `thread`, the home or the nursery, to one constraint. Returns false if there is no room
   * for another thread. There is more room if answers of the constraint have begun.
   */
  leave(thread: WalkThread, isIdle: (thread: WalkThread) => boolean, isRunning: boolean): boolean {
    if (!this.makeRoom(isIdle, isRunning ? 2 * maxOwnedThreads : maxOwnedThreads)) return false
    this.left.add(thread)
    this.replace(thread)
    return true
  }

  /** Replaces a shared thread that is lost: the nursery becomes the home. */
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

  /** Retires the home: it serves its walks until they end. */
  retire(): void {
    this.retiring.add(this.home)
    this.replace(this.home)
  }

  /**
   * Ends idle threads that were not used again. Returns whether other idle threads are still kept.
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
   * Starts the spare threads of the options one after the other: each needs 0.3 s of a core to load
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
   * Ends idle threads until fewer than `most` belong to one constraint. Returns whether that was
   * possible.
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

/** Returns the key for a thread that has no constraint to keep. */
function nameOf(thread: WalkThread): string {
  return `thread ${thread.number}`
}
