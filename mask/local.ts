/**
 * Local masks: which tokens stay inside a lexeme, and where in the token trie the lexeme may end.
 *
 * Both depend on the lexeme state and on the trie nodes from which it is read, never on the stack. So they are kept
 * once per vocabulary and serve every schema and request: `local(list, lexemeState)` with the list [root] is the mask at
 * the beginning of a token, and with the list of nodes at which one lexeme may end it is what the next one adds.
 *
 * Where a state is edges over a base (a string except along some names), its local mask is the base's, patched along
 * the edges: the plain string's 2 ms walk is done once, each patch takes microseconds.
 */
import { checkTime } from "../grammar/deadline.ts"
import { grown, moreThan } from "../grammar/intern.ts"
import { hasByte, NoBytes } from "../grammar/lexeme/bytesets.ts"
import { clampedState, quietState } from "../grammar/lexeme/clamp.ts"
import type { Reach } from "../grammar/lexeme/expr/clamp.ts"
import { freeBytes, withoutNames } from "../grammar/lexeme/string/string.ts"
import { Dead, lexemes } from "../grammar/lexeme/table.ts"
import { wordCount } from "./bits.ts"
import { corrected, entry, entryBytes, type Local } from "./entry.ts"
import { CharacterSets } from "./fast/characters.ts"
import { Cuts } from "./fast/cuts.ts"
import { Differences } from "./fast/differences.ts"
import { NoEnds, TextEnds } from "./fast/ends.ts"
import { EqualLocals } from "./fast/equals.ts"
import { FarTokens } from "./fast/far.ts"
import { FreeMasks } from "./fast/free.ts"
import { Generations } from "./fast/generations.ts"
import { ListWalks } from "./fast/listwalks.ts"
import { Overlays } from "./fast/overlays.ts"
import { VocabularyReach } from "./fast/reach.ts"
import { Repeats } from "./fast/repeats.ts"
import type { Group } from "./fast/slices.ts"
import { type TextLocal, TextMasks } from "./fast/text.ts"
import { KeptMasks } from "./keptmasks.ts"
import { NodeLists, RootList } from "./lists.ts"
import {
  emptyRecipe,
  idsRecipe,
  listedCount,
  noIds,
  type Recipe,
  recipe,
  rowRecipe,
  setIds,
  unite,
  writeRecipe,
} from "./recipe.ts"
import { type Found, TokenTrie } from "./trie.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** Below so many trie nodes a walk costs less than a look into the caches. */
const MaxWalkNodes = 400
/** A look at the clock after so much work: some 50 µs for each local mask that is made. */
const ListWeight = 16
/** A state that goes on with so many bytes is told apart from a list's by each of them. */
const FewWays = 8
export interface LocalOptions {
  /**
   * Bytes of what entries share (a grammar of C's takes 13 MB of these), half as many of entries, and a third as many each of their
   * unions and of those that are kept as rows. Default 24 MiB.
   */
  maxBytes?: number
  /** Walk every state: the tests hold all faster ways to it. */
  isPlain?: boolean
  /** Trie nodes from which on tokens are taken by their characters instead of one by one. Default 2,000. */
  minSliceNodes?: number
  /** Nodes of a list from which on all are walked together, as some may lie below others. Default 64. */
  minNestedNodes?: number
  /** Bytes from which on tokens are read by themselves, where states differ in long ones alone. Default 24. */
  farBytes?: number
}

export class LocalMasks {
  readonly vocabulary: Vocabulary
  readonly trie: TokenTrie
  readonly lists: NodeLists
  /** What may end a text. */
  readonly endIds: Int32Array
  /** Masks as unions of local masks. */
  readonly masks: KeptMasks
  /** Full walks: for `stats`. */
  walkCount = 0
  private readonly maxBytes: number
  private readonly isPlain: boolean
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
  /** Clamped lexeme state by lexeme state; 0 = not known yet. */
  private clamped = new Int32Array(1024)
  /** What `quiet` answers; 0 = not known yet. */
  private quieted = new Int32Array(1024)
  /** What `unnamed` answers; 0 = not known yet. */
  private plain = new Int32Array(1024)
  /** By node list and lexeme state, clamped and unnamed. */
  private readonly entries: Generations<Local>
  private readonly equals = new EqualLocals()
  /** That of the entries when the last local mask was made: what is known of older ones goes when it does. */
  private generation: number
  private readonly walks: ListWalks
  private readonly other: Found

  constructor(vocabulary: Vocabulary, options: LocalOptions = {}) {
    this.vocabulary = vocabulary
    this.trie = new TokenTrie(vocabulary)
    this.endIds = Int32Array.from(vocabulary.endIds)
    this.maxBytes = options.maxBytes ?? 24 << 20
    this.entries = new Generations(this.maxBytes / 2)
    this.generation = this.entries.generation
    this.masks = new KeptMasks(vocabulary.width, this.maxBytes / 3)
    this.isPlain = options.isPlain ?? false
    this.minSliceNodes = options.minSliceNodes ?? 2_000
    this.reach = new VocabularyReach(vocabulary, this.trie.maxDepth)
    const farBytes = Math.min(options.farBytes ?? 24, this.trie.maxDepth)
    this.far = new FarTokens(this.trie, farBytes)
    this.overlays = new Overlays(this.trie)
    this.differences = new Differences(this.trie)
    this.nearReach = {
      bytes: farBytes,
      // What comes here is slow enough for a look.
      fewIterations: 2,
      iterations: (...loop) => this.reach.iterations(...loop),
    }
    this.lists = new NodeLists(this.trie, this.isPlain)
    const minNested = this.isPlain ? Number.POSITIVE_INFINITY : (options.minNestedNodes ?? 64)
    this.walks = new ListWalks(this.trie, this.lists, minNested)
    this.text = new TextMasks(this.trie, vocabulary.width)
    this.free = new FreeMasks(this.trie, vocabulary.width)
    this.cuts = new Cuts(vocabulary, this.trie, this.lists, this.characters)
    if (!this.isPlain) this.cuts.prepare()
    this.textEnds = new TextEnds(this.trie, this.lists, this.walks, () => this.cuts.edgesByByte())
    this.repeats = new Repeats(this.trie, this.lists)
    this.other = { tokens: new Int32Array(2 * this.trie.nodeCount + 1), tokenCount: 0, exits: [] }
  }

  /** The local mask of `lexemeState` read from below the nodes of `list`. */
  local(list: number, lexemeState: number): Local {
    const clamped = this.clamp(lexemeState)
    const state = this.isPlain || this.lists.hasQuote(list) ? clamped : this.unnamed(clamped)
    const known = this.entries.get(list, state)
    if (known !== undefined) return known
    const local = this.equals.one(this.make(list, state))
    this.entries.set(list, state, local)
    const isFull = this.sharedBytes > this.maxBytes
    if (isFull || this.entries.generation !== this.generation) {
      this.equals.clear()
      this.masks.forgetUnions()
      this.overlays.clear()
      this.characters.clear()
    }
    if (isFull) {
      // Entries go too: they hold rows of what is shared.
      this.entries.clear()
      this.cuts.clear()
      this.text.clear()
      this.free.clear()
    }
    this.generation = this.entries.generation
    return local
  }

  /**
   * Whether no token goes on below `list` as `lexemeState` does: then it allows nothing there. Not asked of a state that goes on in
   * many ways. A third of what is read behind something else is that (MaskBench's development split).
   */
  isApart(list: number, lexemeState: number): boolean {
    if (this.isPlain || list === RootList || lexemes.base(lexemeState) !== Dead) return false
    const count = lexemes.edgeCount(lexemeState)
    if (count > FewWays) return false
    const bytes = this.lists.nextBytes(list)
    for (let i = 0; i < count; i++) if (hasByte(bytes, lexemes.edgeByte(lexemeState, i))) return false
    return true
  }

  /**
   * The nodes below `list` where `lexemeState` may end with the plain tag and one of the set `bytes` goes on, or `NoEnds`; null where
   * `local` had better list all its exits.
   */
  endsBefore(list: number, lexemeState: number, bytes: number): number | null {
    if (bytes === NoBytes) return NoEnds
    if (this.isPlain || this.lists.size(list) < this.minSliceNodes) return null
    return this.textEnds.before(list, this.clamp(lexemeState), bytes)
  }

  /** What `LexemeTable.quiet` answers, memoised. */
  quiet(lexemeState: number): number {
    if (lexemeState >= this.quieted.length) this.quieted = grown(this.quieted, moreThan(lexemeState))
    if (this.quieted[lexemeState] === 0) this.quieted[lexemeState] = quietState(lexemeState)
    return this.quieted[lexemeState]
  }

  /** `list` and the nodes below it where `lexemeState` has been read once or more often, one after the other; memoised. */
  repeated(list: number, lexemeState: number): number {
    return this.repeats.of(list, lexemeState, this.walks.found)
  }

  /** Bytes of entries, of what they share and of what is made of them. */
  get bytes(): number {
    return this.entries.bytes + this.sharedBytes + this.masks.bytes
  }

  private get sharedBytes(): number {
    return this.cuts.bytes + this.text.bytes + this.free.bytes
  }

  /** The state under which `lexemeState` shares its local masks, memoised. */
  private clamp(lexemeState: number): number {
    if (lexemeState >= this.clamped.length) this.clamped = grown(this.clamped, moreThan(lexemeState))
    if (this.clamped[lexemeState] === 0) this.clamped[lexemeState] = clampedState(lexemeState, this.reach)
    return this.clamped[lexemeState]
  }

  /** The state that reads what `state` does where no string closes, memoised: names over the plain string are that. */
  private unnamed(state: number): number {
    if (state >= this.plain.length) this.plain = grown(this.plain, moreThan(state))
    if (this.plain[state] === 0) this.plain[state] = withoutNames(state)
    return this.plain[state]
  }

  private make(list: number, state: number): Local {
    checkTime(ListWeight)
    if (this.isPlain) return this.walked(list, state)
    const base = lexemes.base(state)
    if (base > Dead) return this.patched(list, state, base)
    if (base === Dead) {
      const next = lexemes.edgeCount(state) === 1 ? lexemes.edgeTarget(state, 0) : Dead
      if (next !== Dead && lexemes.tags[next] === 0) return this.along(list, lexemes.edgeByte(state, 0), next)
    }
    const free = this.lists.size(list) < this.minSliceNodes ? null : this.freed(list, state)
    if (free !== null) return free
    if (base === Dead || this.lists.size(list) < this.minSliceNodes) return this.walked(list, state)
    const text = this.text.local(list, this.lists.view(list), state)
    if (text !== null) return this.closing(text)
    if (list === RootList && !this.far.isEmpty) {
      const near = clampedState(state, this.nearReach)
      if (near !== state) return this.farther(state, near)
    }
    // What loops in one state is walked faster than it is cut, and few other states could use what was cut.
    if (this.isWord(list, state)) return this.walked(list, state)
    return this.sliced(list, state)
  }

  /** For a state from which many bytes go on whatever follows; null for others. */
  private freed(list: number, state: number): Local | null {
    const free = freeBytes(state)
    if (free === null) return null
    const { found } = this.walks
    this.walks.begin()
    const inside = this.free.read(list, this.lists.view(list), state, free, found)
    if (inside === null) return null
    const ids = this.lists.withDuplicates(found.tokens.subarray(0, found.tokenCount))
    const mask = unite([inside.recipe(0), idsRecipe(ids)])
    return entry(mask, this.lists.exits(found.exits), entryBytes + 4 * ids.length)
  }

  /**
   * Whether `state` reads any number of characters of its largest set, at once or behind the first one, as one state. From the root
   * one that ends nowhere on the way is cut: the slices of a set are made once for all states.
   */
  private isWord(list: number, state: number): boolean {
    const { set, next } = this.characters.largest(state)
    if (set === this.characters.none) return this.characters.isWordWithEnds(state)
    return list !== RootList && this.characters.after(next, set) === next
  }

  /**
   * Many tokens at once where a set of characters leads around in a loop or along a chain; what leaves the set is cut
   * into slices again where it is large, and walked where it is small.
   */
  private sliced(list: number, state: number): Local {
    const { set, next } = this.characters.largest(state)
    const nearly = this.besideLoop(list, state, next)
    if (nearly !== null) return nearly
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
    const mask = this.compact(unite(parts))
    const isOwn = mask.row !== null && !parts.some(({ row }) => row === mask.row)
    const bytes = entryBytes + 4 * (listedCount(mask) + (isOwn ? mask.row.length : 0))
    return entry(mask, this.lists.exits(exits), bytes)
  }

  /** As the loop into which most characters lead from `state`, corrected; null where there is none, or much to correct. */
  private besideLoop(list: number, state: number, loop: number): Local | null {
    if (loop === state || loop === Dead || this.characters.largest(loop).next !== loop) return null
    const difference = this.differences.find(this.lists.view(list), state, loop)
    if (difference === null) return null
    return corrected(this.local(list, loop), difference.found, difference.other, this.lists)
  }

  /** What `target` allows below the nodes of a group, and their own tokens. Exits are added to `exits`. */
  private leaving({ nodes }: Group, target: number, exits: number[]): Recipe {
    const list = this.lists.gather(nodes)
    const tag = lexemes.tags[target]
    if (tag !== 0) for (const node of nodes) if (this.trie.hasChildren(node)) exits.push(node, tag)
    const inner = this.local(list, target)
    for (let i = 0; i < inner.exits.length; i += 2)
      for (const node of this.lists.view(inner.exits[i + 1])) exits.push(node, inner.exits[i])
    return unite([inner, idsRecipe(this.lists.tokens(list))])
  }

  /** Many ids as a row. */
  private compact(mask: Recipe): Recipe {
    if (mask.row !== null || listedCount(mask) < this.vocabulary.width / 64) return mask
    const row = new Uint32Array(wordCount(this.vocabulary.width))
    writeRecipe(mask, row)
    return rowRecipe(row)
  }

  /** One way on, such as the opening quote: what `next` allows below the children, and the children's own tokens. */
  private along(list: number, byte: number, next: number): Local {
    const children = this.lists.children(list, byte)
    if (children < 0) return entry(emptyRecipe, noIds, entryBytes)
    const inner = this.local(children, next)
    const own = this.lists.tokens(children)
    if (own.length === 0) return entry(inner, inner.exits, entryBytes)
    const mask = recipe(inner.row, inner.common, inner.removed, [...inner.ids, own])
    return entry(mask, inner.exits, entryBytes + 4 * own.length)
  }

  private walked(list: number, state: number): Local {
    this.walkCount++
    const found = this.walks.below(list, state)
    const { tokens, tokenCount } = found
    const exits = this.lists.exits(found.exits)
    if (tokenCount < this.vocabulary.width / 64) {
      const ids = this.lists.withDuplicates(tokens.subarray(0, tokenCount))
      return entry(idsRecipe(ids), exits, entryBytes + 4 * ids.length)
    }
    const row = new Uint32Array(wordCount(this.vocabulary.width))
    for (let i = 0; i < tokenCount; i++) row[tokens[i] >>> 5] |= 1 << (tokens[i] & 31)
    for (const [token, others] of this.trie.duplicates) {
      if ((row[token >>> 5] >>> (token & 31)) & 1) {
        for (const twin of others) row[twin >>> 5] |= 1 << (twin & 31)
      }
    }
    return entry(rowRecipe(row), exits, entryBytes + row.byteLength)
  }

  /** A string that may hold any character: the tokens inside, and where it closes. */
  private closing({ tokens, room, closed, isUnbounded }: TextLocal): Local {
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
    // The plain string is under every open object's keys: worth a row that has it all.
    const row = inside.row.slice()
    setIds(row, common)
    return entry(rowRecipe(row), lists, entryBytes + row.byteLength)
  }

  /** The base's local mask, corrected along the edges on which `state` differs. */
  private patched(list: number, state: number, base: number): Local {
    const plain = this.local(list, base)
    const { found, other } = this.cleared()
    for (const node of this.lists.view(list)) this.overlays.differ(node, state, base, found, other)
    return corrected(plain, found, other, this.lists)
  }

  /** The local mask of `near`, from which `state` differs in long tokens alone, corrected by these. */
  private farther(state: number, near: number): Local {
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
