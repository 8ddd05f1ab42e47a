/**
 * Hash-consing: equal content, equal id.
 *
 * Everything that the engine compares often (expressions, lexeme states, frames, stacks, threads,
 * states) is a small tuple of integers. Interning makes it one dense integer: equality becomes
 * `===`, and memo tables become arrays. Open addressing on an Int32Array takes 141 ns per look-up;
 * a Map with string keys takes 616 (Node 20, one core).
 *
 * A table outlives the call that fills it, and any call may throw (out of memory, stack overflow).
 * So a new entry allocates everything first, and plain assignments put it in place at the end.
 */

/**
 * Size of a new table, in integers. V8 keeps arrays of up to 64 bytes on its own heap, where making
 * one takes 0.2 instead of 0.8 µs (Node 20, one core). Every object schema has a table, and most
 * hold a few tuples.
 */
const FirstRoom = 16

/** Tables above this size grow by a half: doubling would leave half of the largest ones empty. */
const LargeRoom = 1 << 18

/** Returns a size above `room`: at first one outside of V8's heap, then twice as much each time. */
export function moreThan(room: number): number {
  return room < LargeRoom ? Math.max(8 * FirstRoom, 2 * room) : Math.ceil(1.5 * room)
}

/**
 * Mixes one more value into a hash. Multiply-xorshift on 32 bits; the constants are MurmurHash3's
 * (Appleby 2011).
 */
export function mix(hash: number, value: number): number {
  let k = Math.imul(value, 0xcc9e2d51)
  k = (k << 15) | (k >>> 17)
  const h = hash ^ Math.imul(k, 0x1b873593)
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}

function finish(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** Tuples of integers of any length ↔ dense ids from 0. Only grows. */
export class TupleTable {
  /** Count of the ids made so far. */
  count = 0
  /** Values of tuple id: `values[offsets[id] .. offsets[id + 1])`. */
  values: Int32Array<ArrayBuffer>
  offsets: Int32Array<ArrayBuffer>
  /**
   * Open addressing, linear probing. Shape [2^k, 2]: id + 1 (0 = empty) and the hash beside it, so
   * that a miss touches one cache line, and a hit that line and the tuple.
   */
  private slots: Int32Array<ArrayBuffer>
  /** Count of the slots in use. */
  private filled = 0

  /** Makes a table with room for about `room / 4` tuples. `room` is a power of two. */
  constructor(room = FirstRoom) {
    this.values = new Int32Array(room)
    this.offsets = new Int32Array(room)
    this.slots = new Int32Array(room)
  }

  /** Returns the id of `tuple[0 .. length)`; equal tuples get equal ids. */
  intern(tuple: ArrayLike<number>, length = tuple.length): number {
    let hash = length
    for (let i = 0; i < length; i++) hash = mix(hash, tuple[i])
    hash = finish(hash)
    const { slots } = this
    const mask = slots.length - 1
    let slot = (2 * hash) & mask
    for (; slots[slot] !== 0; slot = (slot + 2) & mask) {
      const id = slots[slot] - 1
      if (slots[slot + 1] === hash && this.equals(id, tuple, length)) return id
    }
    if (isFull(this.filled, slots)) {
      this.slots = rehashed(slots)
      return this.intern(tuple, length)
    }
    const id = this.append(tuple, length)
    slots[slot] = id + 1
    slots[slot + 1] = hash
    this.filled++
    return id
  }

  /** Returns a new id for a tuple that is not in the table. `intern` does not find it. */
  append(tuple: ArrayLike<number>, length = tuple.length): number {
    const id = this.count
    const start = this.offsets[id]
    if (id + 2 > this.offsets.length) this.offsets = grown(this.offsets, moreThan(this.offsets.length))
    if (start + length > this.values.length) {
      this.values = grown(this.values, Math.max(moreThan(this.values.length), start + length))
    }
    for (let i = 0; i < length; i++) this.values[start + i] = tuple[i]
    this.offsets[id + 1] = start + length
    this.count = id + 1
    return id
  }

  /** Returns the length of tuple `id`. */
  length(id: number): number {
    return this.offsets[id + 1] - this.offsets[id]
  }

  /** Returns value `index` of tuple `id`. */
  at(id: number, index: number): number {
    return this.values[this.offsets[id] + index]
  }

  /** Returns tuple `id` without a copy. Valid until the next `intern`. */
  view(id: number): Int32Array {
    return this.values.subarray(this.offsets[id], this.offsets[id + 1])
  }

  get bytes(): number {
    return 4 * (this.values.length + this.offsets.length + this.slots.length)
  }

  private equals(id: number, tuple: ArrayLike<number>, length: number): boolean {
    const start = this.offsets[id]
    if (this.offsets[id + 1] - start !== length) return false
    for (let i = 0; i < length; i++) if (this.values[start + i] !== tuple[i]) return false
    return true
  }
}

/** Four integers ↔ dense ids from 0: like `TupleTable`, without offsets. Only grows. */
export class QuadTable {
  /** Count of the ids made so far. */
  count = 0
  /** Shape [count, 4]. */
  private values = new Int32Array(FirstRoom)
  /** As in `TupleTable`. */
  private slots = new Int32Array(FirstRoom)

  /** Returns the id of (a, b, c, d); equal tuples get equal ids. */
  intern(a: number, b: number, c: number, d: number): number {
    const hash = finish(mix(mix(mix(mix(4, a), b), c), d))
    const { slots, values } = this
    const mask = slots.length - 1
    let slot = (2 * hash) & mask
    for (; slots[slot] !== 0; slot = (slot + 2) & mask) {
      if (slots[slot + 1] !== hash) continue
      const at = 4 * slots[slot] - 4
      if (values[at] === a && values[at + 1] === b && values[at + 2] === c && values[at + 3] === d)
        return at / 4
    }
    return this.add(a, b, c, d, hash, slot)
  }

  /** Returns value `index` of tuple `id`. */
  at(id: number, index: number): number {
    return this.values[4 * id + index]
  }

  /** Returns tuple `id` without a copy. Valid until the next `intern`. */
  view(id: number): Int32Array {
    return this.values.subarray(4 * id, 4 * id + 4)
  }

  get bytes(): number {
    return 4 * (this.values.length + this.slots.length)
  }

  private add(a: number, b: number, c: number, d: number, hash: number, slot: number): number {
    if (isFull(this.count, this.slots)) {
      this.slots = rehashed(this.slots)
      return this.intern(a, b, c, d)
    }
    const at = 4 * this.count
    if (at + 4 > this.values.length) this.values = grown(this.values, moreThan(this.values.length))
    this.values[at] = a
    this.values[at + 1] = b
    this.values[at + 2] = c
    this.values[at + 3] = d
    this.count++
    this.slots[slot] = this.count
    this.slots[slot + 1] = hash
    return this.count - 1
  }
}

/** Returns whether one more than `filled` entries would take more than 3/4 of the slots. */
function isFull(filled: number, slots: Int32Array): boolean {
  return 8 * (filled + 1) > 3 * slots.length
}

/** Returns a copy with twice as many slots. */
function rehashed(old: Int32Array): Int32Array<ArrayBuffer> {
  const slots = new Int32Array(Math.max(8 * FirstRoom, 2 * old.length))
  const mask = slots.length - 1
  for (let from = 0; from < old.length; from += 2) {
    if (old[from] === 0) continue
    let slot = (2 * old[from + 1]) & mask
    while (slots[slot] !== 0) slot = (slot + 2) & mask
    slots[slot] = old[from]
    slots[slot + 1] = old[from + 1]
  }
  return slots
}

const FirstPairs = FirstRoom / 4

/** (a, b) → value, all non-negative integers. Only grows. */
export class PairMap {
  size = 0
  /** Shape [2^k, 3]: a + 1 (0 = empty), b, value. */
  private slots = new Int32Array(3 * FirstPairs)
  private mask = FirstPairs - 1

  /** Returns the value, or -1. */
  get(a: number, b: number): number {
    const { slots, mask } = this
    let slot = finish(mix(mix(2, a), b)) & mask
    for (;;) {
      const key = slots[3 * slot]
      if (key === 0) return -1
      if (key === a + 1 && slots[3 * slot + 1] === b) return slots[3 * slot + 2]
      slot = (slot + 1) & mask
    }
  }

  set(a: number, b: number, value: number): void {
    if (2 * (this.size + 1) > this.mask + 1) this.rehash()
    let slot = finish(mix(mix(2, a), b)) & this.mask
    while (this.slots[3 * slot] !== 0) {
      if (this.slots[3 * slot] === a + 1 && this.slots[3 * slot + 1] === b) {
        this.slots[3 * slot + 2] = value
        return
      }
      slot = (slot + 1) & this.mask
    }
    this.slots[3 * slot] = a + 1
    this.slots[3 * slot + 1] = b
    this.slots[3 * slot + 2] = value
    this.size++
  }

  clear(): void {
    this.slots = new Int32Array(3 * FirstPairs)
    this.mask = FirstPairs - 1
    this.size = 0
  }

  private rehash(): void {
    const old = this.slots
    const mask = Math.max(8 * FirstPairs, 2 * (this.mask + 1)) - 1
    const slots = new Int32Array(3 * (mask + 1))
    for (let from = 0; from < old.length; from += 3) {
      if (old[from] === 0) continue
      let slot = finish(mix(mix(2, old[from] - 1), old[from + 1])) & mask
      while (slots[3 * slot] !== 0) slot = (slot + 1) & mask
      slots[3 * slot] = old[from]
      slots[3 * slot + 1] = old[from + 1]
      slots[3 * slot + 2] = old[from + 2]
    }
    this.slots = slots
    this.mask = mask
  }
}

/** (a, b, c) → value, all integers, the value not negative; or a set of triples. Cleared often. */
export class TripleMap {
  private size = 0
  private round = 1
  /** Shape [2^k, 5]: the round in which the entry was set, the triple, the value. */
  private slots = new Int32Array(5 * 64)
  private mask = 63

  /** Returns the value, or -1. */
  get(a: number, b: number, c: number): number {
    const at = this.find(a, b, c)
    return this.slots[at] === this.round ? this.slots[at + 4] : -1
  }

  set(a: number, b: number, c: number, value: number): void {
    const at = this.find(a, b, c)
    if (this.slots[at] === this.round) this.slots[at + 4] = value
    else this.insert(at, a, b, c, value)
  }

  /** Adds the triple as to a set. Returns false if it was there already. */
  add(a: number, b: number, c: number): boolean {
    const at = this.find(a, b, c)
    if (this.slots[at] === this.round) return false
    this.insert(at, a, b, c, 0)
    return true
  }

  /** Yields all triples, in no order. Nothing may be added meanwhile. */
  *[Symbol.iterator](): Generator<readonly [number, number, number]> {
    const { slots } = this
    for (let at = 0; at < slots.length; at += 5) {
      if (slots[at] === this.round) yield [slots[at + 1], slots[at + 2], slots[at + 3]]
    }
  }

  /** Removes all triples. Constant time. */
  clear(): void {
    this.size = 0
    if (++this.round < 0x7fffffff) return
    this.round = 1
    this.slots.fill(0)
  }

  /** Returns the offset of the triple in `slots`, or of the free slot where it belongs. */
  private find(a: number, b: number, c: number): number {
    const { slots, round } = this
    let slot = finish(mix(mix(mix(3, a), b), c)) & this.mask
    for (;;) {
      const at = 5 * slot
      if (slots[at] !== round) return at
      if (slots[at + 1] === a && slots[at + 2] === b && slots[at + 3] === c) return at
      slot = (slot + 1) & this.mask
    }
  }

  private insert(place: number, a: number, b: number, c: number, value: number): void {
    let at = place
    if (2 * (this.size + 1) > this.mask) {
      this.rehash()
      at = this.find(a, b, c)
    }
    const { slots } = this
    slots[at] = this.round
    slots[at + 1] = a
    slots[at + 2] = b
    slots[at + 3] = c
    slots[at + 4] = value
    this.size++
  }

  private rehash(): void {
    const { round, slots: old } = this
    const mask = 2 * this.mask + 1
    const slots = new Int32Array(5 * (mask + 1))
    for (let from = 0; from < old.length; from += 5) {
      if (old[from] !== round) continue
      let slot = finish(mix(mix(mix(3, old[from + 1]), old[from + 2]), old[from + 3])) & mask
      while (slots[5 * slot] === round) slot = (slot + 1) & mask
      for (let i = 0; i < 5; i++) slots[5 * slot + i] = old[from + i]
    }
    this.slots = slots
    this.mask = mask
  }
}

/** Returns a copy of `array` with room for `length` values. */
export function grown(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(length)
  copy.set(array)
  return copy
}

/** Returns the first index in the ascending `values` with `value` or a higher one. */
export function lowerBound(values: Int32Array, value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}
