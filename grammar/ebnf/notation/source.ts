/**
 * The text of a notation, with places and errors in it.
 *
 * A place is a line and a column, both from 1. Columns count code points, as editors do. An error
 * shows its line with a caret below it. Parsers that can go on after an error collect all of them
 * in `Mistakes`, which are thrown as one. Places are computed only then, and only for the mistakes
 * that are shown. A notation inside another puts the outer place in front of its own.
 */
import { checkLimit, GrammarError, type GrammarErrorKind, type Limits } from "../../errors.ts"

/** Number of code points of a long line that are shown on either side of the column. */
const ShownBeside = 48
/** Most mistakes that are listed below the first one. */
const MaxListed = 20

export class Source {
  readonly text: string
  /** Place of this text inside another input; empty for a text of its own. */
  readonly outer: string
  /** Offsets at which lines begin, ascending; computed at the first request for a place. */
  private lineStarts: number[] | null = null

  /** Throws `limit` if the text is too long, and `syntax` if it holds half a surrogate pair. */
  constructor(text: string, limits: Limits, outer = "") {
    this.text = text
    this.outer = outer
    checkLimit(limits, "grammarBytes", text.length, outer)
    if (!text.isWellFormed()) {
      const [half] = /\p{Surrogate}/u.exec(text) as RegExpExecArray
      throw this.error("syntax", text.search(/\p{Surrogate}/u), `half a surrogate pair: ${escapeOf(half)}`)
    }
  }

  /**
   * Returns the line and column of the character at `offset` (in UTF-16 units). Both count from 1,
   * columns in code points.
   */
  place(offset: number): { line: number; column: number } {
    const line = this.lineAt(offset)
    return { line: line + 1, column: 1 + codePoints(this.text, this.starts()[line], offset) }
  }

  /** Returns the path of an error at `offset`. */
  path(offset: number): string {
    const { line, column } = this.place(offset)
    return `${this.outer === "" ? "" : `${this.outer}, `}line ${line}, column ${column}`
  }

  /** Returns the place in the short form that messages use for another place of the same text. */
  shortPlace(offset: number): string {
    const { line, column } = this.place(offset)
    return `${line}:${column}`
  }

  /** Returns an error at `offset`. Its message ends with the line and a caret. */
  error(kind: GrammarErrorKind, offset: number, message: string): GrammarError {
    return new GrammarError(kind, this.path(offset), `${message}\n${this.quote(offset)}`)
  }

  /**
   * Returns the result of `run`, which reads an input at `offset` of this text. The path of an
   * error that it throws gets this place in front.
   */
  nested<T>(offset: number, run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (!isMistake(error)) throw error
      const message = `${bareMessage(error)}\n${this.quote(offset)}`
      throw new GrammarError(error.kind, joinPaths(this.path(offset), error.path), message)
    }
  }

  /** Returns the line of `offset` with a caret below it. A long line is cut around the caret. */
  quote(offset: number): string {
    const line = this.lineAt(offset)
    const start = this.starts()[line]
    const end = line + 1 < this.starts().length ? this.starts()[line + 1] : this.text.length
    const from = back(this.text, offset, start)
    const before = printable(this.text.slice(from, offset))
    const to = forward(this.text, offset, end)
    const after = printable(this.text.slice(offset, to).replace(/[\r\n]+$/, ""))
    const margin = `${line + 1} | `
    const cut = from > start ? "…" : ""
    // Tabs stay, so that the caret is below its character whatever their width is.
    const indent = `${" ".repeat(margin.length)}${cut}${before}`.replace(/[^\t]/gu, " ")
    return `${margin}${cut}${before}${after}\n${indent}^`
  }

  /** Returns the index of the line that holds `offset`. */
  private lineAt(offset: number): number {
    const starts = this.starts()
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (starts[middle] <= offset) low = middle
      else high = middle
    }
    return low
  }

  private starts(): number[] {
    if (this.lineStarts === null) {
      this.lineStarts = [0]
      for (const end of this.text.matchAll(/\r\n|\r|\n/g)) this.lineStarts.push(end.index + end[0].length)
    }
    return this.lineStarts
  }
}

/** Reports a mistake at an offset of the text. */
export type Refuse = (kind: GrammarErrorKind, offset: number, message: string) => void

interface Mistake {
  kind: GrammarErrorKind
  offset: number
  message: string
  /** Place inside the input at `offset`; empty for the text itself. */
  inner: string
}

/** The mistakes of one text, in any order. */
export class Mistakes {
  private readonly source: Source
  private readonly found: Mistake[] = []

  constructor(source: Source) {
    this.source = source
  }

  get count(): number {
    return this.found.length
  }

  add(kind: GrammarErrorKind, offset: number, message: string): void {
    this.found.push({ kind, offset, message, inner: "" })
  }

  /**
   * Returns the result of `run`, which reads an input at `offset` of the text; null if it throws,
   * which adds a mistake.
   */
  nested<T>(offset: number, run: () => T): T | null {
    try {
      return run()
    } catch (error) {
      if (!isMistake(error)) throw error
      this.found.push({ kind: error.kind, offset, message: bareMessage(error), inner: error.path })
      return null
    }
  }

  /**
   * Throws all mistakes as one error, if there are any. The first in the text gives the kind and
   * the path, the others are listed below it.
   */
  throwAny(): void {
    if (this.found.length === 0) return
    const [first, ...others] = this.found.sort((a, b) => a.offset - b.offset)
    const lines = [`${first.message}\n${this.source.quote(first.offset)}`]
    for (const other of others.slice(0, MaxListed)) lines.push(`${this.pathOf(other)}: ${other.message}`)
    if (others.length > MaxListed) lines.push(`and ${others.length - MaxListed} more`)
    throw new GrammarError(first.kind, this.pathOf(first), lines.join("\n"))
  }

  private pathOf({ offset, inner }: Mistake): string {
    return joinPaths(this.source.path(offset), inner)
  }
}

/** Subclasses are not mistakes: they end the whole compilation, not one place. */
function isMistake(error: unknown): error is GrammarError {
  return error instanceof GrammarError && error.constructor === GrammarError
}

/** Returns the message without the path that errors put in front of it. */
function bareMessage({ path, message }: GrammarError): string {
  return path === "" ? message : message.slice(path.length + 2)
}

function joinPaths(outer: string, inner: string): string {
  return inner === "" ? outer : `${outer}, ${inner}`
}

/** Returns the number of code points of `text` between two offsets. */
function codePoints(text: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) if (!isSecondHalf(text, at)) count++
  return count
}

function back(text: string, offset: number, start: number): number {
  const from = Math.max(start, offset - ShownBeside)
  return from > start && isSecondHalf(text, from) ? from + 1 : from
}

function forward(text: string, offset: number, end: number): number {
  const to = Math.min(end, offset + ShownBeside)
  return to < end && isSecondHalf(text, to) ? to + 1 : to
}

function isSecondHalf(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}

/** Replaces control characters, except tabs, by Unicode's pictures of them. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => {
    const code = control.charCodeAt(0)
    if (code < 0x20) return control === "\t" ? control : String.fromCharCode(0x2400 + code)
    return code === 0x7f ? "\u2421" : "\ufffd"
  })
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`
}
