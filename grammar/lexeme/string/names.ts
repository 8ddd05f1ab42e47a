/**
 * Sets of names as hash-consed tries over their UTF-8 bytes.
 *
 * Equal sets of suffixes are one integer, a node (`namenodes.ts`), in all schemas. Sets are values:
 * removing a name makes a new root that shares all other nodes.
 */
import {
  addEnd,
  addLinks,
  childAt,
  childByte,
  childCount,
  ExcludedTag,
  internNode,
  isNewest,
  nameChild,
  nameTag,
  writeNode,
} from "./namenodes.ts"

export {
  ExcludedTag,
  excludedCount,
  hasUsableName,
  linkByte,
  nameBytes,
  nameChild,
  nameNodeCount,
  nameTag,
} from "./namenodes.ts"

/** The empty set. */
export const NoNames = 0

/** A node without a tag and with one child. */
const single = new Int32Array(3)

// A name with one of the low tags ends at the node of that number too.
for (let tag = NoNames; tag <= ExcludedTag; tag++) addEnd()

/**
 * Returns a new tag, the same in every trie: the node at which the name ends. It also makes the
 * nodes from the beginning of the name to there, side by side.
 */
export function newNameTag(name: Uint8Array): number {
  const tag = addEnd()
  addLinks(name, 0, name.length)
  return tag
}

export interface Name {
  bytes: Uint8Array
  /** Above 0. */
  tag: number
}

/**
 * Builds the trie of `entries`: distinct names in ascending byte order, of any length. Linear in
 * their bytes.
 */
export function buildNames(entries: readonly Name[]): number {
  /**
   * Nodes of the prefixes of the last name, by depth. Later names may add to them, so they are not
   * interned yet. Null for a node that so far only leads to the next one.
   */
  const open: (number[] | null)[] = [[0]]
  let last: Uint8Array = new Uint8Array(0)
  const closeBelow = (depth: number) => {
    if (open.length <= depth + 1) return
    let child = -1
    while (open.length > depth + 1) {
      const node = open.pop()
      const byte = last[open.length]
      if (node) {
        if (child >= 0) node.push(byte, child)
        child = internNode(node)
      } else if (isNewest(child)) {
        let from = open.length
        while (from > depth + 1 && open[from - 1] === null) from--
        child = addLinks(last, from, open.length + 1, bytesToCome)
        open.length = from
      } else {
        single[1] = byte
        single[2] = child
        child = internNode(single)
      }
    }
    const parent = open[depth] ?? [0]
    open[depth] = parent
    parent.push(last[depth], child)
  }
  /** Count of bytes of the names not read yet. Nodes may have to be made for them. */
  let bytesToCome = 0
  for (const { bytes } of entries) bytesToCome += bytes.length
  for (const { bytes, tag } of entries) {
    let common = 0
    while (common < last.length && last[common] === bytes[common]) common++
    closeBelow(common)
    while (open.length <= bytes.length) open.push(null)
    const end = open[bytes.length] ?? [0]
    open[bytes.length] = end
    end[0] = tag
    bytesToCome -= last.length
    last = bytes
  }
  closeBelow(0)
  return internNode(open[0] as number[])
}

/** Returns `node` with `name` added. A name that was there gets the new tag; tag 0 removes it. */
export function withName(node: number, name: Uint8Array, tag: number): number {
  const path = new Int32Array(name.length + 1)
  path[0] = node
  for (let depth = 0; depth < name.length; depth++) path[depth + 1] = nameChild(path[depth], name[depth])
  let length = writeNode(path[name.length], scratch)
  scratch[0] = tag
  let made = internNode(scratch, length)
  for (let depth = name.length - 1; depth >= 0; depth--) {
    length = withChild(path[depth], name[depth], made)
    made = internNode(scratch, length)
  }
  return made
}

/** One node: a tag, and up to 256 bytes with their children. */
const scratch = new Int32Array(1 + 2 * 256)

/**
 * Writes `node` with `child` after `byte` (`NoNames` removes the child) into `scratch` and returns
 * its length.
 */
function withChild(node: number, byte: number, child: number): number {
  const children = childCount(node)
  let to = 0
  scratch[to++] = nameTag(node)
  let i = 0
  for (; i < children && childByte(node, i) < byte; i++) {
    scratch[to++] = childByte(node, i)
    scratch[to++] = childAt(node, i)
  }
  if (child !== NoNames) {
    scratch[to++] = byte
    scratch[to++] = child
  }
  if (i < children && childByte(node, i) === byte) i++
  for (; i < children; i++) {
    scratch[to++] = childByte(node, i)
    scratch[to++] = childAt(node, i)
  }
  return to
}

/** Returns the excluded names of `node` as bytes, in their order. */
export function excludedNames(node: number): Uint8Array[] {
  const names: Uint8Array[] = []
  const path: number[] = []
  /** Nodes down to the current one, each with the index of its next child. */
  const open = [{ node, next: 0 }]
  if (nameTag(node) === ExcludedTag) names.push(new Uint8Array(0))
  while (open.length > 0) {
    const top = open[open.length - 1]
    if (top.next >= childCount(top.node)) {
      open.pop()
      path.pop()
      continue
    }
    path.push(childByte(top.node, top.next))
    const child = childAt(top.node, top.next++)
    open.push({ node: child, next: 0 })
    if (nameTag(child) === ExcludedTag) names.push(Uint8Array.from(path))
  }
  return names
}
