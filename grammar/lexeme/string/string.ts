/**
 * JSON strings: escapes × content.
 *
 * One transducer stands in front of every content automaton: it reads the spelling (raw characters, `\n`, `\u00e9`,
 * surrogate pairs) and feeds the decoded bytes to the content. Escapes are never baked into contents, so `"a"` and
 * `"\u0061"` cannot become two names. A state is (mode, content); the closing quote leaves the content's tag behind.
 *
 * Two policies: `minimal` is exactly what JSON.stringify writes, `all` is everything that RFC 8259 §7 allows. Lone
 * surrogates are no text and are rejected in both. An escape is offered only if some character it can spell goes on.
 */

import type { ClampedKind } from "../clamp.ts"
import type { CompletedKind, Completion } from "../completion.ts"
import type { ExprId } from "../expr/expr.ts"
import type { FreeBytes } from "../expr/machine.ts"
import { ShortestTexts } from "../expr/shortest.ts"
import { Dead, lexemes, type Row } from "../table.ts"
import {
  anyContent,
  canReadCharacter,
  clampedContent,
  contentFree,
  contentOverlay,
  contentRow,
  contentTag,
  isAnyButNames,
  NoContent,
  nextCharacter,
  nextContent,
} from "./content.ts"
import { leastContent, shortestContent } from "./shortcontent.ts"

export type Escapes = "canonical" | "json"

// Modes. Bit 0 is the policy (0 canonical, 1 json); the rest is what has been read of the spelling.
const Closed = 0
const Opening = 2
const Body = 4
const Backslash = 6
/** After a high surrogate: its `\`, then its `u`; the surrogate's ten bits are in `c`. */
const LowBackslash = 8
const LowU = 10
/** After `\u` and n digits of a first unit: Hex + 2n; the digits' value is in `c`. */
const Hex = 12
/** After a high surrogate, `\u` and n digits: LowHex + 2n; `c` = surrogate bits << 12 | digits' value. */
const LowHex = 20

const Quote = 0x22
const Slash = 0x5c
const shortEscapes: readonly (readonly [escape: string, decoded: number])[] = [
  ['"', 0x22],
  ["\\", 0x5c],
  ["b", 0x08],
  ["f", 0x0c],
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
]
/** With what RFC 8259 allows besides; letters ascend in both. */
const allEscapes = [shortEscapes[0], ["/", 0x2f] as const, ...shortEscapes.slice(1)]
const LetterU = 0x75
/** What an escape stands for by its letter. */
const decodedLetters = new Uint8Array(256)
for (const [letter, decoded] of allEscapes) decodedLetters[letter.charCodeAt(0)] = decoded
/** A content that differs from the plain text on at most so many bytes is read as edges over it. */
const MaxDiffering = 16
/** Digits by policy, ascending: JSON.stringify writes lower case. */
const hexBytes = ["0123456789abcdef", "0123456789ABCDEFabcdef"].map((digits) =>
  [...digits].map((digit) => digit.charCodeAt(0)),
)
const scratch = new Int32Array(256)
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const StringKind: number = lexemes.register<CompletedKind & ClampedKind>({
  tag: (mode, content) => (mode === Closed ? content : 0),
  expand(mode, content, read, row) {
    const policy = mode & 1
    switch (mode & ~1) {
      case Closed:
        row.bytes = []
        return
      case Opening:
        row.bytes = [Quote]
        row.targets[Quote] = state(Body | policy, content)
        return
      case Body:
        expandBody(policy, content, row)
        return
      case Backslash:
        expandBackslash(policy, content, row)
        return
      case LowBackslash:
        row.bytes = [Slash]
        row.targets[Slash] = lexemes.state(StringKind, LowU | policy, content, read)
        return
      case LowU:
        row.bytes = [0x75]
        row.targets[0x75] = lexemes.state(StringKind, LowHex | policy, content, read << 12)
        return
      default:
        expandHex(mode, content, read, row)
    }
  },
  target(mode, content, read, byte) {
    const policy = mode & 1
    if ((mode & ~1) === Body) return afterName(policy, content, byte)
    return (mode & ~1) === Backslash
      ? afterEscape(policy, content, byte)
      : afterHex(mode, content, read, byte)
  },
  step(mode, content, _read, byte) {
    const isPlain = (mode & ~1) === Body && byte >= 0x20 && byte !== Quote && byte !== Slash
    return isPlain ? state(mode, nextContent(content, byte)) : -1
  },
  least: leastSpelled,
  shortest: spelled,
  clamp(mode, content, read, reach, state) {
    const clamped = mode === Closed ? content : clampedContent(content, reach)
    return clamped === content ? state : lexemes.state(StringKind, mode, clamped, read)
  },
})

/** Texts by the length of their shortest spelling. */
const spelledTexts = new ShortestTexts(
  Uint8Array.from({ length: 256 }, (_, byte) => {
    if (shortEscapes.some(([, decoded]) => decoded === byte)) return 2
    return byte < 0x20 ? 6 : 1
  }),
)

/**
 * Texts of `expr`, those with a short spelling first, without end where there are infinitely many; `maxPaths` as in
 * `ShortestTexts.enumerate`.
 */
export function* shortStrings(expr: ExprId, maxPaths?: number): Generator<string> {
  for (const bytes of spelledTexts.enumerate(expr, maxPaths)) yield decoder.decode(bytes)
}

/** Most that a character costs in `spelledTexts`. */
const MaxSpelled = 6

function leastSpelled(mode: number, content: number): number {
  if (mode === Closed) return 0
  const least = leastContent(content, spelledTexts)
  if ((mode & ~1) === Body) return 1 + least
  // Inside an escape some of its character is written already.
  return (mode & ~1) === Opening ? 2 + least : 2 + Math.max(0, least - MaxSpelled)
}

/** The rest of a string between two characters; null inside an escape. */
function spelled(mode: number, content: number, _read: number, isSearched: boolean): Completion | null {
  const place = mode & ~1
  if (place !== Opening && place !== Body) return null
  const text = shortestContent(content, spelledTexts, isSearched)
  if (text === null) return null
  const bytes: number[] = place === Opening ? [Quote] : []
  for (const byte of text.bytes) {
    const short = byte < 0x60 ? shortEscapes.find(([, decoded]) => decoded === byte) : undefined
    if (short !== undefined) bytes.push(Slash, short[0].charCodeAt(0))
    else if (byte >= 0x20) bytes.push(byte)
    else for (const digit of `\\u00${byte.toString(16).padStart(2, "0")}`) bytes.push(digit.charCodeAt(0))
  }
  bytes.push(Quote)
  return { bytes: Uint8Array.from(bytes), tag: text.tag }
}

/** JSON strings whose decoded text is in `content`, with both quotes. */
export function stringLexeme(content: number, escapes: Escapes): number {
  return content === NoContent ? Dead : state(Opening | (escapes === "json" ? 1 : 0), content)
}

/** The content and policy of a state inside a string, between two characters; null for all other lexeme states. */
export function stringBody(lexemeState: number): { content: number; escapes: Escapes } | null {
  const tuple = lexemes.describe(StringKind, lexemeState)
  if (tuple === null || (tuple[1] & ~1) !== Body) return null
  return { content: tuple[2], escapes: (tuple[1] & 1) === 1 ? "json" : "canonical" }
}

/** For a string from which many bytes go on whatever follows, see `FreeBytes`: those. Else null. */
export function freeBytes(lexemeState: number): FreeBytes | null {
  const body = stringBody(lexemeState)
  return body === null ? null : contentFree(body.content)
}

/** Whether `lexemeState` reads what the plain string reads, and differs from it only in how it closes. */
export function differsInClosingOnly(lexemeState: number): boolean {
  const tuple = lexemes.describe(StringKind, lexemeState)
  return tuple !== null && (tuple[1] & ~1) !== Closed && isAnyButNames(tuple[2])
}

/** For a state that differs from the plain string's in how it closes only: that one; else the state itself. */
export function withoutNames(lexemeState: number): number {
  if (!differsInClosingOnly(lexemeState)) return lexemeState
  const [, mode, , read] = lexemes.describe(StringKind, lexemeState) as Int32Array
  return lexemes.state(StringKind, mode, anyContent, read)
}

/** The state inside a string whose rest is in `content`. */
export function bodyState(content: number, escapes: Escapes): number {
  return state(Body | (escapes === "json" ? 1 : 0), content)
}

function state(mode: number, content: number): number {
  return content === NoContent ? Dead : lexemes.state(StringKind, mode, content)
}

function expandBody(policy: number, content: number, row: Row): void {
  const mode = Body | policy
  const overlay = contentOverlay(content)
  if (overlay !== null) {
    // Of the names that may come, most are never looked at here: their first bytes are listed, no more.
    row.base = state(mode, overlay.base)
    row.bytes = withMarks(overlay.bytes)
    row.isOpen = true
    return
  }
  const contents = contentsAfter(content)
  anyContents ??= contentsAfter(anyContent)
  if (content !== anyContent && isNearlyAny(contents, anyContents)) {
    // "Anything but …": the plain string except along what is forbidden.
    row.base = state(mode, anyContent)
    row.bytes = []
    for (let byte = 0x20; byte < 256; byte++) {
      if (contents[byte] === anyContents[byte] && byte !== Quote && byte !== Slash) continue
      row.bytes.push(byte)
      row.targets[byte] = state(mode, contents[byte])
    }
  } else
    for (let byte = 0x20; byte < 256; byte++) {
      const isSame = byte > 0x20 && contents[byte] === contents[byte - 1]
      row.targets[byte] = isSame ? row.targets[byte - 1] : state(mode, contents[byte])
    }
  row.targets[Quote] = closed(content)
  const isEscaped = escapesAscii(policy, contents) || canEscape(policy, content)
  row.targets[Slash] = isEscaped ? state(Backslash | policy, content) : Dead
}

/** For names over a base: the state after a byte on which the two may differ. */
function afterName(policy: number, content: number, byte: number): number {
  if (byte === Quote) return closed(content)
  if (byte !== Slash) return state(Body | policy, nextContent(content, byte))
  const { base, bytes } = contentOverlay(content) as { base: number; bytes: readonly number[] }
  // Where no escape can spell the next byte of a name, it is the base's string from here.
  if (base !== NoContent && !isEscapable(policy, bytes))
    return lexemes.next(state(Body | policy, base), Slash)
  return canEscape(policy, content) ? state(Backslash | policy, content) : Dead
}

function closed(content: number): number {
  const tag = contentTag(content)
  return tag === 0 ? Dead : lexemes.state(StringKind, Closed, tag)
}

/** `bytes`, which ascend, less those that need an escape, with the quote and the backslash. */
function withMarks(bytes: readonly number[]): number[] {
  const all: number[] = []
  let at = 0
  for (const mark of [Quote, Slash, 0x100]) {
    for (; at < bytes.length && bytes[at] < mark; at++) if (bytes[at] >= 0x20) all.push(bytes[at])
    if (bytes[at] === mark) at++
    if (mark < 0x100) all.push(mark)
  }
  return all
}

/** Whether some character of ASCII may come next that an escape spells: the usual reason for a backslash, at hand. */
function escapesAscii(policy: number, contents: Int32Array): boolean {
  for (let byte = 0; byte < (policy === 1 ? 0x80 : 0x20); byte++)
    if (contents[byte] !== NoContent) return true
  return contents[Quote] !== NoContent || contents[Slash] !== NoContent
}

/** What remains of the plain text after each byte, once it was asked for. Shape [256], contents. */
let anyContents: Int32Array | null = null

/** What remains of `content` after each byte; a copy. Shape [256], contents. */
function contentsAfter(content: number): Int32Array {
  contentRow(content, scratch)
  return scratch.slice()
}

/** Whether all but a few bytes lead to where they lead in the plain text. */
function isNearlyAny(contents: Int32Array, plain: Int32Array): boolean {
  let differing = 0
  for (let byte = 0x20; byte < 256; byte++) if (contents[byte] !== plain[byte]) differing++
  return differing <= MaxDiffering
}

/** Whether some escape spells a character that begins with one of `bytes`. */
function isEscapable(policy: number, bytes: readonly number[]): boolean {
  return policy === 1
    ? bytes.length > 0
    : bytes.some((byte) => byte < 0x20 || byte === Quote || byte === Slash)
}

function canEscape(policy: number, content: number): boolean {
  if (policy === 1) return canReadCharacter(content, 0, 0xd7ff) || canReadCharacter(content, 0xe000, 0x10ffff)
  return (
    canReadCharacter(content, 0, 0x1f) ||
    nextContent(content, Quote) !== NoContent ||
    nextContent(content, Slash) !== NoContent
  )
}

/** Which escapes may come is listed, where they lead is asked for one by one: few tokens hold any. */
function expandBackslash(policy: number, content: number, row: Row): void {
  const overlay = contentOverlay(content)
  const isOver = overlay !== null && overlay.base !== NoContent
  row.isOpen = true
  row.bytes = []
  for (const [letter, decoded] of policy === 1 ? allEscapes : shortEscapes) {
    // Names over a base: only escapes that spell the next byte of a name differ from the base's.
    if (isOver ? overlay.bytes.includes(decoded) : nextContent(content, decoded) !== NoContent)
      row.bytes.push(letter.charCodeAt(0))
  }
  if (isOver) row.base = lexemes.state(StringKind, Backslash | policy, overlay.base)
  if (isOver ? spellsName(policy, overlay.bytes, 0, 0xffff) : canReadUnit(policy, content, 0, 0))
    row.bytes.push(LetterU)
}

/** The state after a backslash and `letter`. */
function afterEscape(policy: number, content: number, letter: number): number {
  if (letter === LetterU)
    return canReadUnit(policy, content, 0, 0) ? lexemes.state(StringKind, Hex | policy, content, 0) : Dead
  return state(Body | policy, nextContent(content, decodedLetters[letter]))
}

/** Whether a unit from `low` to `high`, as this policy escapes it, can begin with one of these bytes. */
function spellsName(policy: number, bytes: readonly number[], low: number, high: number): boolean {
  if (policy === 0)
    return bytes.some((byte) => byte < 0x20 && byte >= low && byte <= high && !hasShortEscape(byte))
  return bytes.some((byte) => {
    const [first, last] = charactersFrom(byte)
    if (first <= high && Math.min(last, 0xffff) >= low) return true
    // Characters above U+FFFF are spelled by surrogates.
    return last > 0xffff && low <= 0xdbff && high >= 0xd800
  })
}

/** The code points whose UTF-8 form begins with `byte`, a first byte. */
function charactersFrom(byte: number): [first: number, last: number] {
  if (byte < 0x80) return [byte, byte]
  if (byte < 0xc0) return [1, 0]
  if (byte < 0xe0) return [(byte & 0x1f) << 6, ((byte & 0x1f) << 6) | 0x3f]
  if (byte < 0xf0) return [(byte & 0xf) << 12, ((byte & 0xf) << 12) | 0xfff]
  return [(byte & 7) << 18, ((byte & 7) << 18) | 0x3ffff]
}

/** Whether some unit `\uXXXX` that begins with these digits can be read. */
function canReadUnit(policy: number, content: number, digits: number, count: number): boolean {
  const shift = 4 * (4 - count)
  const low = digits << shift
  const high = low + (1 << shift) - 1
  if (policy === 0) {
    for (let unit = low; unit <= Math.min(high, 0x1f); unit++) {
      if (!hasShortEscape(unit) && nextContent(content, unit) !== NoContent) return true
    }
    return false
  }
  if (
    canReadCharacter(content, low, Math.min(high, 0xd7ff)) ||
    canReadCharacter(content, Math.max(low, 0xe000), high)
  )
    return true
  const first = Math.max(low, 0xd800)
  const last = Math.min(high, 0xdbff)
  return first <= last && canReadCharacter(content, astral(first - 0xd800, 0), astral(last - 0xd800, 0x3ff))
}

function hasShortEscape(unit: number): boolean {
  return shortEscapes.some(([, decoded]) => decoded === unit)
}

function astral(highBits: number, lowBits: number): number {
  return 0x10000 + (highBits << 10) + lowBits
}

function expandHex(mode: number, content: number, read: number, row: Row): void {
  const policy = mode & 1
  const isLow = (mode & ~1) >= LowHex
  const count = digitCount(mode)
  const overlay = isLow ? null : contentOverlay(content)
  row.isOpen = true
  row.bytes = []
  if (overlay !== null && overlay.base !== NoContent) {
    row.base = lexemes.state(StringKind, mode, overlay.base, read)
    const shift = 4 * (3 - count)
    for (const byte of hexBytes[policy]) {
      const low = ((read << 4) | hexValue(byte)) << shift
      if (spellsName(policy, overlay.bytes, low, low + (1 << shift) - 1)) row.bytes.push(byte)
    }
  } else for (const byte of hexBytes[policy]) row.bytes.push(byte)
}

/** Digits of its unit that a state has read. */
function digitCount(mode: number): number {
  return ((mode & ~1) - ((mode & ~1) >= LowHex ? LowHex : Hex)) / 2
}

/** The state after one more digit of a unit. */
function afterHex(mode: number, content: number, read: number, byte: number): number {
  const count = digitCount(mode) + 1
  const value = hexValue(byte)
  return (mode & ~1) >= LowHex
    ? afterLowDigit(mode, content, read >> 12, ((read & 0xfff) << 4) | value, count)
    : afterDigit(mode, content, (read << 4) | value, count)
}

function hexValue(byte: number): number {
  return byte <= 0x39 ? byte - 0x30 : (byte & 0xf) + 9
}

function afterDigit(mode: number, content: number, digits: number, count: number): number {
  const policy = mode & 1
  if (!canReadUnit(policy, content, digits, count)) return Dead
  if (count < 4) return lexemes.state(StringKind, mode + 2, content, digits)
  if (digits < 0xd800 || digits > 0xdfff) return state(Body | policy, nextCharacter(content, digits))
  return lexemes.state(StringKind, LowBackslash | policy, content, digits - 0xd800)
}

function afterLowDigit(
  mode: number,
  content: number,
  highBits: number,
  digits: number,
  count: number,
): number {
  const shift = 4 * (4 - count)
  const low = Math.max(digits << shift, 0xdc00)
  const high = Math.min((digits << shift) + (1 << shift) - 1, 0xdfff)
  if (
    low > high ||
    !canReadCharacter(content, astral(highBits, low - 0xdc00), astral(highBits, high - 0xdc00))
  )
    return Dead
  if (count < 4) return lexemes.state(StringKind, mode + 2, content, (highBits << 12) | digits)
  return state(Body | (mode & 1), nextCharacter(content, astral(highBits, digits - 0xdc00)))
}
