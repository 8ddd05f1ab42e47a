/**
 * The CPU sampler: rows one after the other, each by itself, so that no row's answer depends on its
 * neighbours.
 */

import { Selector } from "./fast/select.ts"
import type { SampleResult, SampleRow, Sampler } from "./row.ts"
import { judgeRow } from "./search/rejection.ts"

/**
 * The sampler that runs everywhere, in the caller's thread; it defines what every other one
 * answers. A row costs O(V) or more.
 */
export function createCpuSampler(): Sampler {
  return {
    name: "cpu",
    async sample(logits, width, rows) {
      return rows.map((row) => sampleOnCpu(logitsOf(logits, width, row.logitsRow), row))
    },
    close() {},
  }
}

/** One row, `logits` is that row alone: what every sampler does with a row that runs here. */
export function sampleOnCpu(logits: Float32Array, row: SampleRow): SampleResult {
  return row.judged ? judgeRow(logits, row) : selector.select(logits, row)
}

// Scratch memory only: no row leaves anything in it that another could see.
const selector = new Selector()

/** Row `index` of logits [R, V], without a copy. Throws RangeError when there is no such row. */
export function logitsOf(logits: Float32Array, width: number, index: number): Float32Array {
  if (!(Number.isInteger(index) && index >= 0 && (index + 1) * width <= logits.length)) {
    throw new RangeError(
      `logitsRow: ${index} is outside the ${Math.floor(logits.length / width)} rows of the logits`,
    )
  }
  return logits.subarray(index * width, (index + 1) * width)
}
