/**
 * Reads tokens and counts them against budgets: the states of a grammar, advanced by tokens instead
 * of bytes.
 *
 * Within a token, each budget that reads a byte is charged once; at the end of the token all of
 * them can be charged again. If two threads differ only in what is left of their budgets, and one
 * of them has less or the same of each, it can do nothing that the other cannot, and is dropped.
 */
import { BudgetStacks } from "../../grammar/budget.ts"
import { PairMap } from "../../grammar/intern.ts"
import { TokenMark } from "../../grammar/lexeme/token.ts"
import { DeadState, type States } from "../../grammar/state.ts"
import type { TokenTrie } from "../trie.ts"

/** Maximum number of cached steps by one byte. All are evicted when it is reached. */
const MaxSteps = 1 << 20

export class Counter {
  readonly stacks: BudgetStacks
  private readonly states: States
  /** (state, byte) → state inside a token. */
  private readonly steps = new PairMap()
  private readonly countedStates: number[] = []
  private readonly settledStates: number[] = []
  private readonly uncountedStates: number[] = []
  private readonly byte = new Uint8Array(1)

  constructor(states: States) {
    this.states = states
    this.stacks = new BudgetStacks(states.stacks)
  }

  /** Returns the state inside a token after one more of its bytes. */
  read(state: number, byte: number): number {
    const known = this.steps.get(state, byte)
    if (known >= 0) return known
    this.countedStates[state] ??= this.restacked(state, (stack) => this.stacks.counted(stack))
    this.byte[0] = byte
    const next = this.states.advance(this.countedStates[state], this.byte)
    if (this.steps.size >= MaxSteps) this.steps.clear()
    this.steps.set(state, byte, next)
    return next
  }

  /**
   * Returns the state after a token of these bytes; some of its threads may have too little left.
   */
  after(state: number, bytes: Uint8Array): number {
    let at = state
    for (let i = 0; i < bytes.length && at !== DeadState; i++) at = this.read(at, bytes[i])
    return this.settled(at)
  }

  /** Returns the state at the end of the token, given `state` inside it. */
  settled(state: number): number {
    this.settledStates[state] ??= this.withoutPoorer(
      this.restacked(state, (stack) => this.stacks.settled(stack)),
    )
    return this.settledStates[state]
  }

  /** Returns `state` with unlimited budgets. */
  uncounted(state: number): number {
    this.uncountedStates[state] ??= this.restacked(state, (stack) => this.stacks.uncounted(stack))
    return this.uncountedStates[state]
  }

  /**
   * Calls `visit` with the tokens below `node` that can be read from `state` on, each with the
   * unsettled state at its end. Returns the number of trie nodes that were visited, or more than
   * `maxNodes` if there are more.
   */
  walk(
    trie: TokenTrie,
    state: number,
    node: number,
    visit: (token: number, end: number) => void,
    maxNodes = Number.POSITIVE_INFINITY,
  ): number {
    /** State by depth below `node`. */
    const path = [state]
    const base = trie.depth(node)
    let count = 0
    trie.scan(node, (_node, byte, depth, token) => {
      if (++count > maxNodes) return false
      // The bytes of a text never contain the id of a token.
      const next = byte === TokenMark ? DeadState : this.read(path[depth - base - 1], byte)
      if (next === DeadState) return false
      path[depth - base] = next
      if (token >= 0) visit(token, next)
      return true
    })
    return count
  }

  private withoutPoorer(state: number): number {
    const { states } = this
    if (states.threadCount(state) < 2) return state
    const threads = states.threadsOf(state)
    return states.stateOf(threads.filter((thread) => !threads.some((other) => this.isRicher(other, thread))))
  }

  /**
   * Returns `state` with each stack replaced by the result of `stackOf`. Drops threads for which
   * the result is negative.
   */
  private restacked(state: number, stackOf: (stack: number) => number): number {
    const { states } = this
    const threads: number[] = []
    for (const thread of states.threadsOf(state)) {
      const stack = stackOf(states.threadStack(thread))
      if (stack >= 0) threads.push(states.threadOn(thread, stack))
    }
    return states.stateOf(threads)
  }

  /**
   * Returns whether `other` can do all that `thread` can, because it has at least as much left of
   * each budget.
   */
  private isRicher(other: number, thread: number): boolean {
    const { states, stacks } = this
    if (other === thread || states.threadLexeme(other) !== states.threadLexeme(thread)) return false
    if (states.threadText(other) !== states.threadText(thread)) return false
    const [mine, theirs] = [states.threadStack(thread), states.threadStack(other)]
    if (stacks.uncounted(mine) !== stacks.uncounted(theirs)) return false
    const lefts = stacks.lefts(mine)
    return stacks.lefts(theirs).every((left, i) => left >= lefts[i])
  }
}
