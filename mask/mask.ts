/**
 * The mask of a state: the union over its threads of what their lexemes allow and of what may
 * follow them.
 *
 * A token may end a lexeme in its middle; the top frame then says which lexeme is read from that
 * trie node on. So a mask is a walk over (node list, lexeme state, stack) triples, whose local
 * masks and followers are all cached.
 */
import { checkTime } from "../grammar/deadline.ts"
import { TripleMap } from "../grammar/intern.ts"
import { Dead, lexemes, PlainTag } from "../grammar/lexeme/table.ts"
import { tokenIds } from "../grammar/lexeme/token.ts"
import { EmptyStack } from "../grammar/stack.ts"
import { DeadState, type States } from "../grammar/state.ts"
import { NoList, RootList } from "./lists.ts"
import type { LocalMasks } from "./local.ts"
import { compactIds, noIds, type Recipe } from "./recipe.ts"
import type { KeptMask, Local, ReadingShortcuts } from "./shortcuts.ts"

/** A mask that is shared by all states with the same lexemes and stacks. */
export interface ShapeMask {
  readonly mask: KeptMask
  /**
   * Node lists below which a key or an item depends on a text that is not part of the shape: their
   * tokens are tried one by one.
   */
  readonly unknown: readonly number[]
}

/** The (node list, lexeme state, stack) triples that the current mask already includes. */
const seen = new TripleMap()
/** The triples whose lexeme may be empty, and whose followers the current mask already includes. */
const ended = new TripleMap()

/** Collects the components of one state's mask. */
export class MaskBuilder {
  private readonly states: States
  private readonly locals: LocalMasks
  private parts: Local[] = []
  /** Parts that are given by token ids. */
  private named: Recipe[] = []
  private unknown: number[] = []
  /** The mask of a lexeme of tokens, by its state. */
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
   * Returns the mask of `state`, without the tokens that must be tried. It includes `endIds` if the
   * text may end here. Lexemes are read from below the nodes of `list`.
   */
  build(state: number, endIds: Int32Array, list = RootList): ShapeMask {
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
   * Returns the tokens below the node lists `unknown` that `state` accepts, ignoring their first
   * `read` bytes. Whether it accepts them depends on the text so far.
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

  /**
   * Yields the lexeme states, stacks and node lists that were read for the last mask, at its start
   * or after other lexemes.
   */
  *reads(): Generator<readonly [lexemeState: number, stack: number, list: number]> {
    for (const [list, lexemeState, stack] of seen) yield [lexemeState, stack, list]
  }

  /**
   * Adds the tokens that `lexemeState` allows below the nodes of `list`, and those of the lexemes
   * that follow it there.
   */
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
   * Returns the state to read in place of `lexemeState`: a different one for free text, which may
   * end almost anywhere. In that case the lexemes that follow it are added here, at the few ends
   * where something can follow.
   */
  private withoutEnds(list: number, lexemeState: number, stack: number): number {
    const { shortcuts } = this
    const ends = shortcuts === null ? null : shortcuts.ends(list, lexemeState, stack)
    if (shortcuts === null || ends === null) return lexemeState
    if (ends !== NoList) this.addFollowers(ends, PlainTag, stack)
    return shortcuts.quiet(lexemeState)
  }

  /**
   * Adds the tokens that `lexemeState` reads by their ids; returns false if it reads bytes. Inside
   * another token no token can begin, so nothing is added there.
   */
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

  /** The same lexeme state adds the same tokens under several stacks, so it is added once. */
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

  /**
   * Adds what is the same for every text. Node lists below which the mask depends on the text are
   * added to `unknown`.
   */
  private addSymbolic(list: number, lexemeState: number, stack: number): void {
    const { stacks } = this.states
    const { shortcuts } = this.locals
    if (shortcuts === null || !stacks.top[stack].isOpenEnded || stacks.isSymbolic(stacks.pop(stack))) {
      this.unknown.push(list)
      return
    }
    const { open, closing } = shortcuts.quoted(list)
    if (open !== NoList) this.addRead(open, lexemeState, stack)
    if (closing !== NoList) this.unknown.push(closing)
  }
}
