/**
 * Budgets: a part of a rule that takes at most so many tokens.
 *
 * The number lies on the stack, in a frame below those of the part, so it is part of the state: rollback, forks and drafts
 * need not know of it. A frame is in one of two ways: no byte of the token at hand has been read inside the part, or one has
 * and the token is counted. The floor above, which knows where tokens begin and end, moves all frames of a state from the
 * one to the other; read byte by byte, without tokens, a part has all texts that it would have without a budget.
 */
import { Frame, type Step } from "./frame.ts"
import { exprs } from "./lexeme/expr/expr.ts"
import { exprLexeme } from "./lexeme/raw.ts"
import { EmptyStack, type StackTable } from "./stack.ts"

/** Reads nothing: what follows it comes at once. */
export const EmptyLexeme = exprLexeme(exprs.literal(""))

/** Left of a budget that is not counted. */
export const Uncounted = 0x7fffffff
/** Instead of a stack: some budget has nothing left. */
const Spent = -1

/** A part of a grammar with a budget. */
export interface BudgetPart {
  /** Of the rule, for messages. */
  readonly name: string
  readonly maxTokens: number
  /** The ways to begin the part, its budget included, with nothing below. */
  begin(): readonly Step[]
}

const ended: readonly Step[] = [{ lexeme: EmptyLexeme, frames: [] }]
const noBytes = new Uint8Array(0)

/** Lies below a part of which so many tokens are left. */
export class BudgetFrame extends Frame {
  /** Tokens that may still begin, or go on, inside the part. */
  readonly left: number
  /** Whether the token at hand is counted already. */
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

/** By what is left: parts with equal budgets share their frames. */
const idle = new Map<number, BudgetFrame>()
const counted = new Map<number, BudgetFrame>()

/** The frame below a part that begins, of `left` tokens. */
export function budgetFrame(left: number): BudgetFrame {
  return frameOf(idle, left, false)
}

function frameOf(frames: Map<number, BudgetFrame>, left: number, isCounted: boolean): BudgetFrame {
  let frame = frames.get(left)
  if (frame === undefined) {
    frame = new BudgetFrame(left, isCounted)
    frames.set(left, frame)
  }
  return frame
}

/** What the budgets on the stacks of one table are, and what tokens make of them. All memoised by stack. */
export class BudgetStacks {
  private readonly stacks: StackTable
  private readonly leftLists: (readonly number[])[] = [[]]
  private readonly countedStacks: number[] = []
  private readonly settledStacks: number[] = []
  private readonly uncountedStacks: number[] = []

  constructor(stacks: StackTable) {
    this.stacks = stacks
  }

  /** What is left of each budget, from the top down. */
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

  /** `stack` as one more byte of a token is read above it; `Spent` where a budget has no token left for it. */
  counted(stack: number): number {
    return this.changed(stack, this.countedStacks, (frame) => {
      if (frame.isCounted) return frame
      if (frame.left === 0) return null
      return frameOf(counted, frame.left === Uncounted ? Uncounted : frame.left - 1, true)
    })
  }

  /** `stack` where a token ends. */
  settled(stack: number): number {
    return this.changed(stack, this.settledStacks, ({ left }) => budgetFrame(left))
  }

  /** `stack` with budgets that never end: stacks that differ in what is left alone are one. */
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
