/**
 * Content automata: languages of decoded text over its UTF-8 bytes, without the spelling of JSON.
 *
 * There are three kinds. Contents are interned, so equal ones are one integer in every schema:
 * - an expression;
 * - names over a base, which is an expression or a length: these names with these tags, and any
 *   other text as in the base (base 0: no other text). A text that has left the names is in the
 *   plain base, so the keys of an open object are the plain string's states except along its names;
 * - a length: another content with at least `min` and at most `max` more characters.
 *
 * Content 0 is dead. Every other content still accepts some text.
 */
import { QuadTable } from "../../intern.ts"
import { owned } from "../../tables.ts"
import type { Reach } from "../expr/clamp.ts"
import { canHaveLength, lengthThreshold, Unbounded } from "../expr/counter.ts"
import { type ExprId, exprs } from "../expr/expr.ts"
import { finiteTexts } from "../expr/finite.ts"
import { exprLengths } from "../expr/lengths.ts"
import { type FreeBytes, machineFree, machineOverlay } from "../expr/machine.ts"
import { at, Kind, kindOf, length, MaxCount } from "../expr/nodes.ts"
import { anyTails } from "../expr/sets.ts"
import { PlainTag } from "../table.ts"
import {
  ExcludedTag,
  excludedCount,
  excludedNames,
  hasUsableName,
  NoNames,
  nameBytes,
  nameChild,
  nameTag,
} from "./names.ts"

/** The content that accepts no text. */
export const NoContent = 0

// Kinds of contents, each with the operands that follow it in `partsOfContent`.
/** [expression] */
export const ExprKind = 0
/** [names, base] */
export const NamesKind = 1
/** [content of an expression, min, max] */
export const LengthKind = 2

/** [kind, a, b, c]. Id 0 is the dead content. */
const table = owned("contents", new QuadTable())
table.intern(-1, 0, 0, 0)

/** Whether names over a base accept any text, unless that is obvious. */
const results = owned("contents", { holdText: new Map<number, boolean>() })

/** Returns the texts of `expr`. */
export function exprContent(expr: ExprId): number {
  return exprs.isNever(expr) ? NoContent : table.intern(ExprKind, expr, 0, 0)
}

/** Returns the names of trie `names` with their tags, and all other texts as in `base`. */
export function namesContent(names: number, base: number): number {
  if (names === NoNames) return base
  const id = table.intern(NamesKind, names, base, 0)
  if (base === anyContent || hasUsableName(names)) return id
  let holds = results.holdText.get(id)
  if (holds === undefined) {
    holds = hasText(names, base)
    results.holdText.set(id, holds)
  }
  return holds ? id : NoContent
}

/** Returns whether the base has a text that is not excluded. */
function hasText(names: number, base: number): boolean {
  if (base === NoContent) return false
  const texts = finiteTexts(exprOf(base), excludedCount(names))
  if (texts === null) return true
  const excluded = new Set([...excludedNames(names)].map((name) => name.join()))
  const encoder = new TextEncoder()
  return texts.some((text) => !excluded.has(encoder.encode(text).join()))
}

/** Returns the texts of a content without names. */
function exprOf(content: number): ExprId {
  const [kind, a, min, max] = table.view(content)
  if (kind === ExprKind) return a
  if (kind !== LengthKind) throw new Error("internal: names lie over names")
  // A content may be inside a character that is already counted; then the remaining bytes of that
  // character come first.
  const counted = exprs.loop(exprs.anyChar, min, max)
  return exprs.and([
    table.at(a, 1),
    exprs.or([counted, ...anyTails.map((tail) => exprs.concat(tail, counted))]),
  ])
}

/** Returns the texts of `inner` (an expression) that have `min` to `max` more characters. */
export function lengthContent(inner: number, min: number, max: number): number {
  if (inner === NoContent || (min <= 0 && max === Unbounded)) return inner
  // A content keeps 31 bits of each bound. No text is that long.
  const least = Math.min(Math.max(0, min), MaxCount)
  if (table.at(inner, 0) !== ExprKind) throw new Error("internal: only an expression can have a length")
  const expr = table.at(inner, 1)
  if (!canHaveLength(expr, least, max)) return NoContent
  // Drops a bound that holds for all texts anyway.
  const { low, high } = exprLengths(expr)
  const [needed, most] = [least <= low ? 0 : least, max >= high ? Unbounded : max]
  return needed === 0 && most === Unbounded ? inner : table.intern(LengthKind, inner, needed, most)
}

/** Every text. */
export const anyContent = exprContent(exprs.anyText)

/** Returns the content after `byte`. */
export function nextContent(content: number, byte: number): number {
  if (content === anyContent && byte < 0x80) return anyContent
  switch (table.at(content, 0)) {
    case ExprKind:
      return exprContent(exprs.derivative(table.at(content, 1), byte))
    case NamesKind: {
      const base = table.at(content, 2)
      const names = nameChild(table.at(content, 1), byte)
      return namesContent(names, base === NoContent ? NoContent : nextContent(base, byte))
    }
    case LengthKind: {
      const read = (byte & 0xc0) === 0x80 ? 0 : 1
      const max = table.at(content, 3)
      if (max < read) return NoContent
      const min = table.at(content, 2) - read
      return lengthContent(nextContent(table.at(content, 1), byte), min, max === Unbounded ? max : max - read)
    }
    default:
      return NoContent
  }
}

/** Returns the tag of a text that ends here, or 0 if none may end. */
export function contentTag(content: number): number {
  switch (table.at(content, 0)) {
    case ExprKind:
      return exprs.nullable(table.at(content, 1)) ? PlainTag : 0
    case NamesKind: {
      const tag = nameTag(table.at(content, 1))
      if (tag === ExcludedTag) return 0
      return tag === 0 && table.at(content, 2) !== NoContent ? contentTag(table.at(content, 2)) : tag
    }
    case LengthKind:
      return table.at(content, 2) > 0 ? 0 : contentTag(table.at(content, 1))
    default:
      return 0
  }
}

/** Returns [kind, …] of a content that is not dead. Valid until the next content is made. */
export function partsOfContent(content: number): Int32Array {
  return table.view(content)
}

/**
 * Returns the base of names, or of a machine's state that has one, and the bytes on which the two
 * may differ; null for other contents.
 */
export function contentOverlay(content: number): { base: number; bytes: readonly number[] } | null {
  const kind = table.at(content, 0)
  if (kind === ExprKind) {
    const overlay = machineOverlay(table.at(content, 1))
    return overlay === null ? null : { base: exprContent(overlay.base), bytes: overlay.bytes }
  }
  if (kind !== NamesKind) return null
  return { base: table.at(content, 2), bytes: nameBytes(table.at(content, 1)) }
}

/**
 * Returns the bytes that a machine's state with many of them accepts whatever follows; null for
 * other contents.
 */
export function contentFree(content: number): FreeBytes | null {
  return table.at(content, 0) === ExprKind ? machineFree(table.at(content, 1)) : null
}

/** Writes the content after each byte into `row`. Shape [256], contents. */
export function contentRow(content: number, row: Int32Array): void {
  if (table.at(content, 0) === NamesKind) {
    const base = table.at(content, 2)
    if (base === NoContent) row.fill(NoContent)
    else contentRow(base, row)
    // Only few bytes continue a name.
    for (const byte of nameBytes(table.at(content, 1))) row[byte] = nextContent(content, byte)
    return
  }
  row.fill(NoContent)
  const isExpr = table.at(content, 0) === ExprKind
  const expr = isExpr ? content : table.at(content, 1)
  // This is a copy, because the test of emptiness below may compute other rows.
  const ranges = Array.from(exprs.row(table.at(expr, 1)))
  for (let i = 0; i < ranges.length; i += 2) {
    const low = ranges[i] & 0xff
    const next = isExpr ? exprContent(ranges[i + 1]) : nextContent(content, low)
    row.fill(next, low, (ranges[i] >>> 8) + 1)
  }
}

/**
 * Returns a content that no token within `reach` can distinguish from `content`: a bound that no
 * token reaches is replaced by the nearest such bound. Local masks are shared under this key.
 */
export function clampedContent(content: number, reach: Reach): number {
  switch (table.at(content, 0)) {
    case ExprKind:
      return exprContent(exprs.clamped(table.at(content, 1), reach))
    case LengthKind: {
      const inner = table.at(content, 1)
      const [low, high] = [table.at(content, 2), table.at(content, 3)]
      // If a token reaches the bound anyway, the automaton does not matter.
      if (high === Unbounded ? low > 0 && low <= reach.bytes : high <= reach.bytes) return content
      const threshold = lengthThreshold(table.at(inner, 1))
      if (threshold < 0) return content
      const max = high > reach.bytes + threshold ? Unbounded : high
      if (max !== Unbounded) return content
      const min = Math.min(low, reach.bytes + 1)
      return min === 0 ? clampedContent(inner, reach) : lengthContent(inner, min, max)
    }
    case NamesKind: {
      const base = table.at(content, 2)
      if (base === NoContent || base === anyContent) return content
      return namesContent(table.at(content, 1), clampedContent(base, reach))
    }
    default:
      return content
  }
}

/**
 * Returns how many more characters of any kind `content` can read without dying. It is `Unbounded`
 * for the plain text and for a search that may still begin later, and -1 if characters matter.
 */
export function characterRoom(content: number): number {
  switch (table.at(content, 0)) {
    case ExprKind:
      return canBeginLater(table.at(content, 1)) ? Unbounded : -1
    case LengthKind: {
      const expr = table.at(table.at(content, 1), 1)
      const max = table.at(content, 3)
      if (expr === exprs.anyText) return max
      return max === Unbounded && canBeginLater(expr) ? Unbounded : -1
    }
    default:
      return -1
  }
}

/**
 * Returns the least count of characters that the plain text with a length still needs; -1 for other
 * contents.
 */
export function neededCharacters(content: number): number {
  if (content === anyContent) return 0
  if (table.at(content, 0) !== LengthKind) return -1
  return table.at(table.at(content, 1), 1) === exprs.anyText ? table.at(content, 2) : -1
}

/**
 * Returns true only if the language contains Σ*·S for a non-empty S: then every text can be
 * continued. Sound, not complete.
 */
function canBeginLater(expr: ExprId): boolean {
  if (expr === exprs.anyText) return true
  switch (kindOf(expr)) {
    case Kind.Concat:
      return at(expr, 1) === exprs.anyText && !exprs.isNever(expr)
    case Kind.Or:
      for (let i = 1; i < length(expr); i++) if (canBeginLater(at(expr, i))) return true
      return false
    default:
      return false
  }
}

/**
 * Returns whether a character from `low` to `high` (code points, no surrogates between) may come
 * next.
 */
export function canReadCharacter(content: number, low: number, high: number): boolean {
  if (low > high) return false
  if (isAnyButNames(content) || content === anyContent) return true
  if (table.at(content, 0) === ExprKind) {
    const overlay = contentOverlay(content)
    // Within a character no other one can begin.
    const isInside = overlay?.base === NoContent && overlay.bytes.every((byte) => byte >= 0x80 && byte < 0xc0)
    if (overlay?.base === NoContent) {
      // These successors are made on demand, so the first live one ends the test.
      const isOne = (byte: number) => byte >= low && byte <= high && byte < 0x80
      if (overlay.bytes.some((byte) => isOne(byte) && nextContent(content, byte) !== NoContent)) return true
      if (high < 0x80) return false
    }
    return !isInside && canReadRange(content, low, high)
  }
  if (table.at(content, 0) === NamesKind && table.at(content, 2) === NoContent) {
    for (const byte of nameBytes(table.at(content, 1))) {
      if (byte >= 0x80) return canReadRange(content, low, high)
      if (byte >= low && byte <= high && hasUsableName(nameChild(table.at(content, 1), byte))) return true
    }
    return false
  }
  return canReadRange(content, low, high)
}

function canReadRange(content: number, low: number, high: number): boolean {
  const key = low * 0x110000 + high
  let sequences = sequencesOf.get(key)
  if (sequences === undefined) {
    sequences = utf8Sequences(low, high)
    sequencesOf.set(key, sequences)
  }
  return sequences.some((sequence) => canReadSequence(content, sequence, 0))
}

/**
 * Returns whether `content` is names over the plain text, from which it differs only in the tags of
 * texts that end.
 */
export function isAnyButNames(content: number): boolean {
  return table.at(content, 0) === NamesKind && table.at(content, 2) === anyContent
}

/** Byte sequences by range of code points. Escapes use few ranges. */
const sequencesOf = new Map<number, number[][]>()

function canReadSequence(content: number, ranges: readonly number[], at: number): boolean {
  if (content === NoContent) return false
  if (at === ranges.length) return true
  if (table.at(content, 0) === NamesKind) {
    // Only few bytes continue a name; the base decides on the others.
    const base = table.at(content, 2)
    if (base !== NoContent && canReadSequence(base, ranges, at)) return true
    return nameBytes(table.at(content, 1)).some(
      (byte) =>
        byte >= ranges[at] &&
        byte <= ranges[at + 1] &&
        canReadSequence(nextContent(content, byte), ranges, at + 2),
    )
  }
  // All bytes of one range of the expression have the same successor, also with a length.
  const expr = table.at(table.at(content, 0) === ExprKind ? content : table.at(content, 1), 1)
  const row = exprs.row(expr).slice()
  for (let i = 0; i < row.length; i += 2) {
    const low = Math.max(row[i] & 0xff, ranges[at])
    if (low > Math.min(row[i] >>> 8, ranges[at + 1])) continue
    if (canReadSequence(nextContent(content, low), ranges, at + 2)) return true
  }
  return false
}

/** Returns the content after one character. */
export function nextCharacter(content: number, codePoint: number): number {
  let rest = content
  for (const byte of utf8Bytes(codePoint)) {
    rest = nextContent(rest, byte)
    if (rest === NoContent) return NoContent
  }
  return rest
}

export function utf8Bytes(codePoint: number): number[] {
  if (codePoint < 0x80) return [codePoint]
  if (codePoint < 0x800) return [0xc0 | (codePoint >> 6), 0x80 | (codePoint & 63)]
  const last = [0x80 | ((codePoint >> 6) & 63), 0x80 | (codePoint & 63)]
  if (codePoint < 0x10000) return [0xe0 | (codePoint >> 12), ...last]
  return [0xf0 | (codePoint >> 18), 0x80 | ((codePoint >> 12) & 63), ...last]
}

/** Returns the code points low..high as sequences of byte ranges [lo, hi, lo, hi, …]. */
function utf8Sequences(low: number, high: number): number[][] {
  const sequences: number[][] = []
  const split = (lo: number, hi: number) => {
    if (lo > hi) return
    for (const bound of [0x7f, 0x7ff, 0xffff]) {
      if (lo <= bound && hi > bound) {
        split(lo, bound)
        split(bound + 1, hi)
        return
      }
    }
    const tails = lo < 0x80 ? 0 : lo < 0x800 ? 1 : lo < 0x10000 ? 2 : 3
    for (let i = 1; i <= tails; i++) {
      const mask = (1 << (6 * i)) - 1
      if ((lo & ~mask) !== (hi & ~mask)) {
        if ((lo & mask) !== 0) {
          split(lo, lo | mask)
          split((lo | mask) + 1, hi)
          return
        }
        if ((hi & mask) !== mask) {
          split(lo, (hi & ~mask) - 1)
          split(hi & ~mask, hi)
          return
        }
      }
    }
    const from = utf8Bytes(lo)
    const to = utf8Bytes(hi)
    sequences.push(from.flatMap((byte, i) => [byte, to[i]]))
  }
  split(low, high)
  return sequences
}
