/**
 * The input and the result of a sampler for one row: the contract of the CPU and the GPU sampler.
 *
 * Logits are row-major [R, V]. A mask is Uint32Array [W], W = ceil(V / 32): token t is allowed if
 * bit `t & 31` of word `t >>> 5` is set. A null mask allows every token. The result of a row
 * depends on the row alone.
 */
import type { TokenCounts } from "./counts.ts"
import type { SamplingParams } from "./params.ts"

/**
 * The distribution that a draft token was drawn from: probabilities by token, ids ascending. null
 * if the token was certain.
 */
export type DraftLaw = ReadonlyMap<number, number> | null

/** The input of one draw besides its logits. The result depends on the row and its logits alone. */
export interface SampleRow {
  /** Index of the row in the logits. */
  readonly logitsRow: number
  readonly params: SamplingParams
  /** Shape [W]; null allows every token. */
  readonly mask: Uint32Array | null
  /** Equal ids promise equal masks, so a sampler may cache the mask by its id. */
  readonly maskId?: number
  readonly tokens: TokenCounts
  /** Number of tokens of prompt and output before the drawn one. */
  readonly position: number
  /** Index among the answers of a request. */
  readonly choice: number
  /** Logits of the weaker model, shape [V]; required by `params.contrastive`. */
  readonly amateur?: Float32Array
  readonly processors?: readonly LogitsProcessor[]
  /** A draft token to accept or replace (`rejection.ts`) instead of an ordinary draw. */
  readonly judged?: { readonly token: number; readonly law: DraftLaw }
}

/** What a processor knows about its row. All of it is a copy. */
export interface ProcessorRow {
  /** Number of tokens of prompt and output before the drawn one. */
  readonly position: number
  /** Index among the answers of a request. */
  readonly choice: number
  /** The tokens of prompt and output so far. */
  readonly tokens: Int32Array
  /** Number of `tokens` that are the prompt's. */
  readonly promptCount: number
  /**
   * Shape [W]: the tokens that may be drawn. Clearing a bit forbids its token; setting one has no
   * effect.
   */
  readonly mask: Uint32Array
}

/**
 * Changes logits in place, after the penalties and before the temperature. Shape [V]. An entry of
 * −Infinity is not allowed: a processor can forbid a token by it but cannot lift it. NaN, a
 * promise, or a row without any token left is an error of this row.
 */
export type LogitsProcessor = (logits: Float32Array, row: ProcessorRow) => void

/** `ok`, or why there is no token: no token is allowed, or the logits are not numbers. */
export type SampleStatus = "ok" | "empty_mask" | "model_output"

/** Bans that were lifted because they left no other token. */
export type Relaxation = "no_repeat_ngram_size" | "min_tokens" | "bad_words"

/** The result of one row: a token, or the reason for its absence. */
export interface SampleResult {
  /** −1 unless the status is `ok`. */
  readonly token: number
  readonly status: SampleStatus
  readonly logprobs?: TokenLogprobs
  readonly relaxed?: readonly Relaxation[]
  /** Surprise of the token in bits, for mirostat rows. */
  readonly surprise?: number
  /** For judged rows: whether the token is the draft token, accepted. */
  readonly isAccepted?: boolean
}

/** A token with its log-probability and its rank. */
export interface RankedLogprob {
  readonly token: number
  /** Natural logarithm; −9999 for an impossible token. In the logit modes, the logit. */
  readonly logprob: number
  /** Rank in the pinned order, from 1; 0 if the token is not in it. */
  readonly rank: number
}

/** The log-probability of the drawn token, and those of the likeliest and the named tokens. */
export interface TokenLogprobs extends RankedLogprob {
  /** The likeliest tokens in pinned order, as many as were asked for and exist. */
  readonly top: readonly RankedLogprob[]
  /** The tokens of `logprobTokenIds`, in that order. */
  readonly named: readonly RankedLogprob[]
}

/** Logits that may be on a device: rows of V columns. */
export interface LogitsSource {
  /** V. */
  readonly width: number
  readonly rowCount: number
  /** All rows, if they are on the host: shape [R, V], row-major. Otherwise null. */
  readonly host: Float32Array | null
  /**
   * Returns one row on the host, shape [V]: a view if the rows are on the host, else a copy. Throws
   * RangeError if the row does not exist.
   */
  row(index: number): Promise<Float32Array>
}

/** Draws a token for each row of logits. */
export interface Sampler {
  readonly name: "cpu" | "gpu"
  /**
   * Returns one result for each row, in the order of `rows`. `logits` is [R, V] with V = `width`
   * and is not written. A sampler on the device of the logits reads them there; every other sampler
   * asks for the rows that it needs.
   */
  sample(
    logits: Float32Array | LogitsSource,
    width: number,
    rows: readonly SampleRow[],
  ): Promise<SampleResult[]>
  close(): void
}

/** Returns the number of set bits. O(W). */
export function countBits(mask: Uint32Array): number {
  let count = 0
  for (let word = 0; word < mask.length; word++) {
    let bits = mask[word]
    if (bits === 0) continue
    // Sums pairs of bits, then nibbles, then bytes, and adds all bytes by one product. Warren,
    // Hacker's Delight, 5-1.
    bits -= (bits >>> 1) & 0x55555555
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
    count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

/** Returns the only id of a mask, or −1 if it has none or several. */
export function onlyBit(mask: Uint32Array): number {
  let found = -1
  for (let word = 0; word < mask.length; word++) {
    const bits = mask[word]
    if (bits === 0) continue
    if (found >= 0 || (bits & (bits - 1)) !== 0) return -1
    found = 32 * word + 31 - Math.clz32(bits)
  }
  return found
}

/**
 * Returns the ids below `width` that all of the masks allow, ascending. At least one of the masks
 * must not be null. O(W + ids).
 */
export function legalIds(masks: readonly (Uint32Array | null)[], width: number): Uint32Array {
  const given = masks.filter((mask) => mask !== null)
  const ids: number[] = []
  for (let word = 0; 32 * word < width; word++) {
    let bits = -1
    for (const mask of given) bits &= mask[word]
    for (; bits !== 0; bits &= bits - 1) ids.push(32 * word + 31 - Math.clz32(bits & -bits))
  }
  while (ids.length > 0 && ids[ids.length - 1] >= width) ids.pop()
  return Uint32Array.from(ids)
}

export function hasBit(mask: Uint32Array | null, token: number): boolean {
  return mask === null || (mask[token >>> 5] & (1 << (token & 31))) !== 0
}

/** The last check of a drawn token: throws if any mask of the row denies it. */
export function checkDrawn(row: SampleRow, token: number, width: number): void {
  if (token >= 0 && token < width && hasBit(row.mask, token) && hasBit(row.params.allowed, token)) return
  throw new Error(
    `internal: token ${token} was drawn at position ${row.position}, and the row's mask denies it`,
  )
}
