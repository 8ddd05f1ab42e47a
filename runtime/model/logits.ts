/**
 * The logits of one forward: R rows of V columns, on the host or on the device of the sampler.
 *
 * Most rows that are on a device are never needed on the host, so a reader asks for each row that
 * it needs. It does not have to know where the rows are.
 */
import type { LogitsSource } from "../../sampler/index.ts"
import { logitsOf } from "../../sampler/sampler.ts"

export interface StepLogits extends LogitsSource {
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
