/**
 * The mask of a state: the union over its threads of what their lexemes allow and of what may follow them.
 *
 * A token may end a lexeme in its middle; then the top frame says what is read from that trie node on. So a mask is a
 * walk over (node list, lexeme state, stack) triples whose parts all come from caches.
 */
import { checkTime } from "../grammar/deadline.ts"
import { TripleMap } from "../grammar/intern.ts"
import { Dead, lexemes, PlainTag } from "../grammar/lexeme/table.ts"
import { tokenIds } from "../grammar/lexeme/token.ts"
import { EmptyStack } from "../grammar/stack.ts"
import { DeadState, type States } from "../grammar/state.ts"
import { NoList, RootList } from "./lists.ts"
import type { KeptMask, Local, LocalMasks, ReadingShortcuts } from "./local.ts"
import { compactIds, noIds, type Recipe } from "./recipe.ts"

/** A mask that is the same for all states with the same lexemes and stacks. */
export interface Draft {
  readonly mask: KeptMask
  /** Node lists below which a key or an item depends on an unknown text: their tokens are tried one by one. */
  readonly unknown: readonly number[]
}

/** (node list, lexeme state, stack) triples that are in the mask which is being made. */
const seen = new TripleMap()
/** Those that end where they begin, and whose followers are in the mask. */
const ended = new TripleMap()

/** Collects the components of one state's mask. */
export class MaskBuilder {
  private readonly states: States
  private readonly locals: LocalMasks
  private parts: Local[] = []
  /** Parts that are tokens by their ids. */
  private named: Recipe[] = []
  private unknown: number[] = []
  /** What a lexeme of tokens allows, by its state. */
  private readonly tokens = new Map<number, Recipe>()

  private readonly shortcuts: ReadingShortcuts | null
  private readonly readNow = (list: number, lexemeState: number, stack: number) =>
    this.read(list, lexemeState, stack)

  constructor(states: States, locals: LocalMasks) {
    this.states = states
    this.locals = locals
    this.shortcuts = locals.shortcuts === null ? null : locals.shortcuts.reading(states)
  }

  /**
   * The mask of `state`, tokens apart that must be tried. `endIds` belong to it when the text may end here. What is read begins
   * below the nodes of `list`.
   */
  build(state: number, endIds: Int32Array, list = RootList): Draft {
    seen.clear()
    ended.clear()
    this.shortcuts?.clear()
    this.parts = []
    this.named = []
    this.unknown = []
    for (let i = 0; i < this.states.threadCount(state); i++) {
      const lexemeState = this.states.lexemeState(state, i)
      if (lexemeState === Dead) continue
      this.addRead(list, lexemeState, this.states.stack(state, i))
    }
    if (this.shortcuts?.unites) this.shortcuts.readAll(this.readNow)
    const ends = this.states.isAccepting(state) ? endIds : noIds
    return { mask: this.locals.union(this.parts, ends, this.named), unknown: this.unknown }
  }

  /**
   * Tokens below the node lists `unknown` that `state` accepts, less their first `read` bytes: whether it does depends on the
   * text so far.
   */
  tryTokens(state: number, unknown: readonly number[], read = 0): Int32Array {
    const allowed: number[] = []
    const { trie, lists, vocabulary } = this.locals
    for (const list of unknown) {
      const tokens: number[] = []
      for (const node of lists.view(list)) trie.tokensBelow(node, tokens)
      for (const token of tokens) {
        if (this.states.advance(state, vocabulary.bytes(token).subarray(read)) === DeadState) continue
        allowed.push(token, ...(trie.duplicates.get(token) ?? []))
      }
    }
    return Int32Array.from(allowed)
  }

  /** The lexeme states and stacks that are read, at once or behind others, in the mask that was built last. */
  *reads(): Generator<readonly [lexemeState: number, stack: number]> {
    for (const [, lexemeState, stack] of seen) yield [lexemeState, stack]
  }

  /** Adds what `lexemeState` allows below the nodes of `list`, and what follows it there. */
  private addRead(list: number, lexemeState: number, stack: number): void {
    if (this.shortcuts?.unites) this.shortcuts.add(list, lexemeState, stack)
    else this.read(list, lexemeState, stack)
  }

  private read(list: number, lexemeState: number, stack: number): void {
    if (!seen.add(list, lexemeState, stack)) return
    checkTime()
    if (this.states.grammar.readsTokens && this.addTokens(list, lexemeState)) return
    const local = this.locals.local(list, this.withoutEnds(list, lexemeState, stack))
    this.addPart(local)
    const { exits } = local
    for (let i = 0; i < exits.length; i += 2) this.addFollowers(exits[i + 1], exits[i], stack)
  }

  /**
   * Returns the state to read for `lexemeState`: another one for free text, which may end nearly everywhere. What follows it is
   * added here, at the few of its ends where something can follow.
   */
  private withoutEnds(list: number, lexemeState: number, stack: number): number {
    const { shortcuts } = this
    const ends = shortcuts === null ? null : shortcuts.ends(list, lexemeState, stack)
    if (shortcuts === null || ends === null) return lexemeState
    if (ends !== NoList) this.addFollowers(ends, PlainTag, stack)
    return shortcuts.quiet(lexemeState)
  }

  /** Adds the tokens that `lexemeState` reads by their ids; false if it reads bytes. Inside another token there is no room for one. */
  private addTokens(list: number, lexemeState: number): boolean {
    const ids = tokenIds(lexemeState)
    if (ids === null) return false
    if (list !== RootList) return true
    let recipe = this.tokens.get(lexemeState)
    if (recipe === undefined) {
      const { vocabulary } = this.locals
      recipe = compactIds(
        ids.filter((id) => vocabulary.hasColumn(id)),
        vocabulary.width,
      )
      this.tokens.set(lexemeState, recipe)
    }
    this.named.push(recipe)
    return true
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
    const followers = states.followers.after(stack, tag)
    for (let i = 0; i < followers.length; i += 2) {
      const lexemeState = followers[i]
      if (lexemeState === Dead) continue
      const after = followers[i + 1]
      if (states.stacks.isSymbolic(after)) {
        this.addSymbolic(list, lexemeState, after)
        continue
      }
      // A lexeme that may be empty ends where it begins.
      const tag = lexemes.tags[lexemeState]
      if (tag !== 0 && ended.add(list, lexemeState, after)) this.addFollowers(list, tag, after)
      this.addRead(list, lexemeState, after)
    }
  }

  /** Adds what is the same for every text; node lists below which it is not go to `unknown`. */
  private addSymbolic(list: number, lexemeState: number, stack: number): void {
    const { stacks } = this.states
    const { shortcuts } = this.locals
    if (shortcuts === null || !stacks.top[stack].isOpenEnded || stacks.isSymbolic(stacks.pop(stack))) {
      this.unknown.push(list)
      return
    }
    const { open, closing } = shortcuts.quoted(list)
    if (open >= 0) this.addRead(open, lexemeState, stack)
    if (closing >= 0) this.unknown.push(closing)
  }
}
