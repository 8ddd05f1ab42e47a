/** What every front end returns: where to begin, and who made it. Everything else grows lazily in `States`. */
import type { BudgetPart } from "./budget.ts"
import { defaultLimits, type Limits } from "./errors.ts"
import type { Step } from "./frame.ts"
import { lexemes } from "./lexeme/table.ts"
import type { CaptureReader } from "./tape.ts"

/**
 * A grammar whose texts may end in a greedy lexeme, see `ebnf/greedy.ts`. A guard is a set of bytes (`lexeme/bytesets.ts`)
 * that may not come next.
 */
export interface GuardedGrammar {
  /** The guards that a text may leave behind where `before` is the one before it. */
  leaves(before: number): ReadonlySet<number>
  /** The texts behind `before` that leave a guard of `after` behind; null for `after`: any. Null: there are none. */
  version(before: number, after: ReadonlySet<number> | null): Grammar | null
}

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
  /** Whether text without a choice may be written in the tokenizer's own tokens: a Lark text can ask for the model's. */
  readonly isForced: boolean
  /** Finds what is captured of a text; null: the grammar captures nothing. */
  readonly captures: CaptureReader | null
  /** Null: no text of it has a say in what follows. */
  readonly guards: GuardedGrammar | null
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
      isForced?: boolean
      guards?: GuardedGrammar | null
      captures?: CaptureReader | null
    },
  ) {
    this.start = start
    this.identify = options.key
    this.title = options.title
    this.limits = options.limits ?? defaultLimits
    this.readsTokens = options.readsTokens ?? false
    this.budgets = options.budgets ?? []
    this.unites = options.unites ?? false
    this.isForced = options.isForced ?? true
    this.guards = options.guards ?? null
    this.captures = options.captures ?? null
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
