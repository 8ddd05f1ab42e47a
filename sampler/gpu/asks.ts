/**
 * The values that a row asks for besides its token: log-probabilities, and the judgement of a draft
 * token. This file holds the records of both directions.
 *
 *   Ask      64 B, written by the host (`Asks.add`): row and mask, how many of the likeliest,
 *            which named tokens, which draft distribution
 *   lists    after the asks: named ids; draft distributions as pairs (id, bits of q), ids ascending
 *   Answer   8 B each: (bits of the mass relative to the maximum, key of the maximum); then
 *            (key, number of tokens before it) of the drawn token and of each named one; then
 *            (key, id) of the likeliest tokens; for a judged row, (score key, id) of the token that
 *            replaces the draft token. A key of 0 marks a token that is not allowed
 *   scratch  after the answers, `ScratchWords` for each ask and tile: (mass, maximum), then the
 *            likeliest tokens of the tile
 *
 * Keys are exact values and ranks are counts. The only inexact float is one sum: the host computes
 * the logarithms.
 */
import { Impossible } from "../logprobs.ts"
import { isGreedy, type SamplingParams } from "../params.ts"
import { type RowKey, rowKey, Stream } from "../rng.ts"
import type { DraftLaw, RankedLogprob, SampleResult, SampleRow, TokenLogprobs } from "../row.ts"
import { isTokenAccepted } from "../search/rejection.ts"

/** Maximum number of alternatives that the kernels rank. For more, the row itself is read. */
export const MaxTops = 20
export const AskWords = 16
export const ScratchWords = 2 + 2 * MaxTops

/**
 * `processed`: the ask is about the values after all stages and cuts. `judged`: a replacement for
 * the draft token is drawn.
 */
export const AskFlag = { processed: 1, judged: 2 } as const

export interface Ask {
  /** Index of the row in its submission. */
  readonly row: number
  /** Atlas slot of the mask that applies to raw values; 0 if there is none. */
  readonly slot: number
  readonly isProcessed: boolean
  readonly topCount: number
  readonly named: readonly number[]
  readonly judged?: { readonly token: number; readonly law: DraftLaw; readonly key: RowKey }
}

/** Asks as the device reads them. */
export interface PackedAsks {
  readonly count: number
  readonly hasJudged: boolean
  /** The records, then the lists. */
  readonly words: Uint32Array<ArrayBuffer>
  /** Number of words of all answers. */
  readonly answerWords: number
}

/** The answer to one ask, decoded from the words that the device wrote. */
export interface Answer {
  /** Value of the maximum, and logarithm of the sum of exponentials relative to it. */
  readonly max: number
  readonly log: number
  readonly drawn: Target
  readonly named: readonly Target[]
  readonly top: readonly { readonly token: number; readonly value: number }[]
  /** Token that replaces the draft token, or −1 if the device found none. */
  readonly replacement: number
}

/** A token with its value and rank. `value` is undefined if the token is not allowed. */
interface Target {
  readonly value: number | undefined
  readonly rank: number
}

/** The asks of one submission. */
export class Asks {
  readonly list: Ask[] = []
  /** Number of words of all answers. */
  answerWords = 0
  private readonly offsets: number[] = []

  add(ask: Ask): void {
    this.list.push(ask)
    this.offsets.push(this.answerWords)
    this.answerWords += 2 * (2 + ask.named.length + ask.topCount + (ask.judged ? 1 : 0))
  }

  /**
   * Returns the records for the device. The field order is that of `askAt` in `kernels/rank.ts`.
   */
  pack(): PackedAsks {
    const lists: number[] = []
    const base = AskWords * this.list.length
    const records = this.list.flatMap(({ row, slot, isProcessed, topCount, named, judged }, index) => {
      const flags = (isProcessed ? AskFlag.processed : 0) | (judged ? AskFlag.judged : 0)
      const namedAt = base + lists.length
      lists.push(...named)
      const lawAt = base + lists.length
      const law = judged ? [...(judged.law ?? [[judged.token, 1] as const])] : []
      for (const [id, share] of law) lists.push(id, bitsOf(share))
      const [key0, key1, key2] = judged?.key ?? [0, 0, 0]
      return [
        ...[row, flags, slot, topCount, namedAt, named.length, this.offsets[index], lawAt],
        ...[law.length, key0, key1, key2, 0, 0, 0, 0],
      ]
    })
    return {
      count: this.list.length,
      hasJudged: this.list.some(({ judged }) => judged !== undefined),
      words: Uint32Array.from([...records, ...lists]),
      answerWords: this.answerWords,
    }
  }

  /** Decodes one answer. `words` holds all answers. */
  read(index: number, words: Uint32Array): Answer {
    const { named, topCount, judged } = this.list[index]
    let at = this.offsets[index]
    const pair = (): [number, number] => [words[at++], words[at++]]
    const target = (): Target => {
      const [key, before] = pair()
      return key === 0 ? { value: undefined, rank: 0 } : { value: valueOfKey(key), rank: before + 1 }
    }
    const [mass, maxKey] = pair()
    const drawn = target()
    const targets = named.map(target)
    const top = Array.from({ length: topCount }, pair)
      .filter(([key]) => key !== 0)
      .map(([key, token]) => ({ token, value: valueOfKey(key) }))
    const [scoreKey, id] = judged ? pair() : [0, 0]
    return {
      max: valueOfKey(maxKey),
      log: Math.log(floatOf(mass)),
      drawn,
      named: targets,
      top,
      replacement: scoreKey === 0 ? -1 : id,
    }
  }
}

/**
 * Adds the ask of row `at` of a submission and returns its index. Returns −1 if the row asks for
 * nothing, or for more alternatives than the kernels rank. `slotOfMask` returns the atlas slot of
 * the row's grammar mask.
 */
export function addAsk(asks: Asks, row: SampleRow, at: number, slotOfMask: () => number): number {
  const { params, judged, position, choice } = row
  const { logprobsMode } = params
  if (judged) {
    if (isGreedy(params)) return -1
    const key = rowKey(params.seed, position, Stream.residual, choice)
    const named = [judged.token]
    asks.add({ row: at, slot: 0, isProcessed: true, topCount: 0, named, judged: { ...judged, key } })
  } else if (canRank(params)) {
    const isProcessed = logprobsMode.startsWith("processed")
    const isMasked = !isProcessed && logprobsMode !== "unmasked_logprobs"
    const slot = isMasked ? slotOfMask() : 0
    asks.add({ row: at, slot, isProcessed, topCount: params.logprobs!, named: params.logprobTokenIds })
  } else return -1
  return asks.list.length - 1
}

/** Returns whether the device can rank as many alternatives as the row lists. */
export function canRank({ logprobs }: SamplingParams): boolean {
  return logprobs !== null && logprobs <= MaxTops
}

/** Returns the same result as `describe` of the definition, from an answer. */
export function describeAnswer(answer: Answer, token: number, params: SamplingParams): TokenLogprobs {
  const isLogit = params.logprobsMode.endsWith("logits")
  const one = (id: number, { value, rank }: Target): RankedLogprob => ({
    token: id,
    logprob: value === undefined ? Impossible : isLogit ? value : value - answer.max - answer.log,
    rank,
  })
  return {
    ...one(token, answer.drawn),
    top: answer.top.map(({ token: id, value }, index) => one(id, { value, rank: index + 1 })),
    named: params.logprobTokenIds.map((id, index) => one(id, answer.named[index])),
  }
}

/**
 * Returns the draft token or its replacement; −1 if the device found none. `token` is the result of
 * an ordinary draw.
 */
export function judgeAnswer(
  row: SampleRow,
  token: number,
  answer: Answer | undefined,
): { token: number; isAccepted: boolean } {
  const { token: draft, law } = row.judged!
  // Greedy rows have no ask: the draft token is accepted if it equals their token.
  if (!answer) return { token, isAccepted: token === draft }
  const [{ value }] = answer.named
  const p = value === undefined ? 0 : Math.exp(value - answer.max - answer.log)
  const isAccepted = isTokenAccepted(row, p, law ? (law.get(draft) ?? 0) : 1)
  return { token: isAccepted ? draft : answer.replacement, isAccepted }
}

/** Adds the verdict on the draft token to the result of a row that has only one legal token. */
export function withVerdict(result: SampleResult, { judged }: SampleRow): SampleResult {
  return judged ? { ...result, isAccepted: result.token === judged.token } : result
}

const float = new Float32Array(1)
const word = new Uint32Array(float.buffer)

function valueOfKey(key: number): number {
  return floatOf(key >>> 31 === 1 ? key ^ 0x80000000 : ~key)
}

export function floatOf(bits: number): number {
  word[0] = bits
  return float[0]
}

function bitsOf(value: number): number {
  float[0] = value
  return word[0]
}
