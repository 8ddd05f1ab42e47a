/**
 * A shortest text of a content, and a lower bound on its length. Where possible, both come from the
 * form of the content.
 *
 * Names are tries; the least cost of each node is cached. A length is met by repeating the loops of
 * a pattern until the text has enough characters. If that costs more than one byte for each
 * character, the text may not be a shortest one, and the search over states takes over.
 */

import type { Completion } from "../completion.ts"
import { countedText } from "../expr/counter.ts"
import type { ExprId } from "../expr/expr.ts"
import { at, Kind, kindOf, length } from "../expr/nodes.ts"
import type { ShortestTexts } from "../expr/shortest.ts"
import { PlainTag } from "../table.ts"
import { anyContent, ExprKind, LengthKind, NamesKind, NoContent, partsOfContent } from "./content.ts"
import { nameChild, nameTag } from "./names.ts"
import { leastName, shortestName, shortestOther } from "./shortname.ts"

/** Returns a lower bound on the cost of the texts of `content`. */
export function leastContent(content: number, texts: ShortestTexts): number {
  const [kind, a, b] = partsOfContent(content)
  switch (kind) {
    case ExprKind:
      return texts.least(a)
    case NamesKind:
      return Math.min(leastName(a, texts.costs), b === NoContent ? Number.MAX_VALUE : leastContent(b, texts))
    default:
      return Math.max(b, leastContent(a, texts))
  }
}

/**
 * Returns a cheapest text of `content` and its tag, or null if only a search over states can find
 * it. Without `isSearched` it uses what is known at once, and the text costs no more than
 * `leastContent`.
 */
export function shortestContent(
  content: number,
  texts: ShortestTexts,
  isSearched: boolean,
): Completion | null {
  const [kind, a, b, c] = partsOfContent(content)
  switch (kind) {
    case ExprKind:
      return isSearched || texts.isExact(a) ? { bytes: texts.textOf(a), tag: PlainTag } : null
    case NamesKind:
      return named(a, b, texts, isSearched)
    default: {
      const inner = partsOfContent(a)[1]
      const bytes = stretched(inner, b, c, texts) ?? (isSearched ? counted(inner, b, c, texts) : null)
      return bytes === null ? null : { bytes, tag: PlainTag }
    }
  }
}

/** Returns a name, or a text of the base that is not a name. */
function named(names: number, base: number, texts: ShortestTexts, isSearched: boolean): Completion | null {
  const name = shortestName(names, texts.costs)
  if (base === NoContent) return name
  const [kind, inner, min, max] = partsOfContent(base)
  const least = base === anyContent ? 0 : kind === LengthKind && inner === anyContent ? min : -1
  const free = least < 0 ? null : shortestOther(names, texts.costs, least)
  const other =
    free !== null && (kind !== LengthKind || free.length <= max)
      ? { bytes: free, tag: PlainTag }
      : shortestContent(base, texts, isSearched)
  if (other === null) return null
  const cost = texts.costOf(other.bytes)
  if (name !== null && texts.costOf(name.bytes) <= cost) return name
  let rest = names
  for (const byte of other.bytes) rest = nameChild(rest, byte)
  // The base's own text may be one of the names; then another text is needed.
  if (nameTag(rest) !== 0) return null
  return isSearched || cost <= leastContent(base, texts) ? other : null
}

/**
 * Returns a text with as few characters as the counted automaton has; null unless each character
 * has the least cost, 1.
 */
function counted(expr: ExprId, min: number, max: number, texts: ShortestTexts): Uint8Array | null {
  const bytes = countedText(expr, min, max, texts)
  if (bytes === null) return null
  const characters = bytes.reduce((sum, byte) => sum + ((byte & 0xc0) === 0x80 ? 0 : 1), 0)
  return texts.costOf(bytes) === characters ? bytes : null
}

/**
 * Returns a text of `expr` with `min` to `max` characters: its cheapest text with some loops
 * repeated. Null unless it is certain to be cheapest, with one byte for each character.
 */
function stretched(expr: ExprId, min: number, max: number, texts: ShortestTexts): Uint8Array | null {
  if (kindOf(expr) === Kind.Or) {
    for (let i = 1; i < length(expr); i++) {
      const text = stretched(at(expr, i), min, max, texts)
      if (text !== null && texts.costOf(text) <= Math.max(min, texts.least(expr))) return text
    }
    return null
  }
  if (!texts.isExact(expr)) return null
  const parts: { bytes: Uint8Array; times: number; most: number }[] = []
  for (let rest = expr; ; rest = at(rest, 2)) {
    const part = kindOf(rest) === Kind.Concat ? at(rest, 1) : rest
    if (kindOf(part) === Kind.Loop) {
      if (!texts.isExact(at(part, 1))) return null
      const [times, most] = [at(part, 2), at(part, 3)]
      parts.push({ bytes: texts.textOf(at(part, 1)), times, most })
    } else parts.push({ bytes: texts.textOf(part), times: 1, most: 1 })
    if (part === rest) break
  }
  const count = (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum + ((byte & 0xc0) === 0x80 ? 0 : 1), 0)
  let missing = min - parts.reduce((sum, { bytes, times }) => sum + times * count(bytes), 0)
  for (const part of parts) {
    const size = count(part.bytes)
    if (missing <= 0 || size === 0 || texts.costOf(part.bytes) > size) continue
    const more = Math.min(part.most - part.times, Math.floor(missing / size))
    part.times += more
    missing -= more * size
  }
  const characters = parts.reduce((sum, { bytes, times }) => sum + times * count(bytes), 0)
  const cost = parts.reduce((sum, { bytes, times }) => sum + times * texts.costOf(bytes), 0)
  if (characters < min || characters > max || cost > Math.max(min, texts.least(expr))) return null
  const made = new Uint8Array(parts.reduce((sum, { bytes, times }) => sum + times * bytes.length, 0))
  let end = 0
  for (const { bytes, times } of parts) {
    for (let i = 0; i < times; i++, end += bytes.length) made.set(bytes, end)
  }
  return made
}
