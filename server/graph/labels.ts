/**
 * The words on the edges of a drawn graph: characters as ranges, tokens as the texts that they
 * spell. Every character that is invisible, combines with its neighbours or cannot stand in XML is
 * written as an escape, so that a label shows what it holds and nothing else.
 */
import type { Vocabulary } from "../../runtime/index.ts"

/** Code points `low` to `high`, both included. */
export type Range = readonly [low: number, high: number]

/** One step of an edge: a text, or a set of texts of which one is read. */
export interface Step {
  readonly text: string
  readonly isSet: boolean
}

const lastCodePoint = 0x10ffff
/** How many ranges a label spells out, how many tokens, and how many characters of a token. */
const maxSpelled = 8
const maxTokens = 5
const maxTokenChars = 8
/** How many code points a set has before it is written by what it lacks. */
const wide = 0x8000

/** Returns `text` with escapes for what cannot be seen. A space becomes `␣`. */
function shown(text: string): string {
  return text.replace(/[\\\p{C}\p{Z}\p{M}]/gu, (char) => {
    if (char === " ") return "␣"
    if (char === "\\") return "\\\\"
    if (char === "\n") return "\\n"
    if (char === "\t") return "\\t"
    if (char === "\r") return "\\r"
    return `\\u{${char.codePointAt(0)?.toString(16)}}`
  })
}

/** Returns ranges in ascending order without overlaps or neighbours. */
export function merged(ranges: readonly Range[]): Range[] {
  const all: Range[] = []
  for (const [low, high] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && low <= last[1] + 1) all[all.length - 1] = [last[0], Math.max(last[1], high)]
    else all.push([low, high])
  }
  return all
}

/** Returns the step that reads one character of `given`, which are merged. */
export function characterStep(given: readonly Range[]): Step {
  // No text has surrogates, so the ranges on both sides of them are neighbours.
  const hasBothSides = given.some(([, high]) => high === 0xd7ff) && given.some(([low]) => low === 0xe000)
  const ranges = hasBothSides ? merged([...given, [0xd800, 0xdfff]]) : given
  const [[low, high]] = ranges
  if (ranges.length === 1 && low === high) return { text: shown(String.fromCodePoint(low)), isSet: false }
  const size = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
  if (size < wide) return { text: `[${spelled(ranges)}]`, isSet: true }
  const lacking = complement(ranges)
  if (lacking.length === 0) return { text: "any character", isSet: true }
  const isShorter = lacking.length <= ranges.length || ranges.length > maxSpelled
  return { text: isShorter ? `[^${spelled(lacking)}]` : `[${spelled(ranges)}]`, isSet: true }
}

function complement(ranges: readonly Range[]): Range[] {
  const lacking: Range[] = []
  let next = 0
  for (const [low, high] of ranges) {
    if (low > next) lacking.push([next, low - 1])
    next = high + 1
  }
  if (next <= lastCodePoint) lacking.push([next, lastCodePoint])
  return lacking
}

function spelled(ranges: readonly Range[]): string {
  const parts = ranges.slice(0, maxSpelled).map(([low, high]) => {
    const [first, last] = [low, high].map(inSet)
    return low === high ? first : high === low + 1 ? first + last : `${first}-${last}`
  })
  const rest = ranges.length - parts.length
  return `${parts.join("")}${rest > 0 ? ` … ${rest} more` : ""}`
}

function inSet(codePoint: number): string {
  const char = String.fromCodePoint(codePoint)
  return /[\]^-]/.test(char) ? `\\${char}` : shown(char)
}

/** Returns the step that reads one of `tokens`: at least one id, ascending. */
export function tokenStep(tokens: Int32Array, vocabulary: Vocabulary): Step {
  if (tokens.length === 1) return { text: tokenText(tokens[0], vocabulary), isSet: false }
  const singles: Range[] = []
  const longer: string[] = []
  for (const token of tokens) {
    const char = soleCharacter(vocabulary.bytes(token))
    if (char !== null) singles.push([char, char])
    // Sorting a hundred thousand texts to show eight would take longer than the walk.
    else if (longer.length < 10_000) longer.push(tokenText(token, vocabulary))
  }
  longer.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const ranges = merged(singles)
  const characters = ranges.slice(0, maxTokens - 1)
  const texts = longer.slice(0, maxTokens - characters.length)
  const shownCount =
    texts.length + characters.reduce((sum, [low, high]) => sum + countOf(singles, low, high), 0)
  const more = tokens.length - shownCount
  const parts = [...(characters.length > 0 ? [characterStep(characters).text] : []), ...texts.map(beginning)]
  return { text: `${parts.join(" | ")}${more > 0 ? ` | … ${more} more` : ""}`, isSet: true }
}

function beginning(text: string): string {
  const chars = Array.from(text)
  return chars.length <= maxTokenChars ? text : `${chars.slice(0, maxTokenChars - 1).join("")}…`
}

function countOf(singles: readonly Range[], low: number, high: number): number {
  return singles.filter(([char]) => low <= char && char <= high).length
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

function soleCharacter(bytes: Uint8Array): number | null {
  const text = bytes.length === 0 || bytes.length > 4 ? null : decoded(bytes)
  if (text === null) return null
  const codePoint = text.codePointAt(0) as number
  return String.fromCodePoint(codePoint) === text ? codePoint : null
}

/** Returns the text of a token; its bytes if they are not UTF-8, its id if it has none. */
function tokenText(token: number, vocabulary: Vocabulary): string {
  const bytes = vocabulary.bytes(token)
  if (bytes.length === 0) return `#${token}`
  const text = decoded(bytes)
  return text === null ? bytesText(bytes) : shown(text)
}

function bytesText(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")
}
