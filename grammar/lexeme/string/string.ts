/**
 * JSON strings: escapes × content.
 *
 * One transducer stands in front of every content automaton. It reads the spelling (raw characters,
 * `\n`, `\u00e9`, surrogate pairs) and passes the decoded bytes to the content. Contents never
 * contain escapes, so `"a"` and `"\u0061"` cannot become two names. A state is (mode, content);
 * after the closing quote, the content's tag takes the content's place.
 *
 * There are two policies: `minimal` is exactly what JSON.stringify writes, `all` is everything that
 * RFC 8259 §7 allows. Both reject lone surrogates, which are not text. An escape is allowed only if
 * the content accepts some character that it can spell.
 */

import { owned } from "../../tables.ts"
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

// Modes. Bit 0 is the policy (0 canonical, 1 json); the rest is the position in the spelling.
const Closed = 0
const Opening = 2
const Body = 4
const Backslash = 6
/** After a high surrogate: its `\`, then its `u`. `c` holds the ten bits of the surrogate. */
const LowBackslash = 8
const LowU = 10
/** After `\u` and n digits of a first unit: Hex + 2n. `c` holds the value of the digits. */
const Hex = 12
/**
 * After a high surrogate, `\u` and n digits: LowHex + 2n. `c` = surrogate bits << 12 | digits'
 * value.
 */
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
/** Adds the escape that RFC 8259 also allows. The letters ascend in both lists. */
const allEscapes = [shortEscapes[0], ["/", 0x2f] as const, ...shortEscapes.slice(1)]
const LetterU = 0x75
/** Decoded byte of an escape, by its letter. */
const decodedLetters = new Uint8Array(256)
for (const [letter, decoded] of allEscapes) decodedLetters[letter.charCodeAt(0)] = decoded
/**
 * The row of a content is written as edges over the plain text's if it differs on at most this many
 * bytes.
 */
const MaxDiffering = 16
/** Hexadecimal digits by policy, ascending. JSON.stringify writes lower case. */
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
 * Yields texts of `expr`, those with a short spelling first. It never ends if there are infinitely
 * many. `maxPaths` is as in `ShortestTexts.enumerate`.
 */
export function* shortStrings(expr: ExprId, maxPaths?: number): Generator<string> {
  for (const bytes of spelledTexts.enumerate(expr, maxPaths)) yield decoder.decode(bytes)
}

/** Largest cost of a character in `spelledTexts`. */
const MaxSpelled = 6

function leastSpelled(mode: number, content: number): number {
  if (mode === Closed) return 0
  const least = leastContent(content, spelledTexts)
  if ((mode & ~1) === Body) return 1 + least
  // Within an escape, some of its character is already written.
  return (mode & ~1) === Opening ? 2 + least : 2 + Math.max(0, least - MaxSpelled)
}

/** Returns the rest of a string from between two characters; null inside an escape. */
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

/** Returns the JSON strings whose decoded text is in `content`, with both quotes. */
export function stringLexeme(content: number, escapes: Escapes): number {
  return content === NoContent ? Dead : state(Opening | (escapes === "json" ? 1 : 0), content)
}

/**
 * Returns the content and policy of a state between two characters of a string; null for all other
 * lexeme states.
 */
export function stringBody(lexemeState: number): { content: number; escapes: Escapes } | null {
  const tuple = lexemes.describe(StringKind, lexemeState)
  if (tuple === null || (tuple[1] & ~1) !== Body) return null
  return { content: tuple[2], escapes: (tuple[1] & 1) === 1 ? "json" : "canonical" }
}

/** Returns the `FreeBytes` of a string's content, or null. */
export function freeBytes(lexemeState: number): FreeBytes | null {
  const body = stringBody(lexemeState)
  return body === null ? null : contentFree(body.content)
}

/**
 * Returns whether `lexemeState` accepts the bytes of the plain string and differs only in how it
 * closes.
 */
export function differsInClosingOnly(lexemeState: number): boolean {
  const tuple = lexemes.describe(StringKind, lexemeState)
  return tuple !== null && (tuple[1] & ~1) !== Closed && isAnyButNames(tuple[2])
}

/** Returns the state inside a string whose remaining text is in `content`. */
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
    // Only the first bytes of the names are listed. Most of their successors are never needed.
    row.base = state(mode, overlay.base)
    row.bytes = withMarks(overlay.bytes)
    row.isOpen = true
    return
  }
  const contents = contentsAfter(content)
  plain.contents ??= contentsAfter(anyContent)
  if (content !== anyContent && isNearlyAny(contents, plain.contents)) {
    // A text with few exceptions: the row is the plain string's except along the exceptions.
    row.base = state(mode, anyContent)
    row.bytes = []
    for (let byte = 0x20; byte < 256; byte++) {
      if (contents[byte] === plain.contents[byte] && byte !== Quote && byte !== Slash) continue
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

/** Returns the state after a byte on which names and their base may differ. */
function afterName(policy: number, content: number, byte: number): number {
  if (byte === Quote) return closed(content)
  if (byte !== Slash) return state(Body | policy, nextContent(content, byte))
  const { base, bytes } = contentOverlay(content) as { base: number; bytes: readonly number[] }
  // If no escape can spell the next byte of a name, only the base's string continues.
  if (base !== NoContent && !isEscapable(policy, bytes))
    return lexemes.next(state(Body | policy, base), Slash)
  return canEscape(policy, content) ? state(Backslash | policy, content) : Dead
}

function closed(content: number): number {
  const tag = contentTag(content)
  return tag === 0 ? Dead : lexemes.state(StringKind, Closed, tag)
}

/**
 * Returns the ascending `bytes` without those that need an escape, but with quote and backslash.
 */
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

/**
 * Returns whether an ASCII character that an escape spells may come next. That is cheap to test,
 * and mostly the reason for a backslash.
 */
function escapesAscii(policy: number, contents: Int32Array): boolean {
  for (let byte = 0; byte < (policy === 1 ? 0x80 : 0x20); byte++)
    if (contents[byte] !== NoContent) return true
  return contents[Quote] !== NoContent || contents[Slash] !== NoContent
}

/** Contents of the plain text after each byte, made on demand. Shape [256], contents. */
const plain = owned("plain text", { contents: null as Int32Array | null })

/** Returns a copy of the contents after each byte of `content`. Shape [256], contents. */
function contentsAfter(content: number): Int32Array {
  contentRow(content, scratch)
  return scratch.slice()
}

/** Returns whether all but a few bytes have the same successors as in the plain text. */
function isNearlyAny(contents: Int32Array, plain: Int32Array): boolean {
  let differing = 0
  for (let byte = 0x20; byte < 256; byte++) if (contents[byte] !== plain[byte]) differing++
  return differing <= MaxDiffering
}

/** Returns whether some escape spells a character that begins with one of `bytes`. */
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

/** Lists the possible escapes. Their successors are made on demand, because few tokens hold any. */
function expandBackslash(policy: number, content: number, row: Row): void {
  const overlay = contentOverlay(content)
  const isOver = overlay !== null && overlay.base !== NoContent
  row.isOpen = true
  row.bytes = []
  for (const [letter, decoded] of policy === 1 ? allEscapes : shortEscapes) {
    // With names over a base, only escapes that spell the next byte of a name differ from the
    // base's.
    if (isOver ? overlay.bytes.includes(decoded) : nextContent(content, decoded) !== NoContent)
      row.bytes.push(letter.charCodeAt(0))
  }
  if (isOver) row.base = lexemes.state(StringKind, Backslash | policy, overlay.base)
  if (isOver ? spellsName(policy, overlay.bytes, 0, 0xffff) : canReadUnit(policy, content, 0, 0))
    row.bytes.push(LetterU)
}

/** Returns the state after a backslash and `letter`. */
function afterEscape(policy: number, content: number, letter: number): number {
  if (letter === LetterU)
    return canReadUnit(policy, content, 0, 0) ? lexemes.state(StringKind, Hex | policy, content, 0) : Dead
  return state(Body | policy, nextContent(content, decodedLetters[letter]))
}

/**
 * Returns whether this policy escapes a unit from `low` to `high` that can begin with one of
 * `bytes`.
 */
function spellsName(policy: number, bytes: readonly number[], low: number, high: number): boolean {
  if (policy === 0)
    return bytes.some((byte) => byte < 0x20 && byte >= low && byte <= high && !hasShortEscape(byte))
  return bytes.some((byte) => {
    const [first, last] = charactersFrom(byte)
    if (first <= high && Math.min(last, 0xffff) >= low) return true
    // Characters above U+FFFF are spelled as surrogates.
    return last > 0xffff && low <= 0xdbff && high >= 0xd800
  })
}

/** Returns the range of code points whose UTF-8 form begins with `byte`, a first byte. */
function charactersFrom(byte: number): [first: number, last: number] {
  if (byte < 0x80) return [byte, byte]
  if (byte < 0xc0) return [1, 0]
  if (byte < 0xe0) return [(byte & 0x1f) << 6, ((byte & 0x1f) << 6) | 0x3f]
  if (byte < 0xf0) return [(byte & 0xf) << 12, ((byte & 0xf) << 12) | 0xfff]
  return [(byte & 7) << 18, ((byte & 7) << 18) | 0x3ffff]
}

/** Returns whether some unit `\uXXXX` that begins with these digits can be read. */
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

/** Returns how many digits of its unit a state has read. */
function digitCount(mode: number): number {
  return ((mode & ~1) - ((mode & ~1) >= LowHex ? LowHex : Hex)) / 2
}

/** Returns the state after one more digit of a unit. */
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
