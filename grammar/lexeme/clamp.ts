/**
 * Lexeme states that stand for many: which of them one token cannot tell apart, so that what is
 * found for one serves all. An accelerator of masks; no answer depends on it.
 */
import type { Reach } from "./expr/clamp.ts"
import { type LexemeKind, lexemes } from "./table.ts"

/** What the kinds of lexeme states may know of states like theirs. */
export interface ClampedKind extends LexemeKind {
  /** A state that no token within `reach` can tell from this one, which is `state`. */
  clamp?(a: number, b: number, c: number, reach: Reach, state: number): number
  /**
   * This state without its ends, see `quietState`; this one, which is `state`, where it never ends.
   */
  quiet?(a: number, b: number, c: number, state: number): number
}

/**
 * A state that treats all tokens within `reach` as `state` does: the key under which local masks
 * are shared.
 */
export function clampedState(state: number, reach: Reach): number {
  const kind: ClampedKind | undefined = lexemes.kindOf(state)
  if (kind?.clamp === undefined) return state
  const [, a, b, c] = lexemes.partsOf(state)
  return kind.clamp(a, b, c, reach, state)
}

/**
 * A state that reads what `state` does, but says nowhere that the lexeme may end with the plain
 * tag; `state` itself where it may end so in few places. A text of any words may end behind nearly
 * every token. Where what follows it reads nothing that a token holds, no token depends on those
 * ends, and the mask of the quiet state has none to look at.
 */
export function quietState(state: number): number {
  const kind: ClampedKind | undefined = lexemes.kindOf(state)
  if (kind?.quiet === undefined) return state
  const [, a, b, c] = lexemes.partsOf(state)
  return kind.quiet(a, b, c, state)
}
