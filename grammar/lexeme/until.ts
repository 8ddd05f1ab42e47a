/**
 * A content and the text that ends it, as one lexeme. It can end in few places; the content alone
 * could end anywhere.
 *
 * The content contains no end, but it may end in the prefix of one. What has begun like an end
 * waits, and belongs to the content if it continues differently (Knuth, Morris, Pratt, Fast Pattern
 * Matching in Strings, 1977). An end is *open* if something that is not text follows it (a control
 * token): there the lexeme may end, or the text may continue.
 */

import { owned } from "../tables.ts"
import { ownText, utf8 } from "../utf8.ts"
import type { ClampedKind } from "./clamp.ts"
import type { CompletedKind } from "./completion.ts"
import { rawTexts } from "./expr/shortest.ts"
import { clampedContent, contentRow, contentTag, NoContent, nextContent } from "./string/content.ts"
import { leastContent, shortestContent } from "./string/shortcontent.ts"
import { Dead, lexemes } from "./table.ts"

/** The texts that end a content. */
interface Ends {
  readonly texts: readonly Uint8Array[]
  readonly isOpen: boolean
  /** Prefixes of the texts, the empty one first. One of them waits. */
  readonly waiting: readonly Uint8Array[]
  /**
   * By prefix: byte → the longest prefix that is a suffix of it and the byte. Bytes without one are
   * left out.
   */
  readonly next: readonly ReadonlyMap<number, number>[]
}

const known = owned(
  "ends of texts",
  { ends: [] as Ends[], ids: new Map<string, number>() },
  { entryBytes: 500 },
)
/** Stands for the waiting prefix once the end was read. */
const Closed = -1
const scratch = new Int32Array(256)

const UntilKind = lexemes.register<CompletedKind & ClampedKind>({
  // [content, ends, waiting prefix], or [tag, ends, Closed]
  tag(content, id, at) {
    if (at === Closed) return content
    return known.ends[id].isOpen ? tagAtEnd(content, id, at) : 0
  },
  expand(content, id, at, row) {
    if (at === Closed) {
      row.bytes = []
      return
    }
    const { waiting, next } = known.ends[id]
    const all = fed(content, waiting[at])
    if (all !== NoContent) contentRow(all, scratch)
    else scratch.fill(NoContent)
    const contents = Int32Array.from(scratch)
    for (let byte = 0; byte < 256; byte++) {
      const isSame = byte > 0 && contents[byte] === contents[byte - 1]
      row.targets[byte] = isSame ? row.targets[byte - 1] : state(contents[byte], id, 0)
    }
    // Overwrites the runs of equal bytes for bytes that continue an end.
    for (const [byte, after] of next[at]) row.targets[byte] = stepped(content, id, at, byte, after)
  },
  least: (content, id, at) => {
    if (at === Closed) return 0
    const { texts, waiting } = known.ends[id]
    const shortest = Math.min(...texts.map((text) => text.length))
    return Math.max(0, leastContent(content, rawTexts) + shortest - waiting[at].length)
  },
  shortest(content, id, at, isSearched) {
    if (at !== 0) return null
    const text = shortestContent(content, rawTexts, isSearched)
    if (text === null) return null
    const [end] = [...known.ends[id].texts].sort((a, b) => a.length - b.length)
    return { bytes: Uint8Array.from([...text.bytes, ...end]), tag: text.tag }
  },
  clamp: (content, id, at, reach) => {
    if (at === Closed) return closed(content, id)
    // The content will read the waiting bytes later.
    const { waiting } = known.ends[id]
    return state(clampedContent(content, { ...reach, bytes: reach.bytes + waiting[at].length }), id, at)
  },
})

/**
 * Returns the state after `byte`, with which the waiting prefix `at` becomes the prefix `after`.
 */
function stepped(content: number, id: number, at: number, byte: number, after: number): number {
  const { texts, waiting, isOpen } = known.ends[id]
  const read = Uint8Array.of(...waiting[at], byte)
  const rest = fed(content, read.subarray(0, read.length - waiting[after].length))
  const isEnd = !isOpen && texts.some((text) => endsWith(waiting[after], text))
  if (isEnd) {
    const tag = rest === NoContent ? 0 : tagAtEnd(rest, id, after)
    return tag === 0 ? Dead : closed(tag, id)
  }
  return rest !== NoContent && isLive(rest, id, after) ? state(rest, id, after) : Dead
}

/** Returns the tag with which `content` ends if one of the ends has just been read; otherwise 0. */
function tagAtEnd(content: number, id: number, at: number): number {
  const { texts, waiting } = known.ends[id]
  for (const text of texts) {
    if (!endsWith(waiting[at], text)) continue
    const before = fed(content, waiting[at].subarray(0, waiting[at].length - text.length))
    const tag = before === NoContent ? 0 : contentTag(before)
    if (tag !== 0) return tag
  }
  return 0
}

/** Returns whether the waiting prefix can become an end, or the content can continue with it. */
function isLive(content: number, id: number, at: number): boolean {
  const { texts, waiting } = known.ends[id]
  if (fed(content, waiting[at]) !== NoContent) return true
  for (let start = 0; start < waiting[at].length; start++) {
    const begun = waiting[at].subarray(start)
    if (!texts.some((text) => endsWith(text.subarray(0, begun.length), begun))) continue
    const before = fed(content, waiting[at].subarray(0, start))
    if (before !== NoContent && contentTag(before) !== 0) return true
  }
  return false
}

function fed(content: number, bytes: Uint8Array): number {
  let rest = content
  for (const byte of bytes) {
    rest = nextContent(rest, byte)
    if (rest === NoContent) return NoContent
  }
  return rest
}

function endsWith(bytes: Uint8Array, end: Uint8Array): boolean {
  return bytes.length >= end.length && end.every((byte, i) => bytes[bytes.length - end.length + i] === byte)
}

function state(content: number, id: number, at: number): number {
  return content === NoContent ? Dead : lexemes.state(UntilKind, content, id, at)
}

function closed(tag: number, id: number): number {
  return lexemes.state(UntilKind, tag, id, Closed)
}

/**
 * Returns the texts of `content`, each followed by one of `ends` (which are not empty). No text of
 * `content` may contain one of them. With `isOpen` the next lexeme is not text, so an end may also
 * be part of the text.
 */
export function untilLexeme(content: number, ends: readonly string[], isOpen: boolean): number {
  if (content === NoContent) return Dead
  const key = JSON.stringify([ends, isOpen])
  let id = known.ids.get(key)
  if (id === undefined) {
    id =
      known.ends.push(
        endsOf(
          ends.map((text) => utf8(text)),
          isOpen,
        ),
      ) - 1
    known.ids.set(ownText(key), id)
  }
  return state(content, id, 0)
}

function endsOf(texts: readonly Uint8Array[], isOpen: boolean): Ends {
  const waiting: Uint8Array[] = [new Uint8Array(0)]
  const places = new Map<string, number>([["", 0]])
  for (const text of texts) {
    for (let end = 1; end <= text.length; end++) {
      const begun = text.subarray(0, end)
      if (places.has(begun.join())) continue
      places.set(begun.join(), waiting.push(begun) - 1)
    }
  }
  const next = waiting.map((begun) => {
    const steps = new Map<number, number>()
    for (const byte of new Set(texts.flatMap((text) => [...text]))) {
      const read = [...begun, byte]
      for (let start = 0; start < read.length; start++) {
        const place = places.get(read.slice(start).join())
        if (place === undefined) continue
        steps.set(byte, place)
        break
      }
    }
    return steps
  })
  return { texts, isOpen, waiting, next }
}
