/**
 * Sets of names as hash-consed tries over their UTF-8 bytes.
 *
 * A node is the tuple [tag, byte, child, byte, child, …] with ascending bytes; equal sets of suffixes are one integer,
 * whatever schema they come from. Sets are values: switching one name off makes a new root and shares all the rest.
 */
import { TupleTable } from "../intern.ts"

/** The empty set. */
export const NoNames = 0
/** Tag of a name that may not be used; names that may be have tags above it, or below it outside of keys. */
export const ExcludedTag = 2

const nodes = new TupleTable()
/** Whether some name of the node may be used, by node. */
const usable: boolean[] = []

function intern(tuple: readonly number[]): number {
  const count = nodes.count
  const node = nodes.intern(tuple)
  if (node === count) {
    let isUsable = tuple[0] !== 0 && tuple[0] !== ExcludedTag
    for (let i = 2; i < tuple.length && !isUsable; i += 2) isUsable = usable[tuple[i]]
    usable.push(isUsable)
  }
  return node
}

intern([0])

/** Whether some name of `node` may be used. */
export function hasUsableName(node: number): boolean {
  return usable[node]
}

export interface Name {
  bytes: Uint8Array
  /** Above 0. */
  tag: number
}

/** The trie of `entries`: distinct names in ascending byte order. Linear in their bytes. */
export function buildNames(entries: readonly Name[], start = 0, end = entries.length, depth = 0): number {
  if (start === end) return NoNames
  const tuple = [0]
  let at = start
  if (entries[at].bytes.length === depth) tuple[0] = entries[at++].tag
  while (at < end) {
    const byte = entries[at].bytes[depth]
    let next = at + 1
    while (next < end && entries[next].bytes[depth] === byte) next++
    tuple.push(byte, buildNames(entries, at, next, depth + 1))
    at = next
  }
  return intern(tuple)
}

/** `node` with `name` in it; a name that was there gets the new tag, tag 0 takes it out. */
export function withName(node: number, name: Uint8Array, tag: number, depth = 0): number {
  const tuple = Array.from(nodes.view(node))
  if (depth === name.length) {
    tuple[0] = tag
  } else {
    const byte = name[depth]
    let at = 1
    while (at < tuple.length && tuple[at] < byte) at += 2
    const found = tuple[at] === byte
    const child = withName(found ? tuple[at + 1] : NoNames, name, tag, depth + 1)
    if (child === NoNames) {
      if (found) tuple.splice(at, 2)
    } else if (found) {
      tuple[at + 1] = child
    } else {
      tuple.splice(at, 0, byte, child)
    }
  }
  return intern(tuple)
}

/** The excluded names of `node`, as bytes. */
export function* excludedNames(node: number, prefix: readonly number[] = []): Generator<Uint8Array> {
  if (nodes.at(node, 0) === ExcludedTag) yield Uint8Array.from(prefix)
  for (const byte of nameBytes(node)) yield* excludedNames(nameChild(node, byte), [...prefix, byte])
}

/** Tag of the name that ends at `node`, or 0. */
export function nameTag(node: number): number {
  return nodes.at(node, 0)
}

/** The suffixes after `byte`, or `NoNames`. */
export function nameChild(node: number, byte: number): number {
  const { offsets, values } = nodes
  for (let at = offsets[node] + 1; at < offsets[node + 1]; at += 2)
    if (values[at] === byte) return values[at + 1]
  return NoNames
}

/** The bytes that lead on from `node`, ascending. */
export function nameBytes(node: number): number[] {
  const bytes: number[] = []
  for (let at = nodes.offsets[node] + 1; at < nodes.offsets[node + 1]; at += 2) bytes.push(nodes.values[at])
  return bytes
}
