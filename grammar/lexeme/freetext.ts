/**
 * Free text: any characters, except for texts that end it and texts that it must not contain.
 *
 * A *stop* ends the free text where it is first complete: the lexeme ends there with the tag of the
 * stop and cannot continue. An *exclude* is dead where it is complete, whatever else is complete
 * there. A prefix of one of them that continues differently is text. One automaton searches for all
 * of them at once: Aho and Corasick, Efficient String Matching (1975). Its nodes are the prefixes
 * of the patterns. Beside its node a state holds what is left of a UTF-8 character, since text ends
 * only between characters, and how many characters may still come.
 *
 * On all bytes but those of its own edges, a node goes where its longest proper suffix among the
 * nodes goes. So its row is edges over the row of that suffix, and its local mask is a patch. Equal
 * sets of patterns are one automaton in the process.
 */

import { owned } from "../tables.ts"
import { ownText, utf8 } from "../utf8.ts"
import type { ClampedKind } from "./clamp.ts"
import type { CompletedKind } from "./completion.ts"
import { Unbounded } from "./expr/counter.ts"
import { type ExprId, exprs, type TextLengths } from "./expr/expr.ts"
import { Dead, lexemes, PlainTag, type Row } from "./table.ts"
import { type Utf8Rest, utf8Leads, utf8Tails } from "./utf8.ts"

/** Tags of stops begin here. */
const FirstStop = 3
/** Marks a node at which an exclude is complete. */
const Excluded = -1
const Root = 0
/** Fewest bytes that complete a character, by what is left of it. */
const neededBytes = [0, 1, 2, 3, 2, 2, 3, 3]

export interface FreeTextPatterns {
  /** Texts that end the free text; none is empty. */
  readonly stops: readonly string[]
  /** Texts that the free text must not contain; none is empty. */
  readonly excludes: readonly string[]
}

/**
 * Returns the lexeme of free text up to a stop. With `mayEnd` it may also end, with `PlainTag`,
 * between any two characters. Returns `Dead` if no text can be completed.
 */
export function freeTextLexeme(patterns: FreeTextPatterns, { mayEnd }: { mayEnd: boolean }): number {
  const automaton = automatonOf(patterns)
  if (!mayEnd && automaton.least(Root) === Number.POSITIVE_INFINITY) return Dead
  return lexemes.state(FreeTextKind, automaton.id, mayEnd ? MayEnd : 0, 0)
}

const known = owned(
  "free texts",
  {
    /** Tags by stop. */
    stopTags: new Map<string, number>(),
    /** All free texts without stops are states of one machine. */
    machine: null as ExprId | null,
    automata: [] as PatternAutomaton[],
    /** Index of each automaton, by its patterns. */
    indexes: new Map<string, number>(),
  },
  { entryBytes: 1_000 },
)

/**
 * Returns the tag with which free text ends at `stop`. It is the same in all free texts, so one
 * with fewer stops keeps the tags.
 */
export function stopTag(stop: string): number {
  let tag = known.stopTags.get(stop)
  if (tag === undefined) {
    tag = FirstStop + known.stopTags.size
    known.stopTags.set(ownText(stop), tag)
  }
  return tag
}

/**
 * Returns an expression of the texts that contain none of `excludes` and have at most `maxChars`
 * characters.
 */
export function freeTextExpr(excludes: readonly string[], maxChars = Number.POSITIVE_INFINITY): ExprId {
  if (excludes.length === 0 || maxChars === 0) return exprs.loop(exprs.anyChar, 0, maxChars)
  const { id } = automatonOf({ stops: [], excludes })
  const start = lexemes.state(FreeTextKind, id, MayEnd, maxChars < Unbounded ? maxChars + 1 : 0)
  known.machine ??= exprs.machine({ start, isAccepting, row: rowOf, clamp, lengths })
  return exprs.machineFrom(known.machine, start)
}

/** The automaton of one set of patterns. */
class PatternAutomaton {
  readonly id: number
  /** Edges of each node: byte, node, byte, node, … by ascending byte. */
  readonly edges: number[][] = [[]]
  /** The longest proper suffix of a node that is a node. */
  readonly fails: number[] = [Root]
  /** What is complete at a node: 0 = nothing, `Excluded`, or the tag of a stop. */
  readonly ends: number[] = [0]
  /** Fewest bytes to the end of a stop, by node; computed on demand. */
  private distances: readonly number[] | null = null

  constructor(id: number, { stops, excludes }: FreeTextPatterns) {
    this.id = id
    for (const stop of stops) this.ends[this.add(stop)] = stopTag(stop)
    for (const exclude of excludes) this.ends[this.add(exclude)] = Excluded
    this.link()
  }

  /** Returns the node of `text`. Makes it and its prefixes. */
  private add(text: string): number {
    let node = Root
    for (const byte of utf8(text)) {
      const edges = this.edges[node]
      let at = 0
      while (at < edges.length && edges[at] < byte) at += 2
      if (edges[at] !== byte) {
        edges.splice(at, 0, byte, this.edges.length)
        this.edges.push([])
        this.fails.push(Root)
        this.ends.push(0)
      }
      node = edges[at + 1]
    }
    return node
  }

  /** Goes by depth, so that shorter suffixes are linked already. */
  private link(): void {
    const queue = [Root]
    for (const node of queue) {
      const edges = this.edges[node]
      for (let i = 0; i < edges.length; i += 2) {
        const child = edges[i + 1]
        const fail = node === Root ? Root : this.after(this.fails[node], edges[i])
        this.fails[child] = fail
        if (this.ends[fail] === Excluded || this.ends[child] === 0) this.ends[child] = this.ends[fail]
        queue.push(child)
      }
    }
  }

  /** Returns the node after `byte`. */
  after(node: number, byte: number): number {
    for (let at = node; ; at = this.fails[at]) {
      const edges = this.edges[at]
      for (let i = 0; i < edges.length && edges[i] <= byte; i += 2) if (edges[i] === byte) return edges[i + 1]
      if (at === Root) return Root
    }
  }

  /**
   * Returns a lower bound on the bytes from `node` to the end of a stop; Infinity if there is none.
   */
  least(node: number): number {
    this.distances ??= this.measured()
    return this.distances[node]
  }

  private measured(): number[] {
    const distances = this.ends.map((end) => (end > 0 ? 0 : Number.POSITIVE_INFINITY))
    const queue = [Root]
    for (const node of queue) if (this.ends[node] === 0) queue.push(...this.children(node))
    for (const node of queue.toReversed()) {
      if (this.ends[node] !== 0) continue
      for (const child of this.children(node))
        distances[node] = Math.min(distances[node], distances[child] + 1)
    }
    for (const node of queue) distances[node] = Math.min(distances[node], distances[this.fails[node]])
    return distances
  }

  private children(node: number): number[] {
    return this.edges[node].filter((_, i) => i % 2 === 1)
  }
}

function automatonOf({ stops, excludes }: FreeTextPatterns): PatternAutomaton {
  const patterns = { stops: [...new Set(stops)].sort(), excludes: [...new Set(excludes)].sort() }
  const key = JSON.stringify(patterns)
  let id = known.indexes.get(key)
  if (id === undefined) {
    id = known.automata.length
    const automaton = new PatternAutomaton(id, patterns)
    known.automata.push(automaton)
    known.indexes.set(key, id)
  }
  return known.automata[id]
}

// A state is (automaton, place, room). The place is node << 4 | what is left of a character << 1 |
// MayEnd. The room is the count of characters that may come, plus one; 0 = any count.
const MayEnd = 1

const FreeTextKind: number = lexemes.register<CompletedKind & ClampedKind>({
  tag: (_automaton, place) => ((place & 0xf) === MayEnd ? PlainTag : 0),
  expand(id, place, room, row) {
    const automaton = known.automata[id]
    const node = place >>> 4
    if (node === Root) {
      for (const [low, high] of firstBytes(restOf(place)))
        for (let byte = low; byte <= high; byte++) row.targets[byte] = after(automaton, place, room, byte)
      return
    }
    row.base = lexemes.state(FreeTextKind, id, (automaton.fails[node] << 4) | (place & 0xf), room)
    row.bytes = automaton.edges[node].filter((_, i) => i % 2 === 0)
    for (const byte of row.bytes) row.targets[byte] = after(automaton, place, room, byte)
  },
  least: (id, place) =>
    (place & MayEnd) === 0 ? known.automata[id].least(place >>> 4) : neededBytes[restOf(place)],
  clamp: (id, place, room, reach) =>
    lexemes.state(FreeTextKind, id, place, room > reach.bytes + 1 ? 0 : room),
  quiet: (id, place, room) => lexemes.state(FreeTextKind, id, place & ~MayEnd, room),
})

/** The end of a stop, with its tag. */
const StopKind = lexemes.register({
  tag: (tag) => tag,
  expand(_tag, _b, _c, row: Row) {
    row.bytes = []
  },
})

function restOf(place: number): Utf8Rest {
  return ((place >>> 1) & 7) as Utf8Rest
}

/** Returns the ranges of bytes that may come if `rest` is left of a character. */
function firstBytes(rest: Utf8Rest): readonly (readonly number[])[] {
  return rest === 0 ? [[0, 0x7f], ...utf8Leads] : [utf8Tails[rest]]
}

/** Returns the state after `byte`, which is valid UTF-8 there. */
function after(automaton: PatternAutomaton, place: number, room: number, byte: number): number {
  const rest = restOf(place)
  if (rest === 0 && room === 1) return Dead
  const node = automaton.after(place >>> 4, byte)
  const end = automaton.ends[node]
  if (end === Excluded) return Dead
  if (end > 0) return lexemes.state(StopKind, end)
  const next = (node << 4) | (restAfter(rest, byte) << 1) | (place & MayEnd)
  return lexemes.state(FreeTextKind, automaton.id, next, rest === 0 && room > 0 ? room - 1 : room)
}

function restAfter(rest: Utf8Rest, byte: number): Utf8Rest {
  if (rest !== 0) return utf8Tails[rest][2]
  return utf8Leads.find(([low, high]) => byte >= low && byte <= high)?.[3] ?? 0
}

// The same states as a machine for expressions.

function isAccepting(lexemeState: number): boolean {
  return lexemes.tags[lexemeState] !== 0
}

/** Returns ascending ranges `lo | hi << 8`, state, …. */
function rowOf(lexemeState: number): number[] {
  const ranges: number[] = []
  for (let byte = 0, last = 0; byte < 256; byte = last + 1) {
    const next = lexemes.next(lexemeState, byte)
    for (last = byte; last < 255 && lexemes.next(lexemeState, last + 1) === next; ) last++
    if (next !== Dead) ranges.push(byte | (last << 8), next)
  }
  return ranges
}

function clamp(lexemeState: number, maxBytes: number): number {
  const [, id, place, room] = lexemes.describe(FreeTextKind, lexemeState) as Int32Array
  return lexemes.state(FreeTextKind, id, place, room > maxBytes + 1 ? 0 : room)
}

/** Some character is in no pattern, so there are texts of every length. */
function lengths(lexemeState: number): TextLengths {
  const [, , , room] = lexemes.describe(FreeTextKind, lexemeState) as Int32Array
  const high = room === 0 ? Unbounded : room - 1
  return { low: 0, high, from: 0, to: high }
}
