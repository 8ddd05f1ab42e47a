/**
 * An engine as a language model and as a provider of the AI SDK, in this process: no HTTP.
 *
 * `generateText`, `streamText`, `generateObject` and `streamObject` of `ai` call `doGenerate` and
 * `doStream`. Schemas and tools are enforced by the engine's masks. An option that the engine does
 * not have is a warning of the call; a request that cannot be honoured is refused before its first
 * token.
 */
import type { Engine } from "../../engine/engine.ts"
import { inOwnWords, ownText } from "../../engine/fieldnames.ts"
import type { Generation } from "../../engine/generation.ts"
import type { GenerateOptions } from "../../engine/request.ts"
import type { Choice, GenerateResult } from "../../engine/result.ts"
import { AbortError, ModelError, RequestError, reasonOf } from "../../errors.ts"
import { withDefaults } from "../../schema.ts"
import { functionOf, messagesOf } from "./conversation.ts"
import { partsOf } from "./stream.ts"
import type { AiCall, AiContent, AiEnding, AiResult, AiStreamPart, AiWarning } from "./wire.ts"

/** Options of the AI SDK's model. */
export interface AiOptions<Version extends "v3" | "v4" = "v4"> {
  /**
   * The version of the AI SDK's specification: `v4` (default) for ai 7, `v3` for ai 6, which does
   * not accept v4. ai 7 accepts both.
   */
  readonly version?: Version
  /**
   * Options of all calls. The options of a call take precedence over them, and its constraint
   * replaces theirs. `n`, `tools`, `toolChoice` and `signal` are refused with RequestError.
   */
  readonly defaults?: GenerateOptions
}

/**
 * A language model of the AI SDK, which is also the provider of this one model. It has no
 * embeddings and no images.
 */
export interface AiModel<Version extends "v3" | "v4" = "v4"> {
  readonly specificationVersion: Version
  readonly provider: string
  readonly modelId: string
  /** URLs that the model fetches by itself: none. */
  readonly supportedUrls: Record<string, RegExp[]>
  /** Returns a whole answer. Rejects as `Engine.start` does, and with AbortError and ModelError. */
  doGenerate(call: AiCall): Promise<AiResult>
  /** Returns the parts of an answer as they come. Rejects as `Engine.start` does. */
  doStream(call: AiCall): Promise<{ stream: ReadableStream<AiStreamPart> }>
  /** Returns this model. Throws RequestError for the id of another one. */
  languageModel(modelId: string): AiModel<Version>
  /** Throws RequestError. */
  embeddingModel(modelId: string): never
  /** Throws RequestError. */
  imageModel(modelId: string): never
}

/**
 * Returns the engine as a model for the AI SDK: `generateText({ model: tokenrail(engine), … })`.
 * Options of `engine.generate` are taken from `providerOptions.tokenrail`. The engine stays the
 * caller's to close.
 */
export function tokenrail<Version extends "v3" | "v4" = "v4">(
  engine: Pick<Engine, "model" | "start">,
  { version = "v4" as Version, defaults = {} }: AiOptions<Version> = {},
): AiModel<Version> {
  const { id, thinks } = engine.model
  checkDefaults(defaults)
  const start = async (call: AiCall): Promise<Started> => {
    const warnings: AiWarning[] = []
    const options = withDefaults(defaults, optionsOf(call, thinks, warnings))
    try {
      return { generation: await engine.start(messagesOf(call.prompt), options), warnings }
    } catch (error) {
      throw reasonOf(inOwnWords(error))
    }
  }
  const model: AiModel<Version> = {
    specificationVersion: version,
    provider: "tokenrail",
    modelId: id,
    supportedUrls: {},
    async doGenerate(call) {
      const { generation, warnings } = await start(call)
      const result = await generation.result
      checkEnd(result, call.abortSignal)
      return {
        content: contentOf(result),
        ...endingOf(result),
        response: { modelId: id, timestamp: new Date() },
        warnings: [...warnings, ...result.warnings.map(noteOf)],
      }
    },
    async doStream(call) {
      const { generation, warnings } = await start(call)
      return { stream: streamOf(generation, warnings, id, call) }
    },
    languageModel(modelId) {
      if (modelId === id) return model
      throw noModel(`the engine runs ${id}, and no model of the name ${JSON.stringify(modelId)}`)
    },
    embeddingModel: () => {
      throw noModel("it has no embeddings")
    },
    imageModel: () => {
      throw noModel("it has no images")
    },
  }
  return model
}

interface Started {
  readonly generation: Generation
  readonly warnings: AiWarning[]
}

function noModel(why: string): RequestError {
  return new RequestError("invalid_value", `modelId: ${why}`, "modelId")
}

/** Options of `generate` that the AI SDK has its own settings for, with the name of the setting. */
const settings: Readonly<Record<string, string>> = {
  maxTokens: "maxOutputTokens",
  stop: "stopSequences",
  tools: "tools",
  toolChoice: "toolChoice",
  signal: "abortSignal",
  n: "one call for each answer",
}

/** Throws RequestError for defaults that only a call of the AI SDK can set. */
function checkDefaults(defaults: GenerateOptions): void {
  const name = ["n", "tools", "toolChoice", "signal"].find((each) => each in defaults)
  if (name === undefined) return
  const text = `defaults.${name}: the AI SDK sets it for each call. Use ${settings[name]}`
  throw new RequestError("invalid_value", text, name)
}

/** Returns the engine's options of a call. Appends a warning for each setting without effect. */
function optionsOf(call: AiCall, thinks: boolean, warnings: AiWarning[]): GenerateOptions {
  const own = call.providerOptions?.tokenrail ?? {}
  for (const [name, setting] of Object.entries(settings)) {
    if (!(name in own)) continue
    const text = `providerOptions.tokenrail.${name}: the AI SDK has a setting of its own for it. Use ${setting}`
    throw new RequestError("invalid_value", text, name)
  }
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed } = call
  const given = {
    ...{ temperature, topP, topK, presencePenalty, frequencyPenalty, seed },
    maxTokens: call.maxOutputTokens,
    stop: call.stopSequences,
    signal: call.abortSignal,
    ...constraintOf(call),
    ...toolsOf(call, warnings),
    reasoningEffort: effortOf(call, thinks, warnings),
  }
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(known), ...own }
}

function constraintOf({ responseFormat: format }: AiCall): GenerateOptions {
  if (format?.type !== "json") return {}
  return format.schema === undefined ? { jsonObject: true } : { schema: format.schema }
}

function toolsOf({ tools = [], toolChoice: choice }: AiCall, warnings: AiWarning[]): GenerateOptions {
  const functions = tools.filter(({ type }) => type === "function")
  for (const { type, name } of tools) {
    if (type === "function") continue
    const details = "no tool is run by the model: write it as a function with execute"
    warnings.push({ type: "unsupported", feature: `tool ${name} of type ${type}`, details })
  }
  if (choice === undefined) return functions.length > 0 ? { tools: functions.map(functionOf) } : {}
  const { type, toolName: name } = choice
  const toolChoice = type === "tool" ? { type: "function", function: { name } } : type
  return { tools: functions.map(functionOf), toolChoice }
}

function effortOf({ reasoning }: AiCall, thinks: boolean, warnings: AiWarning[]): string | undefined {
  if (reasoning === undefined || reasoning === "provider-default") return undefined
  if (thinks || reasoning === "none") return reasoning
  warnings.push({
    type: "unsupported",
    feature: "reasoning",
    details: "this model does not mark a reasoning",
  })
  return undefined
}

/** Throws the error of an answer that the caller's signal ended, or that failed. */
function checkEnd(
  { finishReason, text, error, message }: Pick<Choice, "finishReason" | "text" | "error" | "message">,
  signal: AbortSignal | undefined,
): void {
  if (finishReason === "abort") throw reasonOf(new AbortError(text, { cause: signal?.reason }))
  if (finishReason === "error") throw inOwnWords(error ?? new ModelError(message ?? "the model failed"))
}

function contentOf({ reasoning, text, toolCalls }: GenerateResult): AiContent[] {
  const whole = toolCalls.filter(({ isComplete }) => isComplete)
  return [
    ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === "" && toolCalls.length > 0 ? [] : [{ type: "text" as const, text }]),
    ...whole.map(({ id, name, arguments: input }) => {
      return { type: "tool-call" as const, toolCallId: id, toolName: name, input }
    }),
  ]
}

function endingOf({ usage, finishReason, stopReason, toolCalls, seed, warnings }: GenerateResult): AiEnding {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, forcedTokens } = usage
  const isCalling = finishReason === "stop" && toolCalls.length > 0
  const ends = { stop: "stop", length: "length", abort: "other", error: "error" } as const
  return {
    finishReason: {
      unified: isCalling ? "tool-calls" : ends[finishReason],
      raw: stopReason === null ? finishReason : String(stopReason),
    },
    usage: {
      inputTokens: {
        ...{ total: promptTokens, noCache: promptTokens - cachedTokens },
        ...{ cacheRead: cachedTokens, cacheWrite: undefined },
      },
      outputTokens: {
        total: completionTokens,
        text: completionTokens - reasoningTokens,
        reasoning: reasoningTokens,
      },
    },
    providerMetadata: {
      tokenrail: { seed: String(seed), stopReason, forcedTokens, warnings: warnings.map(ownText) },
    },
  }
}

function noteOf(warning: string): AiWarning {
  return { type: "other", message: ownText(warning) }
}

/**
 * Returns the answer as a stream. If the reader cancels it, the answer ends. If the caller's signal
 * ends the answer, the stream fails with the signal's error.
 */
function streamOf(
  generation: Generation,
  warnings: AiWarning[],
  modelId: string,
  { includeRawChunks, abortSignal }: AiCall,
): ReadableStream<AiStreamPart> {
  async function* parts(): AsyncGenerator<AiStreamPart> {
    yield { type: "stream-start", warnings }
    yield { type: "response-metadata", modelId, timestamp: new Date() }
    yield* partsOf(generation, includeRawChunks ?? false)
    const result = await generation.result
    try {
      checkEnd(result, abortSignal)
    } catch (error) {
      if (result.finishReason === "abort") throw error
      yield { type: "error", error }
    }
    yield { type: "finish", ...endingOf(result) }
  }
  const iterator = parts()
  return new ReadableStream<AiStreamPart>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => generation.cancel(),
  })
}
