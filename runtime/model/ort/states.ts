/** States of slots as they were at their marks. What is kept is never written again, so slots that share a beginning share it. */
import { withMark } from "../marks.ts"
import type { CacheArray } from "./graph.ts"

interface Kept {
  /** Tokens that the states stand for. */
  readonly length: number
  /** By cache; undefined where it is no state. */
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
    const all = [...this.kept[slot], { length, states }]
    const marks = withMark(
      this.kept[slot].map((each) => each.length),
      length,
      this.most,
    )
    this.kept[slot] = all.filter((each) => marks.includes(each.length))
  }

  /** The states behind `length` tokens; undefined where none were kept. */
  at(slot: number, length: number): Kept["states"] | undefined {
    return this.kept[slot].find((each) => each.length === length)?.states
  }

  /** Forgets what lies behind `length` tokens. */
  cut(slot: number, length: number): void {
    this.kept[slot] = this.kept[slot].filter((each) => each.length <= length)
  }

  /** Slot `to` begins with the first `length` tokens of slot `from`. */
  share(from: number, to: number, length: number): void {
    this.kept[to] = this.kept[from].filter((each) => each.length <= length)
  }
}
