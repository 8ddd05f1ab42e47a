/**
 * Shortcuts for the readings of one grammar's masks. Exits of free text after which nothing can
 * follow are skipped, and readings of the same lexeme from the same nodes are united if their
 * stacks can be.
 */
import { grown, moreThan, TripleMap } from "../../grammar/intern.ts"
import { bytesOf, NoBytes, shareByte, uniteSets } from "../../grammar/lexeme/bytesets.ts"
import { Dead, lexemes, PlainTag } from "../../grammar/lexeme/table.ts"
import { tokenIds } from "../../grammar/lexeme/token.ts"
import { Readings } from "../../grammar/readings.ts"
import { EmptyStack, type StackTable } from "../../grammar/stack.ts"
import type { States } from "../../grammar/state.ts"
import { NoList, RootList } from "../lists.ts"
import type { Local, Read, ReadingShortcuts } from "../shortcuts.ts"
import { firstBytes } from "./firstbytes.ts"
import type { ListTables } from "./listtables.ts"

/** If more bytes than this may follow free text, all its exits are listed. */
const MaxBytesBehind = 32
/**
 * Longer lists are not united, nor are lists with more trie nodes below them for lexemes with many
 * edges: such lists recur, and each union with them would have to be read anew.
 */
const MaxUnited = 1_024
const MaxBelow = 8_192

// Special values in place of a set of bytes.
const NotAsked = 0
const Many = 1

/** Initial length of new columns, in numbers. */
const FirstRoom = 48
/** Special value in place of the previous list: this one is in no group. */
const Alone = -2

/** What a lexeme state reads below a list of nodes, in any grammar. */
export interface Reads {
  /** Names of the shortcuts that are switched off. */
  readonly without: ReadonlySet<string>
  readonly lists: ListTables
  local(list: number, lexemeState: number): Local
  /** As in `ReadingShortcuts`. */
  quiet(lexemeState: number): number
  /**
   * Returns the nodes below `list` where `lexemeState` may end with the plain tag and a byte of the
   * set `bytes` follows; null if `local` should list all its exits instead.
   */
  endsBefore(list: number, lexemeState: number, bytes: number): number | null
  /**
   * Returns `list` and all nodes below it that one or more consecutive reads of `lexemeState` lead
   * to; memoized.
   */
  repeated(list: number, lexemeState: number): number
}

export class MaskReadings implements ReadingShortcuts {
  readonly unites: boolean
  private readonly states: States
  private readonly locals: Reads
  /** Made only for grammars whose readings are united: its tables cost as much as a small mask. */
  private readonly waves: Waves | null
  /** Cached results of `bytesBehind` by stack: `NotAsked`, `Many` for null, else the set + 2. */
  private behind = new Int32Array(8)

  constructor(states: States, locals: Reads) {
    this.states = states
    this.locals = locals
    this.unites = states.grammar.unites && !locals.without.has("waves")
    this.waves = this.unites ? new Waves(states.stacks, locals.lists) : null
  }

  ends(list: number, lexemeState: number, stack: number): number | null {
    if (this.locals.without.has("ends") || this.locals.quiet(lexemeState) === lexemeState) return null
    const bytes = this.bytesBehind(stack)
    return bytes === null ? null : this.locals.endsBefore(list, lexemeState, bytes)
  }

  quiet(lexemeState: number): number {
    return this.locals.quiet(lexemeState)
  }

  add(list: number, lexemeState: number, stack: number): void {
    this.waves?.add(list, lexemeState, stack)
  }

  /**
   * Reads a lexeme from the same nodes under the same frame once for all stacks below that frame. A
   * token of n brackets then has n ways through an ambiguous grammar instead of exponentially many.
   */
  readAll(read: Read): void {
    const { waves } = this
    if (waves === null) return
    for (let length = waves.take(); length > 0; length = waves.take()) {
      const { wave } = waves
      for (let i = 0; i < length; i += 3)
        read(this.withRepeats(waves, wave[i], wave[i + 1], wave[i + 2]), wave[i + 1], wave[i + 2])
    }
  }

  clear(): void {
    this.waves?.clear()
  }

  /**
   * Returns `list`, and if the lexeme may follow itself with the same stack, also all nodes at
   * which it would be read again. Otherwise a token of a hundred equal signs, slashes or brackets
   * would take a wave for each of them.
   */
  private withRepeats(waves: Waves, list: number, lexemeState: number, stack: number): number {
    if (
      this.locals.without.has("repeats") ||
      list === RootList ||
      stack === EmptyStack ||
      lexemes.base(lexemeState) !== Dead
    )
      return list
    const { states, locals } = this
    if (locals.lists.length(list) > MaxUnited || states.stacks.isSymbolic(stack)) return list
    // A frame may only be asked about ends that occur: the frame of a key takes other tags.
    const { exits } = locals.local(list, lexemeState)
    if (exits.length === 0 || exits[0] !== PlainTag || !states.followers.followsItself(lexemeState, stack))
      return list
    const others = waves.unread(locals.repeated(list, lexemeState), lexemeState, stack)
    return locals.lists.union(list, others)
  }

  /**
   * Returns a set that includes all bytes that may follow a lexeme that ends with the plain tag
   * under `stack`; null if there are many or they depend on a text. Memoized. Lexemes that read
   * tokens by their ids add no bytes, since no token begins inside another.
   */
  private bytesBehind(stack: number): number | null {
    if (stack === EmptyStack) return NoBytes
    if (this.states.stacks.isSymbolic(stack)) return null
    if (stack >= this.behind.length) this.behind = grown(this.behind, moreThan(stack))
    if (this.behind[stack] === NotAsked) {
      const bytes = this.findBytesBehind(stack)
      // `findBytesBehind` may have made stacks, and thereby replaced the array.
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
      // After a lexeme that may be empty, the bytes that follow it may come too.
      const inner = lexemes.tags[next] === PlainTag ? this.bytesBehind(followers[i + 1]) : null
      if (inner === null) return null
      parts.push(inner)
    }
    const bytes = uniteSets(parts)
    return bytesOf(bytes).length > MaxBytesBehind ? null : bytes
  }
}

/**
 * The readings that come next, each with its nodes and its stack. Readings from the same nodes
 * under the same frame are united into one for all stacks below the frame, then readings under the
 * same stack into one for all nodes. The tables are made once, for all masks.
 */
class Waves {
  private readonly lists: ListTables
  /** The readings that `take` returned: node list, lexeme state, stack. Shape [length / 3, 3]. */
  wave = new Int32Array(FirstRoom)
  /** The readings that were added since then: lexeme state, stack, and node list as text. */
  private readonly added: Readings
  /**
   * (lexeme state, stack, 0) → the list of the nodes from which it was read; reading from them
   * again adds nothing.
   */
  private readonly read = new TripleMap()
  /** (lexeme state, stack, 0) → index in `added` of the last list of its group. */
  private readonly groups = new TripleMap()
  /** By the index of a list: the index of the previous list of its group. */
  private before = new Int32Array(FirstRoom)
  /** The lists of one group. */
  private group = new Int32Array(FirstRoom)

  constructor(stacks: StackTable, lists: ListTables) {
    this.added = new Readings(stacks, true)
    this.lists = lists
  }

  add(list: number, lexemeState: number, stack: number): void {
    const { lists } = this
    if (list === RootList || shareByte(lists.nextBytes(list), firstBytes(lexemeState)))
      this.added.add(lexemeState, stack, list)
  }

  /**
   * Prepares for another mask. The last one may have been abandoned, so what was added for it is
   * discarded too.
   */
  clear(): void {
    this.added.clear()
    this.read.clear()
  }

  /**
   * Returns the nodes of `list` from which the lexeme has not been read under `stack`, and marks
   * them as read.
   */
  unread(list: number, lexemeState: number, stack: number): number {
    const { lists, read } = this
    const known = read.get(lexemeState, stack, 0)
    const before = known < 0 ? NoList : known
    const fresh = lists.without(list, before)
    if (fresh !== NoList) read.set(lexemeState, stack, 0, lists.union(before, fresh))
    return fresh
  }

  /**
   * Moves all readings that were added since the last call into `wave`, in its shape. Returns how
   * many numbers they take.
   */
  take(): number {
    const { used, threads: added } = this.added
    if (this.wave.length < used) this.wave = new Int32Array(added.length)
    if (this.before.length < used) this.before = new Int32Array(added.length)
    const { wave, before, groups } = this
    groups.clear()
    let end = 0
    for (let i = 0; i < used; i += 3) {
      if (this.mayUnite(added[i + 2], added[i])) {
        before[i] = groups.get(added[i], added[i + 1], 0)
        groups.set(added[i], added[i + 1], 0, i)
      } else {
        before[i] = Alone
        wave[end++] = added[i + 2]
        wave[end++] = added[i]
        wave[end++] = added[i + 1]
      }
    }
    for (let i = 0; i < used; i += 3) {
      if (before[i] === Alone || groups.get(added[i], added[i + 1], 0) !== i) continue
      const list = this.unread(this.unionOfGroup(i), added[i], added[i + 1])
      if (list === NoList) continue
      wave[end++] = list
      wave[end++] = added[i]
      wave[end++] = added[i + 1]
    }
    this.added.clear()
    return end
  }

  private mayUnite(list: number, lexemeState: number): boolean {
    const { lists } = this
    if (list === RootList || lists.length(list) > MaxUnited) return false
    return lexemes.base(lexemeState) === Dead || lists.size(list) <= MaxBelow
  }

  /** Returns the nodes of all lists of the group whose last list is at index `last`. */
  private unionOfGroup(last: number): number {
    const { lists, before } = this
    const { threads: added } = this.added
    if (before[last] < 0) return added[last + 2]
    let count = 0
    for (let i = last; i >= 0; i = before[i]) count++
    if (count > this.group.length) this.group = new Int32Array(2 * count)
    const group = this.group.subarray(0, count)
    // In the order of insertion, which is usually ascending.
    for (let i = last; i >= 0; i = before[i]) group[--count] = added[i + 2]
    return lists.unionOf(group)
  }
}
