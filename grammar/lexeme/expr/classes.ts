/**
 * Classes of bytes with the same derivative. An automaton needs one derivative per class instead of
 * 256 (Owens, Reppy, Turon 2009, section 4). The classes are exact here, since rows are complete.
 */
import { derivativeRow } from "./derivative.ts"
import type { ExprId } from "./nodes.ts"

export interface ByteClasses {
  /** Byte → class. Shape [256]; class 0 is for the bytes that lead to ∅, also if there are none. */
  map: Uint8Array
  /** One byte of each class that does not lead to ∅: class c has `representatives[c - 1]`. */
  representatives: number[]
}

/** Returns the classes of `id`. Not memoized. */
export function classesOf(id: ExprId): ByteClasses {
  const map = new Uint8Array(256)
  const representatives: number[] = []
  const row = derivativeRow(id)
  const targets: ExprId[] = []
  for (let i = 0; i < row.length; i += 2) {
    let index = targets.indexOf(row[i + 1])
    if (index < 0) {
      index = targets.push(row[i + 1]) - 1
      representatives.push(row[i] & 0xff)
    }
    map.fill(index + 1, row[i] & 0xff, (row[i] >>> 8) + 1)
  }
  return { map, representatives }
}
