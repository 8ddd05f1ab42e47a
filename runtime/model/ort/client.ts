/**
 * The `Model` in the engine's thread: it sends each call to a worker thread that runs the graph.
 *
 * It asks one question at a time, as the engine's step needs it. If a worker dies, the call in
 * progress fails, and a new worker with empty slots replaces it; later calls wait until it has
 * loaded the graph. If a worker dies soon after a restart, a new one would probably die too, so the
 * model is then dead.
 */

import { Worker } from "node:worker_threads"
import { ModelError } from "../../errors.ts"
import { packageFile } from "../../files.ts"
import { hostLogits, type StepLogits } from "../logits.ts"
import type { Feed, Model, ModelWork } from "../model.ts"
import { Gate } from "./gate.ts"
import { muteTelemetry } from "./installed.ts"

/** The data with which the worker loads the graph. */
export interface LoadOptions {
  graphPath: string
  /** The graph that computes `inputs_embeds`, if the main graph takes them. */
  embeddingPath?: string | undefined
  provider: "cpu" | "webgpu"
  /** undefined: the fastest number for a small graph, and all cores but one for a large one. */
  threads: number | undefined
  slotCount: number
  contextLength: number
  batching: "exact" | "fast"
  /** See `SessionOptions`. */
  readsAhead: boolean
  config: Readonly<Record<string, unknown>>
}

export type Question =
  | { kind: "forward"; id: number; feeds: readonly Feed[]; reuse?: ArrayBuffer }
  | { kind: "close" }

export type Answer =
  | {
      kind: "loaded"
      id: 0
      width: number
      canRewind: boolean
      marks: number
      cutsFreely: boolean
      joinsFeeds: boolean
      readsSteps: boolean
      /** How the graph runs, and why. */
      description: string
      threads: number
    }
  /** `at` is process.hrtime: threads do not share the origin of performance.now(). */
  | { kind: "logits"; id: number; buffer: ArrayBuffer; length: number; at: bigint; work: ModelWork }
  | { kind: "failed"; id: number; message: string }

/** Starts the worker and loads the graph. Throws ModelError with the worker's message. */
export async function openOrtModel(options: LoadOptions): Promise<Model> {
  const client = new OrtClient(options)
  await client.start()
  return client
}

/** Milliseconds after a restart for which a worker must run before it may be restarted again. */
const trialMs = 60_000

const noWork: ModelWork = { runs: 0, places: 0, placesInVain: 0 }

interface Waiting {
  id: number
  resolve(answer: Answer): void
  reject(error: Error): void
}

class OrtClient implements Model {
  width = 0
  canRewind = false
  marks = 0
  cutsFreely = false
  joinsFeeds = true
  readsSteps = false
  private way = ""
  private threads = 0
  answeredAt = 0
  /** Counts of the work of earlier workers. */
  private workBefore: ModelWork = noWork
  private workOfWorker: ModelWork = noWork
  readonly contextLength: number
  readonly slotCount: number
  onDeath: ((error: Error) => void) | undefined
  onRestart: (() => void) | undefined
  private readonly options: LoadOptions
  private worker!: Worker
  private isLoaded = false
  private waiting: Waiting | undefined
  private death: Error | undefined
  private restart: Promise<void> | undefined
  private restartedAt = Number.NEGATIVE_INFINITY
  /** Why the slots were lost, to be thrown by the first call that still relies on them. */
  private loss: Error | undefined
  private lastId = 0
  private isClosing = false
  private reuse: ArrayBuffer | undefined

  constructor(options: LoadOptions) {
    this.options = options
    this.contextLength = options.contextLength
    this.slotCount = options.slotCount
  }

  get description(): string {
    const threads = this.options.provider === "cpu" ? `, threads: ${this.threads}` : ""
    return `onnxruntime-node/${this.options.provider}, ${this.way}${threads}`
  }

  get work(): ModelWork {
    const { workBefore: before, workOfWorker: now } = this
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

  /** Starts a worker and waits until it has loaded the graph. */
  async start(): Promise<void> {
    muteTelemetry()
    const gate = Gate.open()
    // Flags of this process are not passed on, since a thread refuses some of them, such as
    // --input-type of a program given by --eval.
    const worker = new Worker(packageFile("dist/runtime/model/ort/worker.js"), {
      workerData: { ...this.options, cells: gate.cells },
      execArgv: [],
    })
    this.worker = worker
    this.workBefore = this.work
    this.workOfWorker = noWork
    this.isLoaded = false
    const answered = this.wait(0)
    worker.on("message", (answer: Answer) => this.receive(answer))
    worker.on("error", (cause) => this.end(worker, `failed: ${cause.message}`, cause))
    worker.on("exit", (code) => {
      gate.forget()
      this.end(worker, `ended with code ${code}`)
    })
    const answer = await answered
    if (answer.kind !== "loaded") throw new Error(`internal: answer ${answer.kind} to a load`)
    if (this.width !== 0 && answer.width !== this.width) {
      throw new ModelError(
        `${this.options.graphPath}: ${answer.width} columns of logits, ${this.width} before`,
      )
    }
    this.width = answer.width
    this.canRewind = answer.canRewind
    this.marks = answer.marks
    this.cutsFreely = answer.cutsFreely
    this.joinsFeeds = answer.joinsFeeds
    this.readsSteps = answer.readsSteps
    this.way = answer.description
    this.threads = answer.threads
    this.isLoaded = true
  }

  async forward(feeds: readonly Feed[]): Promise<StepLogits> {
    if (this.restart) await this.restart
    if (this.death) throw this.death
    if (this.waiting) throw new Error("internal: the model runs one batch at a time")
    const { loss } = this
    this.loss = undefined
    if (loss && feeds.some(({ start }) => start > 0)) throw loss
    const id = ++this.lastId
    const question: Question = { kind: "forward", id, feeds }
    if (this.reuse) question.reuse = this.reuse
    const answered = this.wait(id)
    this.worker.postMessage(question, this.reuse ? [this.reuse] : [])
    this.reuse = undefined
    const answer = await answered
    if (answer.kind !== "logits") throw new Error(`internal: answer ${answer.kind} to a batch`)
    // The logits are read before the next call, which sends their buffer back for reuse.
    this.reuse = answer.buffer
    this.workOfWorker = answer.work
    this.answeredAt = performance.now() - Number(process.hrtime.bigint() - answer.at) / 1e6
    return hostLogits(new Float32Array(answer.buffer, 0, answer.length), this.width)
  }

  async close(): Promise<void> {
    if (this.isClosing) return
    this.isClosing = true
    this.onDeath = undefined
    this.onRestart = undefined
    if (!this.death) {
      const ended = new Promise((resolve) => this.worker.once("exit", resolve))
      this.worker.postMessage({ kind: "close" } satisfies Question)
      await ended
    }
  }

  private wait(id: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting = { id, resolve, reject }
    })
  }

  private receive(answer: Answer): void {
    const waiting = this.waiting
    if (!waiting || waiting.id !== answer.id) return
    this.waiting = undefined
    if (answer.kind === "failed") waiting.reject(new ModelError(answer.message))
    else waiting.resolve(answer)
  }

  /** Handles the end of a worker. Node reports a failed one twice: by its error and by its exit. */
  private end(worker: Worker, how: string, cause?: Error): void {
    if (worker !== this.worker || this.death) return
    const { waiting } = this
    this.waiting = undefined
    const isTried = performance.now() - this.restartedAt > trialMs
    const startsAgain = this.isLoaded && isTried && !this.isClosing
    const after = startsAgain ? "; it is being started again" : ""
    const error = new ModelError(`the model's thread ${how}${after}`, { cause })
    if (startsAgain) {
      if (!waiting) this.loss = error
      this.restart = this.startAgain()
      this.onRestart?.()
    } else this.die(error)
    waiting?.reject(error)
  }

  private async startAgain(): Promise<void> {
    try {
      await this.start()
      this.restartedAt = performance.now()
      // Loading the graph may have taken longer than the time limit of a step.
      this.answeredAt = this.restartedAt
    } catch (cause) {
      const { message } = cause as Error
      this.worker.postMessage({ kind: "close" } satisfies Question)
      this.die(new ModelError(`the model's thread could not be started again: ${message}`, { cause }))
    } finally {
      this.restart = undefined
    }
  }

  private die(error: Error): void {
    if (this.death) return
    this.death = error
    this.onDeath?.(error)
  }
}
