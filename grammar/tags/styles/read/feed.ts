/**
 * A text that arrives in pieces, and the questions that a parser asks of it.
 *
 * The parsers are generators: where the next piece decides, they yield, and go on when it is there. So each reads like one for
 * a whole text. `Cut` is thrown where the text is over within something.
 */

/** A parser: it yields where it waits for more text. */
export type Parse<T = void> = Generator<undefined, T, undefined>

/** The text ended here. */
export class Cut {}

export class Feed {
  private buffer = ""
  /** Units before the buffer. */
  private passed = 0
  private isOver = false
  /** Texts of which one must come next, or may end what is read. */
  private awaited: readonly string[] = []
  /** The text was over before a choice could be made: what it was to be cannot be told. */
  private isCut = false
  /** What was taken since somebody asked to keep it; null: nobody did. */
  private kept: string | null = null

  push(text: string): void {
    this.buffer += text
  }

  over(): void {
    this.isOver = true
  }

  /** What was not read yet. */
  get rest(): string {
    return this.buffer
  }

  /** Takes `count` units off. */
  take(count: number): string {
    const taken = this.buffer.slice(0, count)
    this.buffer = this.buffer.slice(count)
    this.passed += taken.length
    if (this.kept !== null) this.kept += taken
    return taken
  }

  /** What `parse` takes. */
  *keep(parse: Parse): Parse<string> {
    this.kept = ""
    yield* parse
    const { kept } = this
    this.kept = null
    return kept
  }

  /** Waits for more; throws `Cut` where there is none. */
  *more(): Parse {
    if (this.isOver) throw new Cut()
    yield
  }

  /** Waits for more; false where there is none. */
  *hasMore(): Parse<boolean> {
    if (this.isOver) return false
    yield
    return true
  }

  /** Whether all was read and nothing will come. */
  *isAtEnd(): Parse<boolean> {
    while (this.buffer === "") if (!(yield* this.hasMore())) return true
    return false
  }

  /** Whether `text` is all that lacks of what must come next. */
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

  /** Whether what follows begins with `text`. */
  *startsWith(text: string): Parse<boolean> {
    return (yield* this.choose([text])) === text
  }

  /** The longest of `texts` with which what follows begins; null for none of them. Nothing is taken. */
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
   * Reads up to one of `marks` or to the end, tells `emit` what is certain meanwhile, and returns the mark, which is not taken.
   * Up to `padding` line ends right before a mark are dropped.
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
      // Half a surrogate pair waits for its other half.
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

  /** Throws: the text is none that the grammar let through. Behind a choice that a cut left open it is only cut. */
  fail(expected: string): never {
    if (this.isCut) throw new Cut()
    const place = JSON.stringify(this.buffer.slice(0, 32))
    throw new Error(`internal: ${expected} expected at ${this.passed} of a turn, not ${place}`)
  }
}

/** Line ends at the end of `text`, up to `most`. */
function lineEnds(text: string, most: number): number {
  let count = 0
  while (count < most && text[text.length - 1 - count] === "\n") count++
  return count
}

/** The length of the longest beginning of `mark` with which `text` ends. */
function partial(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length
  }
  return 0
}
