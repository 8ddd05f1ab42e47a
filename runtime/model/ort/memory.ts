/**
 * Where a session keeps caches and logits: in the memory of the process, or on a device.
 *
 * A block is a run of numbers of one type. Offsets and lengths count numbers.
 */

import type { Tensor } from "onnxruntime-node"
import type { CacheShape, FloatType } from "./signature.ts"

/** Positions of one row of a run's output that become positions of one row of an arena. */
export interface Move {
  readonly fromRow: number
  readonly from: number
  readonly toRow: number
  readonly to: number
  readonly count: number
}

/** The number at index `at` of a block. */
export interface Place<Block> {
  readonly block: Block
  readonly at: number
}

export interface Memory<Block, Logits> {
  /** Whether the numbers can be read here. */
  readonly isOnHost: boolean
  /**
   * Whether a graph of layout *aligned* writes new keys and values into the tensor that it reads.
   * Nothing has to be copied after a run then.
   */
  readonly sharesPast: boolean
  /** Returns a new block of zeros. */
  make(type: FloatType, length: number): Block
  free(block: Block): void
  /** Copies numbers. The two ranges must not overlap. */
  copy(type: FloatType, from: Place<Block>, to: Place<Block>, length: number): void
  /**
   * Returns the numbers of a block from `at` on as a tensor for the next run. `isView`: whether it
   * is the block's own memory; otherwise it is a copy.
   */
  tensor(
    type: FloatType,
    block: Block,
    at: number,
    dims: readonly number[],
  ): { tensor: Tensor; isView: boolean }
  /** Copies positions of a cache output to rows of an arena with this capacity. */
  write(cache: CacheShape, output: Tensor, to: Block, capacity: number, moves: readonly Move[]): void
  /** Returns false if a number that a move copies is known not to be finite. */
  isFinite(cache: CacheShape, output: Tensor, move: Move): boolean
  /** Fills positions of a row with zeros. */
  clear(cache: CacheShape, to: Block, capacity: number, move: Move): void
  /** Returns room for rows of logits. */
  makeLogits(rowCount: number, width: number): Logits
  /**
   * Copies `count` rows from a run's logits to those of the call. `from` is a row of the logits'
   * values as [n, V], `to` one of the call's.
   */
  keepLogits(logits: Logits, to: number, run: Tensor, from: number, count: number): void
  /** Makes rows NaN: no logits can be computed for them. */
  breakLogits(logits: Logits, width: number, to: number, count: number): void
  /** Frees rows of logits. */
  freeLogits(logits: Logits): void
  /** Returns all rows on the host. */
  readLogits(logits: Logits): Promise<Float32Array>
  /** Begins what was asked for so far. Called before a run, and when a call ends. */
  flush(): void
  /** Frees a run's outputs. */
  dispose(output: Tensor): void
}
