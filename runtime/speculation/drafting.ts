/** Decides which requests of an engine get drafts, from which source, and of what length. */
import type { ReadRequest } from "../engine/request.ts"
import type { Model } from "../model/model.ts"
import { Speculation } from "./draft.ts"
import { canSpeculate } from "./speculation.ts"
import { breakEvenOf, type Speculator } from "./speculator.ts"

/** Maximum number of tokens that are guessed at a time. */
const maxGuessed = 8
/** Estimated cost of a guessed token, in steps of one row, until it has been measured. */
const guessBreakEven = 0.3

export class Drafting {
  private readonly speculator: Speculator | null
  /**
   * Whether drafts of constrained answers are guessed from the habits of their text: if there is no
   * other drafter and that changes no bit.
   */
  private readonly guesses: boolean
  private readonly running: () => number

  /** `running`: returns how many sequences run. */
  constructor(model: Model, speculator: Speculator | null, guesses: boolean, running: () => number) {
    this.speculator = speculator
    this.guesses = speculator === null && guesses && model.canRewind && model.readsSteps
    this.running = running
  }

  /** Maximum tokens of a draft; 0 if there are none. */
  get maxTokens(): number {
    return this.speculator?.tokens ?? (this.guesses ? maxGuessed : 0)
  }

  /**
   * Returns how the drafts of a request are verified; null if there are none, or if they cannot be
   * verified.
   */
  judge({ params, verify, draftTokens, takesRuns }: ReadRequest): Speculation | null {
    const { speculator } = this
    if (draftTokens === 0 || !canSpeculate(params, verify)) return null
    if (speculator) {
      const breakEven = (): number => breakEvenOf(speculator, this.running())
      return new Speculation(verify, draftTokens, breakEven, { isAdaptive: speculator.isAdaptive })
    }
    if (!this.guesses || !takesRuns || verify !== "match") return null
    return new Speculation(verify, draftTokens, () => guessBreakEven, { maxShare: 2 })
  }
}
