/**
 * mask/: which tokens may come next. It works with tokens and never sees logits.
 */
export type { Capture } from "../grammar/tape.ts"
export { type Deadline, type DraftMasks, fillDraftMasks, fillMasks } from "./batch.ts"
export { applyMask, countAllowed, isAllowed, onlyToken } from "./bits.ts"
export type { BudgetOptions } from "./budgets/budgets.ts"
export { bindGrammar } from "./budgets/machine.ts"
export { type FsmOptions, TokenFsm } from "./fsm.ts"
export { type GraphEdge, type GraphOptions, type GraphState, type StateGraph, walkStates } from "./graph.ts"
export type { MachineStats, TokenMachine } from "./machine.ts"
export { Matcher, type MatcherOptions, type RowKind } from "./matcher.ts"
export { printMask, printRecipe } from "./print.ts"
export { captures } from "./prompt/captures.ts"
export { canonicalTokens, type Encode, forcedBytes, forcedTokens, tailBytes } from "./prompt/forced.ts"
export { type Healing, heal } from "./prompt/healing.ts"
export { wordCount } from "./recipe.ts"
export { ClosedFsm } from "./stored/closed.ts"
export { StoreError, type StorePart } from "./stored/error.ts"
export { type PrecompileOptions, precompile } from "./stored/precompile.ts"
export { deserialize, type Stored, serializeMachine, serializeSource } from "./stored/store.ts"
export {
  deserializeVocabulary,
  type StoredVocabularyOptions,
  serializeVocabulary,
} from "./stored/vocabulary.ts"
export { parseTekken, parseTiktoken } from "./tokenizers/ranks.ts"
export { type AddedToken, parseVocabulary } from "./tokenizers/tokenizerjson.ts"
export { Vocabulary } from "./vocabulary.ts"

import "./handed.ts"
