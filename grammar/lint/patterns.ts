/**
 * What a regular expression uses that some engines cannot compile or read differently.
 *
 * It looks at the syntax only, without escapes and character classes. A pattern that cannot be read
 * uses nothing.
 */
import { TimeError, weighed, withinTime } from "../deadline.ts"
import { defaultLimits } from "../errors.ts"
import { schemaPatterns } from "../json/read/pattern.ts"
import type { SchemaGraph } from "../json/refs/refs.ts"
import { exprs } from "../lexeme/expr/expr.ts"

/**
 * The character classes of a pattern. One without an end goes to the end of the pattern: the search
 * is linear, since it looks for no other end.
 */
const classes = /\[(?:\\.|[^\]\\])*(?:\]|\\?$)/gs
const plainClasses = /\[[^\]]*(?:\]|$)/g

/**
 * Returns the pattern with `[]` for each character class, and with `\.` for each escape except
 * `\b`, `\B` and references such as `\1`.
 */
function skeleton(pattern: string): string {
  return pattern
    .replace(/\\(?:k<[^>]{0,100}>|[bB1-9])|\\./gs, (part) => (/^\\[bBk1-9]/.test(part) ? part : "\\."))
    .replace(classes, "[]")
}

export function hasLookaround(pattern: string): boolean {
  return /\(\?<?[=!]/.test(skeleton(pattern))
}

export function hasBackreference(pattern: string): boolean {
  return /\\[1-9]|\\k</.test(skeleton(pattern))
}

export function hasWordBoundary(pattern: string): boolean {
  return /\\[bB]/.test(skeleton(pattern))
}

/** Whether `^` stands after, or `$` before, something that takes a character. */
export function hasInnerAnchor(pattern: string): boolean {
  const text = skeleton(pattern).replace(/\\\./g, "x")
  return /[^(|^:]\^/.test(text) || /\$[^)|$]/.test(text)
}

/** Maximum number of patterns that are compared with each other. */
const MostCompared = 64
/** Milliseconds for the comparisons of one `patternProperties`. */
const MostMs = 1_000
/** Weight (`weighed`) of all comparisons in one schema text. */
const MostWeight = 1_000_000

const spent = new WeakMap<SchemaGraph, number>()

/**
 * Whether some text is found by two of the patterns, which stand in the schema text `graph`. Null
 * if that is not known, since there are too many patterns or comparing them took too long.
 */
export function anyOverlap(patterns: readonly string[], graph: SchemaGraph): boolean | null {
  const before = spent.get(graph) ?? 0
  if (patterns.length > MostCompared || before > MostWeight) return null
  const search = () =>
    patterns.some((one, index) => patterns.slice(index + 1).some((other) => overlap(one, other) ?? false))
  try {
    const { result, weight } = weighed(() => withinTime(MostMs, search))
    spent.set(graph, before + weight)
    return result
  } catch (error) {
    if (!(error instanceof TimeError)) throw error
    spent.set(graph, Number.POSITIVE_INFINITY)
    return null
  }
}

/** Whether some text is found by both patterns. Null if one of them is not read. */
function overlap(one: string, other: string): boolean | null {
  try {
    const found = [one, other].map((pattern) => schemaPatterns.search(pattern, "", defaultLimits))
    return !exprs.isNever(exprs.and(found))
  } catch (error) {
    if (error instanceof TimeError) throw error
    return null
  }
}

/** Whether the pattern begins with `^` and ends with `$`. */
export function isAnchored(pattern: string): boolean {
  return pattern.length > 1 && pattern.startsWith("^") && pattern.endsWith("$") && !pattern.endsWith("\\$")
}

/** Whether the pattern has alternatives outside of groups. */
export function hasAlternatives(pattern: string): boolean {
  let depth = 0
  for (const letter of skeleton(pattern)) {
    if (letter === "(") depth++
    else if (letter === ")") depth--
    else if (letter === "|" && depth === 0) return true
  }
  return false
}

/** Whether some part of the pattern matches a quote or a backslash without naming it. */
export function takesQuote(pattern: string): boolean {
  const text = pattern.replace(/\\[DSW]/g, ".").replace(/\\./gs, "x")
  const isOpen = (each: string) => each.startsWith("[^") && !each.includes('"')
  return text.replace(plainClasses, "").includes(".") || (text.match(plainClasses) ?? []).some(isOpen)
}

const classEscapes = /\\(?!["[\]\\trn-]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})/
const outerEscapes = /\\(?!["[\]\\trn^$.()|{}*+?-]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})/

/**
 * Whether llama.cpp's converter takes any string instead: it knows few escapes and no special
 * groups.
 */
export function llamaCannotRead(pattern: string): boolean {
  const body = pattern.slice(1, -1)
  const inner = body.match(classes) ?? []
  const outer = body.replace(/\\\\/g, "").replace(classes, "")
  if (inner.some((each) => classEscapes.test(each.replace(/\\\\/g, "")))) return true
  if (outerEscapes.test(outer)) return true
  const text = outer.replace(/\\./gs, "")
  return /\(\?(?!:)/.test(text) || /[\^$]/.test(text)
}
