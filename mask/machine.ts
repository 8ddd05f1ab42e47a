/**
 * What a Matcher walks on: a machine over the tokens of one vocabulary. States are integers, 0 is dead.
 *
 * `TokenFsm` finds its states as they are met, `ClosedFsm` has them all, a `BudgetMachine` counts tokens and a `HealedMachine`
 * writes the end of a prompt again. A Matcher need not know which of them it walks on.
 */
import type { Expectation } from "../grammar/frame.ts"
import type { Grammar } from "../grammar/grammar.ts"
import type { CaptureReader } from "../grammar/tape.ts"
import type { Recipe } from "./recipe.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** A machine over the tokens of one vocabulary. States are integers; 0 is dead: nothing leads out of it. */
export interface TokenMachine {
  readonly vocabulary: Vocabulary
  /** The grammar whose texts the machine writes; null if the machine has no grammar any more. */
  readonly grammar: Grammar | null
  readonly start: number
  /** Finds what a text captures; null: the machine names no spans. */
  readonly captures: CaptureReader | null
  /** The state after `token`, or `DeadState`. End ids lead nowhere: the matcher keeps them. */
  next(state: number, token: number): number
  /** `next(state, token)` where that is known and need not be found; else -1. O(1). */
  knownNext(state: number, token: number): number
  /** The state after `bytes`, or `DeadState`; it may be inside a token. They count towards no budget of tokens. */
  advance(state: number, bytes: Uint8Array): number
  /** A state that `advance` led to, where a token begins; `DeadState` if no token keeps all budgets of tokens from there on. */
  between(state: number): number
  /** The state after `bytes`, which are one token or a part of one, or `DeadState`. */
  advanceToken(state: number, bytes: Uint8Array): number
  /** The bytes that may come next, ascending: the first `most` of them. Default: all. */
  nextBytes(state: number, most?: number): number[]
  /** How to write the mask of `state`. */
  mask(state: number): Recipe
  /** Whether `mask(state)` is known already, and need not be found. O(1) or the threads of the state. */
  hasMask(state: number): boolean
  /**
   * How to write the tokens whose bytes begin with those of the trie node `node` and go on, at least by one, as the text may
   * from `state` on.
   */
  maskBelow(state: number, node: number): Recipe
  /** Whether the text so far is complete. */
  isAccepting(state: number): boolean
  /** Whether the text so far is complete and nothing may follow. */
  isExhausted(state: number): boolean
  /** At most as many bytes as any completion has; 0 if the text is complete. */
  least(state: number): number
  /** A short completion: bytes after which the text is complete. */
  shortest(state: number): Uint8Array
  /** What may be written next, in words. */
  explain(state: number): Expectation[]
  /** The state as text, for people who look inside: its threads, the bytes that each may read, and the frames below. */
  print(state: number): string
  stats(): MachineStats
}

/** What a machine knows, and what that took. Walks and their nodes are those of all machines over the vocabulary. */
export interface MachineStats {
  states: number
  /** Threads of all states together, each once. */
  threads: number
  /** Bytes of states, without their masks. */
  stateBytes: number
  transitions: number
  /** Bytes of masks by state. */
  maskBytes: number
  /** Bytes of local masks, which all machines over the vocabulary share. */
  localBytes: number
  /** Times that a mask was asked for and known. */
  hits: number
  /** Full walks of a lexeme over the token trie. */
  walks: number
  /** Local masks that were found without a full walk, by the way in which they were. Empty for a machine without shortcuts. */
  shortcuts: Readonly<Record<string, number>>
  /** Nodes of the token trie that were visited, in full walks and in partial ones. */
  nodes: number
}
