/**
 * What a row is asked beside its token: log-probabilities, and the judgement of a draft token.
 * Records of both directions.
 *
 *   Ask      64 B, written by the host (`Asks.add`): whose values, how many of the likeliest, which named tokens, which law
 *   lists    behind the asks: named ids; laws as pairs (id, bits of q), ids ascending
 *   Answer   8 B each: (bits of the mass relative to the maximum, key of the maximum), then (key, tokens before it) of the
 *            drawn token and of each named one, (key, id) of the likeliest, and of a judged row (score key, id) of the token
 *            that replaces the draft's. A key of 0 is of a token that cannot be
 *   scratch  behind the answers, `ScratchWords` an ask and tile: (mass, maximum), then the tile's likeliest
 *
 * Keys are exact values, ranks are counts, and what is left to floats is one sum: the host makes
 * the logarithms.
 */
import { Impossible } from "../logprobs.ts"
import { isGreedy, type SamplingParams } from "../params.ts"
import { type RowKey, rowKey, Stream } from "../rng.ts"
import type { DraftLaw, RankedLogprob, SampleResult, SampleRow, TokenLogprobs } from "../row.ts"
import { isTokenAccepted } from "../search/rejection.ts"

/** Alternatives that the kernels rank; more are read from the row itself. */
export const MaxTops = 20
export const AskWords = 16
export const ScratchWords = 2 + 2 * MaxTops

/**
 * `processed`: values after all stages, and what the cuts keep of them. `judged`: a replacement is
 * drawn.
 */
export const AskFlag = { processed: 1, judged: 2 } as const

export interface Ask {
  /** Index of the row in its submission. */
  readonly row: number
  /** Atlas slot of the mask that raw values are under; 0: none. */
  readonly slot: number
  readonly isProcessed: boolean
  readonly topCount: number
  readonly named: readonly number[]
  readonly judged?: { readonly token: number; readonly law: DraftLaw; readonly key: RowKey }
}

/** The answer to one ask, as the device left it. */
export interface Answer {
  /** Value of the maximum, and logarithm of the sum of exponentials relative to it. */
  readonly max: number
  readonly log: number
  readonly drawn: Target
  readonly named: readonly Target[]
  readonly top: readonly { readonly token: number; readonly value: number }[]
  /** −1: the device found none. */
  readonly replacement: number
}

/** `value` undefined: the token cannot be. */
interface Target {
  readonly value: number | undefined
  readonly rank: number
}

/** The asks of one submission. */
export class Asks {
  readonly list: Ask[] = []
  /** Words of all answers. */
  answerWords = 0
  private readonly offsets: number[] = []

  add(ask: Ask): void {
    this.list.push(ask)
    this.offsets.push(this.answerWords)
    this.answerWords += 2 * (2 + ask.named.length + ask.topCount + (ask.judged ? 1 : 0))
  }

  get hasJudged(): boolean {
    return this.list.some(({ judged }) => judged !== undefined)
  }

  /** Of the records and lists. */
  get byteLength(): number {
    const words = this.list.reduce((sum, { named, judged }) => {
      return sum + AskWords + named.length + (judged ? 2 * (judged.law?.size ?? 1) : 0)
    }, 0)
    return 4 * words
  }

  /** The records for the device. The field order is `askAt` of `kernels/rank.ts`. */
  pack(): Uint32Array<ArrayBuffer> {
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
    return Uint32Array.from([...records, ...lists])
  }

  /** `words`: all answers. */
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
 * Adds what row `at` of a submission is asked beside its token, and returns the index of its ask;
 * −1: nothing, or more than the kernels rank. `slotOfMask`: where the row's grammar mask is in the
 * atlas.
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

/** Whether the alternatives that are listed are few enough to be ranked on the device. */
export function canRank({ logprobs }: SamplingParams): boolean {
  return logprobs !== null && logprobs <= MaxTops
}

/** As `describe` of the definition, from an answer. */
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
 * The draft's token, or the one in its place; −1: the device found none. `token`: of an ordinary
 * draw.
 */
export function judgeAnswer(
  row: SampleRow,
  token: number,
  answer: Answer | undefined,
): { token: number; isAccepted: boolean } {
  const { token: draft, law } = row.judged!
  // Greedy rows are asked for nothing: a draft is their token, or it is not.
  if (!answer) return { token, isAccepted: token === draft }
  const [{ value }] = answer.named
  const p = value === undefined ? 0 : Math.exp(value - answer.max - answer.log)
  const isAccepted = isTokenAccepted(row, p, law ? (law.get(draft) ?? 0) : 1)
  return { token: isAccepted ? draft : answer.replacement, isAccepted }
}

/** The verdict on a row that has only one token. */
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
