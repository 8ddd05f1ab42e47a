/**
 * The logits of one forward: R rows of V columns, on the host or on the device of the sampler.
 *
 * Most rows that are on a device are never needed on the host, so a reader asks for each row that
 * it needs. It does not have to know where the rows are.
 */
import { logitsOf } from "../../sampler/sampler.ts"

export interface StepLogits {
  /** V. */
  readonly width: number
  /** R. */
  readonly rowCount: number
  /** All rows, if they are on the host: shape [R, V], row-major. Otherwise null. */
  readonly host: Float32Array | null
  /**
   * Returns one row on the host, shape [V]: a view if the rows are on the host, else a copy. Throws
   * RangeError if the row does not exist.
   */
  row(index: number): Promise<Float32Array>
  /** Returns copies of the rows from `start` to before `end`, which outlive the next forward. */
  keep(start: number, end: number): StepLogits
  /** Frees the rows on the device. They cannot be read then. */
  release(): void
}

/** Returns rows of an array as logits. Shape [R, V], V = `width`; the array is not copied. */
export function hostLogits(host: Float32Array, width: number): StepLogits {
  return {
    width,
    rowCount: host.length / width,
    host,
    row: async (index) => logitsOf(host, width, index),
    keep: (start, end) => hostLogits(host.slice(start * width, end * width), width),
    release: () => {},
  }
}

/** Returns all rows on the host, shape [R, V]. Rows on a device are copied, one after the other. */
export async function onHost(logits: StepLogits): Promise<Float32Array> {
  const { width, rowCount, host } = logits
  if (host) return host
  const rows = new Float32Array(rowCount * width)
  for (let index = 0; index < rowCount; index++) rows.set(await logits.row(index), index * width)
  return rows
}
