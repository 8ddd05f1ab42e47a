/**
 * One thread of walks as the engine sees it: messages in both directions, and a view of its current
 * work.
 */

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads"
import { packageFile } from "../files.ts"
import { makePatient, waitedMs } from "./priority.ts"
import {
  Answered,
  Asked,
  type FromThread,
  StateCount,
  signalWords,
  type ThreadData,
  type ToThread,
  Unit,
  UnitKind,
  type UnitKindName,
  UnitOwner,
  unitKinds,
} from "./protocol.ts"

export interface ThreadOptions {
  readonly model: string
  readonly dtype: string | undefined
  readonly width: number
  readonly words: number
  readonly slotCount: number
  readonly shared: SharedArrayBuffer
  readonly warms: boolean
  readonly limits: { readonly maskMs: number; readonly completionMs: number }
  /** Maximum megabytes of the thread's heap. */
  readonly maxHeapMb: number
  /** Whether the thread has a low priority. */
  readonly isPatient: boolean
}

export interface ThreadHandlers {
  onAnswer(thread: WalkThread, answer: FromThread): void
  /** Called if the thread ends by itself. */
  onDeath(thread: WalkThread, error: Error): void
}

/** The current work of the thread. */
export interface Work {
  readonly owner: number
  readonly kind: UnitKindName
  /** Milliseconds since the engine first saw this work. */
  readonly age: number
}

let threadCount = 0

export class WalkThread {
  readonly number = ++threadCount
  isReady = false
  isDead = false
  /** Bytes of its heap when it last opened a walk. */
  bytes = 0
  private systemThread = 0
  private readonly worker: Worker
  private readonly port: MessagePort
  private readonly signal: Int32Array
  private readonly rows: SharedArrayBuffer
  private readonly words: number
  private readonly handlers: ThreadHandlers
  private unit = 0
  private unitSince = 0
  /** Milliseconds that it had waited for a core when the engine first saw its current work. */
  private waitedBefore = 0

  constructor(options: ThreadOptions, handlers: ThreadHandlers) {
    this.handlers = handlers
    this.words = options.words
    const signal = new SharedArrayBuffer(4 * signalWords)
    this.signal = new Int32Array(signal)
    this.rows = new SharedArrayBuffer(4 * options.words * options.slotCount)
    const { port1, port2 } = new MessageChannel()
    const { model, dtype, width, warms, isPatient, shared } = options
    const { maskMs, completionMs } = options.limits
    const own = { port: port2, signal, shared, rows: this.rows }
    const data: ThreadData = { ...own, model, dtype, width, warms, isPatient, maskMs, completionMs }
    this.worker = new Worker(packageFile("dist/runtime/guides/start.js"), {
      workerData: data,
      transferList: [port2],
      // Flags of this process are not passed on, since a thread refuses some of them.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb },
    })
    this.port = port1
    port1.on("message", (answer: FromThread) => this.receive(answer))
    this.worker.on("error", (error) => this.die(error))
    this.worker.on("exit", (code) => this.die(new Error(`it exited with code ${code}`)))
    // The thread must not keep the process alive if the engine is never closed.
    port1.unref()
    this.worker.unref()
  }

  /** The row of a slot, in this thread's memory. Shape [W]. */
  row(slot: number): Uint32Array {
    return new Uint32Array(this.rows, 4 * slot * this.words, this.words)
  }

  post(question: ToThread): void {
    this.tell(question)
    this.wake()
  }

  /**
   * Sends a question that can wait until the thread is woken, by `wake` or by the next question.
   */
  tell(question: ToThread): void {
    if (this.isDead) return
    this.port.postMessage(question)
    Atomics.add(this.signal, Asked, 1)
  }

  /** If all cores are busy, waking a thread may block the caller. */
  wake(): void {
    Atomics.notify(this.signal, Asked)
  }

  /** Handles the answers that have arrived, without the event loop. */
  drain(): void {
    for (let received = receiveMessageOnPort(this.port); received; received = receiveMessageOnPort(this.port))
      this.receive(received.message as FromThread)
  }

  /** Blocks this thread until another answer arrives, for at most `ms` milliseconds. */
  pause(ms: number, seen: number): void {
    Atomics.wait(this.signal, Answered, seen, ms)
  }

  /** A number that changes with every answer. */
  get answered(): number {
    return Atomics.load(this.signal, Answered)
  }

  /** Returns its current work; undefined if it waits. */
  work(now: number): Work | undefined {
    const unit = Atomics.load(this.signal, Unit)
    if (unit !== this.unit) {
      this.unit = unit
      this.unitSince = now
      this.waitedBefore = unit === 0 ? 0 : waitedMs(this.systemThread)
    }
    if (unit === 0) return undefined
    const owner = Atomics.load(this.signal, UnitOwner)
    const kind = unitKinds[Atomics.load(this.signal, UnitKind)]
    return { owner, kind, age: now - this.unitSince }
  }

  /**
   * Milliseconds of its current work during which it had no core. Reading them takes a read of a
   * system file.
   */
  get waited(): number {
    return waitedMs(this.systemThread) - this.waitedBefore
  }

  /** Number of states of its machines. */
  get stateCount(): number {
    return Atomics.load(this.signal, StateCount)
  }

  /** Lowers its priority. */
  makePatient(): void {
    makePatient(this.systemThread)
  }

  /** Ends the thread, whatever it is doing. */
  async end(): Promise<void> {
    this.isDead = true
    this.port.close()
    await this.worker.terminate()
  }

  private receive(answer: FromThread): void {
    if (this.isDead) return
    if (answer.kind === "ready") {
      this.isReady = true
      this.systemThread = answer.systemThread
    } else if (answer.kind === "opened") this.bytes = answer.bytes
    this.handlers.onAnswer(this, answer)
  }

  private die(error: Error): void {
    if (this.isDead) return
    // Answers that were sent before its end count.
    this.drain()
    this.isDead = true
    this.port.close()
    this.handlers.onDeath(this, error)
  }
}
