/**
 * A text that arrives in pieces, and the operations that parsers need on it.
 *
 * The parsers are generators: they yield if the next piece decides, and go on when it has arrived.
 * So each reads like a parser of a whole text. `Cut` is thrown if the text ends inside a part.
 */

/** A parser. It yields when it waits for more text. */
export type Parse<T = void> = Generator<undefined, T, undefined>

/** Thrown where the text ended. */
export class Cut {}

export class Feed {
  private buffer = ""
  /** Number of units before the buffer. */
  private passed = 0
  private isOver = false
  /** One of these texts must come next, or may end what is being read. */
  private awaited: readonly string[] = []
  /** Whether the text ended before a choice could be made, so that the choice is unknown. */
  private isCut = false
  /** The text taken since `keep` began; null outside `keep`. */
  private kept: string | null = null

  push(text: string): void {
    this.buffer += text
  }

  over(): void {
    this.isOver = true
  }

  /** The text that has not been read yet. */
  get rest(): string {
    return this.buffer
  }

  /** Takes the next `count` units. */
  take(count: number): string {
    const taken = this.buffer.slice(0, count)
    this.buffer = this.buffer.slice(count)
    this.passed += taken.length
    if (this.kept !== null) this.kept += taken
    return taken
  }

  /** Returns the text that `parse` takes. */
  *keep(parse: Parse): Parse<string> {
    this.kept = ""
    yield* parse
    const { kept } = this
    this.kept = null
    return kept
  }

  /** Waits for more text. Throws `Cut` if there is none. */
  *more(): Parse {
    if (this.isOver) throw new Cut()
    yield
  }

  /** Waits for more text. Returns false if there is none. */
  *hasMore(): Parse<boolean> {
    if (this.isOver) return false
    yield
    return true
  }

  /** Returns whether everything has been read and no more text will come. */
  *isAtEnd(): Parse<boolean> {
    while (this.buffer === "") if (!(yield* this.hasMore())) return true
    return false
  }

  /** Returns whether `text` completes what must come next. */
  waitsFor(text: string): boolean {
    return this.awaited.some((each) => each === this.buffer + text)
  }

  /** Reads exactly `text`. */
  *literal(text: string): Parse {
    this.awaited = [text]
    while (this.buffer.length < text.length && text.startsWith(this.buffer)) yield* this.more()
    this.awaited = []
    if (!this.buffer.startsWith(text)) this.fail(JSON.stringify(text))
    this.take(text.length)
  }

  /** Returns whether the following text begins with `text`. */
  *startsWith(text: string): Parse<boolean> {
    return (yield* this.choose([text])) === text
  }

  /**
   * Returns the longest of `texts` that is a prefix of the following text; null if none is. Takes
   * nothing.
   */
  *choose(texts: readonly string[]): Parse<string | null> {
    for (;;) {
      const open = texts.some((text) => text.length > this.buffer.length && text.startsWith(this.buffer))
      if (!open) break
      if (yield* this.hasMore()) continue
      this.isCut = true
      break
    }
    let longest: string | null = null
    for (const text of texts) {
      if (this.buffer.startsWith(text) && text.length >= (longest?.length ?? 0)) longest = text
    }
    return longest
  }

  /** Reads as long as `pattern` (of single characters) matches. */
  *run(pattern: RegExp): Parse<string> {
    let end = 0
    for (;;) {
      while (end < this.buffer.length && pattern.test(this.buffer[end])) end++
      if (end < this.buffer.length || !(yield* this.hasMore())) return this.take(end)
    }
  }

  /**
   * Reads up to one of `marks` or to the end, and passes text to `emit` as soon as it is certain.
   * Returns the mark, which is not taken. Up to `padding` line ends directly before a mark are
   * dropped.
   */
  *until(marks: readonly string[], padding: number, emit: (text: string) => void): Parse<string | null> {
    for (;;) {
      const { buffer } = this
      let found = -1
      for (const mark of marks) {
        const at = buffer.indexOf(mark)
        if (at >= 0 && (found < 0 || at < found)) found = at
      }
      if (found >= 0) {
        const text = this.take(found)
        emit(text.slice(0, text.length - lineEnds(text, padding)))
        return marks.find((mark) => this.buffer.startsWith(mark)) as string
      }
      let safe = buffer.length - Math.max(...marks.map((mark) => partial(buffer, mark)), 0)
      safe -= lineEnds(buffer.slice(0, safe), padding)
      // The first half of a surrogate pair waits for the second.
      if (/[\ud800-\udbff]$/.test(buffer.slice(0, safe))) safe--
      if (safe > 0) emit(this.take(safe))
      this.awaited = marks
      const isMore = yield* this.hasMore()
      this.awaited = []
      if (!isMore) {
        emit(this.take(this.buffer.length))
        return null
      }
    }
  }

  /**
   * Throws, because the grammar does not accept the text. If a choice was left open by the end of
   * the text, throws `Cut`.
   */
  fail(expected: string): never {
    if (this.isCut) throw new Cut()
    const place = JSON.stringify(this.buffer.slice(0, 32))
    throw new Error(`internal: ${expected} expected at ${this.passed} of a turn, not ${place}`)
  }
}

/** Returns the number of line ends at the end of `text`, at most `most`. */
function lineEnds(text: string, most: number): number {
  let count = 0
  while (count < most && text[text.length - 1 - count] === "\n") count++
  return count
}

/** Returns the length of the longest proper prefix of `mark` with which `text` ends. */
function partial(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length
  }
  return 0
}
