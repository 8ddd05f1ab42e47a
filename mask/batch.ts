/**
 * Many rows at once: the rows of a batch of matchers, or of a tree of draft tokens, as one
 * Uint32Array [B, W].
 *
 * Rows whose masks are cached are written first, since each costs only a copy; the others are
 * computed one by one until the time is up. This floor reads no clock: the caller says when the
 * time is up. A row that was not filled is zeroed and reported, so that the contents of an earlier
 * step never pass for a mask.
 *
 * A tree of drafts needs no second path through the machine. Forks are cheap, so each node is a
 * matcher of its own that has accepted one token more than its parent's.
 */

import type { Matcher, RowKind } from "./matcher.ts"

/** Returns whether the time is up. */
export type Deadline = () => boolean

/** The rows of a tree of draft tokens. */
export interface DraftMasks {
  /** Kind of each row; null if the time was up, so that the row is zero. Length n + 1. */
  readonly filled: readonly (RowKind | null)[]
  /** 1 if the token and all its ancestors are allowed. Shape [n]. */
  readonly valid: Uint8Array
}

const always: Deadline = () => false

/**
 * Fills the masks of many matchers; row i is that of `matchers[i]`. Cached masks come first.
 * `isOver` is called before every other mask; once it returns true, the remaining rows stay zero.
 * Returns the kind of each row, null for those that stayed zero. Shape of `rows` [B, W]. Throws
 * RangeError if `rows` is too short or the matchers' vocabularies differ in W.
 */
export function fillMasks(
  matchers: readonly Matcher[],
  rows: Uint32Array,
  isOver: Deadline = always,
): (RowKind | null)[] {
  return fillRows(matchers, rows, isOver)
}

/**
 * Fills the masks of a tree of draft tokens that begins at the position of `start`: row 0 is the
 * mask there, row i + 1 the mask after `tokens[i]`. The parent of a token is an earlier index, or
 * −1 for the start; in a chain it is i − 1. If a token is not allowed, its row and all rows below
 * it are zero and `valid` is 0. The matcher does not move.
 *
 * Cached masks come first. `isOver` is called before every other mask; once it returns true, the
 * remaining rows stay zero and are null in `filled`. Shape of `rows` [n + 1, W]. Throws RangeError
 * if `rows` is too short or a parent is not an earlier index.
 */
export function fillDraftMasks(
  start: Matcher,
  rows: Uint32Array,
  tokens: readonly number[],
  parents: readonly number[],
  isOver: Deadline = always,
): DraftMasks {
  if (parents.length !== tokens.length) {
    throw new RangeError(`drafts: ${tokens.length} tokens have ${parents.length} parents`)
  }
  const valid = new Uint8Array(tokens.length)
  /** The start, then the position after each token; null if the token is not allowed. */
  const places: (Matcher | null)[] = [start]
  for (let i = 0; i < tokens.length; i++) {
    const parent = parents[i]
    if (!Number.isInteger(parent) || parent < -1 || parent >= i) {
      throw new RangeError(
        `drafts: the parent of token ${i} is ${parent}; it must be an earlier index, or -1`,
      )
    }
    const place = places[parent + 1]?.fork() ?? null
    valid[i] = place?.accept(tokens[i]) ? 1 : 0
    places.push(valid[i] === 1 ? place : null)
  }
  return { filled: fillRows(places, rows, isOver), valid }
}

/** Null stands for a position that cannot be reached: its row is zero. */
function fillRows(
  places: readonly (Matcher | null)[],
  rows: Uint32Array,
  isOver: Deadline,
): (RowKind | null)[] {
  const words = wordsOf(places)
  if (rows.length < places.length * words) {
    throw new RangeError(
      `rows: ${rows.length} words are too few for ${places.length} rows of ${words}; pass ${places.length * words}`,
    )
  }
  const rowOf = (index: number) => rows.subarray(index * words, (index + 1) * words)
  const kinds = places.map((place, index) => {
    if (place?.hasMask()) return place.fillMask(rowOf(index))
    rowOf(index).fill(0)
    return place === null ? "masked" : null
  })
  for (const [index, place] of places.entries()) {
    // Checked again, because an equal position may have been computed since, and caching one mask
    // may evict another.
    if (kinds[index] === null && place !== null && (place.hasMask() || !isOver())) {
      kinds[index] = place.fillMask(rowOf(index))
    }
  }
  return kinds
}

function wordsOf(places: readonly (Matcher | null)[]): number {
  const words = places.find((place) => place !== null)?.fsm.vocabulary.words ?? 0
  for (const place of places) {
    if (place === null || place.fsm.vocabulary.words === words) continue
    throw new RangeError(
      `rows: one vocabulary has ${words} words per row, another ${place.fsm.vocabulary.words}`,
    )
  }
  return words
}
