/** Rows for the tests: what is not named is off. */
import { TokenCounts } from "../../sampler/counts.ts"
import { type ParamsContext, resolveParams, type SamplingOptions } from "../../sampler/params.ts"
import type { SampleRow } from "../../sampler/row.ts"

export interface RowOptions extends SamplingOptions {
  mask?: readonly number[] | Uint32Array
  /** Bits of the first word. */
  bits?: number
  prompt?: readonly number[]
  output?: readonly number[]
  position?: number
  choice?: number
  logitsRow?: number
  amateur?: readonly number[]
  endIds?: readonly number[]
  boundary?: "ge" | "gt"
  context?: Partial<ParamsContext>
  processors?: SampleRow["processors"]
}

export function maskOf(width: number, ids: Iterable<number>): Uint32Array {
  const mask = new Uint32Array(Math.ceil(width / 32))
  for (const id of ids) mask[id >>> 5] |= 1 << (id & 31)
  return mask
}

export function rowOf(width: number, options: RowOptions = {}): SampleRow {
  const { prompt = [], output = [], bits, mask, endIds, context } = options
  const params = resolveParams(options, { width, endIds, ...context })
  const tokens = new TokenCounts(prompt)
  for (const token of output) tokens.push(token)
  return {
    logitsRow: options.logitsRow ?? 0,
    params: options.boundary ? { ...params, topPBoundary: options.boundary } : params,
    mask:
      bits !== undefined
        ? Uint32Array.of(bits)
        : mask instanceof Uint32Array
          ? mask
          : mask
            ? maskOf(width, mask)
            : null,
    tokens,
    position: options.position ?? tokens.length,
    choice: options.choice ?? 0,
    ...(options.amateur ? { amateur: Float32Array.from(options.amateur) } : {}),
    ...(options.processors ? { processors: options.processors } : {}),
  }
}

/** A small generator for tests, so that a failing case can be run again. Mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x ^= x + Math.imul(x ^ (x >>> 7), 61 | x)
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Standard normal numbers. */
export function normalOf(random: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
