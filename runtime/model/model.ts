/**
 * The model as the engine sees it: a fixed set of slots, each with the keys and values of one
 * sequence, and one function from a batch of new tokens to logits.
 *
 * A feed says where its tokens start, so rewinding needs no separate operation: if `start` is below
 * the length of the slot, the tokens after it are dropped. The logits of a feed depend on its own
 * tokens and on how they were cut into feeds, but not on the other feeds of the batch, on the slot
 * or on the time. Another cut changes them by rounding.
 */

import type { StepLogits } from "./logits.ts"

export interface Feed {
  readonly slot: number
  /** Number of tokens of the slot that are kept; the new ones follow them. */
  readonly start: number
  readonly tokens: readonly number[]
  /** Number of logits rows to return, for the last tokens of the feed. 0: none. */
  readonly logitsCount: number
  /** Slot from which the first `start` tokens are copied before the feed. */
  readonly copyFrom?: number
  /** Whether later feeds of this slot may be rewound to its end, if the model has marks. */
  readonly isMarked?: boolean
  /**
   * Whether the tokens are read as if each came in a separate feed, if the model can do that
   * (`readsSteps`).
   */
  readonly isStepwise?: boolean
}

/** Sums over all runs of the model's graph since it was opened. */
export interface ModelWork {
  readonly runs: number
  /** Number of tokens that were computed. */
  readonly places: number
  /** Number of those that were computed only because their row lies between the requested ones. */
  readonly placesInVain: number
}

/** Bytes that crossed between host and device, counted at the calls of the device. */
export interface Traffic {
  /** Bytes written: by the device's queue, and in buffers that are mapped for writing. */
  readonly uploadedBytes: number
  /** Bytes of buffers that were mapped for reading, and the number of these maps. */
  readonly readBytes: number
  readonly maps: number
}

/** The traffic of a device since it was opened: for the model's graph, and for the sampler. */
export interface DeviceTraffic {
  readonly model: Traffic
  readonly sampler: Traffic
}

export interface Model {
  /** V, the columns of the logits. */
  readonly width: number
  /** Maximum tokens of a slot. */
  readonly contextLength: number
  readonly slotCount: number
  /**
   * Whether `start` may be any number of tokens in the slot, or in the slot of `copyFrom`. If not,
   * it must be 0 or a mark.
   */
  readonly canRewind: boolean
  /**
   * If it cannot rewind: the number of ends of marked feeds per slot that it can return to, as
   * `withMark` counts them. 0: none.
   */
  readonly marks: number
  /** Whether a prompt has the same bits for every cut into pieces of at least two tokens. */
  readonly cutsFreely: boolean
  /**
   * Whether a feed of several tokens that is not at the start of its slot runs together with other
   * feeds. If not, each such feed is a separate run.
   */
  readonly joinsFeeds: boolean
  /**
   * Whether a stepwise feed has the bits of its tokens one by one; if bits are traded for speed,
   * whether it has the same distribution.
   */
  readonly readsSteps: boolean
  /** The device and the way in which the model runs, for the log. */
  readonly description: string
  /**
   * Returns the requested logits, R rows in the order of the feeds; they can be read until the next
   * call. At most one feed per slot, and one call at a time. Throws ModelError; the slots of the
   * batch are then empty.
   */
  forward(feeds: readonly Feed[]): Promise<StepLogits>
  /**
   * Time of the last answer, as performance.now() of this thread: when the last logits were ready,
   * even if another thread computed them, or when the model's thread was last restarted.
   */
  readonly answeredAt: number
  readonly work: ModelWork
  /** The traffic of the device that model and sampler share; undefined if they share none. */
  readonly traffic?: DeviceTraffic | undefined
  /** Whether the model is being loaded again. Calls wait for that. */
  readonly isRestarting: boolean
  /** Called when the model's thread has died and is being restarted: all slots are now empty. */
  onRestart: (() => void) | undefined
  /** Whether every later call will fail. */
  readonly isDead: boolean
  /** Called once, when the model has died for good. */
  onDeath: ((error: Error) => void) | undefined
  close(): Promise<void>
}
