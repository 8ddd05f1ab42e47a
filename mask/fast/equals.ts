/**
 * Equal local masks as one object.
 *
 * A state that reads the rest of a property name belongs to one schema, but what it allows within a
 * token recurs: of the 164,091 local masks of MaskBench's development split, 20,586 are distinct.
 * One object is kept for all that are equal, and what is derived from it is shared too.
 */
import { mix, PairMap } from "../../grammar/intern.ts"
import type { FastLocal } from "./entry.ts"

/**
 * Number of ids of each list that the hash includes: longer lists usually differ in their length.
 */
const MaxHashed = 32

interface Link {
  readonly local: FastLocal
  /** Index of an earlier link with this hash; -1 if there is none. */
  readonly before: number
}

export class EqualLocals {
  private links: Link[] = []
  /** (hash, 0) → index of the newest link with that hash. */
  private places = new PairMap()
  private count = 0

  /**
   * Returns the local mask that represents all that are equal to `local`: the first of them, which
   * has a serial. Linear in its ids.
   */
  one(local: FastLocal, isShared = true): FastLocal {
    if (!isShared) {
      local.serial = ++this.count
      return local
    }
    const hash = hashOf(local)
    const newest = this.places.get(hash, 0)
    for (let place = newest; place >= 0; place = this.links[place].before)
      if (areEqual(this.links[place].local, local)) return this.links[place].local
    const place = this.links.push({ local, before: newest }) - 1
    this.places.set(hash, 0, place)
    local.serial = ++this.count
    return local
  }

  /** Evicts everything. */
  clear(): void {
    const places = new PairMap()
    this.links = []
    this.places = places
  }
}

function hashOf({ row, common, removed, ids, exits }: FastLocal): number {
  let hash = row === null ? 0 : 1
  hash = withIds(withIds(withIds(hash, common), removed), exits)
  for (let i = 0; i < ids.length; i++) hash = withIds(hash, ids[i])
  return hash >>> 2
}

function withIds(before: number, ids: Int32Array): number {
  let hash = mix(before, ids.length)
  for (let i = 0; i < ids.length && i < MaxHashed; i++) hash = mix(hash, ids[i])
  return hash
}

/** Rows are compared by identity, since equal rows are one shared object. */
function areEqual(a: FastLocal, b: FastLocal): boolean {
  if (a.row !== b.row || a.ids.length !== b.ids.length) return false
  if (!areSame(a.exits, b.exits) || !areSame(a.common, b.common) || !areSame(a.removed, b.removed))
    return false
  for (let i = 0; i < a.ids.length; i++) if (!areSame(a.ids[i], b.ids[i])) return false
  return true
}

function areSame(a: Int32Array, b: Int32Array): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
