/**
 * Reading an ECMAScript pattern: regexpp's tree, in up to three tries.
 *
 * Patterns in the wild are written for many engines. They are read with the `u` grammar, whose meaning is over code
 * points; if that fails, with `u` after dropping needless backslashes and escaping lone braces and brackets; if that
 * fails, by Annex B, but never where Annex B would silently read `\p{…}`, `\u{…}` or `\k<…>` as plain letters.
 */
import { type AST, RegExpParser } from "@eslint-community/regexpp"
import { checkLimit, defaultLimits, fixedBounds, GrammarError, limitError } from "../errors.ts"

export interface RegexFlags {
  ignoreCase: boolean
  multiline: boolean
  dotAll: boolean
  unicodeSets: boolean
  /** Without `s`, `.` leaves out the line feed alone, not all line terminators. */
  lineFeedOnly?: boolean
}

export interface ReadPattern {
  pattern: AST.Pattern
  flags: RegexFlags
}

const parser = new RegExpParser({ ecmaVersion: 2025 })

/** Where an error is: the place of the pattern, or the offset in a pattern that stands alone. */
export function errorPath(path: string, offset: number): string {
  return path === "" ? `offset ${offset}` : path
}

/** Throws `syntax` with the reason of the strictest reading, or `limit`. */
export function readPattern(
  source: string,
  flagText: string,
  path: string,
  limits = defaultLimits,
): ReadPattern {
  checkLimit(limits, "regexBytes", source.length, path, "length of the pattern")
  checkDepth(source, path)
  const flags = readFlags(flagText, path)
  if (flags.unicodeSets) return { pattern: readOrThrow(source, { unicodeSets: true }, path), flags }
  const strict = tryRead(source, { unicode: true })
  if (strict.pattern !== undefined) return { pattern: strict.pattern, flags }
  const repaired = tryRead(repair(source), { unicode: true })
  if (repaired.pattern !== undefined) return { pattern: repaired.pattern, flags }
  if (!/\\(?:[pPu]\{|k<)/.test(source)) {
    const { pattern } = tryRead(source, {})
    if (pattern !== undefined) {
      joinSurrogates(pattern)
      return { pattern, flags }
    }
  }
  throw syntaxError(strict.error, path)
}

function readFlags(text: string, path: string): RegexFlags {
  const seen = new Set<string>()
  for (const flag of text) {
    if (!"dgimsuvy".includes(flag)) {
      throw new GrammarError("syntax", path, `flag ${JSON.stringify(flag)} is unknown. Use i, m, s, u or v`)
    }
    if (seen.has(flag)) throw new GrammarError("syntax", path, `flag "${flag}" is given twice`)
    seen.add(flag)
  }
  if (seen.has("u") && seen.has("v")) {
    throw new GrammarError("syntax", path, 'flags "u" and "v" exclude each other. Keep one')
  }
  return {
    ignoreCase: seen.has("i"),
    multiline: seen.has("m"),
    dotAll: seen.has("s"),
    unicodeSets: seen.has("v"),
  }
}

interface ReadError {
  message: string
  index: number
}

type Attempt = { pattern: AST.Pattern; error?: undefined } | { pattern?: undefined; error: ReadError }

function tryRead(source: string, mode: { unicode?: boolean; unicodeSets?: boolean }): Attempt {
  try {
    return { pattern: parser.parsePattern(source, 0, source.length, mode) }
  } catch (thrown) {
    const { message, index } = thrown as ReadError
    if (typeof index !== "number") throw thrown
    return { error: { message, index } }
  }
}

function readOrThrow(source: string, mode: { unicodeSets: boolean }, path: string): AST.Pattern {
  const { pattern, error } = tryRead(source, mode)
  if (pattern === undefined) throw syntaxError(error, path)
  return pattern
}

function syntaxError(error: ReadError, path: string): GrammarError {
  // regexpp repeats the whole pattern in front of the reason.
  const reason = error.message.replace(/^Invalid regular expression: \/.*\/[a-z]*: /s, "")
  return new GrammarError(
    "syntax",
    errorPath(path, error.index),
    `${reason} at ${error.index} of the pattern`,
  )
}

function checkDepth(source: string, path: string): void {
  let depth = 0
  let inClass = false
  for (let i = 0; i < source.length; i++) {
    const c = source[i]
    if (c === "\\") i++
    else if (c === "[") inClass = true
    else if (c === "]") inClass = false
    else if (!inClass && c === "(" && ++depth > fixedBounds.patternDepth) {
      const what = `nesting of groups at ${i}`
      const wayOut = "write fewer groups inside each other"
      throw limitError(fixedBounds, "patternDepth", depth, errorPath(path, i), what, wayOut)
    } else if (!inClass && c === ")") depth--
  }
}

// Escapes that the `u` grammar knows outside and inside a class, beside letters and digits.
const escapable = "^$\\.*+?()[]{}|/"

/** Drops backslashes before other characters than letters and digits, escapes lone `{`, `}` and `]`. */
export function repair(source: string): string {
  let repaired = ""
  let inClass = false
  for (let i = 0; i < source.length; i++) {
    const c = source[i]
    if (c === "\\" && i + 1 < source.length) {
      const braced = /^\\(?:[pPu]\{[^}]*\}|k<[^>]*>)/.exec(source.slice(i, i + 80))
      const escaped = String.fromCodePoint(source.codePointAt(i + 1)!)
      if (braced !== null) {
        repaired += braced[0]
        i += braced[0].length - 1
        continue
      }
      const isKept =
        /[A-Za-z0-9]/.test(escaped) || escapable.includes(escaped) || (inClass && escaped === "-")
      repaired += isKept ? `\\${escaped}` : escaped
      i += escaped.length
    } else if (inClass) {
      inClass = c !== "]"
      repaired += c
    } else if (c === "[") {
      inClass = true
      repaired += c
    } else if (c === "{") {
      const quantifier = /^\{\d+(?:,\d*)?\}/.exec(source.slice(i, i + 64))
      repaired += quantifier === null ? "\\{" : quantifier[0]
      if (quantifier !== null) i += quantifier[0].length - 1
    } else {
      repaired += c === "}" || c === "]" ? `\\${c}` : c
    }
  }
  return repaired
}

/** Annex B reads UTF-16 units; texts are code points, so a pair that was read as two characters is one. In place. */
function joinSurrogates(pattern: AST.Pattern): void {
  const visit = (alternatives: AST.Alternative[]) => {
    for (const alternative of alternatives) {
      alternative.elements = joinPairs(alternative.elements)
      for (const element of alternative.elements) visitElement(element)
    }
  }
  const visitElement = (element: AST.Element) => {
    if ("alternatives" in element) visit(element.alternatives)
    else if (element.type === "Quantifier") visitElement(element.element)
    else if (element.type === "CharacterClass" && !element.unicodeSets) {
      element.elements = joinPairs(element.elements)
    }
  }
  visit(pattern.alternatives)
}

function joinPairs<T extends AST.Element | AST.ClassRangesCharacterClassElement>(elements: T[]): T[] {
  const joined: T[] = []
  for (const element of elements) {
    const low = element.type === "Quantifier" ? element.element : element
    const high = joined.at(-1)
    if (isUnit(low, 0xdc00) && high !== undefined && isUnit(high, 0xd800)) {
      low.value = 0x10000 + ((high.value - 0xd800) << 10) + (low.value - 0xdc00)
      joined.pop()
    }
    joined.push(element)
  }
  return joined
}

function isUnit(node: AST.Node, first: number): node is AST.Character {
  return node.type === "Character" && node.value >= first && node.value < first + 0x400
}
