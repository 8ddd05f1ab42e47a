/**
 * A cache by pairs of integers within a bound of bytes, in two generations.
 *
 * Every look-up puts its value into the young generation. When that has grown to half of the bound
 * it becomes the old one, and the former old one is freed. So values in use stay, at the cost of
 * one look-up, and others are evicted after half of the bound at the latest.
 */
import { PairMap } from "../../grammar/intern.ts"

/** A cached value, under one pair or several. */
export interface Kept {
  readonly bytes: number
  /** The last generation that counts its bytes; 0 at first. Only the cache writes it. */
  generation: number
}

interface Generation<T> {
  readonly id: number
  /** (a, b) → index of its value. */
  readonly places: PairMap
  readonly values: T[]
  bytes: number
}

/** Bytes of a pair and its value in the maps. */
export const placeBytes = 64

export class Generations<T extends Kept> {
  private readonly maxBytes: number
  private count = 0
  private young = this.begin()
  private old = this.begin()

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Bytes of both generations: at most the bound and one value. */
  get bytes(): number {
    return this.young.bytes + this.old.bytes
  }

  /** Changes each time an old generation is freed, which a look-up can cause too. */
  get generation(): number {
    return this.young.id
  }

  get(a: number, b: number): T | undefined {
    const place = this.young.places.get(a, b)
    if (place >= 0) return this.young.values[place]
    const before = this.old.places.get(a, b)
    if (before < 0) return undefined
    const value = this.old.values[before]
    this.set(a, b, value)
    return value
  }

  /** Caches `value` under this pair, which must not have a value yet. */
  set(a: number, b: number, value: T): void {
    const { young } = this
    young.places.set(a, b, young.values.push(value) - 1)
    young.bytes += placeBytes
    // A value under several pairs counts once in each generation that holds it.
    if (value.generation !== young.id) {
      value.generation = young.id
      young.bytes += value.bytes
    }
    if (2 * young.bytes <= this.maxBytes) return
    const next = this.begin()
    this.old = young
    this.young = next
  }

  /** Evicts everything. */
  clear(): void {
    const [young, old] = [this.begin(), this.begin()]
    this.young = young
    this.old = old
  }

  private begin(): Generation<T> {
    return { id: ++this.count, places: new PairMap(), values: [], bytes: 0 }
  }
}
