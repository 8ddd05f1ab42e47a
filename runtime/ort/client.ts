/**
 * The model in a worker thread, seen from the thread that fills masks: `Model` over messages.
 *
 * One question at a time, as the engine's step has it. A worker that dies fails the call in progress and every later one.
 */

import { Worker } from "node:worker_threads"
import { ModelError } from "../errors.ts"
import { packageFile } from "../files.ts"
import type { Feed, Model } from "../model.ts"

/** What the worker needs to load the graph. */
export interface LoadOptions {
  graphPath: string
  provider: "cpu" | "webgpu"
  threads: number
  slotCount: number
  contextLength: number
  config: Readonly<Record<string, unknown>>
}

export type Question =
  | { kind: "forward"; id: number; feeds: readonly Feed[]; reuse?: ArrayBuffer }
  | { kind: "close" }

export type Answer =
  | { kind: "loaded"; id: 0; width: number; canRewind: boolean; isBatched: boolean }
  /** `at` is process.hrtime: threads do not share the origin of performance.now(). */
  | { kind: "logits"; id: number; buffer: ArrayBuffer; length: number; at: bigint }
  | { kind: "failed"; id: number; message: string }

/** Starts the worker and loads the graph. Throws ModelError with the worker's message. */
export async function openOrtModel(options: LoadOptions): Promise<Model> {
  // Not this process's flags: a thread refuses some of them, such as --input-type of a program given by --eval.
  const worker = new Worker(packageFile("dist/runtime/ort/worker.js"), { workerData: options, execArgv: [] })
  const client = new OrtClient(worker, options)
  const loaded = await client.loaded
  client.width = loaded.width
  client.canRewind = loaded.canRewind
  client.isBatched = loaded.isBatched
  return client
}

interface Waiting {
  id: number
  resolve(answer: Answer): void
  reject(error: Error): void
}

class OrtClient implements Model {
  width = 0
  canRewind = false
  isBatched = false
  answeredAt = 0
  readonly contextLength: number
  readonly slotCount: number
  readonly loaded: Promise<Extract<Answer, { kind: "loaded" }>>
  onDeath: ((error: Error) => void) | undefined
  private readonly worker: Worker
  private readonly provider: string
  private waiting: Waiting | undefined
  private death: Error | undefined
  private lastId = 0
  private isClosing = false
  private reuse: ArrayBuffer | undefined

  constructor(worker: Worker, options: LoadOptions) {
    this.worker = worker
    this.provider = options.provider
    this.contextLength = options.contextLength
    this.slotCount = options.slotCount
    this.loaded = this.wait(0) as Promise<Extract<Answer, { kind: "loaded" }>>
    worker.on("message", (answer: Answer) => this.receive(answer))
    worker.on("error", (cause) =>
      this.die(new ModelError(`the model's thread failed: ${cause.message}`, { cause })),
    )
    worker.on("exit", (code) => this.die(new ModelError(`the model's thread ended with code ${code}`)))
  }

  get description(): string {
    return `onnxruntime-node/${this.provider}, ${this.isBatched ? "batched" : "one row at a time"}`
  }

  get isDead(): boolean {
    return this.death !== undefined
  }

  async forward(feeds: readonly Feed[]): Promise<Float32Array> {
    if (this.death) throw this.death
    if (this.waiting) throw new Error("internal: the model runs one batch at a time")
    const id = ++this.lastId
    const question: Question = { kind: "forward", id, feeds }
    if (this.reuse) question.reuse = this.reuse
    const answered = this.wait(id)
    this.worker.postMessage(question, this.reuse ? [this.reuse] : [])
    this.reuse = undefined
    const answer = await answered
    if (answer.kind !== "logits") throw new Error(`internal: answer ${answer.kind} to a batch`)
    // The logits are read before the next question is asked, which carries their buffer back.
    this.reuse = answer.buffer
    this.answeredAt = performance.now() - Number(process.hrtime.bigint() - answer.at) / 1e6
    return new Float32Array(answer.buffer, 0, answer.length)
  }

  async close(): Promise<void> {
    if (this.isClosing) return
    this.isClosing = true
    this.onDeath = undefined
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

  private die(error: Error): void {
    if (this.death) return
    this.death = error
    const waiting = this.waiting
    this.waiting = undefined
    if (waiting) waiting.reject(error)
    else this.onDeath?.(error)
  }
}
