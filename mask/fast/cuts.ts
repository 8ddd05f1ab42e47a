/**
 * Cuts: what is below some trie nodes, cut by a set of characters as far as these lead from a state in a loop or along a chain.
 *
 * Slices belong to a set of characters and serve all states; a cut is what one state takes of them.
 */
import { type NodeLists, RootList } from "../lists.ts"
import type { Recipe } from "../recipe.ts"
import type { TokenTrie } from "../trie.ts"
import type { Vocabulary } from "../vocabulary.ts"
import type { CharacterSets } from "./characters.ts"
import type { Edges } from "./edges.ts"
import { RootSlices } from "./rootslices.ts"
import { type Group, Slices } from "./slices.ts"

/** Characters in a row that most tokens stay below. */
const UsualChain = 16
/** More ways out of a set are found in one walk. */
const MaxWays = 64

export interface Cut {
  /** The states after 0, 1, 2 … characters of the set. */
  readonly chain: readonly number[]
  /** Tokens of these characters alone. */
  readonly inside: Recipe
  /** Where others leave the set. */
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

  /** Makes what every cut of all tokens needs at once, not when a mask waits for it: 40 ms for 128,000 tokens. */
  prepare(): void {
    this.rootSlices.prepare()
  }

  /** The edges of the trie, made when they are first asked for. */
  edgesByByte(): Edges {
    return this.rootSlices.edgesByByte()
  }

  /** Bytes of all slices. */
  get bytes(): number {
    return this.slices.bytes + this.rootSlices.bytes
  }

  /** Forgets all slices. */
  clear(): void {
    this.slices.clear()
    this.rootSlices.clear()
  }

  /** What is below `list`, cut by `set`, as far as the characters of the set lead from `state`. */
  of(list: number, state: number, set: number): Cut {
    return (list === RootList ? this.ofAll(state, set) : null) ?? this.below(list, state, set)
  }

  /** What is below `list`, cut by `set`, as far as the characters of the set lead from `state`. */
  private below(list: number, state: number, set: number): Cut {
    const nodes = this.lists.view(list).slice()
    // Most chains that fork do so soon: then the slice need not be made to its full depth.
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

  /** The same of all tokens; null where the chain forks or the set is left in many ways. */
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

  /** Whether the last state of `chain` goes on with itself. */
  private isLoop(chain: readonly number[], set: number): boolean {
    const last = chain[chain.length - 1]
    return this.characters.after(last, set) === last
  }
}
