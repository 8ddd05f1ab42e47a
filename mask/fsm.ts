/**
 * TokenFsm: a grammar bound to a vocabulary, as a machine over tokens.
 *
 * States appear lazily and are integers; transitions and masks are memoised by state. One TokenFsm serves any number
 * of requests: nothing a request does can change what another one sees.
 */
import type { Grammar } from "../grammar/grammar.ts"
import { PairMap } from "../grammar/intern.ts"
import { DeadState, States } from "../grammar/state.ts"
import { wordCount } from "./bits.ts"
import { LocalMasks } from "./local.ts"
import { type Draft, MaskBuilder } from "./mask.ts"
import { joined, type Recipe, writeRecipe } from "./recipe.ts"
import type { Vocabulary } from "./vocabulary.ts"

export interface FsmOptions {
  /** Bytes of masks that are kept by state. Default 64 MiB. */
  maskBytes?: number
  /** Transitions that are kept. Default 1,000,000. */
  transitionCount?: number
  /** The local masks to use instead of the vocabulary's own. */
  locals?: LocalMasks
}

/** One per vocabulary: local masks serve every grammar. */
const localsOf = new WeakMap<Vocabulary, LocalMasks>()

/** The local masks that all grammars over `vocabulary` share. */
export function sharedLocals(vocabulary: Vocabulary): LocalMasks {
  let locals = localsOf.get(vocabulary)
  if (locals === undefined) {
    locals = new LocalMasks(vocabulary)
    localsOf.set(vocabulary, locals)
  }
  return locals
}

/** Ids worth more than this many are better copied as a row once a state comes back. */
const ManyIds = 512

interface Kept extends Recipe {
  /** Times that the recipe was written. */
  uses: number
}

export class TokenFsm {
  readonly grammar: Grammar
  readonly vocabulary: Vocabulary
  readonly states: States
  readonly locals: LocalMasks
  private readonly builder: MaskBuilder
  private readonly maskBytes: number
  private readonly transitionCount: number
  private readonly transitions = new PairMap()
  private kept: (Kept | undefined)[] = []
  /** Drafts by shape. */
  private drafts: (Draft | undefined)[] = []
  private keptBytes = 0

  constructor(grammar: Grammar, vocabulary: Vocabulary, options: FsmOptions = {}) {
    this.grammar = grammar
    this.vocabulary = vocabulary
    this.maskBytes = options.maskBytes ?? 64 << 20
    this.transitionCount = options.transitionCount ?? 1_000_000
    this.states = new States(grammar)
    this.locals = options.locals ?? sharedLocals(vocabulary)
    this.builder = new MaskBuilder(this.states, this.locals)
  }

  get start(): number {
    return this.states.start
  }

  /** The state after `token`, or `DeadState`. End ids lead nowhere: the matcher keeps them. */
  next(state: number, token: number): number {
    const known = this.transitions.get(state, token)
    if (known >= 0) return known
    const bytes = token < this.vocabulary.width ? this.vocabulary.bytes(token) : []
    const next = bytes.length === 0 ? DeadState : this.states.advance(state, bytes as Uint8Array)
    if (this.transitions.size >= this.transitionCount) this.transitions.clear()
    this.transitions.set(state, token, next)
    return next
  }

  isAccepting(state: number): boolean {
    return this.states.isAccepting(state)
  }

  /** How to write the mask of `state`. */
  mask(state: number): Recipe {
    const known = this.kept[state]
    if (known !== undefined) {
      if (++known.uses === 2 && known.ids.length + known.common.length + known.removed.length > ManyIds)
        return this.keepRow(state, known)
      return known
    }
    const { recipe, unknown } = this.draft(state)
    const tried =
      unknown.length === 0 ? recipe.ids : joined(recipe.ids, this.builder.tryTokens(state, unknown))
    const kept = { ...recipe, ids: tried, uses: 1 }
    this.keep(state, kept, 64 + (tried === recipe.ids ? 0 : tried.byteLength))
    return kept
  }

  /** What all states with these lexemes and stacks have in common. Texts of keys make states, but no new drafts. */
  private draft(state: number): Draft {
    const shape = this.states.shape(state)
    let draft = this.drafts[shape]
    if (draft === undefined) {
      draft = this.builder.build(state, this.vocabulary.endIds)
      this.drafts[shape] = draft
      this.keptBytes += 64 + 4 * (draft.recipe.ids.length + draft.recipe.removed.length)
    }
    return draft
  }

  /** Writes the mask of `state` into `row`. Shape [W]. */
  fillMask(state: number, row: Uint32Array): void {
    writeRecipe(this.mask(state), row)
  }

  /** States, transitions, kept masks and walks so far. */
  stats(): { states: number; transitions: number; maskBytes: number; walks: number; localBytes: number } {
    return {
      states: this.states.count,
      transitions: this.transitions.size,
      maskBytes: this.keptBytes,
      walks: this.locals.walkCount,
      localBytes: this.locals.bytes,
    }
  }

  private keepRow(state: number, recipe: Kept): Recipe {
    const row = new Uint32Array(wordCount(this.vocabulary.width))
    writeRecipe(recipe, row)
    const none = new Int32Array(0)
    const written = { row, common: none, removed: none, ids: none, uses: recipe.uses }
    this.keep(state, written, 64 + row.byteLength)
    return written
  }

  private keep(state: number, recipe: Kept, bytes: number): void {
    this.keptBytes += bytes
    if (this.keptBytes > this.maskBytes) {
      this.kept = []
      this.drafts = []
      this.keptBytes = bytes
    }
    this.kept[state] = recipe
  }
}
