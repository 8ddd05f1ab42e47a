/**
 * Beam search: keeps the W likeliest continuations.
 *
 * The score of a beam is its cumulative log-probability under the model's own distribution, after
 * bias, penalties and bans. A mask only removes candidates, so texts are compared by their joint
 * probability ("masked" renormalises instead). A step takes the 2W best continuations of all beams:
 * an end among the first W becomes a hypothesis, and the others fill the next beams. The caller
 * reorders its caches and matchers by `parents`.
 */
import { lawOf } from "../cpu.ts"
import { SamplingError } from "../params.ts"
import { hasBit, onlyBit, type SampleRow } from "../row.ts"
import { softmax } from "../truncation.ts"

/** How many beams a search keeps, how it compares them, and when it ends. */
export interface BeamOptions {
  /** W, from 1 to 16. */
  readonly beamWidth: number
  /** Exponent p: a hypothesis is worth its score / length^p. Default 1. */
  readonly lengthPenalty?: number
  /** Whether to end with the W-th hypothesis even if a running beam could still be better. */
  readonly earlyStopping?: boolean
  readonly endIds: readonly number[]
  readonly scores?: "unmasked" | "masked"
}

/** A text that the search still extends. */
export interface Beam {
  /** Generated tokens, without an end token. */
  readonly tokens: readonly number[]
  /** Cumulative natural log-probability. */
  readonly score: number
}

/** A text that has ended. */
export interface Hypothesis extends Beam {
  /** The value by which hypotheses are compared. */
  readonly worth: number
  readonly reason: "stop" | "length"
  /** The token that ended the text; −1 if the budget ended it. */
  readonly end: number
}

/** The next row of a beam. Its temperature and filters are ignored. */
export interface BeamRow {
  readonly logits: Float32Array
  readonly row: SampleRow
}

interface Candidate {
  readonly beam: number
  readonly id: number
  readonly score: number
}

/**
 * Beam search over one prompt: the caller runs the model, and `step` chooses the continuations.
 * Throws SamplingError if an option is out of range.
 */
export class BeamSearch {
  /** Running beams, best first. A search starts with one. */
  beams: readonly Beam[] = [{ tokens: [], score: 0 }]
  readonly finished: Hypothesis[] = []
  private readonly options: Required<BeamOptions>

  constructor(options: BeamOptions) {
    const { beamWidth, lengthPenalty = 1, earlyStopping = false, scores = "unmasked" } = options
    if (!(Number.isInteger(beamWidth) && beamWidth >= 1 && beamWidth <= 16)) {
      throw new SamplingError("beam_width", beamWidth, `${beamWidth} is not an integer from 1 to 16`)
    }
    if (!Number.isFinite(lengthPenalty)) {
      throw new SamplingError("length_penalty", lengthPenalty, `${lengthPenalty} is not a finite number`)
    }
    this.options = { ...options, lengthPenalty, earlyStopping, scores }
  }

  /**
   * Advances by one token, given a row for each running beam. Returns the parent of each new beam.
   */
  step(rows: readonly BeamRow[]): number[] {
    if (rows.length !== this.beams.length) {
      throw new RangeError(`rows: ${this.beams.length} beams need as many rows, not ${rows.length}`)
    }
    const { beamWidth, endIds } = this.options
    const next: Beam[] = []
    const parents: number[] = []
    for (const [place, { beam, id, score }] of this.best(rows).entries()) {
      const { tokens } = this.beams[beam]
      if (endIds.includes(id)) {
        if (place < beamWidth) this.finish({ tokens, score }, id)
      } else if (next.length < beamWidth) {
        next.push({ tokens: [...tokens, id], score })
        parents.push(beam)
      }
    }
    this.beams = next
    return parents
  }

  /**
   * Returns whether the result is final: no beam runs, or no running beam can change the result.
   */
  isDone(): boolean {
    const { beamWidth, earlyStopping } = this.options
    if (this.beams.length === 0) return true
    if (this.finished.length < beamWidth) return false
    if (earlyStopping) return true
    const best = Math.max(...this.beams.map((beam) => this.worth(beam)))
    return best <= Math.min(...this.results(beamWidth).map(({ worth }) => worth))
  }

  /** Turns running beams into hypotheses, because the budget is used up. */
  stop(): void {
    for (const beam of this.beams) this.finish(beam, -1)
    this.beams = []
  }

  /** Returns the best hypotheses, best first; of equal ones the earlier comes first. */
  results(count: number): Hypothesis[] {
    return this.finished.toSorted((a, b) => b.worth - a.worth).slice(0, count)
  }

  /** Returns the 2W best continuations by (score descending, beam ascending, id ascending). */
  private best(rows: readonly BeamRow[]): Candidate[] {
    const all = rows.flatMap(({ logits, row }, beam) => {
      return this.candidates(logits, row).map(([id, log]) => ({
        beam,
        id,
        score: this.beams[beam].score + log,
      }))
    })
    return all
      .sort((a, b) => b.score - a.score || a.beam - b.beam || a.id - b.id)
      .slice(0, 2 * this.options.beamWidth)
  }

  private candidates(logits: Float32Array, row: SampleRow): [id: number, log: number][] {
    const { endIds, scores } = this.options
    // If only an end is legal, the text is complete, and its end costs nothing.
    const only = row.mask === null ? -1 : onlyBit(row.mask)
    if (endIds.includes(only)) return [[only, 0]]
    const isMasked = scores === "masked"
    const params = {
      ...row.params,
      temperature: 0,
      dynatempRange: 0,
      allowed: isMasked ? row.params.allowed : null,
    }
    const law = lawOf(logits, { ...row, params, mask: isMasked ? row.mask : null })
    if (law.status !== "ok") return []
    const { ids, logs } = softmax(law.candidates)
    // At most this many continuations of one beam can be among the best of all.
    const most = 2 * this.options.beamWidth
    const best: [id: number, log: number][] = []
    for (const [at, id] of ids.entries()) {
      if (best.length === most && logs[at] <= best[most - 1][1]) continue
      if (!hasBit(row.mask, id) || !hasBit(row.params.allowed, id)) continue
      let place = best.length
      while (place > 0 && best[place - 1][1] < logs[at]) place--
      best.splice(place, 0, [id, logs[at]])
      if (best.length > most) best.pop()
    }
    return best
  }

  private finish(beam: Beam, end: number): void {
    const reason = end < 0 ? "length" : "stop"
    this.finished.push({ ...beam, worth: this.worth(beam), reason, end })
  }

  private worth({ tokens, score }: Beam): number {
    return score / Math.max(1, tokens.length) ** this.options.lengthPenalty
  }
}

/**
 * Returns the indices of the n answers with the best mean log-probability, best first; of equal
 * ones the lower index comes first.
 */
export function bestOf(answers: readonly (readonly { logprob: number }[])[], n: number): number[] {
  const means = answers.map((tokens) => {
    return tokens.reduce((sum, { logprob }) => sum + logprob, 0) / Math.max(1, tokens.length)
  })
  return Array.from(answers.keys())
    .sort((a, b) => means[b] - means[a] || a - b)
    .slice(0, n)
}
