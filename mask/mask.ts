/**
 * The mask of a state: the union over its threads of what their lexemes allow and of what may follow them.
 *
 * A token may end a lexeme in its middle; then the top frame says what is read from that trie node on. So a mask is a
 * walk over (node list, lexeme state, stack) triples whose parts all come from caches. The result is kept as a recipe,
 * not as a row: one dense row to copy, a few ids to clear, sparse ids to set. OR-ing dense rows is the expensive way
 * (5.3 µs for 4,008 words against 0.22 µs for a copy; Node 20, one core).
 */
import { TripleSet } from "../grammar/intern.ts"
import { Dead, lexemes } from "../grammar/lexeme/table.ts"
import { EmptyStack } from "../grammar/stack.ts"
import { DeadState, type States } from "../grammar/state.ts"
import { type Local, type LocalMasks, RootList, without } from "./local.ts"

/** How to write the mask of one state: copy, set, clear, set. */
export interface Recipe {
  /** Row to begin with; null: all zero. Shared, never written to. Shape [W]. */
  readonly row: Uint32Array | null
  /** Tokens to set in it. Shared. */
  readonly common: Int32Array
  /** Tokens to clear, then. */
  readonly removed: Int32Array
  /** Tokens to set, last. */
  readonly ids: Int32Array
}

/** A mask that is the same for all states with the same lexemes and stacks. */
export interface Draft {
  readonly recipe: Recipe
  /** Node lists below which a key or an item depends on an unknown text: their tokens are tried one by one. */
  readonly unknown: readonly number[]
}

const none = new Int32Array(0)

/** Writes `recipe` into `row`. */
export function writeRecipe(recipe: Recipe, row: Uint32Array): void {
  const { common, removed, ids } = recipe
  if (recipe.row === null) row.fill(0)
  else row.set(recipe.row)
  // hot
  for (let i = 0; i < common.length; i++) row[common[i] >>> 5] |= 1 << (common[i] & 31)
  for (let i = 0; i < removed.length; i++) row[removed[i] >>> 5] &= ~(1 << (removed[i] & 31))
  for (let i = 0; i < ids.length; i++) row[ids[i] >>> 5] |= 1 << (ids[i] & 31)
}

/** Collects the components of one state's mask. */
export class MaskBuilder {
  private readonly states: States
  private readonly locals: LocalMasks
  /** (node list, lexeme state, stack) triples already added. */
  private readonly seen = new TripleSet()
  private parts: Local[] = []
  private unknown: number[] = []

  constructor(states: States, locals: LocalMasks) {
    this.states = states
    this.locals = locals
  }

  /** The mask of `state`, tokens apart that must be tried. `endIds` belong to it when the text may end here. */
  build(state: number, endIds: readonly number[]): Draft {
    this.seen.clear()
    this.parts = []
    this.unknown = []
    for (let i = 0; i < this.states.threadCount(state); i++) {
      const lexemeState = this.states.lexemeState(state, i)
      if (lexemeState === Dead) continue
      this.addRead(RootList, lexemeState, this.states.stack(state, i))
    }
    const recipe = this.compose(this.states.isAccepting(state) ? endIds : [])
    return { recipe, unknown: this.unknown }
  }

  /** Tokens below the node lists `unknown` that `state` accepts: whether it does depends on the text so far. */
  tryTokens(state: number, unknown: readonly number[]): Int32Array {
    const allowed: number[] = []
    const { trie, lists, vocabulary } = this.locals
    for (const list of unknown) {
      const tokens: number[] = []
      for (const node of lists.view(list)) trie.tokensBelow(node, tokens)
      for (const token of tokens) {
        if (this.states.advance(state, vocabulary.bytes(token)) === DeadState) continue
        allowed.push(token, ...(trie.duplicates.get(token) ?? []))
      }
    }
    return Int32Array.from(allowed)
  }

  /** Adds what `lexemeState` allows below the nodes of `list`, and what follows it there. */
  private addRead(list: number, lexemeState: number, stack: number): void {
    if (!this.seen.add(list, lexemeState, stack)) return
    const local = this.locals.local(list, lexemeState)
    this.addPart(local)
    const { exits } = local
    for (let i = 0; i < exits.length; i += 2) this.addFollowers(exits[i + 1], exits[i], stack)
  }

  /** Under several stacks the same lexeme state adds the same tokens: once is enough. */
  private addPart(local: Local): void {
    const { parts } = this
    if (local.row === null && local.ids.length === 0 && local.common.length === 0) return
    for (let i = Math.max(0, parts.length - 16); i < parts.length; i++) if (parts[i] === local) return
    parts.push(local)
  }

  private addFollowers(list: number, tag: number, stack: number): void {
    if (stack === EmptyStack) return
    const { states } = this
    const followers = states.followers(stack, tag)
    for (let i = 0; i < followers.length; i += 2) {
      const lexemeState = followers[i]
      if (lexemeState === Dead) continue
      const after = followers[i + 1]
      if (states.stacks.isSymbolic(after)) {
        this.addSymbolic(list, lexemeState, after)
        continue
      }
      // A lexeme that may be empty ends where it begins.
      if (lexemes.tags[lexemeState] !== 0) this.addFollowers(list, lexemes.tags[lexemeState], after)
      this.addRead(list, lexemeState, after)
    }
  }

  /** Adds what is the same for every text; node lists below which it is not go to `unknown`. */
  private addSymbolic(list: number, lexemeState: number, stack: number): void {
    const { stacks } = this.states
    if (!stacks.top[stack].isOpenEnded || stacks.isSymbolic(stacks.pop(stack))) {
      this.unknown.push(list)
      return
    }
    const { open, closing } = this.locals.quoted(list)
    if (open >= 0) this.addRead(open, lexemeState, stack)
    if (closing >= 0) this.unknown.push(closing)
  }

  private compose(extra: readonly number[]): Recipe {
    // The part with a row goes first; what it removes must not touch what other parts allow, so those come last.
    let first: Local | null = null
    for (const part of this.parts) {
      if (part.row === null && part.removed.length === 0) continue
      if (first !== null) return this.united(extra)
      first = part
    }
    let length = extra.length
    for (const part of this.parts) length += part.ids.length + (part === first ? 0 : part.common.length)
    const ids = length === 0 ? none : new Int32Array(length)
    let at = 0
    for (const part of this.parts) {
      ids.set(part.ids, at)
      at += part.ids.length
      if (part === first) continue
      ids.set(part.common, at)
      at += part.common.length
    }
    ids.set(extra, at)
    if (first === null) return { row: null, common: none, removed: none, ids }
    return { row: first.row, common: first.common, removed: first.removed, ids }
  }

  /** Several dense parts: their rows are OR-ed, each once. What a part clears counts if all parts with its row do. */
  private united(extra: readonly number[]): Recipe {
    const cleared = new Map<Uint32Array, Int32Array>()
    for (const { row, removed } of this.parts) {
      if (row === null) continue
      const before = cleared.get(row)
      cleared.set(row, before === undefined ? removed : common(before, removed))
    }
    let united: Uint32Array | null = null
    for (const [row, removed] of cleared) {
      if (united === null) united = withoutIds(row, removed)
      else {
        const other = removed.length === 0 ? row : withoutIds(row, removed)
        for (let w = 0; w < united.length; w++) united[w] |= other[w]
      }
    }
    const lists: Int32Array[] = []
    for (const part of this.parts) lists.push(without(part.common, part.removed), part.ids)
    const row = united as Uint32Array
    for (const list of lists) for (let i = 0; i < list.length; i++) row[list[i] >>> 5] |= 1 << (list[i] & 31)
    return { row, common: none, removed: none, ids: Int32Array.from(extra) }
  }
}

/** A copy of `row` with `ids` cleared. */
function withoutIds(row: Uint32Array, ids: Int32Array): Uint32Array {
  const copy = row.slice()
  for (let i = 0; i < ids.length; i++) copy[ids[i] >>> 5] &= ~(1 << (ids[i] & 31))
  return copy
}

/** The ids that are in both lists. */
function common(a: Int32Array, b: Int32Array): Int32Array {
  if (a.length === 0 || b.length === 0) return none
  const other = new Set(b)
  return a.filter((id) => other.has(id))
}
