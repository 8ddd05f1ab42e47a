/**
 * Where drafts come from: the interface of all drafters, the one that needs no model, and how long a draft should be.
 *
 * A drafter proposes tokens that may follow; `rejection.ts` decides. Nothing a drafter does can change an output, only
 * how fast it comes. Prompt lookup (Saxena 2023) proposes what followed an earlier occurrence of the sequence's own ending:
 * free, and right surprisingly often where text is copied, as in JSON.
 */
import type { DraftLaw } from "./row.ts"

export interface Proposal {
  readonly tokens: readonly number[]
  /** A tree: index of each token's parent, −1 = the sequence itself. Absent: each token follows the one before. */
  readonly parents?: readonly number[]
  /** What each token was drawn from; absent: all were certain. */
  readonly laws?: readonly DraftLaw[]
}

/** What a drafter is told of a sequence. */
export interface DraftContext {
  /** Prompt and output. */
  readonly tokens: ArrayLike<number>
  /** The model's hidden states of the layers that the drafter needs, one row a layer. */
  readonly hidden?: readonly Float32Array[]
}

export interface Proposer {
  /** Hidden layers that the model has to export, and how many last tokens the drafter looks at. */
  readonly needs: { readonly hidden?: readonly number[]; readonly context?: number }
  /** At most k tokens, a chain or a tree. */
  propose(context: DraftContext, k: number, signal?: AbortSignal): Promise<Proposal> | Proposal
}

/** Throws RangeError when a model does not export the layers that the drafter needs: at load, not at the first draft. */
export function checkNeeds(proposer: Proposer, exportedLayers: readonly number[]): void {
  const missing = (proposer.needs.hidden ?? []).filter((layer) => !exportedLayers.includes(layer))
  if (missing.length === 0) return
  const has = exportedLayers.length > 0 ? `layers ${exportedLayers.join(", ")}` : "no hidden layer"
  throw new RangeError(
    `draft: the drafter needs hidden layers ${missing.join(", ")}, the model exports ${has}`,
  )
}

/** The tokens of a proposal that a model without a tree mask can verify: the path of first children. */
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

export interface NgramOptions {
  /** Shortest and longest ending that is looked up. Default 2 and 4. */
  readonly min?: number
  readonly max?: number
  /** Which of several occurrences. Default earliest. */
  readonly place?: "earliest" | "latest"
}

/** Prompt lookup over an index that grows with the sequence; a proposal costs one comparison a token. One object a sequence. */
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
 * How many tokens to draft: `max`, but none for 64 steps after 64 steps whose drafts were accepted less often than pays.
 */
export class DraftLength {
  private readonly max: number
  private readonly breakEven: () => number
  private proposed = 0
  private accepted = 0
  private steps = 0
  private pause = 0

  /** `breakEven`: share of accepted tokens below which drafting costs more than it saves, or what it is just now. */
  constructor(max: number, breakEven: number | (() => number)) {
    this.max = max
    this.breakEven = typeof breakEven === "number" ? () => breakEven : breakEven
  }

  /** Tokens to draft in this step. */
  next(): number {
    if (this.pause === 0) return this.max
    this.pause--
    return 0
  }

  /** What came of a step that drafted. */
  record(proposedCount: number, acceptedCount: number): void {
    if (proposedCount === 0) return
    this.proposed += proposedCount
    this.accepted += acceptedCount
    if (++this.steps < 64) return
    if (this.accepted < this.breakEven() * this.proposed) this.pause = 64
    this.proposed = 0
    this.accepted = 0
    this.steps = 0
  }
}
