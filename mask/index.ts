/**
 * mask/: which tokens may come next. It works with tokens and never sees logits.
 */
export type { Capture } from "../grammar/tape.ts"
export { type Deadline, type DraftMasks, fillDraftMasks, fillMasks } from "./batch.ts"
export { applyMask, countAllowed, isAllowed, onlyToken } from "./bits.ts"
export type { BudgetOptions } from "./budgets/budgets.ts"
export { bindGrammar } from "./budgets/machine.ts"
export { type FsmOptions, TokenFsm } from "./fsm.ts"
export type { MachineStats, TokenMachine } from "./machine.ts"
export { Matcher, type MatcherOptions, type RowKind } from "./matcher.ts"
export { printMask, printRecipe } from "./print.ts"
export { captures } from "./prompt/captures.ts"
export { canonicalTokens, type Encode, forcedBytes, forcedTokens, tailBytes } from "./prompt/forced.ts"
export { type Healing, heal } from "./prompt/healing.ts"
export { wordCount } from "./recipe.ts"
export { ClosedFsm } from "./stored/closed.ts"
export { type PrecompileOptions, precompile } from "./stored/precompile.ts"
export {
  deserialize,
  type Stored,
  StoreError,
  type StorePart,
  serializeMachine,
  serializeSource,
} from "./stored/store.ts"
export { parseTekken, parseTiktoken } from "./tokenizers/ranks.ts"
export { type AddedToken, parseVocabulary } from "./tokenizers/tokenizerjson.ts"
export { Vocabulary } from "./vocabulary.ts"

import { Completions } from "../grammar/completions.ts"
import { explain, nextBytes } from "../grammar/explain.ts"
import { checkOptions, type Fields } from "../grammar/options.ts"
import { printState } from "../grammar/print.ts"
import type { States } from "../grammar/state.ts"
import { shortcuts } from "./fast/shortcuts.ts"
import type { FsmOptions } from "./fsm.ts"
import type { MatcherOptions } from "./matcher.ts"
import { type Endings, setParts } from "./parts.ts"

const fields = {
  fsm: {
    maskBytes: "number",
    transitionCount: "number",
    locals: "object",
    ignoresBudgets: "boolean",
  } satisfies Fields<FsmOptions>,
  matcher: { maskMs: "number", completionMs: "number" } satisfies Fields<MatcherOptions>,
} as const

function makeEndings(states: States): Endings {
  const completions = new Completions(states)
  return {
    least: (state) => completions.least(state),
    shortest: (state) => completions.shortest(state),
    nextBytes: (state, most) => nextBytes(states, state, most),
    explain: (state) => explain(states, state),
    print: (state) => printState(states, state),
  }
}

// package.json lists this file as one with side effects, so that bundlers keep this call.
setParts({
  checkOptions: (of, options) => checkOptions(options, fields[of]),
  makeEndings,
  makeShortcuts: shortcuts(),
})
