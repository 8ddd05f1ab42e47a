/** Sets of bytes, interned: equal sets are the same integer. */
import { TupleTable } from "../intern.ts"
import { owned } from "../tables.ts"

/** The set of no bytes. */
export const NoBytes = 0

const Words = 8
const sets = owned("byte sets", new TupleTable())
sets.intern(new Int32Array(Words))
const scratch = new Int32Array(Words)

export function byteSet(bytes: Iterable<number>): number {
  scratch.fill(0)
  for (const byte of bytes) scratch[byte >>> 5] |= 1 << (byte & 31)
  return sets.intern(scratch)
}

/** The set of all bytes. */
export const AllBytes = byteSet(Array.from({ length: 256 }, (_, byte) => byte))

export function hasByte(set: number, byte: number): boolean {
  return ((sets.at(set, byte >>> 5) >>> (byte & 31)) & 1) === 1
}

/** Returns the union of both sets. */
export function uniteBytes(a: number, b: number): number {
  if (a === b || b === NoBytes) return a
  for (let i = 0; i < Words; i++) scratch[i] = sets.at(a, i) | sets.at(b, i)
  return sets.intern(scratch)
}

/** Returns the intersection of both sets. */
export function sharedBytes(a: number, b: number): number {
  if (a === b) return a
  for (let i = 0; i < Words; i++) scratch[i] = sets.at(a, i) & sets.at(b, i)
  return sets.intern(scratch)
}

/** Returns whether some byte is in both sets. */
export function shareByte(a: number, b: number): boolean {
  const { values } = sets
  let shared = 0
  // Every set takes `Words` words, so offsets are not needed.
  for (let i = 0; i < Words; i++) shared |= values[Words * a + i] & values[Words * b + i]
  return shared !== 0
}

/** Returns the union of all `parts`. */
export function uniteSets(parts: readonly number[]): number {
  const { values } = sets
  scratch.fill(0)
  for (const part of parts) for (let i = 0; i < Words; i++) scratch[i] |= values[Words * part + i]
  return sets.intern(scratch)
}

const lists = owned("byte sets", { members: [] as (readonly number[])[] }, { entryBytes: 400 })

/** Returns the bytes of `set`, ascending. Memoized. */
export function bytesOf(set: number): readonly number[] {
  lists.members[set] ??= Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => hasByte(set, byte))
  return lists.members[set]
}
