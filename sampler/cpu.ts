/**
 * The definition of sampling: one row of logits becomes a token, stage by stage, in the simplest
 * form.
 *
 * Every other implementation is compared with this file: `select.ts` returns the same bits, and
 * `gpu/` the same tokens except at counted near ties. This file aims at exactness, not at speed.
 * The order of the stages defines the distribution of the output. Masks come first, because filters
 * must see the model's distribution conditioned on the grammar.
 */
import { aimAt, meanBefore, recordChance } from "./adaptive.ts"
import { describe, describeForced } from "./logprobs.ts"
import type { StageName } from "./order.ts"
import { isGreedy, MinTemperature, type SamplingParams } from "./params.ts"
import {
  addBias,
  collectEdits,
  type Edits,
  liftBans,
  MaxLogit,
  overruledBans,
  penalise,
  repetitionFactors,
  subtractDry,
} from "./penalties.ts"
import { runProcessors } from "./processors.ts"
import { gumbel, type RowKey, rowKey, Stream, tokenBits, uniform } from "./rng.ts"
import {
  checkDrawn,
  hasBit,
  onlyBit,
  type Relaxation,
  type SampleResult,
  type SampleRow,
  type SampleStatus,
  type TokenLogprobs,
} from "./row.ts"
import {
  type Candidates,
  countAlive,
  dynamicTemperature,
  epsilonCutoff,
  etaCutoff,
  maximum,
  minP,
  mirostat1,
  mirostat2,
  scale,
  softmax,
  survivors,
  topK,
  topNSigma,
  topP,
  typicalP,
  xtc,
} from "./truncation.ts"

/**
 * Samples one row. `logits` is that row alone, shape [V], and is not written. Throws RangeError on
 * an empty row.
 */
export function sampleRow(logits: Float32Array, row: SampleRow): SampleResult {
  if (logits.length === 0) throw new RangeError("logits: a row of width 0 has no token")
  const certain = forcedResult(row)
  if (certain) return certain
  const forced = forcedToken(row)
  const law = lawOf(logits, row)
  if (law.status !== "ok") return { token: -1, status: law.status }
  const token = forced >= 0 ? forced : law.isGreedy ? first(law.candidates) : draw(law.candidates, law.key)
  checkDrawn(row, token, logits.length)
  const surprise = updateMirostat(row, law, token)
  updateAdaptive(row, law, token)
  return {
    token,
    status: "ok",
    ...(row.params.logprobs === null
      ? {}
      : { logprobs: describe(capture(logits, row, law), token, row.params) }),
    ...(law.relaxed.length > 0 ? { relaxed: law.relaxed } : {}),
    ...(surprise === undefined ? {} : { surprise }),
  }
}

/** Returns the result of a row with a single legal token, or undefined if its logits are needed. */
export function forcedResult(row: SampleRow): SampleResult | undefined {
  const token = forcedToken(row)
  if (token < 0 || needsLogits(row.params)) return undefined
  const logprobs = row.params.logprobs === null ? {} : { logprobs: describeForced(token, row.params) }
  const relaxed = overruledBans(row, token)
  return { token, status: "ok", ...logprobs, ...(relaxed.length > 0 ? { relaxed } : {}) }
}

/** The candidates from which a row's token is drawn. */
export interface RowLaw {
  readonly status: SampleStatus
  /** Survivors of all stages; in a greedy row, survivors before temperature. */
  readonly candidates: Candidates
  readonly isGreedy: boolean
  readonly key: RowKey
  readonly relaxed: readonly Relaxation[]
  /** Number of tokens that the filters could choose from. */
  readonly choiceCount: number
  /** For adaptive-p rows: the probabilities of the candidates before the transform, by token. */
  readonly chances?: ReadonlyMap<number, number>
}

/** Runs stages 1 to 19. A row whose mask has one bit is treated like any other row. */
export function lawOf(logits: Float32Array, row: SampleRow): RowLaw {
  const { params } = row
  const key = rowKey(params.seed, row.position, Stream.draw, row.choice)
  const candidates = { values: new Float32Array(logits.length), alive: new Uint8Array(logits.length) }
  const fail = (status: SampleStatus): RowLaw => {
    return { status, candidates, isGreedy: true, key, relaxed: [], choiceCount: 0 }
  }
  if (!load(candidates, logits, row)) return fail("model_output")
  if (params.contrastive) contrast(candidates, row, params.contrastive)
  const edits = collectEdits(row)
  const allowedCount = countAlive(candidates)
  if (allowedCount === 0) return fail("empty_mask")
  for (let at = 0; at < edits.count; at++) {
    candidates.values[edits.ids[at]] = addBias(candidates.values[edits.ids[at]], edits.bias[at])
  }
  const { bans, relaxed } = liftBans(edits, allowedCount, (id) => candidates.alive[id] === 1)
  for (let at = 0; at < edits.count; at++) if (edits.bans[at] & bans) candidates.alive[edits.ids[at]] = 0
  const choiceCount = countAlive(candidates)
  const status = shape(candidates, row, edits)
  if (status !== "ok" && status !== "greedy") return fail(status)
  const isGreedy = status === "greedy"
  const { adaptiveTarget: target } = params
  const isAimed = !isGreedy && target !== null
  const chances = isAimed ? aimAt(candidates, target, meanBefore(row, target)) : undefined
  return { status: "ok", candidates, isGreedy, key, relaxed, choiceCount, chances }
}

/** Applies penalties, processors, temperature and filters, in the row's order. */
function shape(candidates: Candidates, row: SampleRow, edits: Edits): SampleStatus | "greedy" {
  const { params } = row
  const { order } = params
  let isProcessed = false
  for (const stage of isGreedy(params) ? order.filter(isEdit) : order) {
    if (!isEdit(stage) && !isProcessed) {
      if (runProcessors(candidates, row, clamp) === 0) return "empty_mask"
      isProcessed = true
    }
    if (stage !== "temperature") applyStage(stage, candidates, row, edits)
    else if (!heat(candidates, params)) return "greedy"
  }
  if (!isProcessed && runProcessors(candidates, row, clamp) === 0) return "empty_mask"
  if (isGreedy(params)) return "greedy"
  const { mirostat, mirostatTau } = params
  if (mirostat === 0) return "ok"
  const mu = row.tokens.muBefore(row.position, 2 * mirostatTau)
  if (mirostat === 1) mirostat1(candidates, mu)
  else mirostat2(candidates, mu)
  return "ok"
}

function isEdit(stage: StageName): boolean {
  return stage === "penalties" || stage === "dry"
}

/** Applies one stage of the row's order. Does nothing if the stage is off. */
export function applyStage(stage: StageName, candidates: Candidates, row: SampleRow, edits: Edits): void {
  const { params } = row
  switch (stage) {
    case "penalties":
      applyPenalties(candidates, params, edits)
      break
    case "dry":
      applyDry(candidates, edits)
      break
    case "top_n_sigma":
      if (params.topNSigma > 0) topNSigma(candidates, params.topNSigma)
      break
    case "min_p":
      if (params.minP > 0) minP(candidates, params.minP)
      break
    case "top_k":
      if (params.topK > 0) topK(candidates, params.topK)
      break
    case "typical_p":
      if (params.typicalP < 1) typicalP(candidates, params.typicalP)
      if (params.epsilonCutoff > 0) epsilonCutoff(candidates, params.epsilonCutoff)
      if (params.etaCutoff > 0) etaCutoff(candidates, params.etaCutoff)
      break
    case "top_p":
      if (params.topP < 1) topP(candidates, params.topP, params.topPBoundary)
      break
    case "xtc":
      if (params.xtcProbability > 0) {
        const u = uniform(rowKey(params.seed, row.position, Stream.xtc, row.choice))
        xtc(candidates, params.xtcThreshold, params.xtcProbability, u)
      }
      break
    case "temperature":
      throw new Error("internal: temperature is not a stage of its own here")
    default:
      stage satisfies never
  }
}

/** Stages 1, 3 and 4. Returns false if the logit of an allowed token is not a number. */
function load({ values, alive }: Candidates, logits: Float32Array, row: SampleRow): boolean {
  for (let id = 0; id < logits.length; id++) {
    if (!hasBit(row.mask, id) || !hasBit(row.params.allowed, id)) continue
    const x = logits[id]
    if (Number.isNaN(x)) return false
    if (x === -Infinity) continue
    alive[id] = 1
    values[id] = clamp(x)
  }
  return true
}

function clamp(x: number): number {
  // −0 becomes 0, because the pinned order treats the two as one value.
  return x > MaxLogit ? MaxLogit : x < -MaxLogit ? -MaxLogit : x + 0
}

/**
 * Stage 2: contrastive decoding. It runs after the masks, because its cut is relative to the best
 * allowed token. Li 2022; O'Brien, Lewis 2023.
 */
function contrast(
  candidates: Candidates,
  row: SampleRow,
  { alpha, beta }: { alpha: number; beta: number },
): void {
  const { amateur } = row
  if (!amateur) throw new RangeError("amateur: contrastive decoding needs the logits of a second model")
  const threshold = maximum(candidates) + Math.log(alpha)
  for (const id of survivors(candidates)) {
    const expert = candidates.values[id]
    if (expert < threshold) candidates.alive[id] = 0
    else candidates.values[id] = clamp(Math.fround((1 + beta) * expert - beta * clamp(amateur[id])))
  }
}

/** Stages 7 and 8: repetition, frequency and presence penalties. */
function applyPenalties({ values }: Candidates, params: SamplingParams, edits: Edits): void {
  const { penalty, inverse } = repetitionFactors(params.repetitionPenalty)
  for (let at = 0; at < edits.count; at++) {
    const id = edits.ids[at]
    values[id] = penalise(values[id], edits.repeated[at], penalty, inverse, edits.sub[at])
  }
}

/** Stage 9: subtracts the DRY penalties. */
function applyDry({ values }: Candidates, edits: Edits): void {
  for (let at = 0; at < edits.count; at++)
    values[edits.ids[at]] = subtractDry(values[edits.ids[at]], edits.dry[at])
}

/** Stage 13: applies the temperature. Returns false if the resulting temperature is greedy. */
function heat(candidates: Candidates, params: SamplingParams): boolean {
  const { temperature, dynatempRange, dynatempExponent } = params
  const t =
    dynatempRange > 0
      ? dynamicTemperature(candidates, temperature, dynatempRange, dynatempExponent)
      : temperature
  if (!(t >= MinTemperature)) return false
  scale(candidates, t)
  return true
}

/** Stage 12: returns the first token of the pinned order. */
export function first(candidates: Candidates): number {
  const ids = survivors(candidates)
  let best = ids[0]
  for (const id of ids) if (candidates.values[id] > candidates.values[best]) best = id
  return best
}

/**
 * Stage 20: draws a token. The arg-max of value plus Gumbel noise has the distribution of the
 * softmax. Gumbel 1954; Maddison 2014.
 */
export function draw(candidates: Candidates, key: RowKey): number {
  const ids = survivors(candidates)
  if (ids.length === 1) return ids[0]
  let best = -1
  let bestScore = -Infinity
  for (const id of ids) {
    const score = candidates.values[id] + gumbel(tokenBits(id, key))
    if (score > bestScore) {
      best = id
      bestScore = score
    }
  }
  return best
}

/**
 * Updates μ by the surprise of the token among the candidates that it was drawn from. Forced tokens
 * are skipped, because they would inflate μ.
 */
function updateMirostat(row: SampleRow, law: RowLaw, token: number): number | undefined {
  if (row.params.mirostat === 0 || law.isGreedy) return undefined
  const { ids, logs } = softmax(law.candidates)
  const surprise = Math.max(0, -logs[ids.indexOf(token)] / Math.LN2)
  recordSurprise(row, surprise, law.choiceCount)
  return surprise
}

/**
 * Moves the μ of a mirostat row. `choiceCount` is the number of tokens that its filter could choose
 * from.
 */
export function recordSurprise(
  { params, tokens, position }: SampleRow,
  surprise: number,
  choiceCount: number,
): void {
  const mu = tokens.muBefore(position, 2 * params.mirostatTau)
  const step = choiceCount > 1 ? params.mirostatEta * (surprise - params.mirostatTau) : 0
  tokens.recordMu(position, mu - step)
}

/**
 * Updates the average by the probability that the token had. A token without an alternative is
 * skipped, because it carries no information.
 */
function updateAdaptive(row: SampleRow, { chances, choiceCount }: RowLaw, token: number): void {
  const { params } = row
  if (!chances || choiceCount < 2 || params.adaptiveTarget === null) return
  recordChance(row, params, meanBefore(row, params.adaptiveTarget), chances.get(token) ?? 0)
}

/**
 * Returns the log-probabilities of a token that was drawn elsewhere. Throws in the processed modes,
 * which need the distribution of the row.
 */
export function describeDrawn(logits: Float32Array, row: SampleRow, token: number): TokenLogprobs {
  return describe(capture(logits, row, undefined), token, row.params)
}

/** Returns the candidates whose log-probabilities the row reports. */
function capture(logits: Float32Array, row: SampleRow, law: RowLaw | undefined): Candidates {
  const mode = row.params.logprobsMode
  if (mode.startsWith("processed")) {
    if (law) return law.candidates
    throw new Error(`internal: ${mode} needs the distribution of the row`)
  }
  const all = mode === "unmasked_logprobs"
  const alive = new Uint8Array(logits.length)
  for (let id = 0; id < logits.length; id++) {
    alive[id] = (all || hasBit(row.mask, id)) && logits[id] > -Infinity ? 1 : 0
  }
  return { values: logits.map(clamp), alive }
}

/** Returns the only token of a mask with one bit, if the allowed ids contain it too; else −1. */
function forcedToken({ mask, params }: SampleRow): number {
  const token = mask === null ? -1 : onlyBit(mask)
  return token >= 0 && hasBit(params.allowed, token) ? token : -1
}

/**
 * Returns whether a forced token needs its logits. Its log-probability among the legal tokens is 0,
 * but its log-probability among all tokens has to be computed.
 */
export function needsLogits({ logprobs, logprobsMode }: SamplingParams): boolean {
  return logprobs !== null && (logprobsMode === "unmasked_logprobs" || logprobsMode.endsWith("logits"))
}
