/**
 * Where drafts come from: the interface of what proposes for one sequence, the proposer that needs
 * no model, and how long a draft should be.
 *
 * A drafter proposes tokens that may follow; `rejection.ts` decides. Nothing a drafter does can
 * change an output, only how fast it comes. Prompt lookup (Saxena 2023) proposes what followed an
 * earlier occurrence of the sequence's own ending: free, and right surprisingly often where text is
 * copied, as in JSON.
 */
import type { DraftLaw } from "../row.ts"

/** Tokens that may follow a sequence, as a chain or a tree. */
export interface Proposal {
  readonly tokens: readonly number[]
  /**
   * A tree: index of each token's parent, −1 = the sequence itself. Absent: each token follows the
   * one before.
   */
  readonly parents?: readonly number[]
  /** What each token was drawn from; absent: all were certain. */
  readonly laws?: readonly DraftLaw[]
}

/** The parts of a sequence that a drafter sees. */
export interface DraftContext {
  /** Prompt and output. */
  readonly tokens: ArrayLike<number>
  /** The model's hidden states of the layers that the drafter needs, one row a layer. */
  readonly hidden?: readonly Float32Array[]
}

/**
 * A drafter of one sequence. What it proposes decides how fast an answer comes, and changes nothing
 * about its law.
 */
export interface Proposer {
  /** Hidden layers that the model has to export, and how many last tokens the drafter looks at. */
  readonly needs: { readonly hidden?: readonly number[]; readonly context?: number }
  /** At most k tokens, a chain or a tree. */
  propose(context: DraftContext, k: number, signal?: AbortSignal): Promise<Proposal> | Proposal
}

/**
 * Throws RangeError when a model does not export the layers that the drafter needs: at load, not at
 * the first draft.
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
 * The tokens of a proposal that a model without a tree mask can verify: the path of first children.
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

/** What prompt lookup compares, and which occurrence it takes. */
export interface NgramOptions {
  /** Shortest and longest ending that is looked up. Default 2 and 4. */
  readonly min?: number
  readonly max?: number
  /** Which of several occurrences. Default earliest. */
  readonly place?: "earliest" | "latest"
}

/**
 * Prompt lookup over an index that grows with the sequence; a proposal costs one comparison a
 * token. One object a sequence.
 */
export class NgramProposer implements Proposer {
  readonly needs = {}
  private readonly min: number
  private readonly max: number
  private readonly isLatest: boolean
  /** Tokens that the index has seen. */
  private readonly seen: number[] = []
  /** End of an occurrence of each n-gram, by its ids; only those that a token follows. */
  private readonly ends = new Map<string, number[]>()

  constructor({ min = 2, max = 4, place = "earliest" }: NgramOptions = {}) {
    if (!(Number.isInteger(min) && Number.isInteger(max) && min >= 1 && max >= min)) {
      throw new RangeError(`ngram: ${min} to ${max} is no range of lengths from 1 up`)
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

  /** Brings the index to where the sequence is, back first if it was cut. */
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
 * Tokens that drafts may lose before they pause, that they may have won to lose later, and that
 * each token earns them.
 */
const MaxDebt = 2
const MaxCredit = 8
const Earned = 0.03

/**
 * How many tokens to draft: `max`, or none while the drafts of a sequence owe more than they won.
 * What a step with drafts costs beyond one without, in tokens, is a debt, what it gains pays it; a
 * debt of two tokens pauses, and each token of the text pays a little until drafting may be tried
 * again. So drafts that are never right cost a text two tokens, one draft and 3 % at most, however
 * long it is; a window of steps would be noticed by a text of its own length.
 */
export class DraftLength {
  private readonly max: number
  private debt = 0
  private isPaused = false

  constructor(max: number) {
    this.max = max
  }

  /** Tokens to draft in this step. */
  next(): number {
    if (this.debt <= 0) this.isPaused = false
    return this.isPaused ? 0 : this.max
  }

  /** Records a step with drafts, in tokens: its cost beyond a step without, and its gain. */
  record(cost: number, gain: number): void {
    this.debt = Math.max(-MaxCredit, this.debt + cost - gain)
    if (this.debt > MaxDebt) this.isPaused = true
  }

  /** Records written tokens. */
  advance(count: number): void {
    this.debt = Math.max(-MaxCredit, this.debt - Earned * count)
  }
}
