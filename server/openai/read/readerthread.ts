/**
 * A thread that reads large bodies, and the queue of bodies for it.
 *
 * One body is read at a time, the smallest of those that wait, so that a large one delays few
 * others. The cost of a body is bounded by time and by the thread's heap. A thread that exceeds a
 * bound is ended, its body is refused, and the next body gets a new thread. An idle thread is ended
 * too, because its heap stays as large as its largest body made it.
 */
import { existsSync } from "node:fs"
import { Worker } from "node:worker_threads"
import { AbortError, packageFile } from "../../../runtime/index.ts"
import { type ErrorCode, Refusal, type RefusalDetails } from "../../errors.ts"
import type { ParseLimits } from "../../http/body.ts"
import type { BodyRead, BodyReader, Endpoint } from "./readbody.ts"

/** A message to the thread. The buffer of the bytes is transferred with it. */
export interface Question {
  endpoint: Endpoint
  bytes: Uint8Array<ArrayBuffer>
  limits: ParseLimits
}

/** A message from the thread. */
export type Answer =
  | { kind: "ready" }
  | { kind: "read"; read: BodyRead<Endpoint> }
  | { kind: "refused"; code: ErrorCode; fault: string; details: RefusalDetails }
  | { kind: "failed"; message: string }

export interface ReaderLimits {
  /** Milliseconds that one body may take. */
  maxMs: number
  /** Maximum heap of the thread, in MiB. */
  maxHeapMb: number
  /** Maximum number of bodies that may wait. */
  maxWaiting: number
  /** Milliseconds after which an idle thread is ended. */
  idleMs: number
}

export const defaultReaderLimits: Readonly<ReaderLimits> = {
  maxMs: 5_000,
  maxHeapMb: 768,
  maxWaiting: 256,
  idleMs: 10_000,
}

/** A thread that has not started after this time counts as failed. */
const startMs = 30_000

interface Job extends Question {
  resolve(read: BodyRead<Endpoint>): void
  reject(error: Error): void
}

export class ReaderThread implements BodyReader {
  private readonly limits: ReaderLimits
  private readonly waiting: Job[] = []
  private running: Job | undefined
  private worker: Worker | undefined
  private isReady = false
  /** Ends the thread if it does not start, if a body takes too long, or if it is idle. */
  private timer: NodeJS.Timeout | undefined

  constructor(limits: Partial<ReaderLimits> = {}) {
    this.limits = { ...defaultReaderLimits, ...limits }
  }

  /**
   * Whether there is a file to start the thread from. There is none if the package runs from its
   * sources.
   */
  static get isAvailable(): boolean {
    try {
      return existsSync(entry())
    } catch {
      return false
    }
  }

  read<E extends Endpoint>(
    endpoint: E,
    bytes: Uint8Array<ArrayBuffer>,
    limits: ParseLimits,
    signal: AbortSignal,
  ): Promise<BodyRead<E>> {
    const { promise, job } = makeJob<E>({ endpoint, bytes, limits })
    if (signal.aborted) job.reject(new AbortError())
    else if (this.waiting.length >= this.limits.maxWaiting) {
      const message = `${this.waiting.length} large bodies already wait to be read, which is the maximum`
      job.reject(new Refusal("queue_full", message, { hint: "Try again soon, or send less" }))
    } else {
      this.waiting.push(job)
      this.next()
      const leave = () => this.leave(job)
      signal.addEventListener("abort", leave, { once: true })
      return promise.finally(() => signal.removeEventListener("abort", leave))
    }
    return promise
  }

  /** Ends the thread. Waiting bodies are read by a new one. */
  async close(): Promise<void> {
    await this.drop()
  }

  /**
   * Removes an aborted request from the queue. A body that is being read is read to its end, and
   * the result is dropped.
   */
  private leave(job: Job): void {
    const index = this.waiting.indexOf(job)
    if (index >= 0) this.waiting.splice(index, 1)
    job.reject(new AbortError())
  }

  private next(): void {
    if (this.running) return
    if (this.waiting.length === 0) {
      this.rest()
      return
    }
    this.worker ??= this.start()
    this.worker.ref()
    if (!this.isReady) return
    const smallest = this.waiting.reduce((a, b) => (b.bytes.length < a.bytes.length ? b : a))
    this.waiting.splice(this.waiting.indexOf(smallest), 1)
    this.running = smallest
    this.setTimer(this.limits.maxMs, () => {
      this.end(tooCostly(`takes more than the bound of ${this.limits.maxMs} ms to read`))
    })
    const { endpoint, bytes, limits } = smallest
    this.worker.postMessage({ endpoint, bytes, limits } satisfies Question, [bytes.buffer])
  }

  /** Lets the process end, and ends the thread after its idle time. */
  private rest(): void {
    this.worker?.unref()
    this.setTimer(this.limits.idleMs, () => void this.drop())
    this.timer?.unref()
  }

  private start(): Worker {
    const { maxHeapMb } = this.limits
    this.setTimer(startMs, () =>
      this.end(new Error(`the thread that reads bodies did not start within ${startMs} ms`)),
    )
    // Does not inherit the flags of this process, because a thread refuses some of them.
    const worker = new Worker(entry(), {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
      execArgv: [],
    })
    worker.on("message", (answer: Answer) => {
      if (worker === this.worker) this.hear(answer)
    })
    worker.on("error", (error: NodeJS.ErrnoException) => {
      if (worker !== this.worker) return
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY"
      this.end(
        isMemory ? tooCostly(`takes more than the bound of ${maxHeapMb} MiB of memory to read`) : error,
      )
    })
    worker.on("exit", (code) => {
      if (worker === this.worker) this.end(new Error(`the thread that reads bodies ended with code ${code}`))
    })
    return worker
  }

  private hear(answer: Answer): void {
    if (answer.kind === "ready") {
      this.isReady = true
    } else {
      const job = this.running
      this.running = undefined
      if (answer.kind === "read") job?.resolve(answer.read)
      else if (answer.kind === "failed") job?.reject(new Error(answer.message))
      else job?.reject(new Refusal(answer.code, answer.fault, answer.details))
    }
    this.next()
  }

  /**
   * Ends the thread and refuses the body that it reads. If the thread never started, another would
   * not start either, so all waiting bodies are refused too.
   */
  private end(error: Error): void {
    const lost = this.running ? [this.running] : this.waiting.splice(0)
    this.running = undefined
    void this.drop()
    for (const job of lost) job.reject(error)
    this.next()
  }

  private async drop(): Promise<void> {
    const { worker } = this
    this.worker = undefined
    this.isReady = false
    clearTimeout(this.timer)
    await worker?.terminate()
  }

  private setTimer(ms: number, then: () => void): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(then, ms)
  }
}

function entry(): string {
  return packageFile("dist/server/openai/read/readerworker.js")
}

function makeJob<E extends Endpoint>(question: Question): { promise: Promise<BodyRead<E>>; job: Job } {
  let job: Job | undefined
  const promise = new Promise<BodyRead<E>>((resolve, reject) => {
    job = { ...question, resolve: resolve as Job["resolve"], reject }
  })
  return { promise, job: job! }
}

function tooCostly(what: string): Refusal {
  return new Refusal("request_too_large", `the body ${what}`, {
    hint: "Send less, or in fewer and longer texts",
  })
}
