/**
 * The frame of an array, whatever the constraints on its items: the position of the reader, and the
 * object that decides what may come next.
 */
import { placed } from "../../errors.ts"
import { describeSample, type Expectation, Frame, type Step } from "../../frame.ts"

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
  /**
   * Returns the path of the schema of an item that began with such a lexeme, or null if it is
   * unknown.
   */
  itemPath(beganAs: (lexeme: number) => boolean): string | null
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

  expect(sample: string): Expectation {
    return { what: describeSample(sample), example: sample, path: this.array.path }
  }

  override pathOf(beganAs: (lexeme: number) => boolean): string {
    const isItem = this.phase === Phase.Item
    return (isItem ? this.array.itemPath(beganAs) : null) ?? this.array.path
  }
}
