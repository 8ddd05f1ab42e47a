/**
 * The `Model` in the engine's thread: it sends each call to a worker thread that runs the graph
 * with onnxruntime-node. It asks one question at a time, as the engine's step needs it.
 */

import { hostLogits, type StepLogits } from "../logits.ts"
import type { Feed, Model, ModelWork } from "../model.ts"
import { type Close, type Failed, type Loaded, ModelThread } from "../thread.ts"
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

interface Forward {
  readonly kind: "forward"
  readonly id: number
  readonly feeds: readonly Feed[]
  readonly reuse?: ArrayBuffer
}

export type Question = Forward | Close

/** `at` is process.hrtime: threads do not share the origin of performance.now(). */
interface Forwarded {
  readonly kind: "forward"
  readonly id: number
  readonly buffer: ArrayBuffer
  readonly length: number
  readonly at: bigint
  readonly work: ModelWork
}

export type Answer = Loaded | Forwarded | Failed

/** Starts the worker and loads the graph. Throws ModelError with the worker's message. */
export async function openOrtModel(options: LoadOptions): Promise<Model> {
  muteTelemetry()
  const client = new OrtClient(options)
  await client.start()
  return client
}

class OrtClient extends ModelThread<Forward, Forwarded> {
  readonly contextLength: number
  readonly slotCount: number
  private readonly provider: LoadOptions["provider"]
  private reuse: ArrayBuffer | undefined

  constructor(options: LoadOptions) {
    const { graphPath } = options
    super({ path: "dist/runtime/model/ort/worker.js", data: options, graphPath })
    this.contextLength = options.contextLength
    this.slotCount = options.slotCount
    this.provider = options.provider
  }

  get description(): string {
    const { description, threads } = this.loaded!
    const counted = this.provider === "cpu" ? `, threads: ${threads}` : ""
    return `onnxruntime-node/${this.provider}, ${description}${counted}`
  }

  async forward(feeds: readonly Feed[]): Promise<StepLogits> {
    await this.ready(feeds)
    const { reuse } = this
    this.reuse = undefined
    const { buffer, length, work, at } = await this.ask<"forward">(
      { kind: "forward", feeds, ...(reuse && { reuse }) },
      reuse ? [reuse] : [],
    )
    // The logits are read before the next call, which sends their buffer back for reuse.
    this.reuse = buffer
    this.note(work, at)
    return hostLogits(new Float32Array(buffer, 0, length), this.width)
  }
}
