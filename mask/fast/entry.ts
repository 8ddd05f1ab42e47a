/**
 * Cached local masks, and the correction of one for a state that differs from its own.
 */
import { listedCount, noIds, type Recipe, recipe } from "../recipe.ts"
import type { Local } from "../shortcuts.ts"
import type { Found } from "../trie.ts"
import type { Kept } from "./generations.ts"
import type { ListTables } from "./listtables.ts"
import { joined, without } from "./unions.ts"

/** A recipe whose row and `common` may be shared between entries. */
export interface FastLocal extends Local, Kept {
  /** Identifies this local mask; 0 until it represents all that are equal to it. */
  serial: number
}

/** Bytes of an entry, excluding its arrays. */
export const entryBytes = 96

/** All entries come from this object literal, see `recipe`. */
export function entry({ row, common, removed, ids }: Recipe, exits: Int32Array, bytes: number): FastLocal {
  return { row, common, removed, ids, exits, bytes, serial: 0, generation: 0 }
}

/** Returns `plain` with what is in `found`, and without what is only in `other`. */
export function corrected(plain: FastLocal, found: Found, other: Found, lists: ListTables): FastLocal {
  if (countOf(found) + countOf(other) === 0) return plain
  const added = lists.withDuplicates(found.tokens.subarray(0, found.tokenCount))
  const taken = without(lists.withDuplicates(other.tokens.subarray(0, other.tokenCount)), added)
  const exits = lists.patched(plain.exits, other.exits, found.exits)
  // Loops instead of array methods, because arrays made from arrays come in so many kinds that V8
  // discards the code compiled for them. `slice` makes copies without spare capacity.
  const ids: Int32Array[] = []
  for (let i = 0; i < plain.ids.length; i++) addSome(ids, without(plain.ids[i], taken))
  addSome(ids, added)
  if (plain.row === null) {
    addSome(ids, without(plain.common, taken))
    const bytes = entryBytes + 4 * (taken.length === 0 ? added.length : listedCount(plain) + added.length)
    return entry(recipe(null, noIds, noIds, ids.slice()), exits, bytes)
  }
  const mask = recipe(plain.row, plain.common, joined(plain.removed, taken), ids.slice())
  return entry(mask, exits, entryBytes + 4 * (taken.length + added.length))
}

/** Returns the number of tokens and of numbers in the exits; 0 if nothing was found. */
export function countOf(found: Found): number {
  return found.tokenCount + found.exits.length
}

function addSome(lists: Int32Array[], ids: Int32Array): void {
  if (ids.length > 0) lists.push(ids)
}
