/**
 * Text at the end of an output that waits until it may be sent: a queue of pieces.
 *
 * The waiting text can be as long as a stop string, or as a text without a space, and a token adds
 * a few units to it. Concatenating and slicing one string at each token would take time linear in
 * its length each time; here each unit is added and removed once.
 */

export class HeldText {
  /** Number of waiting units. */
  length = 0
  private readonly pieces: string[] = []
  /** Number of pieces that have been taken, and of units of the next piece that have been taken. */
  private first = 0
  private offset = 0

  push(text: string): void {
    if (text === "") return
    this.pieces.push(text)
    this.length += text.length
  }

  /** Removes and returns the first `count` units, or all if there are fewer. Linear in `count`. */
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

  /** Removes the pieces that were taken, once they are half of all pieces. */
  private advance(): void {
    this.offset = 0
    this.first++
    if (2 * this.first < this.pieces.length) return
    this.pieces.splice(0, this.first)
    this.first = 0
  }
}
