/**
 * Sources of drafts: the interface of a proposer for one sequence, the proposer that needs no
 * model, and the length of drafts.
 *
 * A proposer returns tokens that may follow, and `rejection.ts` decides which of them are kept. A
 * proposer can never change the output, only its speed. Prompt lookup (Saxena 2023) proposes the
 * tokens that followed an earlier occurrence of the sequence's own suffix. It costs almost nothing
 * and is often right in copied text, such as JSON.
 */
import type { DraftLaw } from "../row.ts"

/** Tokens that may follow a sequence, as a chain or a tree. */
export interface Proposal {
  readonly tokens: readonly number[]
  /**
   * For a tree: index of each token's parent, −1 for the sequence itself. If absent, each token
   * follows the one before.
   */
  readonly parents?: readonly number[]
  /** The distribution that each token was drawn from; absent if all were certain. */
  readonly laws?: readonly DraftLaw[]
}

/** The parts of a sequence that a proposer reads. */
export interface DraftContext {
  /** Prompt and output. */
  readonly tokens: ArrayLike<number>
  /** The model's hidden states of the layers that the proposer needs, one row for each layer. */
  readonly hidden?: readonly Float32Array[]
}

/**
 * A proposer for one sequence. Its proposals change the speed of an answer but not its
 * distribution.
 */
export interface Proposer {
  /** Hidden layers that the model has to export, and how many last tokens the proposer reads. */
  readonly needs: { readonly hidden?: readonly number[]; readonly context?: number }
  /** Returns at most k tokens, as a chain or a tree. */
  propose(context: DraftContext, k: number, signal?: AbortSignal): Promise<Proposal> | Proposal
}

/**
 * Throws RangeError if the model does not export the layers that the proposer needs. Called at
 * load, so that the error does not wait for the first draft.
 */
export function checkNeeds(proposer: Proposer, exportedLayers: readonly number[]): void {
  const missing = (proposer.needs.hidden ?? []).filter((layer) => !exportedLayers.includes(layer))
  if (missing.length === 0) return
  const has = exportedLayers.length > 0 ? `layers ${exportedLayers.join(", ")}` : "no hidden layer"
  throw new RangeError(
    `draft: the drafter needs hidden layers ${missing.join(", ")}, the model exports ${has}`,
  )
}

/**
 * Returns the tokens of a proposal that a model without a tree mask can verify: the path of first
 * children.
 */
export function chainOf({ tokens, parents }: Proposal, maxCount: number): number[] {
  if (!parents) return tokens.slice(0, maxCount)
  const chain: number[] = []
  for (let parent = -1; chain.length < maxCount; ) {
    const child = parents.findIndex((of, index) => of === parent && index > parent)
    if (child < 0) break
    chain.push(tokens[child])
    parent = child
  }
  return chain
}

/** Options of prompt lookup. */
export interface NgramOptions {
  /** Shortest and longest suffix that is looked up. Default 2 and 4. */
  readonly min?: number
  readonly max?: number
  /** Which occurrence to use if there are several. Default earliest. */
  readonly place?: "earliest" | "latest"
}

/**
 * Prompt lookup over an index that grows with the sequence; a proposal costs one comparison for
 * each token. Each sequence needs its own object.
 */
export class NgramProposer implements Proposer {
  readonly needs = {}
  private readonly min: number
  private readonly max: number
  private readonly isLatest: boolean
  /** Tokens that are in the index. */
  private readonly seen: number[] = []
  /**
   * End of an occurrence of each n-gram, by the ids of the n-gram; only occurrences that a token
   * follows.
   */
  private readonly ends = new Map<string, number[]>()

  constructor({ min = 2, max = 4, place = "earliest" }: NgramOptions = {}) {
    if (!(Number.isInteger(min) && Number.isInteger(max) && min >= 1 && max >= min)) {
      throw new RangeError(`ngram: ${min} to ${max} is not a range of lengths of at least 1`)
    }
    this.min = min
    this.max = max
    this.isLatest = place === "latest"
  }

  propose({ tokens }: DraftContext, k: number): Proposal {
    this.follow(tokens)
    for (let n = Math.min(this.max, tokens.length); n >= this.min; n--) {
      const ends = this.ends.get(this.key(tokens.length, n))
      const end = this.isLatest ? ends?.at(-1) : ends?.[0]
      if (end !== undefined) return { tokens: Array.from(tokens).slice(end, end + k) }
    }
    return { tokens: [] }
  }

  /** Updates the index to the sequence; removes tokens first if the sequence was cut. */
  private follow(tokens: ArrayLike<number>): void {
    const { seen } = this
    let common = 0
    while (common < seen.length && common < tokens.length && seen[common] === tokens[common]) common++
    while (seen.length > common) {
      seen.pop()
      // The n-grams that ended here were indexed when the dropped token followed them.
      for (let n = this.min; n <= Math.min(this.max, seen.length); n++)
        this.ends.get(this.key(seen.length, n))?.pop()
    }
    for (let index = common; index < tokens.length; index++) {
      for (let n = this.min; n <= Math.min(this.max, seen.length); n++) {
        const key = this.key(seen.length, n)
        const ends = this.ends.get(key)
        if (ends) ends.push(seen.length)
        else this.ends.set(key, [seen.length])
      }
      seen.push(tokens[index])
    }
  }

  private key(end: number, n: number): string {
    return this.seen.slice(end - n, end).join()
  }
}

/**
 * Limits in tokens: the debt at which drafting pauses, the credit that may be saved for later
 * losses, and the amount that each written token pays back.
 */
const MaxDebt = 2
const MaxCredit = 8
const Earned = 0.03

/**
 * Decides how many tokens to draft: `max`, or none while the drafts of a sequence are too deep in
 * debt. The extra cost of a step with drafts, in tokens, adds to the debt, and its gain reduces it.
 * Drafting pauses at a debt of two tokens; each written token reduces the debt a little until
 * drafting may be tried again. So drafts that are never right cost a text of any length at most two
 * tokens, one draft and 3 %. A window over past steps would not notice bad drafts within a text as
 * short as itself.
 */
export class DraftLength {
  private readonly max: number
  private debt = 0
  private isPaused = false

  constructor(max: number) {
    this.max = max
  }

  /** Returns the number of tokens to draft in this step. */
  next(): number {
    if (this.debt <= 0) this.isPaused = false
    return this.isPaused ? 0 : this.max
  }

  /**
   * Records a step with drafts, in tokens: its extra cost compared with a step without drafts, and
   * its gain.
   */
  record(cost: number, gain: number): void {
    this.debt = Math.max(-MaxCredit, this.debt + cost - gain)
    if (this.debt > MaxDebt) this.isPaused = true
  }

  /** Records written tokens. */
  advance(count: number): void {
    this.debt = Math.max(-MaxCredit, this.debt - Earned * count)
  }
}
