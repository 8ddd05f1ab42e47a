/** Rows for the tests: what is not named is off. */
import { TokenCounts } from "../../../sampler/counts.ts"
import { type ParamsContext, resolveParams, type SamplingOptions } from "../../../sampler/params.ts"
import type { SampleRow } from "../../../sampler/row.ts"

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

/** Values that differ in how they are distributed, tie and break. */
export function randomLogits(width: number, random: () => number): Float32Array {
  const normal = normalOf(random)
  const kind = Math.floor(random() * 9)
  const spread = random() < 0.5 ? 1 : 5
  return Float32Array.from({ length: width }, () => {
    if (kind === 0) return 0.5
    if (kind === 1) return Math.floor(random() * 3)
    if (kind === 2 && random() < 0.9) return Number.NEGATIVE_INFINITY
    if (kind === 3 && random() < 0.01)
      return [1e38, -1e38, Number.POSITIVE_INFINITY, -0][Math.floor(random() * 4)]
    if (kind === 4) return normal() * 100
    if (kind === 5) return random() < 0.5 ? -0 : 0
    if (kind === 6 && random() < 0.002) return Number.NaN
    return normal() * spread
  })
}

export function randomOptions(width: number, random: () => number): RowOptions {
  const maybe = <Value>(share: number, value: () => Value) => (random() < share ? value() : undefined)
  const ids = (count: number) => Array.from({ length: count }, () => Math.floor(random() * width))
  const density = [0.02, 0.1, 0.5, 0.99][Math.floor(random() * 4)]
  return {
    seed: Math.floor(random() * 1e9),
    position: Math.floor(random() * 1e4),
    choice: Math.floor(random() * 4),
    temperature: maybe(0.7, () => [0, 0.01, 0.3, 0.7, 1, 1.5, 2][Math.floor(random() * 7)]),
    topK: maybe(0.4, () => 1 + Math.floor(random() ** 3 * 1.1 * width)),
    // Quarters meet the mass of equal values exactly.
    topP: maybe(0.4, () =>
      random() < 0.4 ? 0.25 * Math.ceil(3 * random()) || 0.5 : 1 - random() ** 2 * 0.999,
    ),
    minP: maybe(0.2, () => random() ** 2),
    typicalP: maybe(0.08, () => 1 - random() ** 2 * 0.999),
    epsilonCutoff: maybe(0.05, () => 0.2 * random()),
    etaCutoff: maybe(0.05, () => 0.2 * random()),
    xtcProbability: maybe(0.08, random),
    xtcThreshold: 0.5 * random(),
    topNSigma: maybe(0.15, () => 3 * random()),
    repetitionPenalty: maybe(0.2, () => 0.5 + random()),
    frequencyPenalty: maybe(0.2, () => 4 * random() - 2),
    presencePenalty: maybe(0.2, () => 4 * random() - 2),
    dryMultiplier: maybe(0.1, () => random()),
    penaltyWindow: maybe(0.1, () => 5),
    penaltyExempt: random() < 0.1 ? "structural" : "none",
    noRepeatNgramSize: maybe(0.1, () => 1 + Math.floor(random() * 3)),
    logitBias: maybe(0.2, () => new Map(ids(3).map((id) => [id, 200 * random() - 100]))),
    allowedTokenIds: maybe(0.1, () => ids(1 + Math.floor((random() * width) / 2))),
    badWordIds: maybe(0.1, () => [ids(1), ids(2)]),
    minTokens: maybe(0.1, () => 100),
    endIds: ids(2),
    logprobs: maybe(0.1, () => 3),
    mask: maybe(0.6, () =>
      maskOf(
        width,
        Array.from({ length: width }, (_, id) => id).filter(() => random() < density),
      ),
    ),
    prompt: ids(5),
    output: ids(Math.floor(random() * 20)),
  }
}
