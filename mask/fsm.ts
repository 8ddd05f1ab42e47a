/**
 * TokenFsm: a grammar bound to a vocabulary, as a machine over tokens.
 *
 * States are integers that are made when first reached; transitions and masks are memoized by
 * state. One TokenFsm serves any number of requests: a request cannot change what another one sees.
 */

import type { Expectation } from "../grammar/frame.ts"
import type { Grammar } from "../grammar/grammar.ts"
import { PairMap } from "../grammar/intern.ts"
import { TokenMark, tokenBytes } from "../grammar/lexeme/token.ts"
import { placed } from "../grammar/refusal.ts"
import { DeadState, States } from "../grammar/state.ts"
import type { CaptureReader } from "../grammar/tape.ts"
import { type LocalMasks, sharedLocals } from "./local.ts"
import type { MachineStats, TokenMachine } from "./machine.ts"
import { MaskBuilder, type ShapeMask } from "./mask.ts"
import { type Endings, parts } from "./parts.ts"
import { idsRecipe, noIds, type Recipe, unite, writeRecipe } from "./recipe.ts"
import type { KeptMask } from "./shortcuts.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** Bounds on what a `TokenFsm` caches. They change no result, only how often it is computed. */
export interface FsmOptions {
  /** Bytes of masks that are cached by state. Default 64 MiB. */
  maskBytes?: number
  /** Number of transitions that are cached. Default 1,000,000. */
  transitionCount?: number
  /** The local masks to use instead of the vocabulary's own. */
  locals?: LocalMasks
  /**
   * Reads parts with `max_tokens` without counting, for a vocabulary that belongs to no model.
   * Default: such grammars are refused.
   */
  ignoresBudgets?: boolean
}

/**
 * A grammar bound to a vocabulary: a machine that a `Matcher` walks on. States and masks are
 * computed when they are first needed. Any number of matchers may share one. It does not count
 * tokens: `bindGrammar` binds grammars that have `max_tokens`.
 */
export class TokenFsm implements TokenMachine {
  readonly grammar: Grammar
  readonly vocabulary: Vocabulary
  readonly states: States
  private readonly endings: Endings
  readonly locals: LocalMasks
  readonly start: number
  readonly builder: MaskBuilder
  readonly maskBytes: number
  readonly transitionCount: number
  private readonly transitions = new PairMap()
  private kept: (KeptMask | undefined)[] = []
  /** Drafts by the shape of a state. */
  private shapeMasks: (ShapeMask | undefined)[] = []
  private keptBytes = 0
  private hitCount = 0

  constructor(grammar: Grammar, vocabulary: Vocabulary, options: FsmOptions = {}) {
    const { checkOptions, makeEndings } = parts()
    checkOptions("fsm", options)
    if (grammar.budgets.length > 0 && !options.ignoresBudgets)
      throw new RangeError(
        "the grammar has parts with max_tokens, which a TokenFsm does not count: use bindGrammar(grammar, vocabulary)",
      )
    this.grammar = grammar
    this.vocabulary = vocabulary
    this.maskBytes = options.maskBytes ?? 64 << 20
    this.transitionCount = options.transitionCount ?? 1_000_000
    this.states = new States(grammar)
    this.endings = makeEndings(this.states)
    this.locals = options.locals?.here() ?? sharedLocals(vocabulary)
    this.builder = new MaskBuilder(this.states, this.locals)
    this.start = this.states.start
  }

  /**
   * Returns the state after `token`, or `DeadState`. An end id leads to `DeadState`: the matcher
   * handles end ids.
   */
  next(state: number, token: number): number {
    // The map would round any other number, and the result would be cached for another token.
    if (!this.vocabulary.hasColumn(token)) return DeadState
    const known = this.transitions.get(state, token)
    if (known >= 0) return known
    const { offsets, values } = this.vocabulary
    const start = offsets[token]
    const end = offsets[token + 1]
    const next = this.grammar.readsTokens
      ? this.states.unite(this.nextByText(state, token), this.states.advance(state, tokenBytes(token)))
      : start === end
        ? DeadState
        : this.states.advance(state, values, start, end)
    if (this.transitions.size >= this.transitionCount) this.transitions.clear()
    this.transitions.set(state, token, next)
    return next
  }

  knownNext(state: number, token: number): number {
    return this.transitions.get(state, token)
  }

  /**
   * Returns the state after the bytes of `token`. A token that contains the mark byte, which no
   * text has, would read another token by its id.
   */
  private nextByText(state: number, token: number): number {
    const bytes = this.vocabulary.bytes(token)
    return bytes.length === 0 || bytes.includes(TokenMark) ? DeadState : this.states.advance(state, bytes)
  }

  isAccepting(state: number): boolean {
    return this.states.isAccepting(state)
  }

  advance(state: number, bytes: Uint8Array): number {
    return this.states.advance(state, bytes)
  }

  between(state: number): number {
    return state
  }

  advanceToken(state: number, bytes: Uint8Array): number {
    return this.states.advance(state, bytes)
  }

  nextBytes(state: number, most?: number): number[] {
    return this.endings.nextBytes(state, most)
  }

  isExhausted(state: number): boolean {
    return this.states.isExhausted(state)
  }

  least(state: number): number {
    return this.endings.least(state)
  }

  shortest(state: number): Uint8Array {
    return this.endings.shortest(state)
  }

  explain(state: number): Expectation[] {
    return this.endings.explain(state)
  }

  print(state: number): string {
    return this.endings.print(state)
  }

  /** Returns how to write the mask of `state`. */
  mask(state: number): Recipe {
    let kept = this.kept[state]
    if (kept === undefined) kept = this.find(state)
    else this.hitCount++
    return this.locals.use(kept)
  }

  get captures(): CaptureReader | null {
    return this.grammar.captures
  }

  hasMask(state: number): boolean {
    return this.kept[state] !== undefined || this.shapeMasks[this.states.shape(state)]?.unknown.length === 0
  }

  maskBelow(state: number, node: number): Recipe {
    this.states.enter()
    const { lists, trie } = this.locals
    const { mask, unknown } = this.build(state, noIds, lists.intern([node]))
    if (unknown.length === 0) return mask.plain
    const tried = idsRecipe(this.builder.tryTokens(state, unknown, trie.depth(node)))
    return unite([mask.plain, tried], this.vocabulary.words)
  }

  /**
   * As `MaskBuilder.build`. A refusal gets the path of the last reading, at which the mask was
   * abandoned.
   */
  private build(state: number, endIds: Int32Array, list?: number): ShapeMask {
    try {
      return this.builder.build(state, endIds, list)
    } catch (error) {
      // The last reading exceeded the bound. If it belongs to no value (white space before one),
      // the path is that of an earlier reading.
      const placeRead = () => {
        const reads = [...this.builder.reads()].reverse()
        const paths = reads.map(([lexemeState, stack]) => this.states.pathOf(lexemeState, stack))
        return paths.find((path) => path !== "") ?? ""
      }
      throw placed(error, placeRead)
    }
  }

  /** States with equal shapes share a mask, unless tokens had to be tried against the text. */
  private find(state: number): KeptMask {
    this.states.enter()
    const shape = this.states.shape(state)
    let shapeMask = this.shapeMasks[shape]
    if (shapeMask === undefined) {
      shapeMask = this.build(state, this.locals.endIds)
      this.charge(96 + shapeMask.mask.bytes)
      this.shapeMasks[shape] = shapeMask
    }
    let kept = shapeMask.mask
    if (shapeMask.unknown.length > 0) {
      const tried = idsRecipe(this.builder.tryTokens(state, shapeMask.unknown))
      kept = this.locals.union([], noIds, [kept.plain, tried])
      this.charge(96 + kept.bytes)
    }
    this.charge(8)
    this.kept[state] = kept
    return kept
  }

  /** Writes the mask of `state` into `row`. Shape [W]. */
  fillMask(state: number, row: Uint32Array): void {
    writeRecipe(this.mask(state), row)
  }

  stats(): MachineStats {
    return {
      states: this.states.count,
      threads: this.states.knownThreads,
      stateBytes: this.states.bytes,
      transitions: this.transitions.size,
      maskBytes: this.keptBytes,
      localBytes: this.locals.bytes,
      hits: this.hitCount,
      walks: this.locals.walkCount,
      shortcuts: { ...this.locals.shortcuts?.counts },
      nodes: this.locals.trie.visitCount,
    }
  }

  /**
   * Evicts everything when the cached bytes exceed their bound: masks that are in use are computed
   * again.
   */
  private charge(bytes: number): void {
    this.keptBytes += bytes
    if (this.keptBytes <= this.maskBytes) return
    this.kept = []
    this.shapeMasks = []
    this.keptBytes = bytes
  }
}
