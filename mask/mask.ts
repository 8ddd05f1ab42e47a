/**
 * The mask of a state: the union over its threads of what their lexemes allow and of what may follow them.
 *
 * A token may end a lexeme in its middle; then the top frame says what is read from that trie node on. So a mask is a
 * walk over (node list, lexeme state, stack) triples whose parts all come from caches.
 */
import { checkTime } from "../grammar/deadline.ts"
import { grown, moreThan, TripleMap } from "../grammar/intern.ts"
import { bytesOf, NoBytes, shareByte, uniteSets } from "../grammar/lexeme/bytesets.ts"
import { Dead, lexemes, PlainTag } from "../grammar/lexeme/table.ts"
import { tokenIds } from "../grammar/lexeme/token.ts"
import { EmptyStack, type StackTable } from "../grammar/stack.ts"
import { DeadState, type States } from "../grammar/state.ts"
import type { Local } from "./entry.ts"
import { NoEnds } from "./fast/ends.ts"
import { firstBytes } from "./fast/firstbytes.ts"
import type { KeptMask } from "./keptmasks.ts"
import { type NodeLists, NoList, RootList } from "./lists.ts"
import type { LocalMasks } from "./local.ts"
import { compactIds, idsRecipe, noIds, type Recipe, unite } from "./recipe.ts"

/** A mask that is the same for all states with the same lexemes and stacks. */
export interface Draft {
  readonly mask: KeptMask
  /** Node lists below which a key or an item depends on an unknown text: their tokens are tried one by one. */
  readonly unknown: readonly number[]
}

/** So many bytes may follow free text, or all its exits are listed. */
const MaxBytesBehind = 32
/**
 * Longer lists, and for lexemes of many ways lists with more trie nodes below them, are read by themselves: they recur, and each
 * list that is made with them would be read anew.
 */
const MaxUnited = 1_024
const MaxBelow = 8_192

// In place of a set of bytes.
const NotAsked = 0
const Many = 1

/** Room of new columns, in numbers. */
const FirstRoom = 48
/** In place of a list before: this one is in no group. */
const Alone = -2

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
  /** What `bytesBehind` answers, by stack: `NotAsked`, `Many` for null, else the set + 2. */
  private behind = new Int32Array(8)
  /** What a lexeme of tokens allows, by its state. */
  private readonly tokens = new Map<number, Recipe>()

  /** For grammars whose readings are united; null for others, which are read at once. */
  private readonly waves: Waves | null

  constructor(states: States, locals: LocalMasks) {
    this.states = states
    this.locals = locals
    this.waves = states.grammar.unites ? new Waves(states.stacks, locals.lists) : null
  }

  /**
   * The mask of `state`, tokens apart that must be tried. `endIds` belong to it when the text may end here. What is read begins
   * below the nodes of `list`.
   */
  build(state: number, endIds: Int32Array, list = RootList): Draft {
    seen.clear()
    ended.clear()
    this.waves?.clear()
    this.parts = []
    this.named = []
    this.unknown = []
    for (let i = 0; i < this.states.threadCount(state); i++) {
      const lexemeState = this.states.lexemeState(state, i)
      if (lexemeState === Dead) continue
      this.addRead(list, lexemeState, this.states.stack(state, i))
    }
    if (this.waves !== null) this.readWaves(this.waves)
    const ends = this.states.isAccepting(state) ? endIds : noIds
    const { masks } = this.locals
    const mask =
      this.named.length === 0
        ? masks.unionOf(this.parts, ends)
        : masks.alone(unite([...this.parts, ...this.named, idsRecipe(ends)]), true)
    return { mask, unknown: this.unknown }
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
    if (this.waves === null) this.read(list, lexemeState, stack)
    else this.waves.add(list, lexemeState, stack)
  }

  /**
   * Reads all that was added, then all that this has added, and so on. What is read from the same nodes under the same frame is
   * read once for all stacks below it: a token of many brackets has as many ways through an ambiguous grammar as it has brackets,
   * and not their power.
   */
  private readWaves(waves: Waves): void {
    for (let length = waves.take(); length > 0; length = waves.take()) {
      const { wave } = waves
      for (let i = 0; i < length; i += 3)
        this.read(this.withRepeats(waves, wave[i], wave[i + 1], wave[i + 2]), wave[i + 1], wave[i + 2])
    }
  }

  /**
   * `list`, and where the lexeme may follow itself without a change of the stack all nodes at which it would be read again. Tokens
   * of a hundred equal signs, slashes or brackets would take a wave for each of them.
   */
  private withRepeats(waves: Waves, list: number, lexemeState: number, stack: number): number {
    if (list === RootList || stack === EmptyStack || lexemes.base(lexemeState) !== Dead) return list
    const { states, locals } = this
    if (locals.lists.length(list) > MaxUnited || states.stacks.isSymbolic(stack)) return list
    // A frame is asked only what follows an end that there is: that of a key takes other tags.
    const { exits } = locals.local(list, lexemeState)
    if (exits.length === 0 || exits[0] !== PlainTag || !states.followers.followsItself(lexemeState, stack))
      return list
    const others = waves.unread(locals.repeated(list, lexemeState), lexemeState, stack)
    return locals.lists.union(list, others)
  }

  private read(list: number, lexemeState: number, stack: number): void {
    if (!seen.add(list, lexemeState, stack)) return
    checkTime()
    if (this.states.grammar.readsTokens && this.addTokens(list, lexemeState)) return
    if (this.locals.isApart(list, lexemeState)) return
    const quiet = this.locals.quiet(lexemeState)
    const isQuiet = quiet !== lexemeState && this.addTextEnds(list, lexemeState, stack)
    const local = this.locals.local(list, isQuiet ? quiet : lexemeState)
    this.addPart(local)
    const { exits } = local
    for (let i = 0; i < exits.length; i += 2) this.addFollowers(exits[i + 1], exits[i], stack)
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

  /**
   * For a lexeme that may end nearly everywhere: adds what follows it where something can, so that its other exits need not be
   * listed. False where too much can follow.
   */
  private addTextEnds(list: number, lexemeState: number, stack: number): boolean {
    const bytes = this.bytesBehind(stack)
    const ends = bytes === null ? null : this.locals.endsBefore(list, lexemeState, bytes)
    if (ends === null) return false
    if (ends !== NoEnds) this.addFollowers(ends, PlainTag, stack)
    return true
  }

  /**
   * The set of the bytes that may follow a lexeme under `stack` that ends with the plain tag, or of more, memoised; null: there
   * are many, or they depend on a text. Tokens that are read by their ids have none: inside another token there is no room for one.
   */
  private bytesBehind(stack: number): number | null {
    if (stack === EmptyStack) return NoBytes
    if (this.states.stacks.isSymbolic(stack)) return null
    if (stack >= this.behind.length) this.behind = grown(this.behind, moreThan(stack))
    if (this.behind[stack] === NotAsked) {
      const bytes = this.findBytesBehind(stack)
      // Asking may have made stacks, and the array anew.
      this.behind[stack] = bytes === null ? Many : bytes + 2
    }
    return this.behind[stack] === Many ? null : this.behind[stack] - 2
  }

  private findBytesBehind(stack: number): number | null {
    const parts: number[] = []
    const followers = this.states.followers.after(stack, PlainTag)
    for (let i = 0; i < followers.length; i += 2) {
      const next = followers[i]
      if (next === Dead || tokenIds(next) !== null) continue
      parts.push(firstBytes(next))
      if (lexemes.tags[next] === 0) continue
      // A lexeme that may be empty lets through what is behind it.
      const inner = lexemes.tags[next] === PlainTag ? this.bytesBehind(followers[i + 1]) : null
      if (inner === null) return null
      parts.push(inner)
    }
    const bytes = uniteSets(parts)
    return bytesOf(bytes).length > MaxBytesBehind ? null : bytes
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
    if (!stacks.top[stack].isOpenEnded || stacks.isSymbolic(stacks.pop(stack))) {
      this.unknown.push(list)
      return
    }
    const { open, closing } = this.locals.lists.quoted(list)
    if (open >= 0) this.addRead(open, lexemeState, stack)
    if (closing >= 0) this.unknown.push(closing)
  }
}

/**
 * What is to be read next, from which nodes, under which stack: what is read from the same nodes under the same frame as one for
 * all stacks below it, then what is read under the same stack as one for all nodes. Its tables are made once, for all masks.
 */
class Waves {
  private readonly stacks: StackTable
  private readonly lists: NodeLists
  /** What `take` took: node list, lexeme state, stack. Shape [length / 3, 3]. */
  wave = new Int32Array(FirstRoom)
  /** What was added since then, in the same shape. */
  private added = new Int32Array(FirstRoom)
  private used = 0
  /** (node list, lexeme state, frame) → where its stack stands in `added`. */
  private readonly places = new TripleMap()
  /** (lexeme state, stack, 0) → the list of the nodes from which it was read: what comes back to them adds nothing. */
  private readonly read = new TripleMap()
  /** (lexeme state, stack, 0) → where the last list that is read so stands in `added`. */
  private readonly groups = new TripleMap()
  /** Where the list before it in its group stands, by the place of a list. */
  private before = new Int32Array(FirstRoom)
  /** The lists of one group. */
  private group = new Int32Array(FirstRoom)

  constructor(stacks: StackTable, lists: NodeLists) {
    this.stacks = stacks
    this.lists = lists
  }

  add(list: number, lexemeState: number, stack: number): void {
    const { stacks, lists, places, used } = this
    if (list !== RootList && !shareByte(lists.nextBytes(list), firstBytes(lexemeState))) return
    const frame = stacks.frameId(stack)
    if (frame >= 0 && stacks.canUnite(stack)) {
      const place = places.get(list, lexemeState, frame)
      if (place >= 0) {
        this.added[place] = stacks.unite(this.added[place], stack)
        return
      }
      places.set(list, lexemeState, frame, used + 2)
    }
    if (used + 3 > this.added.length) this.added = grown(this.added, 2 * this.added.length)
    this.added[used] = list
    this.added[used + 1] = lexemeState
    this.added[used + 2] = stack
    this.used = used + 3
  }

  /** Before another mask. The last one may have been given up: what was added for it goes too. */
  clear(): void {
    this.used = 0
    this.places.clear()
    this.read.clear()
  }

  /** The nodes of `list` from which the lexeme has not been read under `stack`. From now on it has. */
  unread(list: number, lexemeState: number, stack: number): number {
    const { lists, read } = this
    const known = read.get(lexemeState, stack, 0)
    const before = known < 0 ? NoList : known
    const fresh = lists.without(list, before)
    if (fresh !== NoList) read.set(lexemeState, stack, 0, lists.union(before, fresh))
    return fresh
  }

  /** Puts all that was added since the last time into `wave`, in its shape. Returns how many numbers that are. */
  take(): number {
    const { used, added } = this
    if (this.wave.length < used) this.wave = new Int32Array(added.length)
    if (this.before.length < used) this.before = new Int32Array(added.length)
    const { wave, before, groups } = this
    groups.clear()
    let end = 0
    for (let i = 0; i < used; i += 3) {
      if (this.mayUnite(added[i], added[i + 1])) {
        before[i] = groups.get(added[i + 1], added[i + 2], 0)
        groups.set(added[i + 1], added[i + 2], 0, i)
      } else {
        before[i] = Alone
        wave[end++] = added[i]
        wave[end++] = added[i + 1]
        wave[end++] = added[i + 2]
      }
    }
    for (let i = 0; i < used; i += 3) {
      if (before[i] === Alone || groups.get(added[i + 1], added[i + 2], 0) !== i) continue
      const list = this.unread(this.unionOfGroup(i), added[i + 1], added[i + 2])
      if (list === NoList) continue
      wave[end++] = list
      wave[end++] = added[i + 1]
      wave[end++] = added[i + 2]
    }
    this.used = 0
    this.places.clear()
    return end
  }

  private mayUnite(list: number, lexemeState: number): boolean {
    const { lists } = this
    if (list === RootList || lists.length(list) > MaxUnited) return false
    return lexemes.base(lexemeState) === Dead || lists.size(list) <= MaxBelow
  }

  /** The nodes of all lists of a group, whose last one stands at `last`. */
  private unionOfGroup(last: number): number {
    const { lists, added, before } = this
    if (before[last] < 0) return added[last]
    let count = 0
    for (let i = last; i >= 0; i = before[i]) count++
    if (count > this.group.length) this.group = new Int32Array(2 * count)
    const group = this.group.subarray(0, count)
    // In the order in which they were added: mostly they ascend.
    for (let i = last; i >= 0; i = before[i]) group[--count] = added[i]
    return lists.unionOf(group)
  }
}
