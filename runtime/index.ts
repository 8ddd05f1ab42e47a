/**
 * Public names of runtime/: the model, the engine around it, and the names of lower layers that
 * callers need.
 */
export {
  type CallOptions,
  type CallTool,
  type CompileOptions,
  callGrammar,
  callTypes,
  collectDocuments,
  compile,
  Grammar,
  GrammarError,
  type GrammarErrorKind,
  type GrammarInput,
  type LintNote,
  type LintReport,
  type LintSource,
  type LintTarget,
  type LintVerdict,
  lint,
  lintTargets,
  OptionError,
  type Report,
  type SqlColumn,
  type SqlDialect,
  type SqlForeignKey,
  type SqlInput,
  type SqlTable,
  sqlGrammar,
} from "../grammar/index.ts"
export { type JsonNode, readJson, toText } from "../grammar/json/read/reader.ts"
export { isToolName, toolNameForm } from "../grammar/tags/styles/tools.ts"
export {
  applyMask,
  bindGrammar,
  ClosedFsm,
  captures,
  countAllowed,
  deserialize,
  fillDraftMasks,
  forcedBytes,
  forcedTokens,
  heal,
  Matcher,
  type MatcherOptions,
  parseTekken,
  parseTiktoken,
  parseVocabulary,
  precompile,
  type StateGraph,
  type Stored,
  StoreError,
  serializeMachine,
  serializeSource,
  TokenFsm,
  type TokenMachine,
  Vocabulary,
  walkStates,
} from "../mask/index.ts"
export {
  createCpuSampler,
  type LogitsProcessor,
  type ProcessorRow,
  resolveParams,
  SamplingError,
  type SamplingOptions,
  TokenCounts,
  type TokenLogprobs,
} from "../sampler/index.ts"
export type { Answer, DecideOptions, Decisions } from "./decisions/decide.ts"
export type { DecisionInput } from "./decisions/prompt.ts"
export type { ChoiceQuestion, PredicateQuestion, Question, ScoreQuestion } from "./decisions/questions.ts"
export type { Score, ScoreOptions, Scores } from "./decisions/score.ts"
export type { Batch } from "./engine/batch.ts"
export type { SearchOptions } from "./engine/beamoptions.ts"
export { Engine, type ModelInfo } from "./engine/engine.ts"
export type { Generation } from "./engine/generation.ts"
export { EngineMetrics } from "./engine/metrics.ts"
export type { GenerateOptions, Prompt } from "./engine/request.ts"
export type { Choice, GenerateResult, Usage } from "./engine/result.ts"
export type { FinishReason, GenerationEvent, StreamEvent } from "./engine/sequence.ts"
export type { TokenTrace } from "./engine/trace.ts"
export {
  AbortError,
  type ContextOverflow,
  IncompleteError,
  ModelError,
  RequestError,
  type RequestErrorCode,
  ValidationError,
  type ValidationIssue,
} from "./errors.ts"
export type { ExtractedField, Extraction, ExtractOptions } from "./extraction/extract.ts"
export { foldFields } from "./fields/fold.ts"
export { type FieldEvent, type FieldKind, FieldReader } from "./fields/reader.ts"
export type { DeepPartial } from "./fields/value.ts"
export { packageFile } from "./files.ts"
export type { FromSchema } from "./fromschema.ts"
export { Detokenizer } from "./model/detokenizer.ts"
export type { ModelProgress } from "./model/hub/pull.ts"
export type { DeviceTraffic, ModelWork, Traffic } from "./model/model.ts"
export type { Message, TemplateOptions } from "./model/template.ts"
export { type OpenOptions, open } from "./open.ts"
export type { SchemaPair, SchemaValue, StandardSchema, ValueOf, WrittenOf, WrittenValue } from "./schema.ts"
export type { SpeculationOptions } from "./speculation/speculation.ts"
export { StringAutomaton } from "./stops/automaton.ts"
export { type JsonStatus, JsonWatch } from "./stops/jsonwatch.ts"
export { StopRegexes } from "./stops/stopregex.ts"
export { StopStrings, StopWatch } from "./stops/stops.ts"
export { StopWhen, type StopWhenKind } from "./stops/stopwhen.ts"
export type { ToolCall, TurnOptions } from "./turn/options.ts"
export {
  type RunOptions,
  type RunResult,
  type RunTool,
  type ToolArguments,
  type TypedRunOptions,
  type TypedTool,
  tool,
} from "./turn/run.ts"
export { warmUp } from "./warm/warm.ts"
