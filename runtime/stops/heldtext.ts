/**
 * Text at the end of an output that waits until it may be sent: a queue of pieces.
 *
 * What waits can be as long as a stop string, or as a text without a space, and a token adds a few
 * units to it. A string that is put together and cut anew at each token costs its whole length each
 * time; here each unit is put in and taken out once.
 */

export class HeldText {
  /** Units that wait. */
  length = 0
  private readonly pieces: string[] = []
  /** Pieces before this one, and units of it before this one, have been taken. */
  private first = 0
  private offset = 0

  push(text: string): void {
    if (text === "") return
    this.pieces.push(text)
    this.length += text.length
  }

  /** Takes the first `count` units, or all there are. Linear in them. */
  take(count: number): string {
    let left = Math.min(count, this.length)
    this.length -= left
    const taken: string[] = []
    while (left > 0) {
      const piece = this.pieces[this.first]
      const end = Math.min(piece.length, this.offset + left)
      taken.push(piece.slice(this.offset, end))
      left -= end - this.offset
      this.offset = end
      if (end === piece.length) this.advance()
    }
    return taken.join("")
  }

  /** Forgets the pieces that were taken, once they are half of all. */
  private advance(): void {
    this.offset = 0
    this.first++
    if (2 * this.first < this.pieces.length) return
    this.pieces.splice(0, this.first)
    this.first = 0
  }
}
