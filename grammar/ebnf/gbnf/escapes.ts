/**
 * Decodes the strings and classes of GBNF, given without their quotes or brackets.
 *
 * Both have the escapes of C, of JSON and of llama.cpp. A code point may be written with two, four
 * or eight hexadecimal digits, and as the two halves of a surrogate pair. Classes are sets of code
 * points, never of bytes.
 */
import { type CodePointRanges, complement, makeRanges } from "../../regex/ranges.ts"

/** Reports a mistake at an offset of the decoded text. */
export type Complain = (offset: number, message: string) => void

const MaxCodePoint = 0x10ffff

/** By letter: the code point of its escape. */
const letters = new Map([
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
  ["b", 0x08],
  ["f", 0x0c],
  ["a", 0x07],
  ["v", 0x0b],
  ["0", 0x00],
  ["e", 0x1b],
])
/** Characters that a backslash leaves unchanged: everywhere, and in classes. */
const plain = "\"'\\/?"
const plainInClass = `${plain}^$.*+()[]{}|-`
/** By letter: the number of its hexadecimal digits. */
const digits = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
])
/** By escape of regular expressions: what to write instead. */
const classesOf = new Map([
  ["d", "[0-9]"],
  ["w", "[A-Za-z0-9_]"],
  ["s", "[ \\t\\n\\r]"],
])

/** Returns the text between the quotes. */
export function decodeString(body: string, complain: Complain): string {
  if (!body.includes("\\")) return body
  let text = ""
  for (let at = 0; at < body.length; ) {
    const next = body.indexOf("\\", at)
    if (next < 0) return checkPairs(text + body.slice(at), complain)
    const { point, end } = readEscape(body, next, plain, complain)
    text += body.slice(at, next) + String.fromCodePoint(point)
    at = end
  }
  return checkPairs(text, complain)
}

/**
 * Reports lone surrogates. Two halves that were written as two escapes have become one character by
 * now.
 */
function checkPairs(text: string, complain: Complain): string {
  if (!text.isWellFormed()) complain(0, "half a surrogate pair: no text holds one")
  return text.toWellFormed()
}

/** Returns the set between the brackets. */
export function decodeClass(body: string, complain: Complain): CodePointRanges {
  if (body === "") complain(0, "the class [] has no character. Write [^] for any")
  const isNegated = body.startsWith("^")
  const ranges: number[] = []
  for (let at = isNegated ? 1 : 0; at < body.length; ) {
    const first = readCharacter(body, at, complain)
    const isRange = body[first.end] === "-" && first.end + 1 < body.length
    const last = isRange ? readCharacter(body, first.end + 1, complain) : first
    if (last.point < first.point) complain(at, "range end before start")
    else ranges.push(first.point, last.point)
    at = last.end
  }
  const set = makeRanges(ranges)
  return isNegated ? complement(set) : set
}

interface Character {
  point: number
  /** Offset after the character. */
  end: number
}

/** Returns the character of a class at `at`. A pair of escaped surrogates is one character. */
function readCharacter(body: string, at: number, complain: Complain): Character {
  const first = readUnit(body, at, complain)
  if (!isHalf(first.point)) return first
  const isHigh = first.point < 0xdc00
  const second = isHigh && first.end < body.length ? readUnit(body, first.end, complain) : first
  if (isHigh && second.point >= 0xdc00 && second.point <= 0xdfff) {
    return { point: 0x10000 + ((first.point - 0xd800) << 10) + (second.point - 0xdc00), end: second.end }
  }
  complain(at, "half a surrogate pair: no text holds one")
  return { point: 0, end: first.end }
}

function readUnit(body: string, at: number, complain: Complain): Character {
  if (body[at] === "\\") return readEscape(body, at, plainInClass, complain)
  const point = body.codePointAt(at) as number
  return { point, end: at + (point > 0xffff ? 2 : 1) }
}

/** Returns the escape whose backslash is at `at`; 0 after a mistake, which has been reported. */
function readEscape(body: string, at: number, kept: string, complain: Complain): Character {
  const point = body.codePointAt(at + 1)
  // The lexer ends a string at its first bare quote, so no backslash is at the end.
  if (point === undefined) throw new Error("internal: a backslash ends the text")
  const letter = String.fromCodePoint(point)
  const end = at + 1 + letter.length
  if (kept.includes(letter)) return { point, end }
  const control = letters.get(letter)
  if (control !== undefined) return { point: control, end }
  const count = digits.get(letter)
  if (count === undefined) {
    const hint = classesOf.get(letter)
    complain(at, `unknown escape \\${letter}${hint === undefined ? "" : `: write ${hint}`}`)
    return { point: 0, end }
  }
  const [code] = /^[0-9A-Fa-f]*/.exec(body.slice(end, end + count)) as RegExpExecArray
  if (code.length < count) complain(at, `\\${letter} needs ${count} hexadecimal digits`)
  const value = code.length < count ? 0 : Number.parseInt(code, 16)
  if (value > MaxCodePoint) complain(at, `\\${letter}${code} is above U+10FFFF`)
  return { point: value > MaxCodePoint ? 0 : value, end: end + code.length }
}

function isHalf(point: number): boolean {
  return point >= 0xd800 && point <= 0xdfff
}
