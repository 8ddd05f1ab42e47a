/**
 * The CPU sampler: computes rows one after the other, each by itself, so that no result depends on
 * the neighbouring rows.
 */

import { Selector } from "./fast/select.ts"
import type { LogitsSource, SampleResult, SampleRow, Sampler } from "./row.ts"
import { judgeRow } from "./search/rejection.ts"

/**
 * Returns the sampler that runs everywhere, in the caller's thread. It defines the results of all
 * other samplers. A row costs at least O(V).
 */
export function createCpuSampler(): Sampler {
  return {
    name: "cpu",
    async sample(logits, width, rows) {
      const of = (host: Float32Array) => (row: SampleRow) =>
        sampleOnCpu(logitsOf(host, width, row.logitsRow), row)
      if (logits instanceof Float32Array) return rows.map(of(logits))
      if (logits.host) return rows.map(of(logits.host))
      const results: SampleResult[] = []
      for (const row of rows) results.push(sampleOnCpu(await logits.row(row.logitsRow), row))
      return results
    },
    close() {},
  }
}

/**
 * Samples one row; `logits` is that row alone. Every sampler uses it for rows that it computes on
 * the CPU.
 */
export function sampleOnCpu(logits: Float32Array, row: SampleRow): SampleResult {
  return row.judged ? judgeRow(logits, row) : selector.select(logits, row)
}

// Holds scratch memory only: no row can see data of another.
const selector = new Selector()

/** Returns all rows on the host, shape [R, V]. Rows on a device are copied, one after the other. */
export async function onHost(logits: LogitsSource): Promise<Float32Array> {
  const { width, rowCount, host } = logits
  if (host) return host
  const rows = new Float32Array(rowCount * width)
  for (let index = 0; index < rowCount; index++) rows.set(await logits.row(index), index * width)
  return rows
}

/**
 * Returns row `index` of logits [R, V], without a copy. Throws RangeError if the row does not
 * exist.
 */
export function logitsOf(logits: Float32Array, width: number, index: number): Float32Array {
  if (!(Number.isInteger(index) && index >= 0 && (index + 1) * width <= logits.length)) {
    throw new RangeError(
      `logitsRow: ${index} is outside the ${Math.floor(logits.length / width)} rows of the logits`,
    )
  }
  return logits.subarray(index * width, (index + 1) * width)
}
