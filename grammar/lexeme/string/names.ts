/**
 * Sets of names as hash-consed tries over their UTF-8 bytes.
 *
 * A node is the tuple [tag, byte, child, byte, child, …] with ascending bytes; equal sets of suffixes are one integer,
 * whatever schema they come from. Sets are values: switching one name off makes a new root and shares all the rest.
 */
import { grown, moreThan, TupleTable } from "../../intern.ts"

/** The empty set. */
export const NoNames = 0
/** Tag of a name that may not be used; names that may be have tags above it, or below it outside of keys. */
export const ExcludedTag = 2

/** A node without a tag and with one child. */
const single = new Int32Array(3)

const nodes = new TupleTable()
/** Twice the names of a node that may not be used; odd: some may. By node. Shape [≥ usesCount]. */
let uses = new Int32Array(16)
/** Nodes whose uses are known: all, unless something was thrown when the last ones were made. */
let usesCount = 0
/** Bytes of the names of a list that is read for which nodes may have to be made. */
let bytesToCome = 0

function intern(tuple: ArrayLike<number>, length = tuple.length): number {
  if (length === 1 && isEnd(tuple[0])) return tuple[0]
  const { count } = nodes
  if (usesCount < count) addUses()
  if (length === 3 && tuple[0] === 0) {
    // Nothing can lie above the newest node yet.
    if (tuple[2] === count - 1) return addNode(tuple, 3)
    const beside = nodeBeside(tuple[1], tuple[2])
    if (beside >= 0) return beside
  }
  const node = nodes.intern(tuple, length)
  if (node === count) addUses()
  return node
}

/** A node that is not there, and is not looked up by its hash. */
function addNode(tuple: ArrayLike<number>, length: number): number {
  const node = nodes.append(tuple, length)
  addUses()
  return node
}

/**
 * The nodes without a tag above the newest one that spell `name[from .. to)`, one child each. Returns that of `name[from]`, or the
 * newest one where there are none. A few stores a byte.
 */
function addChain(name: Uint8Array, from: number, to: number): number {
  if (usesCount < nodes.count) addUses()
  const length = to - from
  makeRoom(length)
  const { offsets, values, count } = nodes
  const usesBelow = uses[count - 1]
  let at = offsets[count]
  for (let i = 0; i < length; i++) {
    values[at] = 0
    values[at + 1] = name[to - 1 - i]
    values[at + 2] = count + i - 1
    at += 3
    offsets[count + i + 1] = at
    uses[count + i] = usesBelow
  }
  nodes.count = count + length
  usesCount = nodes.count
  return nodes.count - 1
}

/**
 * Makes room for `length` nodes with one child each. Where there is none, it is made for all bytes that are to come: growing by
 * halves would copy each node of a long list twice. Room that stays empty takes no memory of the machine.
 */
function makeRoom(length: number): void {
  if (nodes.hasRoom(length, 3 * length) && nodes.count + length <= uses.length) return
  const count = Math.max(length, bytesToCome)
  nodes.reserve(count, 3 * count)
  const needed = nodes.count + count
  if (needed > uses.length) uses = grown(uses, Math.max(moreThan(uses.length), needed))
}

/** Whether node `tag` is where names with that tag end. */
function isEnd(tag: number): boolean {
  return tag < nodes.count && nodes.length(tag) === 1 && nodes.at(tag, 0) === tag
}

/**
 * The node without a tag whose one child is `child`, which is not the newest node, if it was made right after it; else -1.
 * It lies beside its child and is found there, not by its hash: a name that was met before costs a step through memory a
 * byte, and no look-up.
 */
function nodeBeside(byte: number, child: number): number {
  const { offsets, values } = nodes
  const node = child + 1
  const at = offsets[node]
  const isAbove = offsets[node + 1] === at + 3 && values[at] === 0 && values[at + 2] === child
  return isAbove && values[at + 1] === byte ? node : -1
}

/** Finds the uses of the nodes whose uses are not known yet: children come before their parents. */
function addUses(): void {
  const { offsets, values } = nodes
  for (let node = usesCount; node < nodes.count; node++) {
    if (node >= uses.length) uses = grown(uses, moreThan(node))
    const tag = values[offsets[node]]
    let excluded = tag === ExcludedTag ? 1 : 0
    let isUsable = tag !== 0 && excluded === 0
    for (let i = offsets[node] + 2; i < offsets[node + 1]; i += 2) {
      excluded += uses[values[i]] >>> 1
      if ((uses[values[i]] & 1) === 1) isUsable = true
    }
    uses[node] = 2 * excluded + (isUsable ? 1 : 0)
    usesCount = node + 1
  }
}

// What ends with a tag below those of names is where its tag says, too.
for (let tag = NoNames; tag <= ExcludedTag; tag++) addNode([tag], 1)

/**
 * A tag for a name that has none yet, the same in every trie: the node at which it ends. The nodes of the way there from
 * the beginning of the name are made with it, one beside the other.
 */
export function newNameTag(name: Uint8Array): number {
  const tag = nodes.count
  addNode([tag], 1)
  addChain(name, 0, name.length)
  return tag
}

/** Whether some name of `node` may be used. */
export function hasUsableName(node: number): boolean {
  return (uses[node] & 1) === 1
}

/** How many names of `node` may not be used. */
export function excludedCount(node: number): number {
  return uses[node] >>> 1
}

/** Bytes of all tries. */
export function nameTableBytes(): number {
  return nodes.bytes + uses.byteLength
}

/** Nodes made so far; a child has a smaller number than its parents. */
export function nameNodeCount(): number {
  return nodes.count
}

export interface Name {
  bytes: Uint8Array
  /** Above 0. */
  tag: number
}

/** The trie of `entries`: distinct names in ascending byte order. Linear in their bytes; names may be of any length. */
export function buildNames(entries: readonly Name[]): number {
  /**
   * The nodes of the last name's beginnings, by depth. Later names add to them, so they are not interned yet; null for
   * those that hold nothing but the way to the next one.
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
        child = intern(node)
      } else if (child === nodes.count - 1) {
        // Nothing can lie above the newest node yet.
        let from = open.length
        while (from > depth + 1 && open[from - 1] === null) from--
        child = addChain(last, from, open.length + 1)
        open.length = from
      } else {
        single[1] = byte
        single[2] = child
        child = intern(single)
      }
    }
    const parent = open[depth] ?? [0]
    open[depth] = parent
    parent.push(last[depth], child)
  }
  bytesToCome = 0
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
  bytesToCome = 0
  return intern(open[0] as number[])
}

/** `node` with `name` in it; a name that was there gets the new tag, tag 0 takes it out. */
export function withName(node: number, name: Uint8Array, tag: number): number {
  const path = new Int32Array(name.length + 1)
  path[0] = node
  for (let depth = 0; depth < name.length; depth++) path[depth + 1] = nameChild(path[depth], name[depth])
  let length = copyNode(path[name.length])
  scratch[0] = tag
  let made = intern(scratch, length)
  for (let depth = name.length - 1; depth >= 0; depth--) {
    length = withChild(path[depth], name[depth], made)
    made = intern(scratch, length)
  }
  return made
}

/** One node: a tag, and up to 256 bytes with their children. */
const scratch = new Int32Array(1 + 2 * 256)

/** Writes `node` with `child` after `byte` (`NoNames`: with nothing there) into `scratch`; returns its length. */
function withChild(node: number, byte: number, child: number): number {
  const { values, offsets } = nodes
  const end = offsets[node + 1]
  let from = offsets[node]
  let to = 0
  scratch[to++] = values[from++]
  while (from < end && values[from] < byte) {
    scratch[to++] = values[from++]
    scratch[to++] = values[from++]
  }
  if (child !== NoNames) {
    scratch[to++] = byte
    scratch[to++] = child
  }
  if (from < end && values[from] === byte) from += 2
  while (from < end) scratch[to++] = values[from++]
  return to
}

function copyNode(node: number): number {
  const { values, offsets } = nodes
  const start = offsets[node]
  const length = offsets[node + 1] - start
  for (let i = 0; i < length; i++) scratch[i] = values[start + i]
  return length
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
