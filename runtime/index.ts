/** runtime/: a model, the engine around it, and the names of the floors below that its callers need. */
export {
  type CompileOptions,
  compile,
  Grammar,
  GrammarError,
  type GrammarErrorKind,
  type GrammarInput,
  type Report,
} from "../grammar/index.ts"
export { type JsonNode, readJson } from "../grammar/json/read/reader.ts"
export {
  applyMask,
  ClosedFsm,
  countAllowed,
  deserialize,
  Matcher,
  parseTekken,
  parseTiktoken,
  parseVocabulary,
  precompile,
  type Stored,
  StoreError,
  serializeMachine,
  serializeSource,
  TokenFsm,
  type TokenMachine,
  Vocabulary,
  warmUp,
} from "../mask/index.ts"
export { SamplingError, type SamplingOptions, type TokenLogprobs } from "../sampler/index.ts"
export { Detokenizer } from "./detokenizer.ts"
export { Engine, type ModelInfo } from "./engine.ts"
export {
  AbortError,
  IncompleteError,
  ModelError,
  RequestError,
  type RequestErrorCode,
  ValidationError,
  type ValidationIssue,
} from "./errors.ts"
export { packageFile } from "./files.ts"
export type { Choice, GenerateResult, Generation, Usage } from "./generation.ts"
export { type JsonStatus, JsonWatch } from "./jsonwatch.ts"
export { EngineMetrics } from "./metrics.ts"
export { type OpenOptions, open } from "./open.ts"
export type { GenerateOptions, Prompt } from "./request.ts"
export type { StandardSchema, ValueOf } from "./schema.ts"
export type { FinishReason, GenerationEvent } from "./sequence.ts"
export type { SpeculationOptions } from "./speculation.ts"
export { StopRegexes } from "./stopregex.ts"
export { StopStrings, StopWatch } from "./stops.ts"
export { StopWhen, type StopWhenKind } from "./stopwhen.ts"
export type { Message, TemplateOptions } from "./template.ts"
