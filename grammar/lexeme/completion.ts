/**
 * Shortest completions of lexemes: a shortest text from a state to an accepting one, by best-first
 * search (A*: Hart, Nilsson, Raphael 1968). Kinds of states may bound the remaining bytes, or know
 * the text without a search.
 */
import { concatenate, pathTo } from "../bytes.ts"
import { checkTime } from "../deadline.ts"
import { fixedBounds, limitError } from "../errors.ts"
import { Dead, type LexemeKind, lexemes } from "./table.ts"

/** Bytes to an accepting state, and its tag. */
export interface Completion {
  bytes: Uint8Array
  tag: number
}

/** Optional knowledge of a kind about its ends. */
export interface CompletedKind extends LexemeKind {
  /** Returns a lower bound on the bytes to an accepting state. Default 0. */
  least?(a: number, b: number, c: number): number
  /**
   * Returns a shortest completion if the kind has a better way than a search; otherwise null.
   * Without `isSearched` it uses what is known at once, and the text is no longer than `least`.
   */
  shortest?(a: number, b: number, c: number, isSearched: boolean): Completion | null
}

/** Count of states per search whose kind searches for their completion. */
const MaxRests = 12
/**
 * Digits and letters come before control characters: among equal lengths the first byte is written.
 */
const FirstByte = 0x30

/** Returns a lower bound on the bytes of the texts from `state`. */
export function leastBytes(state: number): number {
  const kind: CompletedKind | undefined = lexemes.kindOf(state)
  if (kind?.least === undefined) return 0
  const [, a, b, c] = lexemes.partsOf(state)
  return kind.least(a, b, c)
}

/**
 * Returns short bytes from `state` to an accepting state, and its tag; printable characters first.
 * Throws `limit` if the text is too long to hold.
 */
export function shortestCompletion(state: number): Completion {
  const least = leastBytes(state)
  if (least > fixedBounds.shortestBytes) throw limitError(fixedBounds, "shortestBytes.lexeme", least)
  return known(state, true) ?? search(state, least)
}

function known(state: number, isSearched: boolean): Completion | null {
  const kind: CompletedKind | undefined = lexemes.kindOf(state)
  if (kind?.shortest === undefined) return null
  const [, a, b, c] = lexemes.partsOf(state)
  return kind.shortest(a, b, c, isSearched)
}

function search(start: number, least: number): Completion {
  const from = new Map([[start, { before: Dead, byte: 0, length: 0 }]])
  /** States to look at, by a lower bound on the length of a text through them. */
  const open: number[][] = []
  open[least] = [start]
  /** Completions that kinds have searched for, by state. */
  const rests = new Map<number, Completion | null>()
  for (let bound = least; bound < open.length; bound++) {
    for (let state = open[bound]?.pop(); state !== undefined; state = open[bound].pop()) {
      checkTime()
      if (lexemes.tags[state] !== 0) return { bytes: pathTo(state, start, from), tag: lexemes.tags[state] }
      const { length } = from.get(state) as { length: number }
      let rest = known(state, false) ?? rests.get(state) ?? null
      if (rest === null && state !== start && rests.size < MaxRests && !rests.has(state)) {
        rest = known(state, true)
        rests.set(state, rest)
      }
      if (rest !== null) {
        const end = length + rest.bytes.length
        if (end <= bound)
          return { bytes: concatenate([pathTo(state, start, from), rest.bytes]), tag: rest.tag }
        // Its turn comes when nothing shorter is left.
        open[end] ??= []
        open[end].unshift(state)
        continue
      }
      if (from.size > fixedBounds.lexemeStates) throw limitError(fixedBounds, "lexemeStates", from.size)
      const reached: number[] = []
      for (let i = 0, last = Dead; i < 256; i++) {
        const byte = (i + FirstByte) & 0xff
        const target = lexemes.next(state, byte)
        if (target === last) continue
        last = target
        const earlier = target === Dead ? 0 : from.get(target)?.length
        if (earlier !== undefined && earlier <= length + 1) continue
        from.set(target, { before: state, byte, length: length + 1 })
        reached.push(target)
      }
      // Last in, first out: pushed in reverse, so that digits and letters come before control
      // characters.
      for (const target of reached.reverse()) {
        // The bound may fall along a path (an escape spells a character in six bytes). This never
        // goes back to a list that is done.
        const atLeast = Math.max(length + 1 + leastBytes(target), bound)
        open[atLeast] ??= []
        open[atLeast].push(target)
      }
    }
  }
  throw new Error(`internal: lexeme state ${start} has no way to an end`)
}
