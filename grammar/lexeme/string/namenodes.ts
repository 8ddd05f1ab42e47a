/**
 * The nodes of all tries of names.
 *
 * A node is the tuple [tag, byte, child, byte, child, …] with ascending bytes; equal nodes are one integer, and a child has a
 * smaller number than its parents. Most nodes only lead on: no tag, one child, and that the node made just before. Such a *link* is
 * its byte, and the tuple to which the links lead. 1,500 choices of 500 words that were never seen take 24 MB so; as tuples they
 * took 94.
 */
import { grown, moreThan, TupleTable } from "../../intern.ts"

/** Tag of a name that may not be used; names that may be have tags above it, or below it outside of keys. */
export const ExcludedTag = 2

const tuples = new TupleTable()
/** By tuple: its node; 0 = not made, where something was thrown behind the tuple. The tuple of node 0 is never looked up. */
let nodeOf = new Int32Array(16)
/** By tuple: twice the names of its node that may not be used; odd: some may. */
let uses = new Int32Array(16)

/** Nodes made so far. */
let count = 0
/** By node: its tuple; of a link the complement of the tuple to which it leads. */
let places = new Int32Array(1024)
/** By node: the byte of a link. */
let bytes = new Uint8Array(1024)

export function nameNodeCount(): number {
  return count
}

/** Bytes of all nodes. */
export function nameTableBytes(): number {
  return tuples.bytes + nodeOf.byteLength + uses.byteLength + places.byteLength + bytes.length
}

/** The byte of a link, which leads to the node before it; -1 for other nodes. */
export function linkByte(node: number): number {
  return places[node] < 0 ? bytes[node] : -1
}

/** Tag of the name that ends at `node`, or 0. */
export function nameTag(node: number): number {
  const place = places[node]
  return place < 0 ? 0 : tuples.values[tuples.offsets[place]]
}

/** How many bytes lead on from `node`. */
export function childCount(node: number): number {
  const place = places[node]
  return place < 0 ? 1 : (tuples.length(place) - 1) >>> 1
}

/** The byte of child `index`, in ascending order. */
export function childByte(node: number, index: number): number {
  const place = places[node]
  return place < 0 ? bytes[node] : tuples.at(place, 1 + 2 * index)
}

export function childAt(node: number, index: number): number {
  const place = places[node]
  return place < 0 ? node - 1 : tuples.at(place, 2 + 2 * index)
}

/** The suffixes after `byte`; 0, the empty set, if there are none. */
export function nameChild(node: number, byte: number): number {
  const place = places[node]
  if (place < 0) return bytes[node] === byte ? node - 1 : 0
  const { values, offsets } = tuples
  const end = offsets[place + 1]
  for (let at = offsets[place] + 1; at < end; at += 2) if (values[at] === byte) return values[at + 1]
  return 0
}

/** The bytes that lead on from `node`, ascending. */
export function nameBytes(node: number): number[] {
  const place = places[node]
  if (place < 0) return [bytes[node]]
  const { values, offsets } = tuples
  const found: number[] = []
  const end = offsets[place + 1]
  for (let at = offsets[place] + 1; at < end; at += 2) found.push(values[at])
  return found
}

/** Whether some name of `node` may be used. */
export function hasUsableName(node: number): boolean {
  return (usesOf(node) & 1) === 1
}

/** How many names of `node` may not be used. */
export function excludedCount(node: number): number {
  return usesOf(node) >>> 1
}

function usesOf(node: number): number {
  const place = places[node]
  return uses[place < 0 ? ~place : place]
}

/** Writes the tuple of `node` into `into`; returns its length. */
export function writeNode(node: number, into: Int32Array): number {
  const place = places[node]
  if (place < 0) {
    into[0] = 0
    into[1] = bytes[node]
    into[2] = node - 1
    return 3
  }
  const { values, offsets } = tuples
  const start = offsets[place]
  const length = offsets[place + 1] - start
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
  const id = tuples.intern(tuple, length)
  return nodeOf[id] !== 0 ? nodeOf[id] : addTuple(id)
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
  if (count + length > places.length) makeRoom(Math.max(length, toCome))
  const below = placeBelow()
  for (let i = 0; i < length; i++) {
    places[count + i] = below
    bytes[count + i] = name[to - 1 - i]
  }
  count += length
  return count - 1
}

/** Whether the newest node is `node`: then a link can lie above it. */
export function isNewest(node: number): boolean {
  return node === count - 1
}

/** Room is made. */
function addLink(byte: number): number {
  places[count] = placeBelow()
  bytes[count] = byte
  return count++
}

/** The place of a link above the newest node. */
function placeBelow(): number {
  const newest = places[count - 1]
  return newest < 0 ? newest : ~newest
}

/** The node of a tuple that is new. Room is made. */
function addTuple(id: number): number {
  const { offsets, values } = tuples
  const tag = values[offsets[id]]
  let excluded = tag === ExcludedTag ? 1 : 0
  let isUsable = tag !== 0 && excluded === 0
  for (let i = offsets[id] + 2; i < offsets[id + 1]; i += 2) {
    const below = usesOf(values[i])
    excluded += below >>> 1
    if ((below & 1) === 1) isUsable = true
  }
  uses[id] = 2 * excluded + (isUsable ? 1 : 0)
  nodeOf[id] = count
  places[count] = id
  return count++
}

/** Makes room for `length` more nodes, and for one more tuple. */
function makeRoom(length: number): void {
  if (count + length > places.length) {
    const room = Math.max(moreThan(places.length), count + length)
    const more = new Uint8Array(room)
    more.set(bytes)
    places = grown(places, room)
    bytes = more
  }
  if (tuples.count >= nodeOf.length) {
    uses = grown(uses, moreThan(nodeOf.length))
    nodeOf = grown(nodeOf, moreThan(nodeOf.length))
  }
}

/** Whether `tag` is where names with that tag end. */
function isEnd(tag: number): boolean {
  return tag < count && places[tag] >= 0 && childCount(tag) === 0 && nameTag(tag) === tag
}
