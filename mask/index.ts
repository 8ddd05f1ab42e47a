/** mask/: which tokens may come next. Knows tokens, not logits. */
export { applyMask, countAllowed, isAllowed, onlyToken, wordCount } from "./bits.ts"
export { ClosedFsm } from "./closed.ts"
export { canonicalTokens, type Encode, tailBytes } from "./forced.ts"
export { type FsmOptions, TokenFsm } from "./fsm.ts"
export type { Healing } from "./healing.ts"
export type { MachineStats, TokenMachine } from "./machine.ts"
export { Matcher, type RowKind } from "./matcher.ts"
export { type PrecompileOptions, precompile } from "./precompile.ts"
export { parseTekken, parseTiktoken } from "./ranks.ts"
export {
  deserialize,
  type Stored,
  StoreError,
  type StorePart,
  serializeMachine,
  serializeSource,
} from "./store.ts"
export { type AddedToken, parseVocabulary } from "./tokenizerjson.ts"
export { Vocabulary } from "./vocabulary.ts"
export { warmUp } from "./warm.ts"
