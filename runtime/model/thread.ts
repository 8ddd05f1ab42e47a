/**
 * A model whose graph runs in a worker thread: starts the thread, sends questions, and replaces a
 * thread that has died.
 *
 * If a thread dies, the calls in progress fail, and a new thread with empty slots replaces it;
 * later calls wait until it has loaded the graph. If a thread dies soon after a restart, a new one
 * would probably die too, so the model is then dead.
 */

import { Worker } from "node:worker_threads"
import { ModelError } from "../errors.ts"
import { packageFile } from "../files.ts"
import type { StepLogits } from "./logits.ts"
import type { Feed, Model, ModelWork } from "./model.ts"
import { Gate } from "./ort/gate.ts"

/** A thread's first message: what its graph can do. */
export interface Loaded {
  readonly kind: "loaded"
  readonly id: 0
  readonly width: number
  readonly canRewind: boolean
  readonly marks: number
  readonly cutsFreely: boolean
  readonly joinsFeeds: boolean
  readonly readsSteps: boolean
  /** How the graph runs, and why. */
  readonly description: string
  readonly threads: number
}

/** The message of a call that failed, or of a graph that could not be loaded (id 0). */
export interface Failed {
  readonly kind: "failed"
  readonly id: number
  readonly message: string
}

/** The last message to a thread: it ends. */
export interface Close {
  readonly kind: "close"
}

/** Milliseconds after a restart for which a thread must run before it may be restarted again. */
const trialMs = 60_000

const noWork: ModelWork = { runs: 0, places: 0, placesInVain: 0 }

interface Message {
  readonly kind: string
  readonly id: number
}

interface Waiting {
  resolve(answer: Message): void
  reject(error: Error): void
}

/** What a thread is started with. */
export interface ThreadProgram {
  /** The program, relative to the folder of the package. */
  readonly path: string
  /** Data that it gets besides the cells of its gate. */
  readonly data: object
  /** The graph's file, for messages. */
  readonly graphPath: string
}

export abstract class ModelThread<
  Question extends Message,
  Answer extends Message,
  Load extends Loaded = Loaded,
> implements Model
{
  width = 0
  canRewind = false
  marks = 0
  cutsFreely = false
  joinsFeeds = true
  readsSteps = false
  answeredAt = 0
  abstract readonly description: string
  abstract readonly contextLength: number
  abstract readonly slotCount: number
  onDeath: ((error: Error) => void) | undefined
  onRestart: (() => void) | undefined
  /** Number of threads that have died. */
  epoch = 0
  /** The first message of the running thread. */
  protected loaded: Load | undefined
  private readonly program: ThreadProgram
  /** Counts of the work of earlier threads. */
  private workBefore: ModelWork = noWork
  private workOfThread: ModelWork = noWork
  private worker!: Worker
  private isLoaded = false
  private readonly waiting = new Map<number, Waiting>()
  private death: Error | undefined
  private restart: Promise<void> | undefined
  private restartedAt = Number.NEGATIVE_INFINITY
  /** Why the slots were lost, to be thrown by the first call that still relies on them. */
  private loss: Error | undefined
  private lastId = 0
  private isClosing = false

  constructor(program: ThreadProgram) {
    this.program = program
  }

  abstract forward(feeds: readonly Feed[]): Promise<StepLogits>

  get work(): ModelWork {
    const { workBefore: before, workOfThread: now } = this
    return {
      runs: before.runs + now.runs,
      places: before.places + now.places,
      placesInVain: before.placesInVain + now.placesInVain,
    }
  }

  get isDead(): boolean {
    return this.death !== undefined
  }

  get isRestarting(): boolean {
    return this.restart !== undefined
  }

  /** Starts a thread and waits until it has loaded the graph. Throws ModelError. */
  async start(): Promise<void> {
    const { path, data, graphPath } = this.program
    const gate = Gate.open()
    // Flags of this process are not passed on, since a thread refuses some of them, such as
    // --input-type of a program given by --eval.
    const worker = new Worker(packageFile(path), {
      workerData: { ...data, cells: gate.cells },
      execArgv: [],
    })
    this.worker = worker
    this.workBefore = this.work
    this.workOfThread = noWork
    this.isLoaded = false
    const answered = this.wait(0)
    worker.on("message", (answer: Message) => {
      if (worker === this.worker) this.receive(answer)
    })
    worker.on("error", (cause) => this.end(worker, `failed: ${cause.message}`, cause))
    worker.on("exit", (code) => {
      gate.forget()
      this.end(worker, `ended with code ${code}`)
    })
    const answer = await answered
    if (!isLoad<Load>(answer)) throw new Error(`internal: answer ${answer.kind} to a load`)
    if (this.width !== 0 && answer.width !== this.width) {
      throw new ModelError(`${graphPath}: ${answer.width} columns of logits, ${this.width} before`)
    }
    const { width, canRewind, marks, cutsFreely, joinsFeeds, readsSteps } = answer
    Object.assign(this, { width, canRewind, marks, cutsFreely, joinsFeeds, readsSteps })
    this.loaded = answer
    this.isLoaded = true
  }

  async close(): Promise<void> {
    if (this.isClosing) return
    this.isClosing = true
    this.onDeath = undefined
    this.onRestart = undefined
    if (!this.death) {
      const ended = new Promise((resolve) => this.worker.once("exit", resolve))
      this.worker.postMessage({ kind: "close" } satisfies Close)
      await ended
    }
  }

  /** Waits for a restart. Throws if the thread is lost, or the tokens that the feeds continue. */
  protected async ready(feeds: readonly Feed[]): Promise<void> {
    if (this.restart) await this.restart
    if (this.death) throw this.death
    if (this.waiting.size > 0) throw new Error("internal: the model runs one batch at a time")
    const { loss } = this
    this.loss = undefined
    if (loss && feeds.some(({ start }) => start > 0)) throw loss
  }

  /** Sends a question. Returns the answer, of the same kind. Throws ModelError if it failed. */
  protected async ask<Kind extends Question["kind"] & Answer["kind"]>(
    question: Omit<Extract<Question, { kind: Kind }>, "id"> & { kind: Kind },
    transfer: ArrayBuffer[] = [],
  ): Promise<Extract<Answer, { kind: Kind }>> {
    if (this.death) throw this.death
    const id = ++this.lastId
    const answered = this.wait(id)
    this.worker.postMessage({ ...question, id }, transfer)
    const answer = await answered
    if (!isKind<Answer, Kind>(answer, question.kind))
      throw new Error(`internal: answer ${answer.kind} to ${question.kind}`)
    return answer
  }

  /** Sends a message that is not answered. */
  protected tell(message: object): void {
    if (!this.death) this.worker.postMessage(message)
  }

  /** Records the work of the thread so far, and when it answered (process.hrtime). */
  protected note(work: ModelWork, at: bigint): void {
    this.workOfThread = work
    // Threads do not share the origin of performance.now().
    this.answeredAt = performance.now() - Number(process.hrtime.bigint() - at) / 1e6
  }

  private wait(id: number): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
    })
  }

  private receive(answer: Message): void {
    const waiting = this.waiting.get(answer.id)
    if (!waiting) return
    this.waiting.delete(answer.id)
    if (isFailure(answer)) waiting.reject(new ModelError(answer.message))
    else waiting.resolve(answer)
  }

  /** Handles the end of a thread. Node reports a failed one twice: by its error and by its exit. */
  private end(worker: Worker, how: string, cause?: Error): void {
    if (worker !== this.worker || this.death) return
    const waiting = [...this.waiting.values()]
    this.waiting.clear()
    this.epoch++
    const isTried = performance.now() - this.restartedAt > trialMs
    const startsAgain = this.isLoaded && isTried && !this.isClosing
    const after = startsAgain ? "; it is being started again" : ""
    const error = new ModelError(`the model's thread ${how}${after}`, { cause })
    if (startsAgain) {
      if (waiting.length === 0) this.loss = error
      this.restart = this.startAgain()
      this.onRestart?.()
    } else this.die(error)
    for (const { reject } of waiting) reject(error)
  }

  private async startAgain(): Promise<void> {
    try {
      await this.start()
      this.restartedAt = performance.now()
      // Loading the graph may have taken longer than the time limit of a step.
      this.answeredAt = this.restartedAt
    } catch (cause) {
      const { message } = cause as Error
      this.worker.postMessage({ kind: "close" } satisfies Close)
      this.die(new ModelError(`the model's thread could not be started again: ${message}`, { cause }))
    } finally {
      this.restart = undefined
    }
  }

  private die(error: Error): void {
    if (this.death) return
    this.death = error
    // A question may have been sent to a new thread that did not load the graph.
    for (const { reject } of this.waiting.values()) reject(error)
    this.waiting.clear()
    this.onDeath?.(error)
  }
}

function isFailure(answer: Message): answer is Failed {
  return answer.kind === "failed"
}

function isLoad<Load extends Loaded>(answer: Message): answer is Load {
  return answer.kind === "loaded"
}

function isKind<Answer extends Message, Kind extends string>(
  answer: Message,
  kind: Kind,
): answer is Extract<Answer, { kind: Kind }> {
  return answer.kind === kind
}
