/**
 * The machine of a grammar with token budgets: a `TokenFsm` whose states advance by whole tokens,
 * so that each token is counted once. Where enough tokens are left, a mask is that of the
 * `TokenFsm`.
 */
import { Completions } from "../../grammar/completions.ts"
import { GrammarError } from "../../grammar/errors.ts"
import type { Expectation } from "../../grammar/frame.ts"
import type { Grammar } from "../../grammar/grammar.ts"
import { PairMap } from "../../grammar/intern.ts"
import { DeadState } from "../../grammar/state.ts"
import type { CaptureReader } from "../../grammar/tape.ts"
import { type FsmOptions, TokenFsm } from "../fsm.ts"
import type { MachineStats, TokenMachine } from "../machine.ts"
import { noIds, type Recipe, recipeBytes } from "../recipe.ts"
import { spell } from "../spelling.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { type BudgetOptions, Budgets } from "./budgets.ts"

/** The root of the token trie. */
const RootNode = 0
/** Bytes of a mask, excluding its ids. */
const MaskBytes = 104

/**
 * Binds `grammar` to `vocabulary`. Returns a `TokenFsm`, or, if the grammar has rules with
 * `max_tokens`, a machine that counts their tokens. Throws GrammarError `unsatisfiable` if the
 * budget of such a part is smaller than the number of tokens that its shortest text takes in this
 * vocabulary.
 */
export function bindGrammar(
  grammar: Grammar,
  vocabulary: Vocabulary,
  options: FsmOptions = {},
): TokenMachine {
  if (grammar.budgets.length === 0) return new TokenFsm(grammar, vocabulary, options)
  return new BudgetMachine(new TokenFsm(grammar, vocabulary, { ...options, ignoresBudgets: true }))
}

/** Its caches have the bounds of its `TokenFsm`. */
export class BudgetMachine implements TokenMachine {
  readonly fsm: TokenFsm
  readonly start: number
  readonly budgets: Budgets
  private readonly transitions = new PairMap()
  /**
   * By state: the state of `fsm` that has the same mask; `DeadState` if the tokens of the state
   * must be tried.
   */
  private readonly uncounted: number[] = []
  /** Masks of the states whose tokens were tried. */
  private masks: (Recipe | undefined)[] = []
  private maskBytes = 0
  private hitCount = 0

  /** `fsm` must ignore the budgets of its grammar. Throws as `bindGrammar` does. */
  constructor(fsm: TokenFsm, options: BudgetOptions = {}) {
    this.fsm = fsm
    this.budgets = new Budgets(fsm, options)
    this.checkParts()
    this.start = this.budgets.kept(fsm.start)
  }

  get vocabulary(): Vocabulary {
    return this.fsm.vocabulary
  }

  get grammar(): Grammar {
    return this.fsm.grammar
  }

  get captures(): CaptureReader | null {
    return this.fsm.captures
  }

  next(state: number, token: number): number {
    if (!this.vocabulary.hasColumn(token)) return DeadState
    const known = this.transitions.get(state, token)
    if (known >= 0) return known
    this.fsm.states.enter()
    const next = this.budgets.next(state, token)
    if (this.transitions.size >= this.fsm.transitionCount) this.transitions.clear()
    this.transitions.set(state, token, next)
    return next
  }

  knownNext(state: number, token: number): number {
    return this.transitions.get(state, token)
  }

  advance(state: number, bytes: Uint8Array): number {
    return this.fsm.advance(state, bytes)
  }

  between(state: number): number {
    this.fsm.states.enter()
    return this.budgets.kept(state)
  }

  advanceToken(state: number, bytes: Uint8Array): number {
    this.fsm.states.enter()
    return this.budgets.advanceToken(state, bytes)
  }

  nextBytes(state: number, most?: number): number[] {
    return this.fsm.nextBytes(state, most)
  }

  mask(state: number): Recipe {
    this.fsm.states.enter()
    this.uncounted[state] ??= this.budgets.uncounted(state)
    if (this.uncounted[state] !== DeadState) return this.fsm.mask(this.uncounted[state])
    let mask = this.masks[state]
    if (mask !== undefined) {
      this.hitCount++
      return mask
    }
    mask = this.budgets.mask(state, RootNode, this.fsm.locals.endIds)
    const bytes = MaskBytes + recipeBytes(mask)
    this.maskBytes += bytes
    if (this.maskBytes > this.fsm.maskBytes) {
      this.masks = []
      this.maskBytes = bytes
    }
    this.masks[state] = mask
    return mask
  }

  hasMask(state: number): boolean {
    const uncounted = this.uncounted[state]
    if (uncounted === undefined || uncounted === DeadState) return this.masks[state] !== undefined
    return this.fsm.hasMask(uncounted)
  }

  maskBelow(state: number, node: number): Recipe {
    this.fsm.states.enter()
    return this.budgets.mask(state, node, noIds)
  }

  isAccepting(state: number): boolean {
    return this.fsm.isAccepting(state)
  }

  isExhausted(state: number): boolean {
    return this.fsm.isExhausted(state)
  }

  least(state: number): number {
    return this.fsm.least(state)
  }

  shortest(state: number): Uint8Array {
    return this.fsm.shortest(state)
  }

  explain(state: number): Expectation[] {
    return this.fsm.explain(state)
  }

  print(state: number): string {
    return this.fsm.print(state)
  }

  stats(): MachineStats {
    const stats = this.fsm.stats()
    return {
      ...stats,
      transitions: stats.transitions + this.transitions.size,
      maskBytes: stats.maskBytes + this.maskBytes,
      hits: stats.hits + this.hitCount,
    }
  }

  private checkParts(): void {
    const part = this.budgets.unkept()
    if (part === null) return
    const { states, locals } = this.fsm
    const tokens = spell(locals.trie, new Completions(states).shortest(states.begin(part.begin())))
    const needed = tokens === null ? "cannot be written" : `takes ${tokens.length}`
    const name = part.name === "" ? "" : `rule ${part.name}: `
    throw new GrammarError(
      "unsatisfiable",
      "",
      `${name}max_tokens=${part.maxTokens} is too small: its shortest text ${needed} in the tokens of this vocabulary. Raise max_tokens or leave it out`,
    )
  }
}
