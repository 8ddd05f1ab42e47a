/**
 * Escapes that the `u` grammar of ECMAScript does not have: what they become, or why they are
 * refused.
 *
 * Accepted are those that have the same meaning in all dialects that have them (Python's re, PCRE,
 * Perl, Java, .NET, Go, Rust). `\Z` is the very end, as in Python. PCRE's meaning, which also
 * matches before a last line end, would accept texts that Python rejects.
 */
import type { GrammarErrorKind } from "../../errors.ts"
import { complement } from "../ranges.ts"
import { horizontalSpace, spelledPoint, spelledRanges } from "./classes.ts"

/** The translation of an escape, or what is wrong with it. */
export type Escape =
  /** A character, or a set of characters. */
  | { kind: "set"; length: number; text: string; isSingle: boolean; isForeign: boolean }
  /** An assertion, which reads no character. */
  | { kind: "assertion"; length: number; text: string; isForeign: boolean }
  /** A line end; CR LF is one line end. */
  | { kind: "lineEnd"; length: number }
  /** The beginning of a quotation. */
  | { kind: "quote"; length: number }
  | { kind: "refused"; message: string; error: GrammarErrorKind }

/** Matches complete escapes of the `u` grammar. */
const ecmaScript =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[bBdDfnrsStvwW]|0(?![0-9])|c[A-Za-z]|x[0-9a-fA-F]{2}|u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\})|[pP]\{[^{}^&]+\}|k<[^>]*>)/y
/** Matches those escapes that stand for more than one character. */
const manyOf = /^\\[dDsSwWpP]/

const syntaxCharacters = "^$\\.*+?()[]{}|/"

/**
 * Returns the escape at `at` of `source`. `isClass` means inside brackets. `sets` is the flag `v`,
 * which allows more escapes than this function knows. `groups` is the number of capturing groups,
 * which distinguishes references from octal numbers.
 */
export function escapeAt(
  source: string,
  at: number,
  isClass: boolean,
  sets: boolean,
  groups: number,
): Escape {
  const rest = source.slice(at, at + 256)
  ecmaScript.lastIndex = at
  const known = ecmaScript.exec(source)?.[0]
  const isBoundary = known === "\\B" || (known === "\\b" && !isClass)
  if (known !== undefined && !isBoundary && !(isClass && known.startsWith("\\k")))
    return single(known, known, false)
  if (isBoundary && !isClass) {
    if (rest[2] === "{")
      return refused(`${known}{…} is no boundary of ECMAScript: write \\b, or a lookaround`)
    return { kind: "assertion", length: 2, text: known, isForeign: false }
  }
  const letter = String.fromCodePoint(source.codePointAt(at + 1) ?? 0)
  if (at + 1 >= source.length) return refused("\\ at the end of the pattern escapes nothing: write \\\\")
  if (/[0-9]/.test(letter)) return numberAt(rest, isClass, groups)
  if (!/[A-Za-z]/.test(letter)) return plainAt(letter, isClass, sets)
  if (sets && isClass && letter === "q") return single("\\q", "\\q", false)
  return letterAt(rest, letter, isClass)
}

/** Returns the escape of a character that is neither a letter nor a digit: it stands for itself. */
function plainAt(character: string, isClass: boolean, sets: boolean): Escape {
  const isKept = sets || syntaxCharacters.includes(character) || (isClass && character === "-")
  const text = isKept ? `\\${character}` : character
  return { kind: "set", length: 1 + character.length, text, isSingle: true, isForeign: false }
}

/** Returns the escape for an octal number, or the refusal of a reference to a group. */
function numberAt(rest: string, isClass: boolean, groups: number): Escape {
  const digits = (/^\\([0-9]+)/.exec(rest) as RegExpExecArray)[1]
  const octal = /^(?:0[0-7]{0,2}|[1-3][0-7]{2}|[1-7][0-7]{0,1})(?![0-9])/.exec(digits)?.[0]
  const isReference = !isClass && digits[0] !== "0" && (digits.length < 3 || Number(digits) <= groups)
  if (isReference) {
    if (Number(digits) <= groups) return notRegular(`\\${digits}`)
    return refused(
      `\\${digits} refers to a group, and there are ${groups}. Write \\x and two hexadecimal digits`,
    )
  }
  if (octal === undefined)
    return refused(`\\${digits} is no octal number of one meaning: write \\x and two hexadecimal digits`)
  return single(`\\${octal}`, spelledPoint(Number.parseInt(octal, 8)), true)
}

function letterAt(rest: string, letter: string, isClass: boolean): Escape {
  const hex = /^\\(?:x\{ *([0-9a-fA-F]+) *\}|U([0-9a-fA-F]{8})|N\{U\+([0-9a-fA-F]+)\})/.exec(rest)
  const octal = /^\\o\{ *([0-7]+) *\}/.exec(rest)
  if (hex !== null || octal !== null) {
    const given = hex ?? (octal as RegExpExecArray)
    const point =
      hex === null ? Number.parseInt(given[1], 8) : Number.parseInt(hex[1] ?? hex[2] ?? hex[3], 16)
    if (point > 0x10ffff) return refused(`${given[0]} is above the last code point, \\u{10ffff}`)
    return single(given[0], spelledPoint(point), true)
  }
  const property = /^\\([pP])(?:([LMNPSZC])|\{(\^?)(L&|[^{}^&]+)\})/.exec(rest)
  if (property !== null) {
    const [whole, upper, short, caret, name] = property
    const isNegated = (upper === "P") !== (caret === "^")
    return single(whole, `\\${isNegated ? "P" : "p"}{${short ?? name.replace("L&", "LC")}}`, true, false)
  }
  switch (letter) {
    case "a":
      return single("\\a", "\\x07", true)
    case "e":
      return single("\\e", "\\x1b", true)
    case "h":
    case "H": {
      const ranges = spelledRanges(letter === "h" ? horizontalSpace : complement(horizontalSpace))
      return single(`\\${letter}`, isClass ? ranges : `[${ranges}]`, true, false)
    }
    case "A":
    case "Z":
    case "z":
      if (isClass) break
      return { kind: "assertion", length: 2, text: letter === "A" ? "(?-m:^)" : "(?-m:$)", isForeign: true }
    case "R":
      if (isClass) break
      return { kind: "lineEnd", length: 2 }
    case "N":
      if (rest[2] === "{" && !/^\\N\{[0-9,]/.test(rest)) break
      if (isClass) break
      return single("\\N", "[^\\n]", true, false)
    case "Q":
      return { kind: "quote", length: 2 }
    case "g":
    case "k":
      return /^\\[gk](?:[{<'0-9+-])/.test(rest)
        ? notRegular(
            (/^\\(?:[gk]\{[^}]*\}|[gk]<[^>]*>|[gk]'[^']*'|g[+-]?[0-9]*)/.exec(rest) ?? [`\\${letter}`])[0],
          )
        : refused(hints[letter] ?? unknown(letter))
    default:
  }
  return refused(isClass && letter in inClass ? inClass[letter] : (hints[letter] ?? unknown(letter)))
}

function single(given: string, text: string, isForeign: boolean, isSingle = !manyOf.test(given)): Escape {
  return { kind: "set", length: given.length, text, isSingle, isForeign }
}

function refused(message: string): Escape {
  return { kind: "refused", message, error: "syntax" }
}

function notRegular(form: string): Escape {
  return { kind: "refused", message: backreference(form), error: "unsupported" }
}

/** Returns the message that refuses a reference. The place is added by the caller. */
export function backreference(form: string): string {
  return `backreference ${form} is not regular; list the alternatives or use a parametric Lark rule`
}

function unknown(letter: string): string {
  return `\\${letter} is no escape of ECMAScript: write ${letter} for the letter, or the characters that it stands for as a class`
}

const inClass: Readonly<Record<string, string>> = {
  A: "\\A is no character: a class holds characters only",
  Z: "\\Z is no character: a class holds characters only",
  z: "\\z is no character: a class holds characters only",
  B: "\\B is no character: a class holds characters only",
  R: "\\R is no single character: write (?:\\r\\n|[\\n\\v\\f\\r\\x85\\u2028\\u2029]) outside of the class",
  N: "\\N is no escape within a class: write [^\\n] outside of it",
}

const hints: Readonly<Record<string, string>> = {
  c: "\\c is a control character with a letter behind it, \\cA, and a character of names in XML Schema: write \\xHH, or [-.:\\w]",
  C: "\\C is a single byte, or no character of names in XML Schema: write [^] for a character, or [^-.:\\w]",
  E: "\\E ends no \\Q: leave it out",
  g: "\\g is no escape of ECMAScript: write g for the letter",
  G: "\\G is the end of the match before, and there is one match only: write ^ for the start of the text, or leave it out",
  i: "\\i is the first character of a name in XML Schema: write [A-Za-z_:]",
  I: "\\I is no first character of a name in XML Schema: write [^A-Za-z_:]",
  K: "\\K moves the start of a match, which changes no verdict: leave it out",
  k: "\\k is no escape of ECMAScript: write k for the letter",
  l: "\\l changes case in Perl: write l for the letter, or [a-z]",
  L: "\\L changes case in Perl: write L for the letter, or [A-Z]",
  m: "\\m is the start of a word in Tcl: write \\b(?=\\w)",
  M: "\\M is the end of a word in Tcl: write \\b(?<=\\w)",
  N: "\\N{…} names a character: write \\u{H…} with its code point",
  o: "\\o is written \\o{…} with octal digits, in ECMAScript \\u{H…}",
  p: "\\p is written \\p{…}",
  P: "\\P is written \\P{…}",
  u: "\\u is written \\uHHHH or \\u{H…}",
  U: "\\U is written \\UHHHHHHHH with eight digits, in ECMAScript \\u{H…}",
  V: "\\V is all but vertical white space in PCRE, while \\v is the vertical tab here: write [^\\n\\v\\f\\r\\x85\\u2028\\u2029]",
  x: "\\x is written \\xHH, or \\u{H…}",
  X: "\\X is a character with its marks: write (?:\\P{M}\\p{M}*)",
  y: "\\y is a word boundary in Tcl and PostgreSQL: write \\b",
  Y: "\\Y is no word boundary in Tcl and PostgreSQL: write \\B",
}
