/**
 * Translates character classes in brackets into ECMAScript's `u` grammar: POSIX classes, quotations
 * and escapes of other dialects become ranges, and a `-` beside a set is a character.
 *
 * A `[` inside is a character, as in ECMAScript, Python and PCRE. In Java and Rust it opens a
 * class. If the text shows that this is meant, the class is refused.
 */
import type { GrammarErrorKind } from "../../errors.ts"
import { posixNames, posixRanges, spelledPoint, spelledRanges } from "./classes.ts"
import { escapeAt } from "./escapes.ts"

export interface Brackets {
  /** The text of the class in pieces, each with its offset in the source. */
  readonly parts: readonly (readonly [text: string, at: number])[]
  readonly length: number
  /**
   * Whether the class is `[]` or `[^]`: in other dialects the bracket would be the first member.
   */
  readonly isEmpty: boolean
  /** Whether a quotation in the class does not end. */
  readonly isQuoting: boolean
}

/** Is notified of errors, and of parts that were read as another dialect's. */
export interface Reader {
  refuse(at: number, message: string, kind?: GrammarErrorKind): never
  note(form: string, reading: string): void
}

/** Matches a `-` that cannot form a range because a set follows it. */
const setAhead = /-(?:\\[dDwWsSpPhHN]|\[:)/y
/** Matches a range after a `-`. */
const rangeAhead = /-(?:[^\\\][-]|\\.)-(?!\])/y

/**
 * Returns the class whose `[` is at `at`. `isFree` means free spacing. `groups` is the number of
 * capturing groups.
 */
export function bracketsAt(
  source: string,
  at: number,
  isFree: boolean,
  groups: number,
  reader: Reader,
): Brackets {
  const start = at + (source[at + 1] === "^" ? 2 : 1)
  const opening = source.slice(at, start)
  if (source[start] === "]")
    return { parts: [[`${opening}]`, at]], length: start + 1 - at, isEmpty: true, isQuoting: false }
  const nests = source[start] === "[" && !source.startsWith("[:", start)
  const parts: [text: string, at: number][] = [[opening, at]]
  let isAfterSet = false
  let set = ""
  for (let i = start; i < source.length; ) {
    const character = String.fromCodePoint(source.codePointAt(i) as number)
    if (character === "]") {
      const after = /^(?:\]|&&|--|~~)/.exec(source.slice(i + 1, i + 3))
      if (nests && after !== null) reader.refuse(at, nested)
      parts.push(["]", i])
      return { parts, length: i + 1 - at, isEmpty: false, isQuoting: false }
    }
    if (character === "\\") {
      if (source.startsWith("\\Q", i)) {
        const end = source.indexOf("\\E", i)
        reader.note("\\Q…\\E", "the characters between")
        for (const quoted of source.slice(i + 2, end < 0 ? undefined : end)) parts.push([escaped(quoted), i])
        if (end < 0) return { parts, length: source.length - at, isEmpty: false, isQuoting: true }
        i = end + 2
        continue
      }
      const read = escapeAt(source, i, true, false, groups)
      if (read.kind === "refused") return reader.refuse(i, read.message, read.error)
      if (read.kind !== "set") throw new Error(`internal: ${read.kind} in a class`)
      if (read.isForeign) reader.note(source.slice(i, i + read.length), read.text)
      parts.push([read.text, i])
      isAfterSet = !read.isSingle
      set = read.text
      i += read.length
      continue
    }
    const posix = /^\[([:.=])(\^?)([A-Za-z<>]*)\1\]/.exec(source.slice(i, i + 24))
    if (posix !== null) {
      const ranges = posix[1] === ":" ? posixRanges(posix[3], posix[2] === "^") : null
      if (ranges === null) return reader.refuse(i, unknownClass(posix[0]))
      const spelled = spelledRanges(ranges)
      reader.note(posix[0], spelled)
      parts.push([spelled, i])
      isAfterSet = true
      set = posix[0]
      i += posix[0].length
      continue
    }
    const operator = /^(?:&&|--|~~)(?=\[)/.exec(source.slice(i, i + 3))
    if (operator !== null) reader.refuse(i, operation(operator[0]))
    if (isFree && /[ \t\n\v\f\r#]/.test(character)) reader.refuse(i, freeClass)
    setAhead.lastIndex = i
    const isBesideSet = isAfterSet || setAhead.test(source)
    rangeAhead.lastIndex = i
    if (isAfterSet && set !== "\\w" && rangeAhead.test(source)) reader.refuse(i, besideSet)
    const isLone = character === "-" && isBesideSet && i > start && source[i + 1] !== "]"
    parts.push([isLone ? "\\-" : character, i])
    isAfterSet = false
    i += character.length
  }
  return { parts, length: source.length - at, isEmpty: false, isQuoting: false }
}

/** Returns the escaped form of a character, valid inside a class and outside. */
export function escaped(character: string): string {
  return /[A-Za-z0-9_\P{ASCII}]/u.test(character)
    ? character
    : spelledPoint(character.codePointAt(0) as number)
}

const nested =
  "a class within a class is a union in Java and Rust, and a class before a ] in ECMAScript: write its characters into the class around it, or \\[ and \\]"
const freeClass =
  "white space and # in a class are left out by Java and Rust under the flag x, and kept by Python and PCRE: write \\x20 or \\x23, or close the class first"
const besideSet =
  "behind a set, - and a range are three characters to ECMAScript without u, and a range to PCRE and Java: write \\-"

function operation(operator: string): string {
  const wayOut = operator === "--" ? "(?![b])[a]" : operator === "&&" ? "(?=[b])[a]" : "(?![b])[a]|(?![a])[b]"
  return `${operator} between classes is an operation of other dialects: write ${wayOut} for [a${operator}[b]]`
}

function unknownClass(form: string): string {
  if (form === "[:<:]" || form === "[:>:]")
    return `${form} is the edge of a word: write \\b outside of the class`
  if (!form.startsWith("[:")) return `${form} is a collating element of POSIX: write its characters`
  return `${form} is no class. There are ${posixNames.join(", ")}`
}
