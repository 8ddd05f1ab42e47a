/**
 * Satisfiability: which conjunctions have a finite value at all.
 *
 * The answer is a least fixpoint over the conjunctions that are reachable from the given one. All
 * begin as unproductive. One becomes productive when some branch of some type can be built from
 * parts that already are; then the conjunctions that wait for it are evaluated again. A conjunction
 * that is still unproductive when nothing changes any more has no value of any depth. The order in
 * which conjunctions become productive is a rank: a witness is built from parts of lower rank only,
 * so it is finite.
 */
import { checkTime } from "../../deadline.ts"
import { checkLimit, type Limits } from "../../errors.ts"

/** Returns whether a part is productive. A `false` may become `true` later. */
export type Lookup = (conjunction: number) => boolean

/** The state of a conjunction that is being evaluated. */
interface Waiter {
  /** The conjunctions that asked for it. */
  readonly waiters: Set<number>
  /** How often it was evaluated, and how many of its parts have become productive since. */
  runs: number
  news: number
}

const newWaiter = (): Waiter => ({ waiters: new Set(), runs: 0, news: 0 })

export class Satisfiability {
  private readonly limits: Limits
  /** Whether the conjunction has a value, given the current answers for its parts. */
  private readonly evaluate: (conjunction: number, lookup: Lookup) => boolean
  /** Returns the rank of a conjunction that is productive at sight, else null. */
  private readonly plainRank: (conjunction: number) => number | null
  /** Settled answers, by conjunction. */
  private readonly known: (boolean | undefined)[] = []
  private readonly ranks: number[] = []
  private rankCount = 0
  private depth = 0

  constructor(
    limits: Limits,
    evaluate: (conjunction: number, lookup: Lookup) => boolean,
    plainRank: (conjunction: number) => number | null,
  ) {
    this.limits = limits
    this.evaluate = evaluate
    this.plainRank = plainRank
  }

  /** Whether some value satisfies `conjunction`. */
  isProductive(conjunction: number): boolean {
    return this.settled(conjunction) ?? this.solve(conjunction)
  }

  /** Returns a rank above all earlier ones. */
  readonly nextRank = (): number => this.rankCount++

  /** Returns the answer if it is known without a search. */
  private settled(conjunction: number): boolean | undefined {
    const known = this.known[conjunction]
    if (known !== undefined) return known
    const rank = this.plainRank(conjunction)
    if (rank === null) return undefined
    this.ranks[conjunction] = rank
    this.known[conjunction] = true
    return true
  }

  /** Returns the position in the order in which conjunctions were found productive. */
  rank(conjunction: number): number {
    return this.isProductive(conjunction) ? this.ranks[conjunction] : Number.POSITIVE_INFINITY
  }

  /** Whether a question is being answered. Questions asked meanwhile are part of it. */
  get isSolving(): boolean {
    return this.depth > 0
  }

  private solve(root: number): boolean {
    this.depth++
    try {
      return this.search(root)
    } finally {
      this.depth--
    }
  }

  private search(root: number): boolean {
    /** By conjunction of this search: its state, with the conjunctions that wait for it. */
    const waiting = new Map<number, Waiter>([[root, newWaiter()]])
    const queue = [root]
    const queued = new Set(queue)
    const enqueue = (conjunction: number) => {
      queued.add(conjunction)
      queue.push(conjunction)
    }
    /** Conjunctions with too few new productive parts to be evaluated before all others. */
    const later = new Set<number>()
    let steps = 0
    for (;;) {
      if (queue.length === 0) {
        later.forEach(enqueue)
        later.clear()
      }
      const conjunction = queue.pop()
      if (conjunction === undefined) break
      queued.delete(conjunction)
      later.delete(conjunction)
      if (this.known[conjunction] === true) continue
      checkLimit(this.limits, "satSteps", ++steps)
      checkTime()
      const own = waiting.get(conjunction) as Waiter
      const discovered = this.look(conjunction, own, waiting)
      // Depth first: new parts are evaluated before anything else.
      discovered?.forEach(enqueue)
      if (discovered !== null) continue
      for (const waiter of own.waiters) {
        if (queued.has(waiter) || this.known[waiter] === true) continue
        const entry = waiting.get(waiter) as Waiter
        entry.news++
        // A conjunction with many parts is not evaluated after each of them, but only when twice as
        // many have become productive as before.
        if (entry.news < 2 ** (entry.runs - 1)) later.add(waiter)
        else enqueue(waiter)
      }
    }
    for (const conjunction of waiting.keys()) {
      this.known[conjunction] ??= false
    }
    return this.known[root] as boolean
  }

  /**
   * Evaluates `conjunction` once more. Returns null if it is productive, else those of its parts
   * that were not met before.
   */
  private look(conjunction: number, own: Waiter, waiting: Map<number, Waiter>): readonly number[] | null {
    own.runs++
    own.news = 0
    const discovered: number[] = []
    const isProductive = this.evaluate(conjunction, (part) => {
      const known = this.settled(part)
      if (known !== undefined) return known
      let found = waiting.get(part)
      if (found === undefined) {
        found = newWaiter()
        waiting.set(part, found)
        discovered.push(part)
      }
      found.waiters.add(conjunction)
      return false
    })
    if (!isProductive) return discovered
    this.ranks[conjunction] = this.nextRank()
    this.known[conjunction] = true
    // The evaluation did not need these parts in the end, and they have not been evaluated.
    for (const part of discovered) waiting.delete(part)
    return null
  }
}
