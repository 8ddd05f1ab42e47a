/**
 * Beam search: the W likeliest continuations, kept together.
 *
 * A beam's score is its cumulative log-probability under the model's own law, after bias, penalties
 * and bans; a mask only removes candidates, so that accepted texts are compared by their joint
 * probability ("masked" renormalises instead). A step takes the 2W best of all beams'
 * continuations: an end among the first W becomes a hypothesis, the others fill the next beams. The
 * caller reorders its caches and matchers by `parents`.
 */
import { lawOf } from "../cpu.ts"
import { SamplingError } from "../params.ts"
import { hasBit, onlyBit, type SampleRow } from "../row.ts"
import { softmax } from "../truncation.ts"

/** How many beams a search keeps, how it compares them, and when it ends. */
export interface BeamOptions {
  /** W. 1 to 16. */
  readonly beamWidth: number
  /** A hypothesis is worth its score / length^this. Default 1. */
  readonly lengthPenalty?: number
  /** End with the W-th hypothesis, even if a running beam could still be better. */
  readonly earlyStopping?: boolean
  readonly endIds: readonly number[]
  readonly scores?: "unmasked" | "masked"
}

/** A text that the search still extends. */
export interface Beam {
  /** Generated tokens, without an end. */
  readonly tokens: readonly number[]
  /** Cumulative log-probability, natural. */
  readonly score: number
}

/** A text that has ended. */
export interface Hypothesis extends Beam {
  /** What hypotheses are compared by. */
  readonly worth: number
  readonly reason: "stop" | "length"
  /** The token that ended it; −1: the budget did. */
  readonly end: number
}

/** A beam's next row. Temperature and filters are ignored. */
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
 * Beam search over one prompt: the caller runs the model, `step` chooses the continuations. Throws
 * SamplingError on options out of range.
 */
export class BeamSearch {
  /** Running beams, best first; one to begin with. */
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

  /** Advances by one token; a row for each running beam. Returns the parent of each new beam. */
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

  /** Whether no running beam can change the result any more, or none runs. */
  isDone(): boolean {
    const { beamWidth, earlyStopping } = this.options
    if (this.beams.length === 0) return true
    if (this.finished.length < beamWidth) return false
    if (earlyStopping) return true
    const best = Math.max(...this.beams.map((beam) => this.worth(beam)))
    return best <= Math.min(...this.results(beamWidth).map(({ worth }) => worth))
  }

  /** Running beams become hypotheses: the budget is used up. */
  stop(): void {
    for (const beam of this.beams) this.finish(beam, -1)
    this.beams = []
  }

  /** The best hypotheses, best first; of equal ones the earlier. */
  results(count: number): Hypothesis[] {
    return this.finished.toSorted((a, b) => b.worth - a.worth).slice(0, count)
  }

  /** The 2W best continuations by (score descending, beam ascending, id ascending). */
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
    // Where only an end is legal the text is complete: its end costs nothing.
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
    // No more of one beam can be among the best of all.
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
 * Indices of the n answers with the best mean log-probability, best first; of equal ones the lower
 * index.
 */
export function bestOf(answers: readonly (readonly { logprob: number }[])[], n: number): number[] {
  const means = answers.map((tokens) => {
    return tokens.reduce((sum, { logprob }) => sum + logprob, 0) / Math.max(1, tokens.length)
  })
  return Array.from(answers.keys())
    .sort((a, b) => means[b] - means[a] || a - b)
    .slice(0, n)
}
