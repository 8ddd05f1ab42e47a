/**
 * Local masks: which tokens stay inside a lexeme, and where in the token trie the lexeme may end.
 *
 * Both depend on the lexeme state and on the trie nodes from which it is read, never on the stack.
 * So they are cached once per vocabulary and serve every schema and request. With the list [root],
 * `local(list, lexemeState)` is the mask at the start of a token; with the list of nodes at which
 * one lexeme may end, it is what the next lexeme adds.
 *
 * `walked` is the definition: one walk of the lexeme automaton through the trie. `Shortcuts` are
 * faster ways to the same bits: they are in the folder `fast/`, and nothing here needs them.
 */
import { checkTime } from "../grammar/deadline.ts"
import { PairMap } from "../grammar/intern.ts"
import { currentWorld, type World } from "../grammar/tables.ts"
import { NodeLists } from "./lists.ts"
import { parts } from "./parts.ts"
import { compactIds, idsRecipe, type Recipe, recipeBytes, unite } from "./recipe.ts"
import type { KeptMask, Local, MakeShortcuts, Shortcuts } from "./shortcuts.ts"
import { type Found, TokenTrie } from "./trie.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** The weight of a typical walk, some 50 µs, in the units after which the clock is read. */
const WalkWeight = 16

export class LocalMasks {
  readonly vocabulary: Vocabulary
  readonly trie: TokenTrie
  readonly lists: NodeLists
  /** Tokens that may end a text. */
  readonly endIds: Int32Array
  /** Null: every mask is found by its definition. */
  readonly shortcuts: Shortcuts | null
  private walks = 0
  /** (list, lexeme state) → index of the local mask. */
  private readonly places = new PairMap()
  private readonly known: Local[] = []
  private readonly found: Found

  private readonly family: Family

  constructor(vocabulary: Vocabulary, make: MakeShortcuts | null = parts().makeShortcuts, family?: Family) {
    this.vocabulary = vocabulary
    this.family = family ?? { make, trie: new TokenTrie(vocabulary), members: new WeakMap() }
    this.family.members.set(currentWorld(), this)
    this.trie = this.family.trie
    this.endIds = Int32Array.from(vocabulary.endIds)
    this.shortcuts = make === null ? null : make(vocabulary, this.trie)
    this.lists = this.shortcuts?.lists ?? new NodeLists(this.trie)
    const room = this.shortcuts === null ? this.trie.nodeCount : 0
    this.found = { tokens: new Int32Array(room), tokenCount: 0, exits: [] }
  }

  /** Returns the local masks of the current world. They share the trie. */
  here(): LocalMasks {
    return memberOf(this.vocabulary, this.family)
  }

  /** Returns the local mask of `lexemeState` read from below the nodes of `list`. */
  local(list: number, lexemeState: number): Local {
    if (this.shortcuts !== null) return this.shortcuts.local(list, lexemeState)
    let place = this.places.get(list, lexemeState)
    if (place < 0) {
      place = this.known.push(this.walked(list, lexemeState)) - 1
      this.places.set(list, lexemeState, place)
    }
    return this.known[place]
  }

  private walked(list: number, lexemeState: number): Local {
    checkTime(WalkWeight)
    this.walks++
    const { trie, lists, found } = this
    const ids: number[] = []
    found.exits.length = 0
    for (const node of lists.view(list)) {
      found.tokenCount = 0
      trie.walk(node, lexemeState, found)
      for (const token of found.tokens.subarray(0, found.tokenCount))
        ids.push(token, ...(trie.duplicates.get(token) ?? []))
    }
    const mask = compactIds(Int32Array.from(ids), this.vocabulary.width)
    return { ...mask, exits: lists.exits(found.exits) }
  }

  /**
   * Returns the union of `parts`, `endIds` (always the same or none) and `own`, which belongs to
   * this mask alone.
   */
  union(parts: readonly Local[], endIds: Int32Array, own: readonly Recipe[]): KeptMask {
    if (this.shortcuts !== null) return this.shortcuts.union(parts, endIds, own)
    const plain = unite([...parts, ...own, idsRecipe(endIds)], this.vocabulary.words)
    return { plain, bytes: recipeBytes(plain) }
  }

  /** Returns how to write `mask`, which the caller is about to write. */
  use(mask: KeptMask): Recipe {
    return this.shortcuts === null ? mask.plain : this.shortcuts.use(mask)
  }

  /** Bytes of everything that is cached. */
  get bytes(): number {
    return this.shortcuts?.bytes ?? 0
  }

  /** Number of full walks of a lexeme through the trie. */
  get walkCount(): number {
    return this.walks + (this.shortcuts?.walkCount ?? 0)
  }
}

/** The local masks of one vocabulary: those of each world, since lexeme states differ. */
interface Family {
  readonly make: MakeShortcuts | null
  readonly trie: TokenTrie
  readonly members: WeakMap<World, LocalMasks>
}

function memberOf(vocabulary: Vocabulary, family: Family): LocalMasks {
  return family.members.get(currentWorld()) ?? new LocalMasks(vocabulary, family.make, family)
}

/** One for each vocabulary: local masks serve every grammar. */
const families = new WeakMap<Vocabulary, Family>()

/** Returns the local masks that all grammars of this world over `vocabulary` share. */
export function sharedLocals(vocabulary: Vocabulary): LocalMasks {
  let family = families.get(vocabulary)
  if (family === undefined) {
    family = { make: parts().makeShortcuts, trie: new TokenTrie(vocabulary), members: new WeakMap() }
    families.set(vocabulary, family)
  }
  return memberOf(vocabulary, family)
}
