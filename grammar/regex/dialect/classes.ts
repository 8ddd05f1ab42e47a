/**
 * Character sets that other dialects name and ECMAScript does not: the POSIX classes inside
 * brackets, and the escapes for horizontal white space. All POSIX classes are ASCII, as in PCRE, Go
 * and Rust.
 */
import { type CodePointRanges, complement } from "../ranges.ts"

const posix: Readonly<Record<string, CodePointRanges>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0, 0x7f],
  blank: [9, 9, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: [0x30, 0x39],
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [9, 13, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
}

export const posixNames = Object.keys(posix)

/** Returns the members of `[:name:]`; null if there is no such class. */
export function posixRanges(name: string, isNegated: boolean): CodePointRanges | null {
  if (!Object.hasOwn(posix, name)) return null
  return isNegated ? complement(posix[name]) : posix[name]
}

/** `\h` of PCRE, Perl and Java. */
export const horizontalSpace: CodePointRanges = [
  9, 9, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x180e, 0x180e, 0x2000, 0x200a, 0x202f, 0x202f, 0x205f,
  0x205f, 0x3000, 0x3000,
]

/** Returns the ranges in the syntax of an ECMAScript class under `u`, without its brackets. */
export function spelledRanges(ranges: CodePointRanges): string {
  let text = ""
  for (let i = 0; i < ranges.length; i += 2) {
    const [lo, hi] = [ranges[i], ranges[i + 1]]
    text += lo === hi ? spelledPoint(lo) : `${spelledPoint(lo)}-${spelledPoint(hi)}`
  }
  return text
}

/** Returns one code point in ECMAScript's syntax under `u`, valid inside a class and outside. */
export function spelledPoint(point: number): string {
  const text = String.fromCodePoint(point)
  if (/[A-Za-z0-9_]/.test(text)) return text
  if (point > 0xffff) return `\\u{${point.toString(16)}}`
  const hex = point.toString(16)
  return point < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u${hex.padStart(4, "0")}`
}
