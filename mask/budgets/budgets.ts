/**
 * Token budgets, enforced strictly: a token is allowed only if every counted part can still end
 * within the tokens that are left.
 *
 * While more tokens are left than any token could make necessary, the mask is that of the grammar
 * without its budgets, computed and cached once for all counts. Near the end of a budget every
 * token is tried, along the trie. Both ways give the same mask; only the time differs.
 */
import { BudgetFrame, type BudgetPart, Uncounted } from "../../grammar/budget.ts"
import { PairMap } from "../../grammar/intern.ts"
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { TokenMark, tokenBytes, tokenIds } from "../../grammar/lexeme/token.ts"
import { EmptyStack } from "../../grammar/stack.ts"
import { DeadState, type States } from "../../grammar/state.ts"
import type { TokenFsm } from "../fsm.ts"
import type { LocalMasks } from "../local.ts"
import type { MaskBuilder } from "../mask.ts"
import { compactIds, idsRecipe, noIds, type Recipe, unite } from "../recipe.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { Counter } from "./counter.ts"
import { Needs, threadsOf, withinLimits } from "./needs.ts"
import { Radii } from "./radius.ts"

/** A length in bytes that no budget of tokens covers. */
const Endless = 0x7fffffff
const noText = new Uint8Array(0)

/**
 * Bounds on the work of one mask. They change no result, except that a search that gives up denies
 * tokens that it could have allowed.
 */
export interface BudgetOptions {
  /** Whether to try every token of every mask. */
  isPlain?: boolean
  /** Maximum number of trie nodes that one search for an end of a part visits. Default 20,000. */
  maxNodes?: number
}

export class Budgets {
  private readonly states: States
  private readonly vocabulary: Vocabulary
  private readonly locals: LocalMasks
  private readonly builder: MaskBuilder
  private readonly isPlain: boolean
  private readonly counter: Counter
  private readonly needs: Needs
  private readonly radii: Radii
  /** By the shape of a state without budgets: how many tokens must be left, see `requiredAt`. */
  private readonly required: number[] = []
  /** Bytes by stack and tag, see `tailOf`. */
  private readonly tails = new PairMap()

  constructor({ states, builder, locals }: TokenFsm, options: BudgetOptions = {}) {
    const { trie, vocabulary } = locals
    this.states = states
    this.vocabulary = vocabulary
    this.locals = locals
    this.builder = builder
    this.isPlain = options.isPlain ?? false
    this.counter = new Counter(states)
    this.needs = new Needs(states, this.counter, trie, vocabulary, options.maxNodes)
    this.radii = new Radii(this.needs, trie.maxDepth)
  }

  /**
   * Returns a part of the grammar that no text completes within its budget; null if there is none.
   */
  unkept(): BudgetPart | null {
    const { states } = this
    return states.grammar.budgets.find((part) => this.kept(states.begin(part.begin())) === DeadState) ?? null
  }

  /** Returns the state after `token`, or `DeadState`. */
  next(state: number, token: number): number {
    const bytes = this.vocabulary.bytes(token)
    const isText = bytes.length > 0 && !bytes.includes(TokenMark)
    const read = isText ? this.kept(this.counter.after(state, bytes)) : DeadState
    if (!this.states.grammar.readsTokens) return read
    return this.states.unite(read, this.kept(this.counter.after(state, tokenBytes(token))))
  }

  /** Returns the state after bytes that are a part of one token. */
  advanceToken(state: number, bytes: Uint8Array): number {
    return this.kept(this.counter.after(state, bytes))
  }

  /**
   * Returns `state`, which is between two tokens, without the threads that cannot keep their
   * budgets.
   */
  kept(state: number): number {
    return this.states.stateOf(this.states.threadsOf(state).filter((thread) => this.needs.isLive(thread)))
  }

  /**
   * Returns a state whose mask without budgets is the mask of `state`; `DeadState` if the tokens
   * must be tried.
   */
  uncounted(state: number): number {
    if (this.isPlain || !this.needs.spellsBytes) return DeadState
    const uncounted = this.counter.uncounted(state)
    let left = Number.POSITIVE_INFINITY
    for (const thread of threadsOf(this.states, state)) {
      for (const each of this.counter.stacks.lefts(this.states.threadStack(thread)))
        left = Math.min(left, each)
    }
    const required = this.requiredAt(uncounted)
    // `required` is infinite if a budget that begins inside a token may be too small, whatever is
    // left of the others.
    return required < Number.POSITIVE_INFINITY && left >= required ? uncounted : DeadState
  }

  /**
   * Returns the mask of `state` by trying each token: those below `node` of which the rest may
   * follow.
   */
  mask(state: number, node: number, endIds: Int32Array): Recipe {
    const { states, counter, locals, vocabulary } = this
    const { trie, lists } = locals
    const tokens: number[] = []
    const allowed = new Map<number, boolean>()
    counter.walk(trie, state, node, (token, end) => {
      let isAllowed = allowed.get(end)
      if (isAllowed === undefined) {
        isAllowed = this.kept(counter.settled(end)) !== DeadState
        allowed.set(end, isAllowed)
      }
      if (isAllowed) tokens.push(token)
    })
    const parts = [compactIds(lists.withDuplicates(Int32Array.from(tokens)), vocabulary.width)]
    if (states.isAccepting(state)) parts.push(idsRecipe(endIds))
    if (states.grammar.readsTokens && node === 0) {
      for (const thread of threadsOf(states, state)) parts.push(this.named(thread))
    }
    return unite(parts, vocabulary.words)
  }

  /** Returns the tokens that a thread reads by their ids. */
  private named(thread: number): Recipe {
    const { states, counter, vocabulary } = this
    const ids = tokenIds(states.threadLexeme(thread))?.filter((id) => vocabulary.hasColumn(id)) ?? noIds
    if (ids.length === 0) return idsRecipe(noIds)
    // All of these tokens lead to the same state.
    const after = this.kept(counter.after(states.stateOf([thread]), tokenBytes(ids[0])))
    return after === DeadState ? idsRecipe(noIds) : compactIds(ids, vocabulary.width)
  }

  /**
   * Returns how many tokens must be left of each budget so that the mask of `uncounted`, the state
   * without budgets, is also the mask of the state with budgets.
   */
  private requiredAt(uncounted: number): number {
    const shape = this.states.shape(uncounted)
    this.required[shape] ??= this.findRequired(uncounted)
    return this.required[shape]
  }

  private findRequired(uncounted: number): number {
    if (this.builder.build(uncounted, noIds).unknown.length > 0) return Number.POSITIVE_INFINITY
    let required = 0
    const seen = new Set<string>()
    /** Adds what follows a token that is read by its id. It begins with the next token. */
    const addFollowers = (stack: number, tag: number) => {
      const key = `${stack} ${tag}`
      if (stack === EmptyStack || seen.has(key)) return
      seen.add(key)
      const followers = this.states.followers.after(stack, tag)
      for (let i = 0; i < followers.length; i += 2) {
        const [lexemeState, after] = [followers[i], followers[i + 1]]
        if (lexemeState === Dead) continue
        required = Math.max(required, this.requiredBy(lexemeState, after))
        if (lexemes.tags[lexemeState] !== 0) addFollowers(after, lexemes.tags[lexemeState])
      }
    }
    for (const [lexemeState, stack] of [...this.builder.reads()]) {
      required = Math.max(required, this.requiredBy(lexemeState, stack))
      if (tokenIds(lexemeState) !== null) addFollowers(stack, 1)
    }
    return required
  }

  /**
   * Returns how many tokens must be left so that any token may end inside this lexeme under this
   * stack.
   */
  private requiredBy(lexemeState: number, stack: number): number {
    if (this.counter.stacks.lefts(stack).length === 0) return 0
    const radius = this.radii.of(lexemeState)
    if (radius === null) return Number.POSITIVE_INFINITY
    let required = 0
    for (const [tag, length] of radius) required = Math.max(required, this.requiredBelow(stack, tag, length))
    return required
  }

  /** Returns the same for a lexeme that takes `length` bytes to end with `tag`. */
  private requiredBelow(stack: number, tag: number, length: number): number {
    const { stacks } = this.states
    if (stacks.captureCount(stack) > 0) return Number.POSITIVE_INFINITY
    let required = 0
    let sum = length
    let last = tag
    for (let at = stack; at !== EmptyStack && this.counter.stacks.lefts(at).length > 0; at = stacks.pop(at)) {
      const frame = stacks.top[at]
      if (frame instanceof BudgetFrame) {
        if (frame.left === Uncounted) required = Math.max(required, sum + 1)
        else if (frame.left < sum + 1) return Number.POSITIVE_INFINITY
      } else sum += this.tailOf(at, last)
      last = 1
    }
    return required
  }

  /**
   * Returns how many bytes the top frame of a stack needs to end, after what is above it has ended
   * with `tag`.
   */
  private tailOf(stack: number, tag: number): number {
    let length = this.tails.get(stack, tag)
    if (length < 0) {
      const frame = this.states.stacks.top[stack]
      length = withinLimits(() => frame.finish(tag, noText))?.length ?? Endless
      this.tails.set(stack, tag, length)
    }
    return length
  }
}
