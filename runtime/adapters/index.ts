/**
 * Public names of `tokenrail/adapters`: an engine, or masks, in the interfaces of other programs.
 * The types are structural, so no adapter needs the package that it is for.
 */
import "./platform.ts"

export type { AiMessage, AiPart, AiTool } from "./aisdk/conversation.ts"
export { type AiModel, type AiOptions, tokenrail } from "./aisdk/model.ts"
export type { AiCall, AiContent, AiResult, AiStreamPart, AiUsage, AiWarning } from "./aisdk/wire.ts"
export {
  type LlamaCppOptions,
  type LlamaCppOutput,
  type LlamaCppSequence,
  llamaCppTokens,
  llamaCppVocabulary,
} from "./llamacpp.ts"
export type { PromptInput, PromptMessage } from "./promptapi/messages.ts"
export {
  type AvailabilityOptions,
  type DownloadMonitor,
  type ExpectedContent,
  languageModel,
  type PromptModel,
  type SessionOptions,
} from "./promptapi/model.ts"
export type { OverflowListener, PromptOptions, PromptSession } from "./promptapi/session.ts"
export {
  type ConstrainedRows,
  constrain,
  type LogitsArray,
  type LogitsTensor,
  type Machines,
} from "./rows.ts"
export {
  type TokenRows,
  type TransformersLogitsProcessor,
  type TransformersModel,
  type TransformersTokenizer,
  transformersProcessor,
  transformersVocabulary,
} from "./transformers.ts"
export { type WebllmLogitProcessor, webllmProcessor } from "./webllm.ts"
