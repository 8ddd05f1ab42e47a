/**
 * The messages between the engine's thread and the thread that owns the device: the model's graph
 * and the sampler's kernels run there, and logits stay there. No buffer of the device is sent; its
 * logits have numbers.
 */

import type { BatchAnswer, BatchData, BatchShape, LogitsPlace } from "../../../sampler/gpu/pipeline.ts"
import type { DeviceTraffic, Feed, ModelWork } from "../model.ts"
import type { Close, Failed, Loaded } from "../thread.ts"

export interface WebLoadOptions {
  graphPath: string
  /** The graph that computes `inputs_embeds`, if the main graph takes them. */
  embeddingPath?: string | undefined
  slotCount: number
  contextLength: number
  batching: "exact" | "fast"
  config: Readonly<Record<string, unknown>>
  /** Whether an adapter that computes on the CPU is accepted. */
  software: boolean
}

export type Question =
  /** `logits`: the number that the requested logits get. */
  | {
      readonly kind: "forward"
      readonly id: number
      readonly feeds: readonly Feed[]
      readonly logits: number
    }
  | {
      readonly kind: "sample"
      readonly id: number
      readonly shape: BatchShape
      readonly data: BatchData<number>
    }
  | {
      readonly kind: "row"
      readonly id: number
      readonly place: LogitsPlace<number>
      readonly index: number
      readonly width: number
    }

/** Messages without an answer. `as`: the number of the copy of the rows `start` to before `end`. */
export type Order =
  | {
      readonly kind: "keep"
      readonly logits: number
      readonly start: number
      readonly end: number
      readonly as: number
    }
  | { readonly kind: "release"; readonly logits: number }
  | Close

export interface WebLoaded extends Loaded {
  /** Maximum bytes of one buffer. */
  readonly maxBytes: number
  /** The device's name. */
  readonly device: string
}

interface Counted {
  readonly traffic: DeviceTraffic
}

export type Answer =
  | WebLoaded
  | (Counted & {
      readonly kind: "forward"
      readonly id: number
      readonly rowCount: number
      readonly format: "float32" | "float16"
      /** process.hrtime: threads do not share the origin of performance.now(). */
      readonly at: bigint
      readonly work: ModelWork
    })
  | (Counted & { readonly kind: "sample"; readonly id: number; readonly answer: BatchAnswer })
  | (Counted & { readonly kind: "row"; readonly id: number; readonly row: Float32Array<ArrayBuffer> })
  | Failed
