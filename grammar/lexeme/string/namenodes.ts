/**
 * The nodes of all tries of names.
 *
 * A node is the tuple [tag, byte, child, byte, child, …] with ascending bytes. Equal nodes are one
 * integer, and a child has a smaller number than its parents. Most nodes have no tag and one child,
 * which was made just before them. Such a node is a *link*: it keeps its byte, and the tuple at the
 * end of its run of links. 1,500 choices of 500 new words take 24 MB that way; as tuples they took
 * 94.
 */
import { grown, moreThan, TupleTable } from "../../intern.ts"
import { owned } from "../../tables.ts"

/**
 * Tag of a name that is excluded. Usable names have higher tags; outside of keys also a lower one.
 */
export const ExcludedTag = 2

const tuples = owned("names", new TupleTable())
const nodes = owned("names", {
  /**
   * Node of each tuple; 0 = not made, since an error was thrown after the tuple was made. The tuple
   * of node 0 is never looked up.
   */
  of: new Int32Array(16),
  /** Twice the count of excluded names below each tuple's node; plus one if some are usable. */
  uses: new Int32Array(16),
  /** Count of the nodes made so far. */
  count: 0,
  /** Tuple of each node; for a link, the complement of the tuple to which it leads. */
  places: new Int32Array(1024),
  /** Byte of each link, by node. */
  bytes: new Uint8Array(1024),
})

export function nameNodeCount(): number {
  return nodes.count
}

/** Returns the byte of a link, whose child is the node before it; -1 for other nodes. */
export function linkByte(node: number): number {
  return nodes.places[node] < 0 ? nodes.bytes[node] : -1
}

/** Returns the tag of the name that ends at `node`, or 0. */
export function nameTag(node: number): number {
  const place = nodes.places[node]
  return place < 0 ? 0 : tuples.values[tuples.offsets[place]]
}

/** Returns the count of children of `node`. */
export function childCount(node: number): number {
  const place = nodes.places[node]
  return place < 0 ? 1 : (tuples.length(place) - 1) >>> 1
}

/** Returns the byte of child `index`; the bytes ascend. */
export function childByte(node: number, index: number): number {
  const place = nodes.places[node]
  return place < 0 ? nodes.bytes[node] : tuples.at(place, 1 + 2 * index)
}

export function childAt(node: number, index: number): number {
  const place = nodes.places[node]
  return place < 0 ? node - 1 : tuples.at(place, 2 + 2 * index)
}

/** Returns the set of suffixes after `byte`; 0, the empty set, if there are none. */
export function nameChild(node: number, byte: number): number {
  const place = nodes.places[node]
  if (place < 0) return nodes.bytes[node] === byte ? node - 1 : 0
  const { values, offsets } = tuples
  const end = offsets[place + 1]
  for (let at = offsets[place] + 1; at < end; at += 2) if (values[at] === byte) return values[at + 1]
  return 0
}

/** Returns the bytes that have a child at `node`, ascending. */
export function nameBytes(node: number): number[] {
  const place = nodes.places[node]
  if (place < 0) return [nodes.bytes[node]]
  const { values, offsets } = tuples
  const found: number[] = []
  const end = offsets[place + 1]
  for (let at = offsets[place] + 1; at < end; at += 2) found.push(values[at])
  return found
}

/** Returns whether some name of `node` is usable. */
export function hasUsableName(node: number): boolean {
  return (usesOf(node) & 1) === 1
}

/** Returns how many names of `node` are excluded. */
export function excludedCount(node: number): number {
  return usesOf(node) >>> 1
}

function usesOf(node: number): number {
  const place = nodes.places[node]
  return nodes.uses[place < 0 ? ~place : place]
}

/** Writes the tuple of `node` into `into` and returns its length. */
export function writeNode(node: number, into: Int32Array): number {
  const place = nodes.places[node]
  if (place < 0) {
    into[0] = 0
    into[1] = nodes.bytes[node]
    into[2] = node - 1
    return 3
  }
  const { values, offsets } = tuples
  const start = offsets[place]
  const length = offsets[place + 1] - start
  for (let i = 0; i < length; i++) into[i] = values[start + i]
  return length
}

/** Returns the node of `tuple[0 .. length)`. */
export function internNode(tuple: ArrayLike<number>, length = tuple.length): number {
  if (length === 1 && isEnd(tuple[0])) return tuple[0]
  if (length === 3 && tuple[0] === 0) {
    const byte = tuple[1]
    const child = tuple[2]
    // The newest node has no parent yet.
    if (child === nodes.count - 1) {
      makeRoom(1)
      return addLink(byte)
    }
    // A link lies beside its child, so a known name costs one step through memory for each byte,
    // without a look-up.
    if (linkByte(child + 1) === byte) return child + 1
  }
  makeRoom(1)
  const id = tuples.intern(tuple, length)
  return nodes.of[id] !== 0 ? nodes.of[id] : addTuple(id)
}

/** Makes a node whose tag is its own number. A name with this tag ends there in every trie. */
export function addEnd(): number {
  makeRoom(1)
  return addTuple(tuples.append([nodes.count], 1))
}

/**
 * Makes links above the newest node that spell `name[from .. to)`. Returns the link of
 * `name[from]`, or the newest node if the range is empty. `toCome` is the count of bytes still to
 * come, which sizes the room if it must grow.
 */
export function addLinks(name: Uint8Array, from: number, to: number, toCome = 0): number {
  const length = to - from
  if (nodes.count + length > nodes.places.length) makeRoom(Math.max(length, toCome))
  const below = placeBelow()
  for (let i = 0; i < length; i++) {
    nodes.places[nodes.count + i] = below
    nodes.bytes[nodes.count + i] = name[to - 1 - i]
  }
  nodes.count += length
  return nodes.count - 1
}

/** Returns whether `node` is the newest node, above which a link can lie. */
export function isNewest(node: number): boolean {
  return node === nodes.count - 1
}

/** Adds a link. The caller has made room. */
function addLink(byte: number): number {
  nodes.places[nodes.count] = placeBelow()
  nodes.bytes[nodes.count] = byte
  return nodes.count++
}

/** Returns the entry in `places` of a link above the newest node. */
function placeBelow(): number {
  const newest = nodes.places[nodes.count - 1]
  return newest < 0 ? newest : ~newest
}

/** Returns the node of a new tuple. The caller has made room. */
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
  nodes.uses[id] = 2 * excluded + (isUsable ? 1 : 0)
  nodes.of[id] = nodes.count
  nodes.places[nodes.count] = id
  return nodes.count++
}

/** Makes room for `length` more nodes and one more tuple. */
function makeRoom(length: number): void {
  if (nodes.count + length > nodes.places.length) {
    const room = Math.max(moreThan(nodes.places.length), nodes.count + length)
    const more = new Uint8Array(room)
    more.set(nodes.bytes)
    nodes.places = grown(nodes.places, room)
    nodes.bytes = more
  }
  if (tuples.count >= nodes.of.length) {
    nodes.uses = grown(nodes.uses, moreThan(nodes.of.length))
    nodes.of = grown(nodes.of, moreThan(nodes.of.length))
  }
}

/** Returns whether `tag` is the node at which names with that tag end. */
function isEnd(tag: number): boolean {
  return tag < nodes.count && nodes.places[tag] >= 0 && childCount(tag) === 0 && nameTag(tag) === tag
}
