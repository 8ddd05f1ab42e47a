/**
 * Many rows at once: those of a batch of matchers, and those of a tree of drafted tokens, as one Uint32Array [B, W].
 *
 * Rows whose masks are known are written first, since each costs a copy; the others are found one by one while there is time.
 * This floor reads no clock: whoever calls says when time is over. A row that was not filled is zero and reported, so that
 * what an earlier step left there can never pass for a mask.
 *
 * A tree of drafts needs no second path through the machine. Forks are cheap, so each node is a matcher of its own that has
 * accepted one token more than its parent's.
 */

import type { Matcher, RowKind } from "./matcher.ts"

/** Whether time is over. */
export type Deadline = () => boolean

/** The rows of a tree of drafted tokens. */
export interface DraftMasks {
  /** Kind of each row; null: time was over, and the row is zero. Length n + 1. */
  readonly filled: readonly (RowKind | null)[]
  /** 1 where the token and all above it may come. Shape [n]. */
  readonly valid: Uint8Array
}

const always: Deadline = () => false

/**
 * The masks of many matchers, row i that of `matchers[i]`. Masks that are known come first. Before every other one `isOver` is
 * asked; from when it says true on, such rows are left zero. Returns the kind of each row, null for those that were left.
 * Shape of `rows` [B, W]. Throws RangeError where rows are missing or the matchers' vocabularies differ in W.
 */
export function fillMasks(
  matchers: readonly Matcher[],
  rows: Uint32Array,
  isOver: Deadline = always,
): (RowKind | null)[] {
  return fillRows(matchers, rows, isOver)
}

/**
 * Fills the masks of a tree of drafted tokens that begins where `start` stands: row 0 is the mask there, row i + 1 the mask
 * after `tokens[i]`. The parent of a token is an earlier index, or −1 for the start; in a chain it is i − 1. If a token may
 * not come, its row and all rows below it are zero and `valid` is 0. The matcher does not move.
 *
 * Masks that are known are written first. `isOver` is asked before every other one; once it returns true, such rows stay zero
 * and are null in `filled`. Shape of `rows` [n + 1, W]. Throws RangeError if `rows` is too short or a parent is no earlier
 * index.
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
  /** The place behind each token, null where it may not come. The place of now is first. */
  const places: (Matcher | null)[] = [start]
  for (let i = 0; i < tokens.length; i++) {
    const parent = parents[i]
    if (!Number.isInteger(parent) || parent < -1 || parent >= i) {
      throw new RangeError(`drafts: the parent of token ${i} is ${parent}; it is an earlier index, or -1`)
    }
    const place = places[parent + 1]?.fork() ?? null
    valid[i] = place?.accept(tokens[i]) ? 1 : 0
    places.push(valid[i] === 1 ? place : null)
  }
  return { filled: fillRows(places, rows, isOver), valid }
}

/** Null stands for a place that cannot be reached: its row is zero. */
function fillRows(
  places: readonly (Matcher | null)[],
  rows: Uint32Array,
  isOver: Deadline,
): (RowKind | null)[] {
  const words = wordsOf(places)
  if (rows.length < places.length * words) {
    throw new RangeError(
      `rows: ${rows.length} words hold less than ${places.length} rows of ${words}; make it ${places.length * words}`,
    )
  }
  const rowOf = (index: number) => rows.subarray(index * words, (index + 1) * words)
  const kinds = places.map((place, index) => {
    if (place?.hasMask()) return place.fillMask(rowOf(index))
    rowOf(index).fill(0)
    return place === null ? "masked" : null
  })
  for (const [index, place] of places.entries()) {
    // An equal place may have been found meanwhile, and found masks may make room for each other: so each is asked again.
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
      `rows: one vocabulary has ${words} words a row, another ${place.fsm.vocabulary.words}`,
    )
  }
  return words
}
