/**
 * The local part of a mailbox: RFC 5321, section 4.1.2, or RFC 6531, which adds every character
 * beyond ASCII to atoms and quoted strings. At most 64 octets (section 4.5.3.1.1). It is a machine
 * over bytes: the bound is a count in the state, and no state is entered whose text cannot be
 * finished within it.
 */
import { type ByteMachine, type ExprId, exprs, type TextLengths } from "../lexeme/expr/expr.ts"
import { type Utf8Rest, utf8Leads, utf8Tails } from "../lexeme/utf8.ts"

const MaxOctets = 64

/** An atom must begin before the first character and after a dot. */
const Start = 0
const Atom = 1
const Dot = 2
/** In a quoted string; after a backslash in it; after its closing quote. */
const Quoted = 3
const Escape = 4
const Closed = 5

/** Runs of `atext`, ascending. */
const atomRanges = rangesOf(
  "!#$%&'*+-/0123456789=?ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz{|}~",
)
/** Runs of `qtextSMTP`, ascending. */
const quotedRanges: readonly number[] = [0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7e]

/** By place: the least number of octets that must follow. */
const needed = [1, 0, 1, 1, 2, 0]

function rangesOf(characters: string): number[] {
  const ranges: number[] = []
  for (const code of Array.from(characters, (character) => character.charCodeAt(0)).sort((a, b) => a - b)) {
    if (ranges.length > 0 && ranges[ranges.length - 1] === code - 1) ranges[ranges.length - 1] = code
    else ranges.push(code, code)
  }
  return ranges
}

/** A state consists of octets, place (3 bits), rest of a character (3 bits). */
class LocalPartMachine implements ByteMachine {
  readonly start = Start
  private readonly isWide: boolean

  constructor(isWide: boolean) {
    this.isWide = isWide
  }

  isAccepting(state: number): boolean {
    const place = (state >>> 3) & 7
    return (state & 7) === 0 && (place === Atom || place === Closed)
  }

  row(state: number): number[] {
    const rest = (state & 7) as Utf8Rest
    if (rest !== 0) {
      const [low, high, next] = utf8Tails[rest]
      return [low | (high << 8), (state & ~7) | next]
    }
    const octets = state >>> 6
    const place = (state >>> 3) & 7
    const row: number[] = []
    const go = (low: number, high: number, next: number, size = 1, tail: Utf8Rest = 0) => {
      if (octets + size + needed[next] > MaxOctets) return
      row.push(low | (high << 8), ((octets + size) << 6) | (next << 3) | tail)
    }
    const goWide = (next: number) => {
      if (!this.isWide) return
      for (const [low, high, size, tail] of utf8Leads) go(low, high, next, size, tail)
    }
    const goRanges = (ranges: readonly number[], next: number, before: number, from = 0) => {
      let i = from
      for (; i < ranges.length && ranges[i] < before; i += 2) go(ranges[i], ranges[i + 1], next)
      return i
    }
    switch (place) {
      case Start:
      case Atom:
      case Dot: {
        // `"` lies between two runs, and so does the dot.
        const quote = goRanges(atomRanges, Atom, 0x22)
        if (place === Start) go(0x22, 0x22, Quoted)
        const dot = goRanges(atomRanges, Atom, 0x2e, quote)
        if (place === Atom) go(0x2e, 0x2e, Dot)
        goRanges(atomRanges, Atom, 0x80, dot)
        goWide(Atom)
        return row
      }
      case Quoted: {
        const quote = goRanges(quotedRanges, Quoted, 0x22)
        go(0x22, 0x22, Closed)
        const slash = goRanges(quotedRanges, Quoted, 0x5c, quote)
        go(0x5c, 0x5c, Escape)
        goRanges(quotedRanges, Quoted, 0x80, slash)
        goWide(Quoted)
        return row
      }
      case Escape:
        go(0x20, 0x7e, Quoted)
        return row
      default:
        return row
    }
  }

  lengths(state: number): TextLengths {
    const place = (state >>> 3) & 7
    const low = needed[place]
    const high = place === Closed ? 0 : MaxOctets - (state >>> 6)
    return { low, high, from: low, to: high }
  }

  clamp(state: number, maxBytes: number): number {
    // After the bytes that are read, a place may need two more.
    return MaxOctets - (state >>> 6) >= maxBytes + 2 ? state & 63 : state
  }
}

/** Returns the local parts; `isWide` as in RFC 6531. */
export function localPartExpr(isWide: boolean): ExprId {
  return exprs.machine(new LocalPartMachine(isWide))
}
