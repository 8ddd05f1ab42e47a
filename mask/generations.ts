/**
 * A cache by pairs of integers within a bound of bytes, in two generations.
 *
 * What is asked for is kept in the young one. When that has grown to half of the bound it becomes the old one, whose
 * place in memory is free again; what is asked for there once more is young again. So what is in use stays, at the cost
 * of one look-up, and what is not goes after half of the bound at the latest.
 */
import { PairMap } from "../grammar/intern.ts"

interface Generation<T> {
  /** (a, b) → index of its value. */
  readonly places: PairMap
  values: T[]
  /** What each value counts. */
  charges: number[]
  bytes: number
}

export class Generations<T> {
  private readonly maxBytes: number
  private young: Generation<T> = { places: new PairMap(), values: [], charges: [], bytes: 0 }
  private old: Generation<T> = { places: new PairMap(), values: [], charges: [], bytes: 0 }

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Of both generations: never more than the bound and one value. */
  get bytes(): number {
    return this.young.bytes + this.old.bytes
  }

  get(a: number, b: number): T | undefined {
    const place = this.young.places.get(a, b)
    if (place >= 0) return this.young.values[place]
    const before = this.old.places.get(a, b)
    if (before < 0) return undefined
    const value = this.old.values[before]
    this.set(a, b, value, this.old.charges[before])
    return value
  }

  /** Keeps `value`, which is not there yet and counts `bytes`. Whether an old generation has gone. */
  set(a: number, b: number, value: T, bytes: number): boolean {
    const { young } = this
    young.places.set(a, b, young.values.push(value) - 1)
    young.charges.push(bytes)
    young.bytes += bytes
    if (2 * young.bytes <= this.maxBytes) return false
    this.young = emptied(this.old)
    this.old = young
    return true
  }

  /** Forgets everything. */
  clear(): void {
    emptied(this.young)
    emptied(this.old)
  }
}

function emptied<T>(generation: Generation<T>): Generation<T> {
  generation.places.clear()
  generation.values = []
  generation.charges = []
  generation.bytes = 0
  return generation
}
