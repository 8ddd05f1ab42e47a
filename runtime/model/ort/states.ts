/**
 * Keeps the states of slots at their marks. Kept states are never overwritten, so slots with a
 * common prefix share them.
 */
import { withMark } from "../marks.ts"
import { makeArray } from "./graph.ts"
import type { Signature } from "./signature.ts"

/** Maximum bytes of the kept states of all slots together, and maximum marks of one slot. */
const MaxBytes = 2 ** 28
const MaxMarks = 16

/** Returns the number of marks per slot for which there is memory; 0 if there are no states. */
export function marksOf({ caches, hasStates }: Signature, slotCount: number): number {
  if (!hasStates) return 0
  let bytes = 0
  for (const { state, dim, type } of caches) if (state) bytes += makeArray(type, 1).BYTES_PER_ELEMENT * dim
  return Math.min(MaxMarks, Math.floor(MaxBytes / (slotCount * bytes)))
}

interface Kept<Block> {
  /** Number of tokens that the states summarise. */
  readonly length: number
  /** States by cache tensor; undefined for caches that are not states. */
  readonly states: readonly (Block | undefined)[]
}

export class KeptStates<Block> {
  private readonly most: number
  private readonly kept: (readonly Kept<Block>[])[]

  /** `most`: maximum marks of a slot. */
  constructor(slotCount: number, most: number) {
    this.most = most
    this.kept = Array.from({ length: slotCount }, () => [])
  }

  add(slot: number, length: number, states: Kept<Block>["states"]): void {
    this.kept[slot] = withMark(this.kept[slot], { length, states }, this.most)
  }

  /** Returns the states after `length` tokens; undefined if none were kept. */
  at(slot: number, length: number): Kept<Block>["states"] | undefined {
    return this.kept[slot].find((each) => each.length === length)?.states
  }

  /** Drops the states after `length` tokens. */
  cut(slot: number, length: number): void {
    this.kept[slot] = this.kept[slot].filter((each) => each.length <= length)
  }

  /** Makes slot `to` share the states of the first `length` tokens of slot `from`. */
  share(from: number, to: number, length: number): void {
    this.kept[to] = this.kept[from].filter((each) => each.length <= length)
  }
}
