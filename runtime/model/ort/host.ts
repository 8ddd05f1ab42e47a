/**
 * Caches and logits in the memory of this process.
 */

import type { Tensor } from "onnxruntime-node"
import { type CacheArray, makeArray, type TensorConstructor } from "./graph.ts"
import type { Memory, Move, Place } from "./memory.ts"
import type { CacheShape, FloatType } from "./signature.ts"

/** The exponent bits of a float16 that is infinite or NaN. */
const halfInfinity = 0x7c00

export class HostMemory implements Memory<CacheArray, Float32Array> {
  readonly isOnHost = true
  readonly sharesPast = false
  /** Memory of earlier logits that have been read, to be used again. */
  reuse: ArrayBuffer | undefined
  private readonly Tensor: TensorConstructor

  constructor(Tensor: TensorConstructor) {
    this.Tensor = Tensor
  }

  make(type: FloatType, length: number): CacheArray {
    return makeArray(type, length)
  }

  free(): void {}

  copy(_: FloatType, from: Place<CacheArray>, to: Place<CacheArray>, length: number): void {
    to.block.set(from.block.subarray(from.at, from.at + length), to.at)
  }

  tensor(
    type: FloatType,
    block: CacheArray,
    at: number,
    dims: readonly number[],
  ): { tensor: Tensor; isView: boolean } {
    const count = dims.reduce((product, dim) => product * dim, 1)
    return { tensor: new this.Tensor(type, block.subarray(at, at + count), dims), isView: true }
  }

  write(cache: CacheShape, output: Tensor, to: CacheArray, capacity: number, moves: readonly Move[]): void {
    const { heads, dim, state } = cache
    const from = output.data as CacheArray
    for (const move of moves) {
      if (state) {
        to.set(from.subarray(move.fromRow * dim, (move.fromRow + 1) * dim), move.toRow * dim)
        continue
      }
      const length = output.dims[2]
      for (let head = 0; head < heads; head++) {
        const at = ((move.fromRow * heads + head) * length + move.from) * dim
        const place = ((move.toRow * heads + head) * capacity + move.to) * dim
        to.set(from.subarray(at, at + move.count * dim), place)
      }
    }
  }

  isFinite({ heads, dim, state }: CacheShape, output: Tensor, { fromRow, from, count }: Move): boolean {
    if (state) return true
    const values = output.data as CacheArray
    const length = output.dims[2]
    const isHalf = values instanceof Uint16Array
    for (let head = 0; head < heads; head++) {
      const at = ((fromRow * heads + head) * length + from) * dim
      for (let i = at; i < at + count * dim; i++)
        if (isHalf ? (values[i] & halfInfinity) === halfInfinity : !Number.isFinite(values[i])) return false
    }
    return true
  }

  clear({ heads, dim }: CacheShape, block: CacheArray, capacity: number, { toRow, to, count }: Move): void {
    for (let head = 0; head < heads; head++) {
      const place = ((toRow * heads + head) * capacity + to) * dim
      block.fill(0, place, place + count * dim)
    }
  }

  makeLogits(rowCount: number, width: number): Float32Array {
    const length = rowCount * width
    const { reuse } = this
    this.reuse = undefined
    return reuse && reuse.byteLength >= 4 * length
      ? new Float32Array(reuse, 0, length)
      : new Float32Array(length)
  }

  keepLogits(logits: Float32Array, to: number, run: Tensor, from: number, count: number): void {
    const width = run.dims[2]
    const data = run.data as CacheArray
    const values = data.subarray(from * width, (from + count) * width)
    logits.set(values instanceof Float32Array ? values : Float32Array.from(values, halfToFloat), to * width)
  }

  breakLogits(logits: Float32Array, width: number, to: number, count: number): void {
    logits.fill(Number.NaN, to * width, (to + count) * width)
  }

  readLogits(logits: Float32Array): Promise<Float32Array> {
    return Promise.resolve(logits)
  }

  freeLogits(): void {}

  flush(): void {}

  dispose(): void {}
}

/** Converts an IEEE 754 binary16 to a number. */
export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >>> 10) & 31
  const fraction = bits & 1023
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
