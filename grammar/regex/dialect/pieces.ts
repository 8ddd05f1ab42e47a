/**
 * The text of a translation while it is written: pieces, each with the offset in the source that it stands for, so that errors in the
 * text can be told in terms of the source. A group can still be put around what was written last.
 */

interface Piece {
  text: string
  readonly at: number
  /** Groups that open in front of it, outermost first; true: atomic. */
  readonly wraps: boolean[]
}

export interface Joined {
  readonly text: string
  /** The offset in the source of each unit of `text`, and of its end. */
  readonly offsets: readonly number[]
  /** Offsets in `text` of the groups that are atomic. */
  readonly atomics: ReadonlySet<number>
}

export class Pieces {
  private readonly pieces: Piece[] = []

  get count(): number {
    return this.pieces.length
  }

  put(text: string, at: number): void {
    this.pieces.push({ text, at, wraps: [] })
  }

  /** Puts a group around all from piece `first` on. */
  wrap(first: number, isAtomic: boolean, at: number): void {
    this.pieces[first].wraps.unshift(isAtomic)
    this.put(")", at)
  }

  /** Makes the group whose opening is piece `first` atomic. */
  makeAtomic(first: number): void {
    const piece = this.pieces[first]
    piece.text = ""
    piece.wraps.unshift(true)
  }

  join(source: string): Joined {
    let text = ""
    const offsets: number[] = []
    const atomics = new Set<number>()
    for (const piece of this.pieces) {
      for (const isAtomic of piece.wraps) {
        if (isAtomic) atomics.add(text.length)
        text += "(?:"
      }
      while (offsets.length < text.length) offsets.push(piece.at)
      const isAsGiven = source.startsWith(piece.text, piece.at)
      for (let i = 0; i < piece.text.length; i++) offsets.push(piece.at + (isAsGiven ? i : 0))
      text += piece.text
    }
    offsets.push(source.length)
    return { text, offsets, atomics }
  }
}
