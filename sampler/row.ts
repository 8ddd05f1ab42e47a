/**
 * The input and the result of a sampler for one row: the contract of the CPU and the GPU sampler.
 *
 * Logits are row-major [R, V]; a mask is Uint32Array [W], W = ceil(V / 32), bit `t & 31` of word `t
 * >>> 5` = token t is allowed, null = every token is. A row's answer depends on nothing but the
 * row.
 */
import type { TokenCounts } from "./counts.ts"
import type { SamplingParams } from "./params.ts"

/**
 * What a draft token was drawn from: probabilities by token, ids ascending. null: it was certain.
 */
export type DraftLaw = ReadonlyMap<number, number> | null

/**
 * What one draw needs beside its logits. A row's answer depends on nothing but the row and its
 * logits.
 */
export interface SampleRow {
  /** Which row of the logits. */
  readonly logitsRow: number
  readonly params: SamplingParams
  /** Shape [W]; null: every token is allowed. */
  readonly mask: Uint32Array | null
  /** Equal ids promise equal masks: a sampler may keep the mask under it. */
  readonly maskId?: number
  readonly tokens: TokenCounts
  /** Tokens of prompt and output before the drawn one. */
  readonly position: number
  /** Index among the answers of a request. */
  readonly choice: number
  /** Logits of the weaker model, shape [V]; needed by `params.contrastive`. */
  readonly amateur?: Float32Array
  readonly processors?: readonly LogitsProcessor[]
  /** A draft token that is accepted or replaced (`rejection.ts`) instead of an ordinary draw. */
  readonly judged?: { readonly token: number; readonly law: DraftLaw }
}

/**
 * Changes values in place, after the penalties. Shape [V]; an entry of −Infinity is not allowed:
 * what arrives so stays so, and what is set so is banned. NaN ends the row as `model_output`.
 */
export type LogitsProcessor = (values: Float32Array, row: SampleRow) => void

/** `ok`, or why there is no token: nothing is allowed; the logits are not numbers. */
export type SampleStatus = "ok" | "empty_mask" | "model_output"

/** Bans that were lifted because nothing else was left. */
export type Relaxation = "no_repeat_ngram_size" | "min_tokens" | "bad_words"

/** The answer to one row: a token, or why there is none. */
export interface SampleResult {
  /** −1 unless the status is ok. */
  readonly token: number
  readonly status: SampleStatus
  readonly logprobs?: TokenLogprobs
  readonly relaxed?: readonly Relaxation[]
  /** Bits of surprise of the token, of mirostat rows. */
  readonly surprise?: number
  /** Of judged rows: the token is the draft's, accepted. */
  readonly isAccepted?: boolean
}

/** One token with its log-probability and its rank. */
export interface RankedLogprob {
  readonly token: number
  /** Natural; −9999 for what cannot be. A logit in the modes of logits. */
  readonly logprob: number
  /** Place in the pinned order, from 1; 0 for a token that is not in it. */
  readonly rank: number
}

/** The log-probability of the drawn token, with those of the likeliest and of the named ones. */
export interface TokenLogprobs extends RankedLogprob {
  /** The likeliest tokens in pinned order, as many as were asked for and exist. */
  readonly top: readonly RankedLogprob[]
  /** The tokens of `logprobTokenIds`, in that order. */
  readonly named: readonly RankedLogprob[]
}

/** Draws a token for each row of logits. */
export interface Sampler {
  readonly name: "cpu" | "gpu"
  /**
   * One answer a row, in the order of `rows`. `logits` is [R, V] with V = `width` and is not
   * written.
   */
  sample(logits: Float32Array, width: number, rows: readonly SampleRow[]): Promise<SampleResult[]>
  close(): void
}

/** How many bits are set. O(W). */
export function countBits(mask: Uint32Array): number {
  let count = 0
  for (let word = 0; word < mask.length; word++) {
    let bits = mask[word]
    if (bits === 0) continue
    // Sums of pairs, of nibbles, of bytes, then of all bytes by one product. Warren, Hacker's
    // Delight, 5-1.
    bits -= (bits >>> 1) & 0x55555555
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
    count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

/** The only id of a mask; −1 when it has none, or several. */
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
 * Ids below `width` that all of the masks allow, ascending. At least one of them is not null. O(W +
 * ids).
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

/**
 * The last line of defence: the token's bit in every mask of the row. Throws on a token that a mask
 * denies.
 */
export function checkDrawn(row: SampleRow, token: number, width: number): void {
  if (token >= 0 && token < width && hasBit(row.mask, token) && hasBit(row.params.allowed, token)) return
  throw new Error(
    `internal: token ${token} was drawn at position ${row.position}, and the row's mask denies it`,
  )
}
