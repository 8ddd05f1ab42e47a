/**
 * Local masks without a full walk where possible: the masks that `LocalMasks` defines, bit for bit.
 *
 * States that differ only beyond the longest token share one local mask: `clamp` returns the state
 * under which they share it. If a state is edges over a base (a string except along some names),
 * its local mask is that of the base, patched along the edges: the walk of the plain string, 2 ms,
 * is done once, and each patch takes microseconds. Other masks are found by the length of a string
 * (`text.ts`), by bytes that are allowed whatever follows (`free.ts`), from a state that differs
 * only in long tokens (`far.ts`), or in slices of characters (`cuts.ts`). The rest is walked.
 */
import { checkTime } from "../../grammar/deadline.ts"
import { grown, moreThan } from "../../grammar/intern.ts"
import { hasByte, NoBytes } from "../../grammar/lexeme/bytesets.ts"
import { clampedState, quietState } from "../../grammar/lexeme/clamp.ts"
import type { Reach } from "../../grammar/lexeme/expr/clamp.ts"
import { freeBytes } from "../../grammar/lexeme/string/string.ts"
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import type { States } from "../../grammar/state.ts"
import { NoList, RootList } from "../lists.ts"
import {
  emptyRecipe,
  idsRecipe,
  listedCount,
  noIds,
  type Recipe,
  recipe,
  rowRecipe,
  setIds,
  wordCount,
  writeRecipe,
} from "../recipe.ts"
import type { Local, MakeShortcuts, ReadingShortcuts, Shortcuts } from "../shortcuts.ts"
import type { Found, TokenTrie } from "../trie.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { CharacterSets } from "./characters.ts"
import { Children } from "./children.ts"
import { Cuts } from "./cuts.ts"
import { Differences } from "./differences.ts"
import { TextEnds } from "./ends.ts"
import { corrected, entry, entryBytes, type FastLocal } from "./entry.ts"
import { EqualLocals } from "./equals.ts"
import { FarTokens } from "./far.ts"
import { FreeMasks } from "./free.ts"
import { Generations } from "./generations.ts"
import { type FastMask, KeptMasks } from "./keptmasks.ts"
import { ListTables } from "./listtables.ts"
import { ListWalks } from "./listwalks.ts"
import { Overlays } from "./overlays.ts"
import { Quotes } from "./quotes.ts"
import { VocabularyReach } from "./reach.ts"
import { MaskReadings, type Reads } from "./readings.ts"
import { Repeats } from "./repeats.ts"
import type { Group } from "./slices.ts"
import { type TextLocal, TextMasks } from "./text.ts"
import { uniteShared } from "./unions.ts"

/** If fewer trie nodes than this are below a group, a walk is faster than the caches. */
const MaxWalkNodes = 400
/** The weight of making one local mask, some 50 µs, in the units after which the clock is read. */
const ListWeight = 16
/** States with at most this many outgoing bytes are compared with a list byte by byte. */
const FewWays = 8

/**
 * The shortcuts that benchmarks and tests can turn off. `test/bench/tails.ts` has a case for each.
 */
export const shortcutNames = [
  "apart",
  "beside",
  "clamped",
  "ends",
  "equal",
  "far",
  "free",
  "nested",
  "patched",
  "repeats",
  "rows",
  "sliced",
  "text",
  "waves",
  "word",
] as const
export type ShortcutName = (typeof shortcutNames)[number]

/** Bounds of time and memory. None of them changes an answer. */
export interface ShortcutOptions {
  /**
   * Bytes of the data that entries share (13 MB for a grammar of C). The entries may take half as
   * many bytes, their unions a third, and the unions that are cached as rows another third. Default
   * 24 MiB.
   */
  maxBytes?: number
  /**
   * Lists with at least this many trie nodes below them are read by sets of characters instead of
   * token by token. Default 2,000.
   */
  minSliceNodes?: number
  /**
   * A list with at least this many nodes is walked as a whole, because some of its nodes may lie
   * below others. Default 64.
   */
  minNestedNodes?: number
  /**
   * Tokens with more bytes than this are read one by one if two states differ only in them. Default
   * 24.
   */
  farBytes?: number
  /** Shortcuts to turn off. */
  without?: readonly ShortcutName[]
}

/** Makes the shortcuts of a vocabulary. */
export function shortcuts(options: ShortcutOptions = {}): MakeShortcuts {
  return (vocabulary, trie) => new FastMasks(vocabulary, trie, options)
}

/** The shortcuts of one vocabulary. */
export class FastMasks implements Shortcuts, Reads {
  readonly lists: ListTables
  readonly trie: TokenTrie
  walkCount = 0
  readonly counts = {
    apart: 0,
    patched: 0,

    free: 0,
    text: 0,
    far: 0,
    beside: 0,
    sliced: 0,
    equal: 0,
  }
  readonly without: ReadonlySet<ShortcutName>
  private readonly width: number
  private readonly maxBytes: number
  private readonly masks: KeptMasks
  private readonly text: TextMasks
  private readonly free: FreeMasks
  private readonly reach: VocabularyReach
  private readonly characters = new CharacterSets()
  private readonly cuts: Cuts
  private readonly textEnds: TextEnds
  private readonly repeats: Repeats
  private readonly overlays: Overlays
  private readonly differences: Differences
  private readonly far: FarTokens
  private readonly nearReach: Reach
  private readonly minSliceNodes: number
  /** Results of `clamp` by lexeme state; 0 if not computed yet. */
  private clamped = new Int32Array(1024)
  /** Results of `quiet` by lexeme state; 0 if not computed yet. */
  private quieted = new Int32Array(1024)
  /** Local masks by node list and clamped lexeme state. */
  private readonly entries: Generations<FastLocal>
  private readonly equals = new EqualLocals()
  /**
   * The generation of the entries when the last local mask was made. If it has changed, everything
   * that refers to older entries is dropped.
   */
  private generation: number
  private readonly walks: ListWalks
  private readonly other: Found
  private readonly empty: FastLocal

  constructor(vocabulary: Vocabulary, trie: TokenTrie, options: ShortcutOptions) {
    const { width } = vocabulary
    this.without = new Set(options.without)
    this.trie = trie
    this.width = width
    this.maxBytes = options.maxBytes ?? 24 << 20
    this.entries = new Generations(this.maxBytes / 2)
    this.generation = this.entries.generation
    this.masks = new KeptMasks(width, this.maxBytes / 3, !this.without.has("rows"))
    this.minSliceNodes = options.minSliceNodes ?? 2_000
    this.reach = new VocabularyReach(vocabulary, trie.maxDepth)
    const farBytes = Math.min(options.farBytes ?? 24, trie.maxDepth)
    const children = new Children(trie)
    const quotes = new Quotes(trie)
    this.far = new FarTokens(trie, farBytes)
    this.overlays = new Overlays(children, quotes)
    this.differences = new Differences(children)
    this.nearReach = {
      bytes: farBytes,
      // The calls that get here are slow enough to afford a look.
      fewIterations: 2,
      iterations: (...loop) => this.reach.iterations(...loop),
    }
    this.lists = new ListTables(children, quotes)
    this.walks = new ListWalks(
      children,
      this.lists,
      this.without.has("nested") ? Number.POSITIVE_INFINITY : (options.minNestedNodes ?? 64),
    )
    this.text = new TextMasks(trie, width)
    this.free = new FreeMasks(children, width)
    this.cuts = new Cuts(vocabulary, trie, this.lists, this.characters)
    this.textEnds = new TextEnds(children, this.lists, this.walks, () => this.cuts.edgesByByte())
    this.repeats = new Repeats(trie, this.lists)
    this.other = { tokens: new Int32Array(2 * trie.nodeCount + 1), tokenCount: 0, exits: [] }
    this.empty = this.equals.one(entry(emptyRecipe, noIds, entryBytes))
  }

  local(list: number, lexemeState: number): FastLocal {
    if (this.isApart(list, lexemeState)) {
      this.counts.apart++
      return this.empty
    }
    const state = this.clamp(lexemeState)
    const known = this.entries.get(list, state)
    if (known !== undefined) return known
    const made = this.make(list, state)
    const local = this.equals.one(made, !this.without.has("equal"))
    if (local !== made) this.counts.equal++
    this.entries.set(list, state, local)
    const isFull = this.sharedBytes > this.maxBytes
    if (isFull || this.entries.generation !== this.generation) {
      this.equals.clear()
      this.masks.forgetUnions()
      this.overlays.clear()
      this.characters.clear()
    }
    if (isFull) {
      // The entries are dropped too, because they hold rows of the shared data.
      this.entries.clear()
      this.cuts.clear()
      this.text.clear()
      this.free.clear()
    }
    this.generation = this.entries.generation
    return local
  }

  /**
   * Returns whether no token continues below `list` with a byte that `lexemeState` reads, so that
   * it allows nothing there. States with many outgoing bytes are not checked. This holds for a
   * third of the reads after another lexeme (MaskBench's development split).
   */
  private isApart(list: number, lexemeState: number): boolean {
    if (list === RootList || this.without.has("apart") || lexemes.base(lexemeState) !== Dead) return false
    const count = lexemes.edgeCount(lexemeState)
    if (count > FewWays) return false
    const bytes = this.lists.nextBytes(list)
    for (let i = 0; i < count; i++) if (hasByte(bytes, lexemes.edgeByte(lexemeState, i))) return false
    return true
  }

  union(parts: readonly Local[], endIds: Int32Array, own: readonly Recipe[]): FastMask {
    if (own.length === 0) return this.masks.unionOf(parts as readonly FastLocal[], endIds)
    return this.masks.alone(uniteShared([...parts, ...own, idsRecipe(endIds)]), true)
  }

  use(mask: FastMask): Recipe {
    return this.masks.use(mask)
  }

  quoted(list: number): { open: number; closing: number } {
    return this.lists.quoted(list)
  }

  reading(states: States): ReadingShortcuts {
    return new MaskReadings(states, this)
  }

  endsBefore(list: number, lexemeState: number, bytes: number): number | null {
    if (bytes === NoBytes) return NoList
    if (this.lists.size(list) < this.minSliceNodes) return null
    return this.textEnds.before(list, this.clamp(lexemeState), bytes)
  }

  /** Returns the result of `quietState`. Memoized. */
  quiet(lexemeState: number): number {
    if (lexemeState >= this.quieted.length) this.quieted = grown(this.quieted, moreThan(lexemeState))
    if (this.quieted[lexemeState] === 0) this.quieted[lexemeState] = quietState(lexemeState)
    return this.quieted[lexemeState]
  }

  repeated(list: number, lexemeState: number): number {
    return this.repeats.of(list, lexemeState, this.walks.found)
  }

  /** Bytes of the entries, of the data that they share, and of the unions made of them. */
  get bytes(): number {
    return this.entries.bytes + this.sharedBytes + this.masks.bytes
  }

  private get sharedBytes(): number {
    return this.cuts.bytes + this.text.bytes + this.free.bytes
  }

  /** Returns the state under which `lexemeState` shares its local masks. Memoized. */
  private clamp(lexemeState: number): number {
    if (this.without.has("clamped")) return lexemeState
    if (lexemeState >= this.clamped.length) this.clamped = grown(this.clamped, moreThan(lexemeState))
    if (this.clamped[lexemeState] === 0) this.clamped[lexemeState] = clampedState(lexemeState, this.reach)
    return this.clamped[lexemeState]
  }

  private make(list: number, state: number): FastLocal {
    checkTime(ListWeight)
    const base = lexemes.base(state)
    const { without } = this
    if (base > Dead && !without.has("patched")) return this.patched(list, state, base)
    const isSmall = this.lists.size(list) < this.minSliceNodes
    const free = isSmall || without.has("free") ? null : this.freed(list, state)
    if (free !== null) return free
    if (base === Dead || isSmall) return this.walked(list, state)
    const text = without.has("text") ? null : this.text.local(list, this.lists.view(list), state)
    if (text !== null) return this.closing(text)
    if (list === RootList && !this.far.isEmpty && !without.has("far")) {
      const near = clampedState(state, this.nearReach)
      if (near !== state) return this.farther(state, near)
    }
    // A state that loops in itself is walked faster than it is cut into slices, which few other
    // states could use.
    if (without.has("sliced") || (!without.has("word") && this.isWord(list, state)))
      return this.walked(list, state)
    return this.sliced(list, state)
  }

  /**
   * Returns the local mask of a state from which many bytes are allowed whatever follows; null for
   * other states.
   */
  private freed(list: number, state: number): FastLocal | null {
    const free = freeBytes(state)
    if (free === null) return null
    const { found } = this.walks
    this.walks.begin()
    const inside = this.free.read(list, this.lists.view(list), state, free, found)
    if (inside === null) return null
    this.counts.free++
    const ids = this.lists.withDuplicates(found.tokens.subarray(0, found.tokenCount))
    const mask = uniteShared([inside.recipe(0), idsRecipe(ids)])
    return entry(mask, this.lists.exits(found.exits), entryBytes + 4 * ids.length)
  }

  /**
   * Returns whether `state`, or the state after one character, loops in itself on its largest set
   * of characters. At the root such a state is cut instead, unless it can end inside the loop: the
   * slices of a set at the root are made once for all states.
   */
  private isWord(list: number, state: number): boolean {
    const { set, next } = this.characters.largest(state)
    if (set === this.characters.none) return this.characters.isWordWithEnds(state)
    return list !== RootList && this.characters.after(next, set) === next
  }

  /**
   * Takes many tokens at once where a set of characters leads around a loop or along a chain. Where
   * tokens leave the set, large groups are cut into slices again and small ones are walked.
   */
  private sliced(list: number, state: number): FastLocal {
    const { set, next } = this.characters.largest(state)
    const nearly = this.besideLoop(list, state, next)
    if (nearly !== null) return nearly
    this.counts.sliced++
    const { chain, inside, groups } = this.cuts.of(list, state, set)
    const parts: Recipe[] = [inside]
    const exits: number[] = []
    const small: { nodes: Int32Array; target: number }[] = []
    for (const group of groups) {
      const target = lexemes.next(chain[Math.min(group.count, chain.length - 1)], group.byte)
      if (target === Dead) continue
      if (group.size > MaxWalkNodes) parts.push(this.leaving(group, target, exits))
      else small.push({ nodes: group.nodes, target })
    }
    this.walks.begin()
    for (const { nodes, target } of small) for (const node of nodes) this.walks.visit(node, target)
    const { found } = this.walks
    parts.push(idsRecipe(this.lists.withDuplicates(found.tokens.subarray(0, found.tokenCount))))
    for (let i = 0; i < found.exits.length; i++) exits.push(found.exits[i])
    const mask = this.compact(uniteShared(parts))
    const isOwn = mask.row !== null && !parts.some(({ row }) => row === mask.row)
    const bytes = entryBytes + 4 * (listedCount(mask) + (isOwn ? mask.row.length : 0))
    return entry(mask, this.lists.exits(exits), bytes)
  }

  /**
   * Returns the local mask of `loop`, the loop into which most characters lead from `state`,
   * corrected where `state` differs; null if there is no such loop or too much differs.
   */
  private besideLoop(list: number, state: number, loop: number): FastLocal | null {
    if (
      this.without.has("beside") ||
      loop === state ||
      loop === Dead ||
      this.characters.largest(loop).next !== loop
    )
      return null
    const difference = this.differences.find(this.lists.view(list), state, loop)
    if (difference === null) return null
    this.counts.beside++
    return corrected(this.local(list, loop), difference.found, difference.other, this.lists)
  }

  /**
   * Returns the tokens that `target` allows below the nodes of a group, and those that end at the
   * nodes. Adds the exits to `exits`.
   */
  private leaving({ nodes }: Group, target: number, exits: number[]): Recipe {
    const list = this.lists.gather(nodes)
    const tag = lexemes.tags[target]
    if (tag !== 0) for (const node of nodes) if (this.trie.hasChildren(node)) exits.push(node, tag)
    const inner = this.local(list, target)
    for (let i = 0; i < inner.exits.length; i += 2)
      for (const node of this.lists.view(inner.exits[i + 1])) exits.push(node, inner.exits[i])
    return uniteShared([inner, idsRecipe(this.lists.tokens(list))])
  }

  /** Returns `mask` as a row if it has many ids. */
  private compact(mask: Recipe): Recipe {
    if (mask.row !== null || listedCount(mask) < this.width / 64) return mask
    const row = new Uint32Array(wordCount(this.width))
    writeRecipe(mask, row)
    return rowRecipe(row)
  }

  private walked(list: number, state: number): FastLocal {
    this.walkCount++
    const found = this.walks.below(list, state)
    const { tokens, tokenCount } = found
    const exits = this.lists.exits(found.exits)
    if (tokenCount < this.width / 64) {
      const ids = this.lists.withDuplicates(tokens.subarray(0, tokenCount))
      return entry(idsRecipe(ids), exits, entryBytes + 4 * ids.length)
    }
    const row = new Uint32Array(wordCount(this.width))
    for (let i = 0; i < tokenCount; i++) row[tokens[i] >>> 5] |= 1 << (tokens[i] & 31)
    for (const [token, others] of this.trie.duplicates) {
      if ((row[token >>> 5] >>> (token & 31)) & 1) {
        for (const twin of others) row[twin >>> 5] |= 1 << (twin & 31)
      }
    }
    return entry(rowRecipe(row), exits, entryBytes + row.byteLength)
  }

  /** Returns the local mask of a string of any characters: its tokens, and where it closes. */
  private closing({ tokens, room, closed, isUnbounded }: TextLocal): FastLocal {
    this.counts.text++
    const ids: number[] = []
    const exits: number[] = []
    for (let i = 0; i < closed.length; i += 2) {
      if (this.trie.token(closed[i]) >= 0) ids.push(this.trie.token(closed[i]))
      if (this.trie.hasChildren(closed[i])) exits.push(closed[i], closed[i + 1])
    }
    const common = this.lists.withDuplicates(Int32Array.from(ids))
    const lists = this.lists.exits(exits)
    const inside = tokens.recipe(room)
    if (inside.row === null || !isUnbounded) {
      const mask = recipe(inside.row, common, inside.removed, inside.ids)
      return entry(mask, lists, entryBytes + 4 * common.length)
    }
    // Every open object has the plain string below its keys, so it deserves a row of its own.
    const row = inside.row.slice()
    setIds(row, common)
    return entry(rowRecipe(row), lists, entryBytes + row.byteLength)
  }

  /** Returns the local mask of the base, corrected along the edges on which `state` differs. */
  private patched(list: number, state: number, base: number): FastLocal {
    this.counts.patched++
    const plain = this.local(list, base)
    const { found, other } = this.cleared()
    for (const node of this.lists.view(list)) this.overlays.differ(node, state, base, found, other)
    return corrected(plain, found, other, this.lists)
  }

  /**
   * Returns the local mask of `near`, from which `state` differs only in long tokens, corrected in
   * these.
   */
  private farther(state: number, near: number): FastLocal {
    this.counts.far++
    const plain = this.local(RootList, near)
    const { found, other } = this.cleared()
    this.far.differ(state, near, found, other)
    return corrected(plain, found, other, this.lists)
  }

  private cleared(): { found: Found; other: Found } {
    const { other } = this
    this.walks.begin()
    other.tokenCount = 0
    other.exits.length = 0
    return { found: this.walks.found, other }
  }
}
