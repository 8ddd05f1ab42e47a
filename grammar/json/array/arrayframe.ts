/**
 * The frame of an array, whatever the constraints on its items: the position of the reader, and the
 * object that decides what may come next.
 */
import { placed } from "../../errors.ts"
import { describeSample, type Expectation, Frame, type Step } from "../../frame.ts"
import { pathOfBegun, type Values } from "../values.ts"
import { countWords, expectValue } from "../words.ts"

/** The position of the reader within the array. */
export const Phase = { Start: 0, Item: 1, Comma: 2 } as const

export interface ArrayProgress {
  /** Number of items read, saturating where positions no longer differ. */
  readonly index: number
  /** Number of items counted by each `contains`, saturating where it no longer matters. */
  readonly counts: readonly number[]
  /** For unique items only: the facts "differs from this value", ascending. */
  readonly seen: readonly number[]
}

/** A language of arrays. `P` is the type of its progress. */
export interface ArrayReader<P> {
  readonly path: string
  follow(frame: ArrayFrame<P>, text: Uint8Array | null): readonly Step[]
  finish(frame: ArrayFrame<P>, text: Uint8Array): string
  /** The operations on the values of items, and the conjunctions of all items. */
  readonly values: Values
  readonly itemValues: readonly number[]
  /** Returns the number of items that the array still needs when the next comma comes. */
  lacking(progress: P): number
}

export class ArrayFrame<P> extends Frame {
  override readonly needsText: boolean
  override readonly isSymbolic: boolean
  override readonly leastBytes = 1
  readonly phase: number
  readonly progress: P
  private readonly array: ArrayReader<P>

  constructor(array: ArrayReader<P>, phase: number, progress: P, needsText: boolean, isSymbolic: boolean) {
    super()
    this.array = array
    this.phase = phase
    this.progress = progress
    this.needsText = needsText
    this.isSymbolic = isSymbolic
  }

  follow(_tag: number, text: Uint8Array | null): readonly Step[] {
    try {
      return this.array.follow(this, text)
    } catch (error) {
      throw placed(error, this.array.path)
    }
  }

  finish(_tag: number, text: Uint8Array): string {
    try {
      return this.array.finish(this, text)
    } catch (error) {
      throw placed(error, this.array.path)
    }
  }

  override expect(sample: string, lexeme: number): Expectation {
    const { array, phase, progress } = this
    const plain = { what: describeSample(sample), example: sample, path: array.path }
    if (phase === Phase.Item) return expectValue(array.values, array.itemValues, { sample, lexeme }) ?? plain
    const lacking = phase === Phase.Comma ? array.lacking(progress) : 0
    return lacking === 0
      ? plain
      : {
          ...plain,
          what: `${plain.what}, since the array still needs ${countWords(lacking, lacking, "item")}`,
        }
  }

  override pathOf(beganAs: (lexeme: number) => boolean): string {
    const { values, itemValues, path } = this.array
    return (this.phase === Phase.Item ? pathOfBegun(values, itemValues, beganAs) : null) ?? path
  }
}
