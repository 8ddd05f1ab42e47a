/**
 * The weights of a model as a file stores them. GGUF and safetensors are both read through this
 * interface, so the writer of the graph does not know the format. Only headers are read when a file
 * is opened; the values are read by rows, on demand.
 */

/** A tensor of a file: rows of `columns` values, row after row, in blocks of its type. */
export interface Tensor {
  readonly name: string
  /** The type as GGUF names it: "F32", "F16", "BF16", "Q4_0", "Q6_K" … */
  readonly type: string
  /**
   * Outermost first: [rows, columns], or [n], or [experts, rows, columns]. Its product is at most
   * 2^53.
   */
  readonly shape: readonly number[]
}

/** The weights of a model, which are read piece by piece and never as a whole. */
export interface Weights {
  readonly tensors: ReadonlyMap<string, Tensor>
  /**
   * Returns the stored bytes of `count` rows of a tensor, from row `first` on; all outer dimensions
   * count as rows, and [n] is one row. The array is new and starts at offset 0 of its buffer.
   * Throws ModelError for an unknown name, for rows past the end, for more than 2 GiB of rows, and
   * if the file cannot be read.
   */
  rows(name: string, first: number, count: number): Uint8Array
  close(): void
}

/** Returns the number of values of all tensors. */
export function parameterCountOf({ tensors }: Pick<Weights, "tensors">): number {
  return [...tensors.values()].reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0)
}
