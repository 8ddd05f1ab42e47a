/**
 * The machine that a Matcher walks on: a machine over the tokens of one vocabulary. States are
 * integers, 0 is dead.
 *
 * `TokenFsm` computes its states when they are first reached, `ClosedFsm` holds all of them, a
 * `BudgetMachine` counts tokens, and a `HealedMachine` writes the end of a prompt again. A Matcher
 * need not know which of them it walks on.
 */
import type { Expectation } from "../grammar/frame.ts"
import type { Grammar } from "../grammar/grammar.ts"
import type { CaptureReader } from "../grammar/tape.ts"
import type { Recipe } from "./recipe.ts"
import type { Vocabulary } from "./vocabulary.ts"

/**
 * A machine over the tokens of one vocabulary. States are integers; 0 is dead: no transition leaves
 * it.
 */
export interface TokenMachine {
  readonly vocabulary: Vocabulary
  /** The grammar whose texts the machine writes; null if the machine no longer has its grammar. */
  readonly grammar: Grammar | null
  readonly start: number
  /** Finds the captures of a text; null if the machine captures nothing. */
  readonly captures: CaptureReader | null
  /**
   * Returns the state after `token`, or `DeadState`. An end id leads to `DeadState`: the matcher
   * handles end ids.
   */
  next(state: number, token: number): number
  /** Returns `next(state, token)` if it is cached, else -1. O(1). */
  knownNext(state: number, token: number): number
  /**
   * Returns the state after `bytes`, or `DeadState`; it may be inside a token. The bytes do not
   * count against token budgets.
   */
  advance(state: number, bytes: Uint8Array): number
  /**
   * Returns the state for the start of a token, given a state that `advance` returned; `DeadState`
   * if no token from there satisfies all token budgets. Only a machine that counts tokens changes
   * the state.
   */
  between(state: number): number
  /** Returns the state after `bytes`, which are one token or a part of one, or `DeadState`. */
  advanceToken(state: number, bytes: Uint8Array): number
  /** Returns the bytes that may come next, ascending: the first `most` of them. Default: all. */
  nextBytes(state: number, most?: number): number[]
  /** Returns how to write the mask of `state`. */
  mask(state: number): Recipe
  /** Returns whether `mask(state)` is cached. O(1) or O(threads of the state). */
  hasMask(state: number): boolean
  /**
   * Returns how to write the mask of the tokens below the trie node `node` whose bytes after those
   * of `node`, at least one, are allowed in `state`.
   */
  maskBelow(state: number, node: number): Recipe
  /** Returns whether the text so far is complete. */
  isAccepting(state: number): boolean
  /** Returns whether the text so far is complete and nothing may follow. */
  isExhausted(state: number): boolean
  /** Returns a lower bound on the bytes of any completion; 0 if the text is complete. */
  least(state: number): number
  /** Returns a short completion: bytes after which the text is complete. */
  shortest(state: number): Uint8Array
  /** Returns descriptions of what may be written next. */
  explain(state: number): Expectation[]
  /**
   * Returns the state as text, for debugging: its threads, the bytes that each may read, and the
   * frames below.
   */
  print(state: number): string
  stats(): MachineStats
}

/**
 * Sizes of the machine's tables, and the work spent on them. Walks and nodes are counted over all
 * machines on the vocabulary.
 */
export interface MachineStats {
  states: number
  /** Distinct threads of all states. */
  threads: number
  /** Bytes of states, excluding their masks. */
  stateBytes: number
  transitions: number
  /** Bytes of masks that are cached by state. */
  maskBytes: number
  /** Bytes of local masks, which all machines over the vocabulary share. */
  localBytes: number
  /** Number of masks that were requested and found in the cache. */
  hits: number
  /** Full walks of a lexeme over the token trie. */
  walks: number
  /**
   * Number of local masks that were found without a full walk, by the shortcut that found them.
   * Empty for a machine without shortcuts.
   */
  shortcuts: Readonly<Record<string, number>>
  /** Nodes of the token trie that full and partial walks have visited. */
  nodes: number
}
