/**
 * The threads of an engine's walks: the home, which serves all that is quick; a spare, where one is kept ready; and those
 * that belong to one constraint each.
 */
import { sharedWords } from "./protocol.ts"
import { type ThreadHandlers, type ThreadOptions, WalkThread } from "./thread.ts"

export interface PoolOptions extends Omit<ThreadOptions, "shared" | "maxHeapMb"> {
  /** A second thread waits for the moment when it is needed; without it, it is started then. */
  readonly hasSpare: boolean
  /** Threads at once, the home and the spare among them. */
  readonly maxThreads: number
}

/** Of one thread's heap. */
export const maxHeapMb = 2_048

export class WalkThreads {
  home: WalkThread
  /** Words that all threads see. */
  readonly shared = new Int32Array(new SharedArrayBuffer(4 * sharedWords))
  private readonly options: PoolOptions
  private readonly handlers: ThreadHandlers
  private readonly threads = new Set<WalkThread>()
  private spare: WalkThread | undefined
  /** By the key of their constraint; the one used longest ago first. */
  private readonly owners = new Map<string, WalkThread>()
  private readonly retiring = new Set<WalkThread>()
  private isClosed = false

  constructor(options: PoolOptions, handlers: ThreadHandlers) {
    this.options = options
    this.handlers = handlers
    this.home = this.start()
  }

  get all(): readonly WalkThread[] {
    return [...this.threads]
  }

  get size(): number {
    return this.threads.size
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
    const name = key ?? `thread ${thread.number}`
    this.owners.delete(name)
    this.owners.set(name, thread)
  }

  /** A thread that nobody has: the spare, a fresh one, or one in the place of a thread that `isIdle`. */
  take(isIdle: (thread: WalkThread) => boolean): WalkThread | undefined {
    const { spare } = this
    this.spare = undefined
    const hasRoom = spare || this.threads.size < this.options.maxThreads || this.endIdle(isIdle)
    const thread = spare ?? (hasRoom ? this.start() : undefined)
    this.prepareSpare()
    return thread
  }

  /** Keeps a thread ready where the options ask for one. */
  prepareSpare(): void {
    const hasRoom = this.threads.size < this.options.maxThreads
    if (this.options.hasSpare && !this.spare && hasRoom && !this.isClosed) this.spare = this.start()
  }

  /** Makes `thread` the home; `next` is taken already. The one before serves whom it has, and ends. */
  retire(next: WalkThread): void {
    this.retiring.add(this.home)
    this.home = next
  }

  endRetired(isIdle: (thread: WalkThread) => boolean): void {
    for (const thread of this.retiring) if (isIdle(thread)) this.end(thread)
  }

  end(thread: WalkThread): void {
    this.threads.delete(thread)
    this.retiring.delete(thread)
    if (this.spare === thread) this.spare = undefined
    for (const [key, owner] of this.owners) if (owner === thread) this.owners.delete(key)
    void thread.end()
  }

  /** A thread that has ended gets a successor, if it was the home. */
  replaceHome(isIdle: (thread: WalkThread) => boolean): void {
    if (!this.threads.has(this.home)) this.home = this.take(isIdle) ?? this.start()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all(this.all.map((thread) => thread.end()))
    this.threads.clear()
  }

  private endIdle(isIdle: (thread: WalkThread) => boolean): boolean {
    for (const thread of new Set(this.owners.values())) {
      if (thread === this.home || !isIdle(thread)) continue
      this.end(thread)
      return true
    }
    return false
  }

  private start(): WalkThread {
    const shared = this.shared.buffer as SharedArrayBuffer
    const thread = new WalkThread({ ...this.options, shared, maxHeapMb }, this.handlers)
    this.threads.add(thread)
    return thread
  }
}
