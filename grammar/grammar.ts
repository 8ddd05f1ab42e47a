/**
 * The result of every front end: the steps with which a text begins, and what callers need to know
 * about its texts. Everything else grows lazily in `States`.
 */
import type { BudgetPart } from "./budget.ts"
import { defaultLimits, type Limits } from "./errors.ts"
import type { Expectation, Step } from "./frame.ts"
import { lexemes } from "./lexeme/table.ts"
import { currentWorld, inWorld, type World } from "./tables.ts"
import type { CaptureReader } from "./tape.ts"

/**
 * A grammar whose texts may end in a greedy lexeme, see `ebnf/greedy.ts`. A guard is a set of bytes
 * (`lexeme/bytesets.ts`) that must not come next.
 */
export interface GuardedGrammar {
  /**
   * Returns the guards that a text may leave for the next one if `before` is the guard in front of
   * it.
   */
  leaves(before: number): ReadonlySet<number>
  /**
   * Returns the texts that may follow guard `before` and leave a guard of `after`, or any guard if
   * `after` is null. Returns null if there are none.
   */
  version(before: number, after: ReadonlySet<number> | null): Grammar | null
}

/**
 * A compiled constraint. It is deeply immutable: any number of vocabularies and requests may share
 * one.
 */
export class Grammar {
  /**
   * The ways to begin: each a lexeme over a stack of frames. Empty if nothing satisfies the
   * constraint.
   */
  readonly start: readonly Step[]
  readonly limits: Limits
  /** One line for people. */
  readonly title: string

  /** Whether something is read by the id of a token, see `lexeme/token.ts`. */
  readonly readsTokens: boolean
  /** The parts that have a budget of tokens, see `budget.ts`. */
  readonly budgets: readonly BudgetPart[]
  /**
   * Whether a mask collects the lexemes that it reads and unites them, see `mask/fast/readings.ts`.
   * That pays for rules; JSON has few readings.
   */
  readonly unites: boolean
  /**
   * Whether text without a choice may be written in the tokenizer's own tokens. A Lark text can
   * require the model's instead.
   */
  readonly isForced: boolean
  /** Finds the captures of a text. Null if the grammar captures nothing. */
  readonly captures: CaptureReader | null
  /** Null if no text of this grammar forbids the next byte (it has no greedy lexeme). */
  readonly guards: GuardedGrammar | null
  /** The tables in which the lexemes of this grammar have their numbers, see `tables.ts`. */
  readonly world: World
  /**
   * Describes a lexeme that ends the text, as `Frame.expect` describes one above a frame. Null if
   * nothing is known of it.
   */
  readonly expect: ((sample: string, lexeme: number) => Expectation | null) | null
  private readonly identify: () => string

  /** `key` returns the identity of (input, options). It is called on demand. */
  constructor(
    start: readonly Step[],
    options: {
      key: () => string
      title: string
      limits?: Limits
      readsTokens?: boolean
      budgets?: readonly BudgetPart[]
      unites?: boolean
      isForced?: boolean
      guards?: GuardedGrammar | null
      captures?: CaptureReader | null
      expect?: (sample: string, lexeme: number) => Expectation | null
    },
  ) {
    this.start = start
    this.world = currentWorld()
    this.identify = options.key
    this.title = options.title
    this.limits = options.limits ?? defaultLimits
    this.readsTokens = options.readsTokens ?? false
    this.budgets = options.budgets ?? []
    this.unites = options.unites ?? false
    this.isForced = options.isForced ?? true
    this.guards = options.guards ?? null
    this.captures = options.captures ?? null
    this.expect = options.expect ?? null
  }

  /** Identity of (input, options), for caches. */
  get key(): string {
    return this.identify()
  }

  /** Whether no text at all is accepted. */
  get isEmpty(): boolean {
    return this.start.length === 0
  }

  /** Whether the empty text is accepted. Costs a look at each step of `start`. */
  get isNullable(): boolean {
    const isNullable = ({ lexeme, frames }: Step) => frames.length === 0 && lexemes.tags[lexeme] !== 0
    return inWorld(this.world, () => this.start.some(isNullable))
  }

  print(): string {
    return this.title
  }
}
