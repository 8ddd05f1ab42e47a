/**
 * Cuts: the part of the slices below some trie nodes that one state allows.
 *
 * A slice belongs to a set of characters and serves all states. A cut follows the characters of the
 * set from one state, in a loop or along a chain, and takes what they reach of the slice.
 */
import { type NodeLists, RootList } from "../lists.ts"
import type { Recipe } from "../recipe.ts"
import type { TokenTrie } from "../trie.ts"
import type { Vocabulary } from "../vocabulary.ts"
import type { CharacterSets } from "./characters.ts"
import type { Edges } from "./edges.ts"
import { RootSlices } from "./rootslices.ts"
import { type Group, Slices } from "./slices.ts"

/** Most tokens have no more characters than this. */
const UsualChain = 16
/** If more bytes than this leave a set, one walk finds all of their nodes. */
const MaxWays = 64

export interface Cut {
  /** The states after 0, 1, 2 … characters of the set. */
  readonly chain: readonly number[]
  /** Tokens that consist of these characters alone. */
  readonly inside: Recipe
  /** The nodes at which other tokens leave the set. */
  readonly groups: readonly Group[]
}

export class Cuts {
  private readonly lists: NodeLists
  private readonly characters: CharacterSets
  private readonly slices: Slices
  private readonly rootSlices: RootSlices

  constructor(vocabulary: Vocabulary, trie: TokenTrie, lists: NodeLists, characters: CharacterSets) {
    this.lists = lists
    this.characters = characters
    this.slices = new Slices(trie, vocabulary.width, characters)
    this.rootSlices = new RootSlices(vocabulary, trie)
  }

  /** Returns the edges of the trie, which the first call makes. */
  edgesByByte(): Edges {
    return this.rootSlices.edgesByByte()
  }

  /** Bytes of all slices. */
  get bytes(): number {
    return this.slices.bytes + this.rootSlices.bytes
  }

  /** Evicts all slices. */
  clear(): void {
    this.slices.clear()
    this.rootSlices.clear()
  }

  /**
   * Returns the cut by `set` of what is below `list`, as far as the characters of the set lead from
   * `state`.
   */
  of(list: number, state: number, set: number): Cut {
    return (list === RootList ? this.ofAll(state, set) : null) ?? this.below(list, state, set)
  }

  /** As `of`, from the slices below `list`. */
  private below(list: number, state: number, set: number): Cut {
    const nodes = this.lists.view(list).slice()
    // Most chains that fork do so early. The slice need not be made to its full depth then.
    let { states: chain, isForked } = this.characters.chain(state, set, UsualChain)
    let slice = this.slices.of(list, nodes, set, isForked ? chain.length - 1 : undefined)
    if (!isForked && slice.maxCount > UsualChain) {
      ;({ states: chain, isForked } = this.characters.chain(state, set, slice.maxCount))
      if (isForked) slice = this.slices.of(list, nodes, set, chain.length - 1)
    }
    const isLoop = this.isLoop(chain, set)
    const room = isLoop ? slice.maxCount : chain.length - 1
    const groups = isLoop && chain.length === 1 ? slice.merged : slice.groups
    return { chain, inside: slice.tokens.recipe(room), groups: groups.filter(({ count }) => count <= room) }
  }

  /** As `of`, for all tokens; null if the chain forks or many bytes leave the set. */
  private ofAll(state: number, set: number): Cut | null {
    const firstBytes = this.characters.firstBytes(set)
    if (firstBytes.length === 0) return null
    const slice = this.rootSlices.of(set, firstBytes)
    for (let reach = UsualChain; ; ) {
      const { states: chain, isForked } = this.characters.chain(state, set, reach)
      const bytes = this.characters.leaving(chain, set)
      if (isForked || bytes.length > MaxWays) return null
      const isLoop = this.isLoop(chain, set)
      const most = slice.maxCount(bytes)
      if (chain.length > reach && most > reach && !isLoop) {
        reach = most
        continue
      }
      const room = isLoop ? most : chain.length - 1
      const groups = slice.groups(bytes, isLoop && chain.length === 1)
      return { chain, inside: slice.inside(room), groups: groups.filter(({ count }) => count <= room) }
    }
  }

  /** Returns whether the last state of `chain` leads to itself. */
  private isLoop(chain: readonly number[], set: number): boolean {
    const last = chain[chain.length - 1]
    return this.characters.after(last, set) === last
  }
}
