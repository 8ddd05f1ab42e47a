/**
 * The options of a request by name: `checkOptions` checks a caller's options against this table.
 * The compiler verifies that it has all fields of the interfaces. `readRequest` and the sampler
 * check ranges and allowed words.
 */
import type { Fields } from "../../grammar/options.ts"
import type { SamplingOptions } from "../../sampler/index.ts"
import { constraintFields } from "../schema.ts"
import { turnFields } from "../turn/options.ts"
import type { GenerateOptions } from "./request.ts"

const samplingFields = {
  ...{ temperature: "number", topK: "number", topP: "number", minP: "number", typicalP: "number" },
  ...{ topNSigma: "number", epsilonCutoff: "number", etaCutoff: "number", xtcProbability: "number" },
  ...{ xtcThreshold: "number", mirostat: "number", mirostatTau: "number", mirostatEta: "number" },
  ...{ adaptiveTarget: "number", adaptiveDecay: "number" },
  ...{ dynatempRange: "number", dynatempExponent: "number", repetitionPenalty: "number" },
  ...{
    frequencyPenalty: "number",
    presencePenalty: "number",
    penaltyWindow: "number",
    penaltyExempt: "text",
  },
  ...{ dryMultiplier: "number", dryBase: "number", dryAllowedLength: "number", dryLastN: "number" },
  ...{ drySequenceBreakers: "texts", drySequenceBreakerIds: "list", noRepeatNgramSize: "number" },
  ...{ logitBias: "any", allowedTokenIds: "list", badWords: "texts", badWordIds: "list" },
  ...{ minTokens: "number", stopTokenIds: "list", seed: "any", logprobs: "number", logprobTokenIds: "list" },
  ...{
    logprobsMode: "text",
    contrastive: { fields: { alpha: "number", beta: "number" } },
    samplerOrder: "any",
  },
} as const satisfies Fields<SamplingOptions>

export const generateFields = {
  ...samplingFields,
  ...constraintFields,
  ...turnFields,
  ...{ maxTokens: "number", strictMaxTokens: "boolean", stop: "any", stopRegex: "any", stopWhen: "text" },
  repetitionDetection: { fields: { min: "number", max: "number", count: "number" } },
  ...{ streamGranularity: "text", onLength: "text", includeStopStrInOutput: "boolean", ignoreEos: "boolean" },
  ...{ useBeamSearch: "boolean", beamWidth: "number", lengthPenalty: "number", earlyStopping: "boolean" },
  ...{ n: "number", promptLogprobs: "number", draftTokens: "number", verify: "text", prediction: "text" },
  ...{
    forcing: "text",
    heal: "boolean",
    raw: "boolean",
    parseSpecial: "boolean",
    addSpecialTokens: "boolean",
  },
  ...{
    background: "boolean",
    schemaInPrompt: "boolean",
    fields: "boolean",
    confidence: "boolean",
    trace: "any",
    firstTokens: "list",
    report: "boolean",
    signal: "object",
    processors: "list",
  },
  templateOptions: {
    fields: { tools: "list", documents: "list", addGenerationPrompt: "boolean", variables: "object" },
  },
} as const satisfies Fields<GenerateOptions>

/** Names of these options in other programs. */
export const generateAliases: Readonly<Record<string, string>> = {
  ...{ max_completion_tokens: "maxTokens", max_output_tokens: "maxTokens", max_new_tokens: "maxTokens" },
  ...{ maxCompletionTokens: "maxTokens", maxOutputTokens: "maxTokens", maxNewTokens: "maxTokens" },
  ...{ response_format: "schema", responseFormat: "schema", json_schema: "schema", jsonSchema: "schema" },
  ...{ json: "schema", output: "schema", guided_json: "schema", guided_regex: "regex", pattern: "regex" },
  ...{
    guided_choice: "choice",
    enum: "choice",
    options: "choice",
    guided_grammar: "grammar",
    ebnf: "grammar",
  },
  ...{ gbnf: "grammar", lark: "grammar", structural_tag: "structuralTag", tag: "structuralTag" },
  ...{
    stopSequences: "stop",
    stop_sequences: "stop",
    abortSignal: "signal",
    repeat_penalty: "repetitionPenalty",
  },
  ...{ num_beams: "beamWidth", numBeams: "beamWidth" },
  ...{ repeatPenalty: "repetitionPenalty", bestOf: "n", best_of: "n", speculation: "draftTokens" },
}
