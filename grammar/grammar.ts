/** What every front end returns: where to begin, and who made it. Everything else grows lazily in `States`. */
import type { BudgetPart } from "./budget.ts"
import { defaultLimits, type Limits } from "./errors.ts"
import type { Step } from "./frame.ts"
import { lexemes } from "./lexeme/table.ts"

/** A compiled constraint. It is deeply immutable: any number of vocabularies and requests may share one. */
export class Grammar {
  /** The ways to begin: each a lexeme over a stack of frames. None: nothing satisfies the constraint. */
  readonly start: readonly Step[]
  readonly limits: Limits
  /** One line for people. */
  readonly title: string

  /** Whether something is read by the id of a token, see `lexeme/token.ts`. */
  readonly readsTokens: boolean
  /** Its parts that take a bounded number of tokens, see `budget.ts`. */
  readonly budgets: readonly BudgetPart[]
  /** Whether readings that differ only below their frames are kept as one, see `stack.ts`. */
  readonly unites: boolean
  private readonly identify: () => string

  /** `key` answers the identity of (input, options); it is asked when somebody wants to know. */
  constructor(
    start: readonly Step[],
    options: {
      key: () => string
      title: string
      limits?: Limits
      readsTokens?: boolean
      budgets?: readonly BudgetPart[]
      unites?: boolean
    },
  ) {
    this.start = start
    this.identify = options.key
    this.title = options.title
    this.limits = options.limits ?? defaultLimits
    this.readsTokens = options.readsTokens ?? false
    this.budgets = options.budgets ?? []
    this.unites = options.unites ?? false
  }

  /** Identity of (input, options), for caches. */
  get key(): string {
    return this.identify()
  }

  /** Whether no text at all is accepted. */
  get isEmpty(): boolean {
    return this.start.length === 0
  }

  /** Whether the empty text is accepted. Cost: the ways to begin. */
  get isNullable(): boolean {
    return this.start.some(({ lexeme, frames }) => frames.length === 0 && lexemes.tags[lexeme] !== 0)
  }

  print(): string {
    return this.title
  }
}
