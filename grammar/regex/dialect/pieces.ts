/**
 * The text of a translation in progress: pieces, each with its offset in the source, so that error
 * offsets can be mapped back to the source. A group can still be put around the pieces that were
 * added last.
 */

interface Piece {
  text: string
  readonly at: number
  /** Groups that open in front of the piece, outermost first; true means atomic. */
  readonly wraps: boolean[]
}

export interface Joined {
  readonly text: string
  /** By unit of `text`, and for its end: the offset in the source. */
  readonly offsets: readonly number[]
  /** Offsets in `text` of the atomic groups. */
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

  /** Puts a group around all pieces from `first` on. */
  wrap(first: number, isAtomic: boolean, at: number): void {
    this.pieces[first].wraps.unshift(isAtomic)
    this.put(")", at)
  }

  /** Makes the group that piece `first` opens atomic. */
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
