/**
 * The parts of the AI SDK's language model specification that the adapter reads and writes, as
 * structural types: `LanguageModelV4` of @ai-sdk/provider 4 and `LanguageModelV3` of version 3
 * (https://ai-sdk.dev/docs/foundations/providers-and-models). What is written has the form that
 * both versions share.
 */
import type { AiMessage, AiTool } from "./conversation.ts"

/** The options of one call, as the AI SDK passes them to a model. */
export interface AiCall {
  readonly prompt: readonly AiMessage[]
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly stopSequences?: readonly string[] | undefined
  readonly seed?: number | undefined
  /** With a schema the answer is constrained to it; `json` without one allows any JSON object. */
  readonly responseFormat?: { readonly type: "text" | "json"; readonly schema?: unknown } | undefined
  readonly tools?: readonly AiTool[] | undefined
  readonly toolChoice?: { readonly type: string; readonly toolName?: string } | undefined
  /** Version 4 alone: the effort, or `provider-default`. */
  readonly reasoning?: string | undefined
  readonly includeRawChunks?: boolean | undefined
  readonly abortSignal?: AbortSignal | undefined
  /** Options of the engine's `generate` under the key `tokenrail`. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined
}

/** A part of an answer. */
export type AiContent =
  | { type: "text" | "reasoning"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string }

/** The counted tokens of a call. */
export interface AiUsage {
  inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: undefined }
  outputTokens: { total: number; text: number; reasoning: number }
}

/** A setting that has no effect, or a note about one that had less than was asked for. */
export type AiWarning =
  | { type: "unsupported"; feature: string; details: string }
  | { type: "other"; message: string }

/** How an answer ended; `raw` is the engine's own reason. */
interface AiFinishReason {
  unified: "stop" | "length" | "tool-calls" | "error" | "other"
  raw: string | undefined
}

/** The cost and the end of an answer, which a whole answer and the last part of a stream have. */
export interface AiEnding {
  finishReason: AiFinishReason
  usage: AiUsage
  providerMetadata: {
    tokenrail: {
      seed: string
      stopReason: string | number | null
      forcedTokens: number
      warnings: string[]
    }
  }
}

/** A whole answer. */
export interface AiResult extends AiEnding {
  content: AiContent[]
  response: { modelId: string; timestamp: Date }
  warnings: AiWarning[]
}

/** A part of a stream. */
export type AiStreamPart =
  | { type: "stream-start"; warnings: AiWarning[] }
  | { type: "response-metadata"; modelId: string; timestamp: Date }
  | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end" | "tool-input-end"; id: string }
  | { type: "text-delta" | "reasoning-delta" | "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-start"; id: string; toolName: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string }
  | { type: "raw"; rawValue: unknown }
  | { type: "error"; error: unknown }
  | ({ type: "finish" } & AiEnding)
