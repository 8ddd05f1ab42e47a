/**
 * Budgets: a part of a rule that takes at most a given number of tokens.
 *
 * The number is in a frame below those of the part. So it is part of the state, and rollback, forks
 * and drafts need no support for it. A frame has two forms: either no byte of the current token has
 * been read inside the part, or one has and the token is counted. The floor above, which knows
 * where tokens begin and end, moves all frames of a state between the two. Read byte by byte,
 * without tokens, a part has all texts that it would have without a budget.
 */
import { Frame, type Step } from "./frame.ts"
import { exprs } from "./lexeme/expr/expr.ts"
import { exprLexeme } from "./lexeme/raw.ts"
import { EmptyStack, type StackTable } from "./stack.ts"
import { owned } from "./tables.ts"

/** Reads nothing, so what follows it comes at once. */
export const EmptyLexeme = exprLexeme(exprs.literal(""))

/** What is left of a budget that is not counted. */
export const Uncounted = 0x7fffffff
/** Stands for a stack in which some budget has no token left. */
const Spent = -1

/** A part of a grammar with a budget. */
export interface BudgetPart {
  /** Name of the rule, for messages. */
  readonly name: string
  readonly maxTokens: number
  /** Returns the ways to begin the part over the empty stack, with its budget. */
  begin(): readonly Step[]
}

const ended: readonly Step[] = [{ lexeme: EmptyLexeme, frames: [] }]
const noBytes = new Uint8Array(0)

/** Lies below a part that has `left` tokens left. */
export class BudgetFrame extends Frame {
  /** Count of tokens that may still begin, or continue, inside the part. */
  readonly left: number
  /** Whether the current token is counted already. */
  readonly isCounted: boolean

  constructor(left: number, isCounted: boolean) {
    super()
    this.left = left
    this.isCounted = isCounted
  }

  follow(): readonly Step[] {
    return ended
  }

  finish(): Uint8Array {
    return noBytes
  }
}

/** Frames by what is left, so that parts with equal budgets share them. */
const frames = owned(
  "budget frames",
  { idle: new Map<number, BudgetFrame>(), counted: new Map<number, BudgetFrame>() },
  { entryBytes: 80 },
)

/** Returns the frame below a part that begins with `left` tokens. */
export function budgetFrame(left: number): BudgetFrame {
  return frameOf(frames.idle, left, false)
}

function frameOf(frames: Map<number, BudgetFrame>, left: number, isCounted: boolean): BudgetFrame {
  let frame = frames.get(left)
  if (frame === undefined) {
    frame = new BudgetFrame(left, isCounted)
    frames.set(left, frame)
  }
  return frame
}

/**
 * The budgets on the stacks of one table, and how tokens change them. Everything is memoized by
 * stack.
 */
export class BudgetStacks {
  private readonly stacks: StackTable
  private readonly leftLists: (readonly number[])[] = [[]]
  private readonly countedStacks: number[] = []
  private readonly settledStacks: number[] = []
  private readonly uncountedStacks: number[] = []

  constructor(stacks: StackTable) {
    this.stacks = stacks
  }

  /** Returns what is left of each budget, from the top down. */
  lefts(stack: number): readonly number[] {
    let lefts = this.leftLists[stack]
    if (lefts === undefined) {
      const frame = this.stacks.top[stack]
      const below = this.lefts(this.stacks.pop(stack))
      lefts = frame instanceof BudgetFrame ? [frame.left, ...below] : below
      this.leftLists[stack] = lefts
    }
    return lefts
  }

  /**
   * Returns `stack` after one more byte of a token above it; `Spent` if a budget has no token left.
   */
  counted(stack: number): number {
    return this.changed(stack, this.countedStacks, (frame) => {
      if (frame.isCounted) return frame
      if (frame.left === 0) return null
      return frameOf(frames.counted, frame.left === Uncounted ? Uncounted : frame.left - 1, true)
    })
  }

  /** Returns `stack` after the end of a token. */
  settled(stack: number): number {
    return this.changed(stack, this.settledStacks, ({ left }) => budgetFrame(left))
  }

  /**
   * Returns `stack` with budgets that never end, so that stacks that differ only in budgets are
   * equal.
   */
  uncounted(stack: number): number {
    return this.changed(stack, this.uncountedStacks, () => budgetFrame(Uncounted))
  }

  private changed(
    stack: number,
    known: number[],
    change: (frame: BudgetFrame) => BudgetFrame | null,
  ): number {
    if (stack === EmptyStack) return EmptyStack
    if (known[stack] !== undefined) return known[stack]
    const top = this.stacks.top[stack]
    const below = this.changed(this.stacks.pop(stack), known, change)
    const frame = top instanceof BudgetFrame ? change(top) : top
    known[stack] = frame === null || below === Spent ? Spent : this.stacks.push(below, frame)
    return known[stack]
  }
}
