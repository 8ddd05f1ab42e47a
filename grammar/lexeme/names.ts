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

/** The trie of `entries`: distinct names in ascending byte order. Linear in their bytes; names may be of any length. */
export function buildNames(entries: readonly Name[]): number {
  /** The nodes of the last name's beginnings, by depth. Later names add to them, so they are not interned yet. */
  const open: number[][] = [[0]]
  let last: Uint8Array = new Uint8Array(0)
  const closeBelow = (depth: number) => {
    while (open.length > depth + 1) {
      const node = intern(open.pop() as number[])
      open[open.length - 1].push(last[open.length - 1], node)
    }
  }
  for (const { bytes, tag } of entries) {
    let common = 0
    while (common < last.length && last[common] === bytes[common]) common++
    closeBelow(common)
    while (open.length <= bytes.length) open.push([0])
    open[bytes.length][0] = tag
    last = bytes
  }
  closeBelow(0)
  return intern(open[0])
}

/** `node` with `name` in it; a name that was there gets the new tag, tag 0 takes it out. */
export function withName(node: number, name: Uint8Array, tag: number): number {
  const path = [node]
  for (const byte of name) path.push(nameChild(path[path.length - 1], byte))
  const end = Array.from(nodes.view(path[name.length]))
  end[0] = tag
  let made = intern(end)
  for (let depth = name.length - 1; depth >= 0; depth--) {
    const tuple = Array.from(nodes.view(path[depth]))
    let at = 1
    while (at < tuple.length && tuple[at] < name[depth]) at += 2
    const found = tuple[at] === name[depth]
    if (made !== NoNames) tuple.splice(at, found ? 2 : 0, name[depth], made)
    else if (found) tuple.splice(at, 2)
    made = intern(tuple)
  }
  return made
}

/** The excluded names of `node`, as bytes, in their order. */
export function excludedNames(node: number): Uint8Array[] {
  const names: Uint8Array[] = []
  const path: number[] = []
  /** [node, place of its next child in its tuple] down to the current node. */
  const open = [[node, 1]]
  if (nodes.at(node, 0) === ExcludedTag) names.push(new Uint8Array(0))
  while (open.length > 0) {
    const top = open[open.length - 1]
    if (top[1] >= nodes.length(top[0])) {
      open.pop()
      path.pop()
      continue
    }
    path.push(nodes.at(top[0], top[1]))
    const child = nodes.at(top[0], top[1] + 1)
    top[1] += 2
    open.push([child, 1])
    if (nodes.at(child, 0) === ExcludedTag) names.push(Uint8Array.from(path))
  }
  return names
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
