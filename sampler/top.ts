/**
 * The first k pairs of the pinned order without a full sort: a bounded heap for small k, a sort of
 * composite keys for larger k.
 *
 * `values` are f32, and −∞ marks a token that is not a candidate. `ids` are ascending, or null if
 * each index is its own id. Shared by the fast path and by log-probabilities.
 */

/**
 * Largest k for which a heap is used; for larger k, sorting is cheaper than updating a large heap.
 */
export const HeapSize = 256

/** Pairs in pinned order. */
export interface Ranked {
  readonly count: number
  readonly values: Float32Array
  readonly ids: Int32Array
}

/**
 * Returns the first k pairs of the pinned order, or all if there are fewer. k ≤ HeapSize. The
 * result is valid until the next call.
 */
export class TopHeap {
  count = 0
  /** While the heap is filled, the worst pair is at 0; `rank` sorts it. */
  readonly values = new Float32Array(HeapSize)
  readonly ids = new Int32Array(HeapSize)

  rank(values: Float32Array, ids: Int32Array | null, n: number, k: number): Ranked {
    this.count = 0
    let bound = Number.NEGATIVE_INFINITY
    // hot
    for (let at = 0; at < n; at++) {
      // Ids ascend, so an equal value comes after all pairs in the heap.
      if (values[at] <= bound) continue
      this.push(values[at], ids === null ? at : ids[at], k)
      if (this.count === k) bound = this.values[0]
    }
    const count = this.count
    for (let last = count - 1; last > 0; last--) {
      this.swap(0, last)
      this.sink(0, last)
    }
    return { count, values: this.values, ids: this.ids }
  }

  private push(value: number, id: number, k: number): void {
    if (this.count === k) {
      this.values[0] = value
      this.ids[0] = id
      this.sink(0, k)
      return
    }
    let at = this.count++
    this.values[at] = value
    this.ids[at] = id
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.isWorse(at, parent)) break
      this.swap(at, parent)
      at = parent
    }
  }

  private sink(start: number, end: number): void {
    for (let at = start; ; ) {
      const left = 2 * at + 1
      if (left >= end) return
      const child = left + 1 < end && this.isWorse(left + 1, left) ? left + 1 : left
      if (!this.isWorse(child, at)) return
      this.swap(child, at)
      at = child
    }
  }

  private isWorse(a: number, b: number): boolean {
    const { values, ids } = this
    return values[a] < values[b] || (values[a] === values[b] && ids[a] > ids[b])
  }

  private swap(a: number, b: number): void {
    const { values, ids } = this
    const value = values[a]
    const id = ids[a]
    values[a] = values[b]
    ids[a] = ids[b]
    values[b] = value
    ids[b] = id
  }
}

/**
 * Widest row that `sortPinned` can take: ordered value and id share the 53 exact bits of a float64.
 */
export const MaxSortWidth = 2 ** 21

const float = new Float32Array(1)
const word = new Uint32Array(float.buffer)

/**
 * Sorts pairs into pinned order. Ids are below MaxSortWidth; no value is NaN or −0. O(n log n),
 * with the native sort.
 */
export function sortPinned(values: Float32Array, ids: Int32Array, n: number): Ranked {
  const keys = new Float64Array(n)
  for (let at = 0; at < n; at++) {
    // Descending value and ascending id together form one ascending number.
    keys[at] = (0xffffffff - ordered(values[at])) * MaxSortWidth + ids[at]
  }
  keys.sort()
  const sorted = { count: n, values: new Float32Array(n), ids: new Int32Array(n) }
  for (let at = 0; at < n; at++) {
    sorted.ids[at] = keys[at] % MaxSortWidth
    word[0] = unordered(0xffffffff - Math.floor(keys[at] / MaxSortWidth))
    sorted.values[at] = float[0]
  }
  return sorted
}

/** Returns an unsigned word that grows with the value. */
function ordered(value: number): number {
  float[0] = value + 0
  return (word[0] ^ (word[0] >>> 31 === 1 ? 0xffffffff : 0x80000000)) >>> 0
}

function unordered(key: number): number {
  return (key ^ (key >>> 31 === 1 ? 0x80000000 : 0xffffffff)) >>> 0
}
