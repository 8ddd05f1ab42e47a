/**
 * What a Matcher walks on: a machine over the tokens of one vocabulary. States are integers, 0 is dead.
 *
 * `TokenFsm` finds its states as they are met, `ClosedFsm` has them all; whoever holds a Matcher need not know which.
 */
import type { Expectation } from "../grammar/frame.ts"
import type { Recipe } from "./recipe.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** A machine over the tokens of one vocabulary. States are integers; 0 is dead: nothing leads out of it. */
export interface TokenMachine {
  readonly vocabulary: Vocabulary
  readonly start: number
  /** The state after `token`, or `DeadState`. End ids lead nowhere: the matcher keeps them. */
  next(state: number, token: number): number
  /** The state after `bytes`, or `DeadState`. */
  advance(state: number, bytes: Uint8Array): number
  /** The bytes that may come next, ascending: the first `most` of them. Default: all. */
  nextBytes(state: number, most?: number): number[]
  /** How to write the mask of `state`. */
  mask(state: number): Recipe
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
  stats(): MachineStats
}

/** States, transitions, bytes of masks and walks so far. */
export interface MachineStats {
  states: number
  transitions: number
  maskBytes: number
  walks: number
  localBytes: number
}
