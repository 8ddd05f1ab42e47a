/**
 * Sampling parameters: names, defaults, ranges, and the form in which the stages read them.
 *
 * Callers pass `SamplingOptions`, in which every field may be missing or null. `resolveParams`
 * checks all of them before the first token and returns `SamplingParams`, in which each unused
 * stage has the value that turns it off, and lists are typed arrays. A value out of range is
 * refused by its wire name, never clamped: clamping would silently change the distribution.
 */
import { biasBounds, type LogitBias, readBias } from "./bias.ts"
import { isStageOrder, llamacppOrder, type StageName, vllmOrder } from "./order.ts"
import { atMost, below, finite, integer, oneOf, positive, range, SamplingError, shown } from "./ranges.ts"

export { SamplingError }

/**
 * Which candidates are reported: before the mask (`unmasked`), after it (`raw`), or the ones that
 * the token was drawn from (`processed`); as log-probabilities or as logits.
 */
export type LogprobsMode =
  | "raw_logprobs"
  | "unmasked_logprobs"
  | "processed_logprobs"
  | "raw_logits"
  | "processed_logits"

/**
 * How tokens are drawn. A field that is missing or null has its default, which turns all stages but
 * the draw off. A value out of range is refused.
 */
export interface SamplingOptions {
  /** 0 is greedy. At most 1,000,000, which makes all allowed tokens equally likely. Default 1. */
  temperature?: number | null
  /** How many tokens are kept; 0, −1 and values from the width up are off. 1 is greedy. */
  topK?: number | null
  topP?: number | null
  minP?: number | null
  typicalP?: number | null
  topNSigma?: number | null
  epsilonCutoff?: number | null
  etaCutoff?: number | null
  xtcProbability?: number | null
  xtcThreshold?: number | null
  mirostat?: number | null
  mirostatTau?: number | null
  mirostatEta?: number | null
  /** Adaptive-p: the target probability of drawn tokens. Negative values turn it off. */
  adaptiveTarget?: number | null
  /** Share of the previous average that is kept with each token, at most 0.99. Default 0.9. */
  adaptiveDecay?: number | null
  dynatempRange?: number | null
  dynatempExponent?: number | null
  repetitionPenalty?: number | null
  frequencyPenalty?: number | null
  presencePenalty?: number | null
  /**
   * Number of last tokens of prompt and output that the penalties read. With null, each penalty
   * reads all tokens of its own scope.
   */
  penaltyWindow?: number | null
  /**
   * Which tokens escape the penalties. "structural": no token of a row with at most 64 legal
   * tokens is penalised, and forced tokens are not counted. Null: none.
   */
  penaltyExempt?: string | null
  dryMultiplier?: number | null
  dryBase?: number | null
  dryAllowedLength?: number | null
  dryLastN?: number | null
  drySequenceBreakers?: readonly string[] | null
  /** The same breakers as token sequences, for callers without a tokenizer. */
  drySequenceBreakerIds?: readonly (readonly number[])[] | null
  noRepeatNgramSize?: number | null
  /**
   * Values added to the logit of each id. In a list of pairs a text names each of its tokens, and
   * `false` bans them.
   */
  logitBias?: LogitBias | null
  allowedTokenIds?: readonly number[] | null
  badWords?: readonly string[] | null
  /** The same words as token sequences. */
  badWordIds?: readonly (readonly number[])[] | null
  minTokens?: number | null
  stopTokenIds?: readonly number[] | null
  seed?: bigint | number | string | null
  /**
   * How many alternatives are listed in addition to the chosen token; −1 lists all; null reports no
   * log-probabilities at all.
   */
  logprobs?: number | null
  logprobTokenIds?: readonly number[] | null
  logprobsMode?: string | null
  contrastive?: { alpha?: number | null; beta?: number | null } | null
  /** "vllm", "llamacpp", or a permutation of the stage names. */
  samplerOrder?: string | readonly string[] | null
}

/**
 * Checked sampling parameters in the form that the stages read. An unused stage has the value that
 * turns it off. Made by `resolveParams`.
 */
export interface SamplingParams {
  readonly temperature: number
  /** 0 is off. */
  readonly topK: number
  readonly topP: number
  /**
   * Whether a token is dropped ("ge") or kept ("gt", the rule of some other systems) if the tokens
   * before it have a mass of exactly top-p.
   */
  readonly topPBoundary: "ge" | "gt"
  readonly minP: number
  readonly typicalP: number
  /** 0 is off. */
  readonly topNSigma: number
  readonly epsilonCutoff: number
  readonly etaCutoff: number
  readonly xtcProbability: number
  readonly xtcThreshold: number
  readonly mirostat: 0 | 1 | 2
  readonly mirostatTau: number
  readonly mirostatEta: number
  /** null is off. */
  readonly adaptiveTarget: number | null
  readonly adaptiveDecay: number
  readonly dynatempRange: number
  readonly dynatempExponent: number
  readonly repetitionPenalty: number
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  readonly penaltyWindow: number | null
  readonly penaltyExempt: "none" | "structural"
  readonly dryMultiplier: number
  readonly dryBase: number
  readonly dryAllowedLength: number
  readonly dryLastN: number
  readonly dryBreakers: readonly (readonly number[])[]
  readonly noRepeatNgramSize: number
  /** Ascending. */
  readonly biasIds: Int32Array
  readonly biasValues: Float32Array
  /** Bitmask of the allowed ids, shape [W]; null allows all. */
  readonly allowed: Uint32Array | null
  readonly badWords: readonly (readonly number[])[]
  readonly minTokens: number
  /** Ids that are banned below `minTokens`: ends of sequence and stop ids, ascending. */
  readonly endIds: readonly number[]
  readonly seed: bigint
  /** Number of alternatives, at most the width; null if no log-probabilities are reported. */
  readonly logprobs: number | null
  readonly logprobTokenIds: readonly number[]
  readonly logprobsMode: LogprobsMode
  readonly contrastive: { readonly alpha: number; readonly beta: number } | null
  /** Stages from penalties to temperature, in the order in which they run. */
  readonly order: readonly StageName[]
}

/** The context that sampling options are checked against. */
export interface ParamsContext {
  /** Width of the logits. */
  readonly width: number
  /** End-of-sequence ids, for `minTokens`. */
  readonly endIds?: readonly number[]
  /** Seed for requests without one. Default 0. */
  readonly seed?: bigint
  /** Returns the token sequences that spell a bad word: without and with a space in front. */
  readonly encodeBadWord?: (text: string) => readonly (readonly number[])[]
  /** Returns the tokens of a text exactly as given, for biases. */
  readonly encodeText?: (text: string) => readonly number[]
  /** Returns the token sequences of this DRY breaker. */
  readonly encodeBreaker?: (text: string) => readonly (readonly number[])[]
}

/**
 * Bounds of the lists of one request. They are checked before a tokenizer sees any of the strings.
 */
export const listBounds = {
  ...biasBounds,
  idCount: 128,
  badWordCount: 128,
  badWordUnits: 8_192,
  badWordTokens: 1_024,
  breakerCount: 64,
  breakerUnits: 1_024,
  breakerTokens: 1_024,
} as const

/** Higher temperatures change no distribution: tokens are already equally likely. */
const MaxTemperature = 1e6
/** Temperatures below this are greedy. */
export const MinTemperature = 1e-5

type NumberField =
  | readonly [byDefault: number, check: typeof range | typeof integer, min: number, max: number]
  | readonly [byDefault: number, check: typeof positive, max: number, hint: string]
  | readonly [byDefault: number, check: typeof finite | typeof below]

/** Default and range of each numeric parameter, in the order in which they are checked. */
const numberFields = {
  topK: [0, integer, -1, Number.MAX_SAFE_INTEGER],
  temperature: [1, range, 0, MaxTemperature],
  topP: [1, positive, 1, "for greedy decoding use temperature 0"],
  minP: [0, range, 0, 1],
  typicalP: [1, positive, 1, "1 turns it off"],
  topNSigma: [0, finite],
  epsilonCutoff: [0, below],
  etaCutoff: [0, below],
  xtcProbability: [0, range, 0, 1],
  xtcThreshold: [0.1, range, 0, 1],
  mirostat: [0, integer, 0, 2],
  mirostatTau: [5, positive, Infinity, "it is a surprise in bits"],
  mirostatEta: [0.1, positive, 1, "it is a learning rate"],
  adaptiveDecay: [0.9, range, 0, 0.99],
  dynatempRange: [0, range, 0, Infinity],
  dynatempExponent: [1, positive, Infinity, "1 is linear"],
  repetitionPenalty: [1, positive, Infinity, "1 turns it off"],
  frequencyPenalty: [0, range, -2, 2],
  presencePenalty: [0, range, -2, 2],
  dryMultiplier: [0, range, 0, Infinity],
  dryBase: [1.75, range, 1, Infinity],
  dryAllowedLength: [2, integer, 1, Number.MAX_SAFE_INTEGER],
  dryLastN: [-1, integer, -1, Number.MAX_SAFE_INTEGER],
  noRepeatNgramSize: [0, integer, 0, Number.MAX_SAFE_INTEGER],
  minTokens: [0, integer, 0, Number.MAX_SAFE_INTEGER],
} as const satisfies Record<string, NumberField>

type NumberName = keyof typeof numberFields

/**
 * The same table as a list, with the snake-case names that the parameters have in errors and
 * requests.
 */
const numberList = Object.entries<NumberField>(numberFields).map(([name, [byDefault, check, ...bounds]]) => {
  const wireName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const read = (value: number) => (check as (...all: unknown[]) => number)(wireName, value, ...bounds)
  return { name: name as NumberName, byDefault, read }
})

function readNumbers(options: SamplingOptions, width: number): Record<NumberName, number> {
  const numbers = {} as Record<NumberName, number>
  for (const { name, byDefault, read } of numberList) numbers[name] = read(options[name] ?? byDefault)
  const { topK, topNSigma } = numbers
  numbers.topK = topK === 1 || (topK > 0 && topK < width) ? topK : 0
  numbers.topNSigma = Math.max(0, topNSigma)
  return numbers
}

/** Checks all known fields and ignores others. Throws SamplingError for a field out of range. */
export function resolveParams(options: SamplingOptions, context: ParamsContext): SamplingParams {
  const { width } = context
  if (!Number.isInteger(width) || width < 1) throw new RangeError(`width: ${width} is not an integer ≥ 1`)
  const numbers = readNumbers(options, width)
  const { biasIds, biasValues, bannedIds } = readBias(options.logitBias, context)
  const params: SamplingParams = {
    topPBoundary: "ge",
    adaptiveTarget:
      (options.adaptiveTarget ?? -1) < 0 ? null : range("adaptive_target", options.adaptiveTarget ?? 0, 0, 1),
    penaltyWindow: readPenaltyWindow(options),
    penaltyExempt: oneOf("penalty_exempt", options.penaltyExempt ?? "none", ["none", "structural"] as const),
    dryBreakers: readBreakers(options, context),
    biasIds,
    biasValues,
    allowed: readAllowed(options.allowedTokenIds, width),
    badWords: [...readBadWords(options, context), ...bannedIds.map((id) => [id])],
    endIds: [
      ...new Set([
        ...(context.endIds ?? []),
        ...readIds("stop_token_ids", options.stopTokenIds, width, listBounds.idCount),
      ]),
    ].sort((a, b) => a - b),
    seed: readSeed(options.seed) ?? context.seed ?? 0n,
    logprobs: readLogprobs(options.logprobs, width),
    logprobTokenIds: readIds("logprob_token_ids", options.logprobTokenIds, width, listBounds.idCount),
    logprobsMode: oneOf("logprobs_mode", options.logprobsMode ?? "raw_logprobs", logprobsModes),
    contrastive: readContrastive(options.contrastive),
    order: readOrder(options.samplerOrder),
    // Spread last, after the other fields: a spread before them takes four times as long.
    ...(numbers as typeof numbers & { mirostat: 0 | 1 | 2 }),
  }
  if (params.mirostat !== 0) refuseFilters(params)
  return params
}

function readPenaltyWindow({ penaltyWindow, samplerOrder }: SamplingOptions): number | null {
  const window = penaltyWindow ?? (samplerOrder === "llamacpp" ? 64 : null)
  return window === null ? null : integer("penalty_window", window, 1, Number.MAX_SAFE_INTEGER)
}

function readContrastive(options: SamplingOptions["contrastive"]): SamplingParams["contrastive"] {
  if (!options) return null
  return {
    alpha: positive("contrastive.alpha", options.alpha ?? 0.1, 1, "it is a share of the maximum"),
    beta: range("contrastive.beta", options.beta ?? 0.5, 0, Infinity),
  }
}

const logprobsModes = [
  "raw_logprobs",
  "unmasked_logprobs",
  "processed_logprobs",
  "raw_logits",
  "processed_logits",
] as const

/**
 * Returns the parameters of greedy decoding without any other stage: the arg-max of the allowed
 * logits.
 */
export function greedyParams(width: number): SamplingParams {
  return resolveParams({ temperature: 0 }, { width })
}

/**
 * Returns whether the row takes the first token of the pinned order. Also true if the temperature
 * is NaN.
 */
export function isGreedy(params: SamplingParams): boolean {
  return !(params.temperature >= MinTemperature || params.dynatempRange > 0) || params.topK === 1
}

/** Returns whether the row uses no stage that depends on entropies or drops the head. */
export function hasPlainFilters(params: SamplingParams): boolean {
  const { typicalP, epsilonCutoff, etaCutoff, xtcProbability } = params
  return typicalP === 1 && epsilonCutoff === 0 && etaCutoff === 0 && xtcProbability === 0
}

// Mirostat makes its own cut. Another filter would have no effect, and ignoring it silently would
// mislead the caller.
function refuseFilters(params: SamplingParams): void {
  const filters: [string, unknown, unknown][] = [
    ["top_n_sigma", params.topNSigma, 0],
    ["min_p", params.minP, 0],
    ["top_k", params.topK, 0],
    ["typical_p", params.typicalP, 1],
    ["epsilon_cutoff", params.epsilonCutoff, 0],
    ["eta_cutoff", params.etaCutoff, 0],
    ["top_p", params.topP, 1],
    ["xtc_probability", params.xtcProbability, 0],
    ["adaptive_target", params.adaptiveTarget, null],
  ]
  for (const [name, value, off] of filters) {
    if (value === off) continue
    throw new SamplingError(
      name,
      value,
      `${value} has no effect with mirostat ${params.mirostat}: leave one out`,
    )
  }
}

function readAllowed(ids: readonly number[] | null | undefined, width: number): Uint32Array | null {
  if (ids === null || ids === undefined) return null
  if (ids.length === 0) {
    throw new SamplingError(
      "allowed_token_ids",
      ids,
      "an empty list allows nothing: leave it out, or name ids",
    )
  }
  const row = new Uint32Array(Math.ceil(width / 32))
  for (const id of readIds("allowed_token_ids", ids, width, width)) row[id >>> 5] |= 1 << (id & 31)
  return row
}

function readBadWords(options: SamplingOptions, context: ParamsContext): number[][] {
  const words = options.badWords ?? []
  atMost("bad_words", words.length, listBounds.badWordCount, "")
  atMost("bad_words", unitsOf(words), listBounds.badWordUnits, " UTF-16 units in all")
  const sequences = [...(options.badWordIds ?? [])]
  for (const word of words) {
    if (word === "")
      throw new SamplingError("bad_words", word, "an empty string would ban everything: leave it out")
    if (!context.encodeBadWord) {
      throw new SamplingError("bad_words", word, "there is no tokenizer here: pass token ids as badWordIds")
    }
    sequences.push(...context.encodeBadWord(word))
  }
  return checkSequences("bad_words", sequences, listBounds.badWordTokens, context.width)
}

function readBreakers(options: SamplingOptions, context: ParamsContext): number[][] {
  const sequences = [...(options.drySequenceBreakerIds ?? [])]
  const isDry = (options.dryMultiplier ?? 0) > 0
  const { encodeBreaker } = context
  const given = options.drySequenceBreakers
  atMost("dry_sequence_breakers", given?.length ?? 0, listBounds.breakerCount, "")
  atMost("dry_sequence_breakers", unitsOf(given ?? []), listBounds.breakerUnits, " UTF-16 units in all")
  if (given && !encodeBreaker && isDry) {
    const message = "there is no tokenizer here: pass token ids as drySequenceBreakerIds"
    throw new SamplingError("dry_sequence_breakers", given, message)
  }
  if (isDry && encodeBreaker) {
    const defaults = options.drySequenceBreakerIds ? [] : ["\n", ":", '"', "*"]
    for (const text of given ?? defaults) sequences.push(...encodeBreaker(text))
  }
  return checkSequences("dry_sequence_breakers", sequences, listBounds.breakerTokens, context.width)
}

function unitsOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

function checkSequences(
  param: string,
  sequences: readonly (readonly number[])[],
  maxTokens: number,
  width: number,
): number[][] {
  const count = sequences.reduce((sum, ids) => sum + ids.length, 0)
  atMost(param, count, maxTokens, " tokens in all")
  return sequences.map((ids) => {
    if (ids.length === 0) throw new SamplingError(param, ids, "a sequence has no token")
    return ids.map((id) => integer(param, id, 0, width - 1))
  })
}

function readIds(
  param: string,
  ids: readonly number[] | null | undefined,
  width: number,
  max: number,
): number[] {
  if (!ids) return []
  atMost(param, ids.length, max, "")
  return ids.map((id) => integer(param, id, 0, width - 1))
}

function readLogprobs(count: number | null | undefined, width: number): number | null {
  if (count === null || count === undefined) return null
  if (count === -1) return width
  return Math.min(width, integer("logprobs", count, -1, 20))
}

/** Returns undefined if no seed is given. Throws SamplingError. */
export function readSeed(seed: SamplingOptions["seed"]): bigint | undefined {
  if (seed === undefined || seed === null || seed === -1 || seed === -1n || seed === "-1") return undefined
  const isLossless = typeof seed !== "number" || Number.isSafeInteger(seed)
  if (!isLossless || (typeof seed !== "bigint" && !/^-?\d+$/.test(String(seed)))) {
    const what = shown(String(seed))
    throw new SamplingError("seed", seed, `${what} is not an exact integer: send it as digits or as a bigint`)
  }
  // Only short texts are converted to an integer, because the cost grows faster than the number of
  // digits.
  const isShort = typeof seed !== "string" || seed.length <= 20
  const value = isShort ? BigInt(seed) : null
  if (value !== null && BigInt.asIntN(64, value) === value) return value
  const what = typeof seed === "bigint" ? "the integer" : shown(String(seed))
  throw new SamplingError("seed", seed, `${what} does not fit 64 bits`)
}

function readOrder(order: SamplingOptions["samplerOrder"]): readonly StageName[] {
  if (order === undefined || order === null || order === "vllm") return vllmOrder
  if (order === "llamacpp") return llamacppOrder
  if (typeof order !== "string" && isStageOrder(order)) return order
  const names = vllmOrder.join(", ")
  const what = shown(String(typeof order === "string" ? order : order.slice(0, 16)))
  const message = `${what} is not "vllm", "llamacpp" or a permutation of ${names}`
  throw new SamplingError("sampler_order", order, message)
}
