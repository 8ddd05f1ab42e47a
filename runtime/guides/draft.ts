/**
 * Cuts a proposal to the tokens that the constraint allows, and inserts the tokens that are forced
 * between them.
 */
import { isAllowed, type Matcher, onlyToken, type Vocabulary } from "../../mask/index.ts"

export interface DraftedTokens {
  readonly tokens: readonly number[]
  /** For each token its index in the proposal; −1 if the token is forced. */
  readonly places: readonly number[]
}

export interface DraftRules {
  readonly vocabulary: Vocabulary
  /** Moves along the draft. Null if any text is allowed. */
  readonly matcher: Matcher | null
  readonly stopTokenIds: ReadonlySet<number>
  /** Ids that the request allows. Shape [W]. */
  readonly allowed: Uint32Array | null
  /** Maximum number of tokens. */
  readonly bound: number
  /** Whether forced tokens are accepted without logits. */
  readonly isForcing: boolean
  /** Returns the tokens that are forced after `drafted`. */
  forcedAt(matcher: Matcher, drafted: readonly number[]): readonly number[]
}

/** Returns the draft. It fills a mask for each token. */
export function draftAlong(proposed: readonly number[], rules: DraftRules): DraftedTokens {
  const { vocabulary, matcher, stopTokenIds, allowed, bound, isForcing } = rules
  const row = matcher ? new Uint32Array(vocabulary.words) : vocabulary.freeRow
  const tokens: number[] = []
  const places: number[] = []
  let run: readonly number[] = []
  for (let at = 0; tokens.length < bound; ) {
    const kind = matcher ? matcher.fillMask(row) : "free"
    if (isForcing && kind === "single") run = [onlyToken(row)]
    else if (isForcing && matcher && run.length === 0) run = rules.forcedAt(matcher, tokens)
    const forced = run[0] ?? -1
    run = run.slice(1)
    const token = forced >= 0 ? forced : proposed[at]
    // An end of sequence needs no draft: the row before it draws it.
    if (token === undefined || vocabulary.isEnd(token) || stopTokenIds.has(token)) break
    if (!isAllowed(row, token) || (allowed !== null && !isAllowed(allowed, token))) break
    if (matcher && !matcher.accept(token)) break
    tokens.push(token)
    places.push(forced >= 0 ? -1 : at)
    if (proposed[at] === token) at++
    // The constraint forces a text that differs from the proposal.
    else at = proposed.length
  }
  return { tokens, places }
}
