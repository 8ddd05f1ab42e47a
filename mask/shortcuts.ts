/**
 * The interface to `mask/fast/`: faster ways to the masks that `LocalMasks` and `MaskBuilder`
 * define, with the same bits. The core sees nothing else of that folder, and works without it.
 */
import type { States } from "../grammar/state.ts"
import type { NodeLists } from "./lists.ts"
import type { Recipe } from "./recipe.ts"
import type { TokenTrie } from "./trie.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** The tokens that a lexeme reads to their end, and where inside of tokens it may end before. */
export interface Local extends Recipe {
  /**
   * (tag, node list) pairs, ascending by tag: below these nodes the lexeme has ended with this tag.
   */
  readonly exits: Int32Array
}

/** A mask that is cached, as the recipe by which it is written (`recipe.ts`). */
export interface KeptMask {
  readonly plain: Recipe
  /** Bytes that this mask holds alone, excluding what it shares with local masks. */
  readonly bytes: number
}

/**
 * Faster ways to the results that `LocalMasks` and `MaskBuilder` define, with the same bits. Made
 * once for each vocabulary.
 */
export interface Shortcuts {
  readonly lists: NodeLists
  /** Number of full walks that were still needed. */
  readonly walkCount: number
  /** Number of local masks that were found without a full walk, by the shortcut that found them. */
  readonly counts: Readonly<Record<string, number>>
  readonly bytes: number
  /** As `LocalMasks.local`. */
  local(list: number, lexemeState: number): Local
  /**
   * Returns the union of `parts`, `endIds` (always the same or none) and `own`, which belongs to
   * this mask alone.
   */
  union(parts: readonly Local[], endIds: Int32Array, own: readonly Recipe[]): KeptMask
  /** Returns how to write `mask`, which the caller is about to write. */
  use(mask: KeptMask): Recipe
  /**
   * Splits `list`: below the nodes of `open` a JSON string that is opened there cannot close, below
   * those of `closing` it may. Either may be `NoList`.
   */
  quoted(list: number): { open: number; closing: number }
  /** Returns the shortcuts for the masks of one grammar. */
  reading(states: States): ReadingShortcuts
}

/** Reads a lexeme below the nodes of a list, for a mask. */
export type Read = (list: number, lexemeState: number, stack: number) => void

/** Faster ways to read the parts of a mask. */
export interface ReadingShortcuts {
  /**
   * Returns a list of nodes that includes every node below `list` at which `lexemeState` may end
   * with `PlainTag` under `stack` and something may follow, so that other exits with that tag need
   * not be followed; null if all of them must be.
   */
  ends(list: number, lexemeState: number, stack: number): number | null
  /** Returns a state that allows the same tokens and may lack exits with `PlainTag`. */
  quiet(lexemeState: number): number
  /** Whether readings are collected and read later, because many of them are united first. */
  readonly unites: boolean
  /** Collects a reading. */
  add: Read
  /** Reads the collected readings, then the readings collected by these, until none are left. */
  readAll(read: Read): void
  /** Discards what was collected for a mask that was abandoned. */
  clear(): void
}

/** Makes the shortcuts of a vocabulary. */
export type MakeShortcuts = (vocabulary: Vocabulary, trie: TokenTrie) => Shortcuts
