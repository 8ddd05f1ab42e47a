/**
 * Fields that all endpoints for text share: sampling, stops, constraints, policies and tools.
 *
 * zod checks the types of most fields of a request (server/openai/request/fields.ts), and other
 * files read constraints, tools and the seed from the text of the body. This file describes the
 * latter, and has a text for each of the former.
 */
import { z } from "zod"
import { policyFields, vllmFlags } from "../openai/request/policies.ts"
import { named, withTexts } from "./operation.ts"

const string = z.string()

/** Meaning of the fields of `generationFields`, by name. */
export const generationTexts = {
  model: "A name that /v1/models lists.",
  temperature: "0 is greedy. From 0 to 1,000,000; default 1.",
  top_p: "Above 0, at most 1. Tokens are removed if the mass of likelier ones reaches it.",
  top_k: "Number of likeliest tokens that are kept; 0 and -1 keep all.",
  min_p: "From 0 to 1: share of the likeliest token's probability that a token needs.",
  typical_p: "Above 0, at most 1. Locally typical sampling.",
  top_n_sigma: "Standard deviations below the largest logit; 0 is off.",
  epsilon_cutoff: "Probability that a token needs; 0 is off.",
  eta_cutoff: "The same, relative to the entropy; 0 is off.",
  xtc_probability: "From 0 to 1: how often the likeliest tokens are removed.",
  xtc_threshold: "From 0 to 1: probability above which a token counts as likely. Default 0.1.",
  mirostat: "0 is off; 1 or 2 is the version.",
  mirostat_tau: "Target surprise in bits. Default 5.",
  mirostat_eta: "Learning rate, above 0 and at most 1. Default 0.1.",
  adaptive_target: "Target probability of drawn tokens; negative is off.",
  adaptive_decay: "From 0 to 0.99. Default 0.9.",
  dynatemp_range: "Half width of the dynamic temperature; 0 is off.",
  dynatemp_exponent: "Above 0. Default 1.",
  repetition_penalty: "Above 0; 1 is off. Counts tokens of the prompt too.",
  frequency_penalty: "From -2 to 2. Per occurrence in the answer.",
  presence_penalty: "From -2 to 2. Once for each token of the answer.",
  penalty_window: "Number of last tokens that the penalties read.",
  no_repeat_ngram_size: "Length of the sequences that must not repeat; 0 is off.",
  sampler_order: '"llamacpp", or the names of the stages in their order.',
  penalty_exempt: '"structural": tokens with few alternatives are not penalised. Default "none".',
  dry_multiplier: "Strength of DRY; 0 is off.",
  dry_base: "At least 1. Default 1.75.",
  dry_allowed_length: "Length of a repetition that is not penalised. Default 2.",
  dry_last_n: "Number of last tokens that DRY reads; -1 is all.",
  dry_sequence_breakers: "Texts at which a repetition ends.",
  allowed_token_ids: "The only tokens that may be drawn.",
  bad_words: "Texts that the answer must not have.",
  min_tokens: "Number of tokens before which the answer cannot end by itself.",
  logprobs_mode: "Which log-probabilities are reported: raw_logprobs, unmasked_logprobs, …",
  logprob_token_ids: "Tokens whose log-probabilities are reported too.",
  stop: "Texts that end the answer and are not part of it.",
  stop_regex: "Regular expressions whose first match ends the answer.",
  stop_when: '"structure": the answer ends with the constraint.',
  stop_token_ids: "Tokens that end the answer.",
  include_stop_str_in_output: "Whether the stop text is part of the answer.",
  ignore_eos: "Whether the model's end tokens are not drawn.",
  repetition_detection: "Ends the answer when a pattern of tokens repeats.",
  logit_bias: "Values that are added to logits, by token id: from -100 to 100.",
  seed: "An integer of 64 bits, or its decimal digits. The same seed gives the same answer.",
  n: "Number of answers.",
  use_beam_search: "Whether the answers are searched instead of drawn.",
  beam_width: "Number of beams. Default n.",
  length_penalty: "Exponent of the length in a beam's score. Default 1.",
  early_stopping: "Whether a beam search ends with its first n answers.",
  stream_granularity: '"token" or "word": the pieces of a stream.',
  verify: "How the answer is checked against the constraint once more.",
  stream: "Whether the reply is a stream of server-sent events.",
  stream_options: "`include_usage`: the last chunk has the usage. Only with `stream`.",
} as const

/** A JSON Schema, as a value or as its text. */
const jsonSchema = z
  .union([z.record(string, z.unknown()), z.boolean(), string])
  .describe("A JSON Schema, or its text.")

const wrapped = z.strictObject({
  name: string.optional(),
  description: string.nullish(),
  schema: jsonSchema,
  strict: z.boolean().nullish().describe("Whether objects allow only the properties that they declare."),
})

const formats = [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object"), schema: jsonSchema.nullish() }),
  z.strictObject({ type: z.literal("grammar"), grammar: string.describe("In GBNF or Lark.") }),
  z.strictObject({ type: z.literal("regex"), pattern: string.optional(), regex: string.optional() }),
  z
    .looseObject({ type: z.literal("structural_tag") })
    .describe("As XGrammar and vLLM write it; see docs/structural-tags.md."),
] as const

export const responseFormat = named(
  "ResponseFormat",
  "What the answer must be. It is enforced exactly, or the request is refused.",
  z.union([
    z.strictObject({ type: z.literal("json_schema"), json_schema: wrapped }),
    wrapped.extend({ type: z.literal("json_schema") }),
    ...formats,
  ]),
)

export const textFormat = named(
  "TextFormat",
  "What the text must be. It is enforced exactly, or the request is refused.",
  z.union([wrapped.extend({ type: z.literal("json_schema") }), ...formats]),
)

const policies = named(
  "Policies",
  "How constrained text may be spelt, and what the reply says about it.",
  withTexts(policyFields, {
    order: "Order of properties.",
    escapes: "Which escapes strings may have.",
    numbers: "Spellings of numbers.",
    formats: "Spellings of `format`.",
    open_objects: "Which properties objects may have that do not say it.",
    whitespace: "White space between the tokens of JSON.",
    additional: "Only `schema` is supported.",
    on_length: "What happens at the end of the budget: the answer is cut, or completed.",
    schema_in_prompt: "Whether the schema is added to the prompt.",
    prefill: "Only `outside` is supported.",
    lenient: "Only false is supported.",
    report: "Whether the reply says how each keyword is enforced.",
    timing: "Whether the usage has times.",
    fields: "Whether the reply says which values of a JSON answer open, grow and close.",
    confidence: "Whether closed values say how sure the model was.",
    trace: "Whether the reply says how each token came about; a number is the length of its lists.",
    first_tokens: "Ids of the tokens with which the answer begins.",
    stream_granularity: "The pieces of a stream.",
    draft_tokens: "Number of tokens that are proposed at once.",
    tools_in_prompt: "Whether the tools are added to the prompt.",
    reason: "Free text up to a mark comes before the constrained text.",
  }),
)

/** Fields that constrain the text, for every endpoint: at most one kind in one request. */
export const constraints = {
  structured_outputs: z
    .strictObject({
      json: jsonSchema.nullish(),
      regex: string.nullish().describe("A regular expression of ECMAScript."),
      choice: z.array(string).min(1).nullish().describe("The texts that the answer may be."),
      grammar: string.nullish().describe("A grammar in GBNF or Lark."),
      json_object: z.boolean().nullish(),
      structural_tag: z.union([z.record(string, z.unknown()), string]).nullish(),
      ...policyFields.shape,
      ...vllmFlags.shape,
    })
    .nullish()
    .describe("Exactly one constraint, as in vLLM, and policies."),
  tokenrail: policies.nullish(),
  guided_json: jsonSchema.nullish().describe("The same as structured_outputs.json."),
  guided_regex: string.nullish().describe("The same as structured_outputs.regex."),
  guided_choice: z.array(string).nullish().describe("The same as structured_outputs.choice."),
  guided_grammar: string.nullish().describe("The same as structured_outputs.grammar."),
  guided_json_object: z.boolean().nullish().describe("The same as structured_outputs.json_object."),
  guided_whitespace_pattern: string.nullish().describe("Use tokenrail.whitespace."),
  json_schema: jsonSchema.nullish().describe("llama.cpp's and SGLang's name of a schema."),
  grammar: string.nullish().describe("llama.cpp's name of a grammar."),
  regex: string.nullish().describe("SGLang's name of a regular expression."),
  ebnf: string.nullish().describe("SGLang's name of a grammar."),
  structural_tag: z
    .union([z.record(string, z.unknown()), string])
    .nullish()
    .describe("SGLang's name of a structural tag."),
}

/** Fields that are accepted without effect, because no server promises one. */
export const inert = {
  metadata: z.record(string, z.unknown()).nullish().describe("No effect."),
  user: string.nullish().describe("No effect."),
}

const parameters = z
  .record(string, z.unknown())
  .nullish()
  .describe("The JSON Schema of the arguments, which calls follow exactly.")

/** A function as all APIs but Anthropic's describe it. */
const functionFields = {
  name: string,
  description: string.nullish(),
  parameters,
  strict: z.boolean().nullish(),
}

const grammarFormat = z.union([
  z.looseObject({ type: z.literal("text") }),
  z.looseObject({ type: z.literal("grammar") }).describe("`syntax` (lark or regex) and `definition`."),
])

const customFields = { name: string, description: string.nullish(), format: grammarFormat.nullish() }

const functionTool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject(functionFields),
})

export const chatTool = named(
  "Tool",
  "A tool that the model may call. A tool that a service would run itself is left out.",
  z.union([
    functionTool,
    z.looseObject({ type: z.literal("custom"), custom: z.looseObject(customFields) }),
    z.looseObject({ type: string }),
  ]),
)

export const flatTool = named(
  "FlatTool",
  "A tool of a response. A tool that a service would run itself is left out.",
  z.union([
    z.looseObject({ type: z.literal("function"), ...functionFields }),
    z.looseObject({ type: z.literal("custom"), ...customFields }),
    z.looseObject({ type: string }),
  ]),
)

export const toolChoice = z
  .union([z.enum(["none", "auto", "required", "any"]), z.looseObject({ type: string })])
  .nullish()
  .describe("Whether, and which, tools are called. A required call is enforced by the grammar.")

/** The prompt of the examples. */
export const question = [{ role: "user", content: "Is water wet?" }]

/** A schema that the examples use. */
export const wetSchema = {
  type: "object",
  properties: { wet: { type: "boolean" } },
  required: ["wet"],
}
