/**
 * The model as the engine sees it: a fixed set of slots, each with the keys and values of one
 * sequence, and one function from a batch of new tokens to logits.
 *
 * A feed says where its tokens start, so rewinding needs no operation of its own: a `start` below
 * the length of the slot drops the tokens behind it. The logits of a feed depend on its own tokens
 * and on how they were cut into feeds, never on the neighbours in the batch, on the slot or on the
 * time: the bits are the same beside any neighbours. Another cut changes them by rounding.
 */

export interface Feed {
  readonly slot: number
  /** How many tokens of the slot are kept; the new ones follow. */
  readonly start: number
  readonly tokens: readonly number[]
  /** How many rows of logits are wanted: of the last so many tokens. 0: none. */
  readonly logitsCount: number
  /** First take over the first `start` tokens of another slot. */
  readonly copyFrom?: number
  /** Later feeds of this slot may return to its end, if the model has marks. */
  readonly isMarked?: boolean
  /**
   * The tokens are read as if each came in a feed of its own, where the model can do that
   * (`readsSteps`).
   */
  readonly isStepwise?: boolean
}

/** Sums over all runs of the model's graph since it was opened. */
export interface ModelWork {
  readonly runs: number
  /** Tokens that were computed. */
  readonly places: number
  /** Of these, tokens of rows between the wanted ones. */
  readonly placesInVain: number
}

export interface Model {
  /** V: columns of the logits. */
  readonly width: number
  /** Most tokens a slot can hold. */
  readonly contextLength: number
  readonly slotCount: number
  /**
   * Whether `start` may lie anywhere in the slot, also where `copyFrom` names it; else a sequence
   * begins at 0 or a mark.
   */
  readonly canRewind: boolean
  /**
   * Otherwise: how many ends of marked feeds in a slot can be returned to, as `withMark` counts
   * them. 0: none.
   */
  readonly marks: number
  /** Whether a prompt has the same bits however it is cut, in pieces of at least two tokens. */
  readonly cutsFreely: boolean
  /**
   * Whether several new tokens behind others run together with further feeds; else each such feed
   * is a run of its own.
   */
  readonly joinsFeeds: boolean
  /**
   * Whether a stepwise feed has the bits of its tokens one by one; if bits are traded for speed,
   * whether it has the same distribution.
   */
  readonly readsSteps: boolean
  /** For the log: what runs the model and how. */
  readonly description: string
  /**
   * The logits that the feeds want, in their order, R rows in all. Shape [R, V], row-major. At most
   * one feed a slot. One call at a time. Throws ModelError; the slots of the batch are then empty.
   */
  forward(feeds: readonly Feed[]): Promise<Float32Array>
  /**
   * performance.now() of this thread's clock when the last logits were ready, wherever they were
   * computed, or when what runs the model had last been started again.
   */
  readonly answeredAt: number
  readonly work: ModelWork
  /** Whether the model is being loaded again; calls wait meanwhile. */
  readonly isRestarting: boolean
  /**
   * Called when what ran the model has died and is being started again: all slots are empty from
   * now on.
   */
  onRestart: (() => void) | undefined
  /** Whether every later call will fail. */
  readonly isDead: boolean
  /** Called once, when the model has died for good. */
  onDeath: ((error: Error) => void) | undefined
  close(): Promise<void>
}
