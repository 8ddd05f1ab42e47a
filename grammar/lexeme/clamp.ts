/**
 * Lexeme states that represent many others: one token cannot distinguish them, so a result for one
 * serves all. This makes masks faster; no answer depends on it.
 */
import type { Reach } from "./expr/clamp.ts"
import { type LexemeKind, lexemes } from "./table.ts"

/** Optional knowledge of a kind about equivalent states. */
export interface ClampedKind extends LexemeKind {
  /** Returns a state that no token within `reach` can distinguish from this one, `state`. */
  clamp?(a: number, b: number, c: number, reach: Reach, state: number): number
  /** Returns this state without its ends, see `quietState`; this one, `state`, if it never ends. */
  quiet?(a: number, b: number, c: number, state: number): number
}

/**
 * Returns a state that treats all tokens within `reach` as `state` does: the key under which local
 * masks are shared.
 */
export function clampedState(state: number, reach: Reach): number {
  const kind: ClampedKind | undefined = lexemes.kindOf(state)
  if (kind?.clamp === undefined) return state
  const [, a, b, c] = lexemes.partsOf(state)
  return kind.clamp(a, b, c, reach, state)
}

/**
 * Returns a state with the transitions of `state` that reports no end with the plain tag, or
 * `state` itself if it rarely reports one. Texts of arbitrary words may end after nearly every
 * token. If what follows the text cannot begin within a token, no token depends on those ends, and
 * the mask of the quiet state has none to look at.
 */
export function quietState(state: number): number {
  const kind: ClampedKind | undefined = lexemes.kindOf(state)
  if (kind?.quiet === undefined) return state
  const [, a, b, c] = lexemes.partsOf(state)
  return kind.quiet(a, b, c, state)
}
