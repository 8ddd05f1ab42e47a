/**
 * The nodes of all tries of names.
 *
 * A node is the tuple [tag, byte, child, byte, child, …] with ascending bytes; equal nodes are one integer, and a child has a
 * smaller number than its parents. Most nodes only lead on: no tag, one child, and that the node made just before. Such a *link* is
 * its byte in an array, and a bit that says that it is no tuple. 1,500 choices of 500 words that were never seen take 6 MB so;
 * as tuples they took 94.
 */
import { grown, moreThan, TupleTable } from "../../intern.ts"

/** Tag of a name that may not be used; names that may be have tags above it, or below it outside of keys. */
export const ExcludedTag = 2

const tuples = new TupleTable()
/** By tuple: its node. */
let nodeOf = new Int32Array(16)
/** By tuple: twice the names of its node that may not be used; odd: some may. */
let uses = new Int32Array(16)

/** Nodes made so far. */
let count = 0
/** By node: its byte, if it is a link. */
let bytes = new Uint8Array(1024)
/** By node: a bit, 1 for a tuple. Shape [⌈nodes / 32⌉]. */
let marks = new Int32Array(33)
/** Tuples before each 32 nodes. */
let ranks = new Int32Array(33)

export function nameNodeCount(): number {
  return count
}

/** Bytes of all nodes. */
export function nameTableBytes(): number {
  return (
    tuples.bytes + nodeOf.byteLength + uses.byteLength + bytes.length + marks.byteLength + ranks.byteLength
  )
}

/** The byte of a link, which leads to the node before it; -1 for other nodes. */
export function linkByte(node: number): number {
  return isTuple(node) ? -1 : bytes[node]
}

/** Tag of the name that ends at `node`, or 0. */
export function nameTag(node: number): number {
  return isTuple(node) ? tuples.at(tupleAt(node), 0) : 0
}

/** How many bytes lead on from `node`. */
export function childCount(node: number): number {
  return isTuple(node) ? (tuples.length(tupleAt(node)) - 1) >>> 1 : 1
}

/** The byte of child `index`, in ascending order. */
export function childByte(node: number, index: number): number {
  return isTuple(node) ? tuples.at(tupleAt(node), 1 + 2 * index) : bytes[node]
}

export function childAt(node: number, index: number): number {
  return isTuple(node) ? tuples.at(tupleAt(node), 2 + 2 * index) : node - 1
}

/** The suffixes after `byte`; 0, the empty set, if there are none. */
export function nameChild(node: number, byte: number): number {
  if (!isTuple(node)) return bytes[node] === byte ? node - 1 : 0
  const { values, offsets } = tuples
  const tuple = tupleAt(node)
  for (let at = offsets[tuple] + 1; at < offsets[tuple + 1]; at += 2)
    if (values[at] === byte) return values[at + 1]
  return 0
}

/** Whether some name of `node` may be used. */
export function hasUsableName(node: number): boolean {
  return (uses[tupleAt(node)] & 1) === 1
}

/** How many names of `node` may not be used. */
export function excludedCount(node: number): number {
  return uses[tupleAt(node)] >>> 1
}

/** Writes the tuple of `node` into `into`; returns its length. */
export function writeNode(node: number, into: Int32Array): number {
  if (!isTuple(node)) {
    into[0] = 0
    into[1] = bytes[node]
    into[2] = node - 1
    return 3
  }
  const { values, offsets } = tuples
  const tuple = tupleAt(node)
  const start = offsets[tuple]
  const length = offsets[tuple + 1] - start
  for (let i = 0; i < length; i++) into[i] = values[start + i]
  return length
}

/** The node that is `tuple[0 .. length)`. */
export function internNode(tuple: ArrayLike<number>, length = tuple.length): number {
  if (length === 1 && isEnd(tuple[0])) return tuple[0]
  if (length === 3 && tuple[0] === 0) {
    const byte = tuple[1]
    const child = tuple[2]
    // Nothing can lie above the newest node yet.
    if (child === count - 1) {
      makeRoom(1)
      return addLink(byte)
    }
    // A link lies beside its child: a name that was met before costs a step through memory a byte, and no look-up.
    if (linkByte(child + 1) === byte) return child + 1
  }
  makeRoom(1)
  const known = tuples.count
  const id = tuples.intern(tuple, length)
  return id < known ? nodeOf[id] : addTuple(id)
}

/** A node whose tag is its own number: where a name ends that has its tag in all tries. */
export function addEnd(): number {
  makeRoom(1)
  return addTuple(tuples.append([count], 1))
}

/**
 * Links above the newest node that spell `name[from .. to)`. Returns that of `name[from]`, or the newest node where there are none.
 * `toCome`: bytes for which room had better be made, where there is none, since they are to come.
 */
export function addLinks(name: Uint8Array, from: number, to: number, toCome = 0): number {
  const length = to - from
  if (!hasRoom(length)) makeRoom(Math.max(length, toCome))
  for (let i = to - 1; i >= from; i--) addLink(name[i])
  return count - 1
}

/** Whether the newest node is `node`: then a link can lie above it. */
export function isNewest(node: number): boolean {
  return node === count - 1
}

function addLink(byte: number): number {
  const node = count
  bytes[node] = byte
  closeNode()
  return node
}

/** The node of a tuple that is new. All room is made. */
function addTuple(id: number): number {
  const node = count
  const { offsets, values } = tuples
  const tag = values[offsets[id]]
  let excluded = tag === ExcludedTag ? 1 : 0
  let isUsable = tag !== 0 && excluded === 0
  for (let i = offsets[id] + 2; i < offsets[id + 1]; i += 2) {
    const below = uses[tupleAt(values[i])]
    excluded += below >>> 1
    if ((below & 1) === 1) isUsable = true
  }
  uses[id] = 2 * excluded + (isUsable ? 1 : 0)
  nodeOf[id] = node
  marks[node >>> 5] |= 1 << (node & 31)
  closeNode()
  return node
}

function closeNode(): void {
  count++
  if ((count & 31) === 0) ranks[count >>> 5] = tuples.count
}

function hasRoom(length: number): boolean {
  return count + length < bytes.length && tuples.count < nodeOf.length
}

/** Makes room for `length` more nodes, and for one more tuple. */
function makeRoom(length: number): void {
  if (hasRoom(length)) return
  if (count + length >= bytes.length) {
    const room = Math.max(moreThan(bytes.length), count + length + 1)
    const more = new Uint8Array(room)
    more.set(bytes)
    marks = grown(marks, (room >>> 5) + 1)
    ranks = grown(ranks, (room >>> 5) + 1)
    bytes = more
  }
  if (tuples.count >= nodeOf.length) {
    uses = grown(uses, moreThan(nodeOf.length))
    nodeOf = grown(nodeOf, moreThan(nodeOf.length))
  }
}

function isTuple(node: number): boolean {
  return ((marks[node >>> 5] >>> (node & 31)) & 1) === 1
}

/** The tuple of `node`, or that to which its links lead: tuples up to `node` are counted. */
function tupleAt(node: number): number {
  const block = node >>> 5
  // 2 << 31 is 0, so the last node of a block counts all bits.
  return ranks[block] + bitCount(marks[block] & ((2 << (node & 31)) - 1)) - 1
}

/** Bits that are set in a word of 32 (Warren, Hacker's Delight, 5-1). */
function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Whether `tag` is where names with that tag end. */
function isEnd(tag: number): boolean {
  return tag < count && isTuple(tag) && childCount(tag) === 0 && nameTag(tag) === tag
}
