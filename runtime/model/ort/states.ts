/**
 * States of slots as they were at their marks. Kept states are never overwritten, so slots with a
 * common prefix share them.
 */
import { withMark } from "../marks.ts"
import { type CacheArray, makeArray } from "./graph.ts"
import type { Signature } from "./signature.ts"

/** Maximum bytes of kept states of all slots together, and marks of one slot. */
const MaxBytes = 2 ** 28
const MaxMarks = 16

/** Marks of each of so many slots, as many as have room; 0 where there are no states. */
export function marksOf({ caches, hasStates }: Signature, slotCount: number): number {
  if (!hasStates) return 0
  let bytes = 0
  for (const { state, dim, type } of caches) if (state) bytes += makeArray(type, 1).BYTES_PER_ELEMENT * dim
  return Math.min(MaxMarks, Math.floor(MaxBytes / (slotCount * bytes)))
}

interface Kept {
  /** Tokens that the states stand for. */
  readonly length: number
  /** By cache; undefined for caches that are not states. */
  readonly states: readonly (CacheArray | undefined)[]
}

export class KeptStates {
  private readonly most: number
  private readonly kept: (readonly Kept[])[]

  /** `most`: marks of a slot. */
  constructor(slotCount: number, most: number) {
    this.most = most
    this.kept = Array.from({ length: slotCount }, () => [])
  }

  add(slot: number, length: number, states: Kept["states"]): void {
    this.kept[slot] = withMark(this.kept[slot], { length, states }, this.most)
  }

  /** The states behind `length` tokens; undefined where none were kept. */
  at(slot: number, length: number): Kept["states"] | undefined {
    return this.kept[slot].find((each) => each.length === length)?.states
  }

  /** Drops the states behind `length` tokens. */
  cut(slot: number, length: number): void {
    this.kept[slot] = this.kept[slot].filter((each) => each.length <= length)
  }

  /** Slot `to` begins with the first `length` tokens of slot `from`. */
  share(from: number, to: number, length: number): void {
    this.kept[to] = this.kept[from].filter((each) => each.length <= length)
  }
}
