/** The options of a beam search (`beams.ts`), and the options that cannot be combined with it. */
import type { SamplingOptions } from "../../sampler/index.ts"
import { wrong } from "../errors.ts"

/** How a request searches for its answers instead of drawing them. */
export interface SearchOptions {
  /**
   * Whether to search instead of drawing: the answers are then the likeliest texts that the search
   * finds, the best first; at most `n`, fewer if it finds fewer. No event is emitted before the
   * search has ended. Options about drawing and stop strings are refused together with it.
   */
  useBeamSearch?: boolean | null
  /** Number of texts that the search keeps at a time, 1 to 16. Default: `n`, but at least 2. */
  beamWidth?: number | null
  /**
   * Exponent of the token count by which a text's log-probability is divided before texts are
   * compared. Default 1.
   */
  lengthPenalty?: number | null
  /**
   * Whether the search ends with the `beamWidth`-th complete text, even if another could still be
   * better. Default false.
   */
  earlyStopping?: boolean | null
}

/** The search options, and the options that are checked against them. */
interface SearchedOptions extends SearchOptions, SamplingOptions {
  readonly n?: number | null
  readonly stop?: unknown
  readonly stopRegex?: unknown
  readonly stopWhen?: unknown
  readonly repetitionDetection?: unknown
  readonly heal?: boolean | null
  readonly onLength?: string | null
  readonly promptLogprobs?: number | null
  readonly processors?: unknown
}

/** How wide a request searches, how it compares texts of different lengths, and when it ends. */
export interface BeamSettings {
  readonly width: number
  readonly lengthPenalty: number
  readonly earlyStopping: boolean
}

/** Returns the settings of the search, or null if the request draws. Throws RequestError. */
export function readBeams(options: SearchedOptions): BeamSettings | null {
  const { useBeamSearch, beamWidth, lengthPenalty, earlyStopping, n } = options
  const others = { beam_width: beamWidth, length_penalty: lengthPenalty, early_stopping: earlyStopping }
  if (!useBeamSearch) {
    for (const [param, value] of Object.entries(others)) {
      const isOff = value === undefined || value === null || value === false
      if (isOff || (param === "length_penalty" && value === 1)) continue
      throw wrong(param, `${value} has no effect without use_beam_search: true`)
    }
    return null
  }
  const settings = {
    width: beamWidth ?? Math.max(2, n ?? 1),
    lengthPenalty: lengthPenalty ?? 1,
    earlyStopping: earlyStopping ?? false,
  }
  if (settings.width < (n ?? 1)) throw wrong("n", `${n} answers of ${settings.width} beams: raise beam_width`)
  for (const [param, isSet] of Object.entries(refusals(options))) {
    if (isSet) throw wrong(param, "a beam search draws no tokens, so it has no effect: leave it out")
  }
  return settings
}

/** Returns the options that a search would have to ignore, with the reason why each is refused. */
function refusals(options: SearchedOptions): Record<string, unknown> {
  const { temperature, topK, topP, minP, typicalP, topNSigma, epsilonCutoff, etaCutoff } = options
  const { stop, stopRegex, logprobsMode, badWords } = options
  const isList = (value: unknown) => value !== undefined && value !== null && [value].flat().length > 0
  return {
    temperature: (temperature ?? 0) !== 0,
    top_k: (topK ?? 0) > 0,
    top_p: (topP ?? 1) !== 1,
    min_p: (minP ?? 0) !== 0,
    typical_p: (typicalP ?? 1) !== 1,
    top_n_sigma: (topNSigma ?? 0) > 0,
    epsilon_cutoff: (epsilonCutoff ?? 0) !== 0,
    eta_cutoff: (etaCutoff ?? 0) !== 0,
    xtc_probability: (options.xtcProbability ?? 0) !== 0,
    mirostat: (options.mirostat ?? 0) !== 0,
    adaptive_target: (options.adaptiveTarget ?? -1) >= 0,
    dynatemp_range: (options.dynatempRange ?? 0) !== 0,
    stop: isList(stop),
    stop_regex: isList(stopRegex),
    stop_when: options.stopWhen,
    repetition_detection: options.repetitionDetection,
    bad_words: isList(badWords),
    heal: options.heal,
    on_length: options.onLength === "close",
    prompt_logprobs: typeof options.promptLogprobs === "number",
    processors: isList(options.processors),
    logprobs_mode: logprobsMode?.startsWith("processed"),
  }
}
