/**
 * The fields of `POST /v1/responses` and `/v1/responses/input_tokens`: from a JSON object to a
 * checked request.
 *
 * The fields shared with the other endpoints are in ../request/fields.ts; items.ts reads items, and
 * tools.ts reads tools. The request consists of JSON values, so that it can be read in a thread;
 * references are looked up afterwards.
 */
import { z } from "zod"
import type { GenerateOptions, TurnOptions } from "../../../runtime/index.ts"
import { invalid, unsupported } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import type { EndpointWords } from "../../overflow.ts"
import { efforts } from "../chat/schema.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import { type ConstraintRequest, readConstraint } from "../request/constraint.ts"
import {
  count,
  flag,
  type GenerationRequest,
  generationFields,
  generationRequest,
  readFields,
} from "../request/fields.ts"
import type { RefusedKeys } from "../request/keys.ts"
import type { LeftOut } from "../request/leftout.ts"
import { refuseHalfPairs } from "../request/surrogates.ts"
import { checkTemplateKwargs, templateOptionsOf } from "../request/templatekwargs.ts"
import { isFields } from "../request/wire.ts"
import type { Asked } from "./conversation.ts"
import { readInput } from "./items.ts"
import { readFlatChoice } from "./toolchoice.ts"
import { echoedTools, type FlatTools, readFlatTools } from "./tools.ts"

export const words: EndpointWords = { api: "openai", prompt: "input", maxTokens: "max_output_tokens" }

export interface ResponsesRequest extends GenerationRequest, Asked {
  /** Number of alternatives in each row, or null for a reply without log-probabilities. */
  topLogprobs: number | null
  tools: FlatTools
  /** Whether the response is stored for later requests. */
  stores: boolean
  /** Fields of the request that the reply repeats. */
  echo: Readonly<Record<string, unknown>>
}

/** A request for a count of its tokens. */
interface CountRequest extends Asked {
  model: string | null
  tools: FlatTools
  options: GenerateOptions
  ignored: string[]
}

/** Fields with another name here, and fields without support. */
const refused: RefusedKeys = {
  response_format: [[], "Use text.format"],
  messages: [[], "Send them as input"],
  background: [[false], "Leave it out: the reply is sent when the response is complete"],
  conversation: [[], "Use previous_response_id, or send its items as input"],
  prompt: [[], "Send its text as instructions and input"],
  max_tokens: [[], "Use max_output_tokens"],
  max_completion_tokens: [[], "Use max_output_tokens"],
  reasoning_effort: [[], "Use reasoning.effort"],
  logprobs: [[false], 'Use include: ["message.output_text.logprobs"], and top_logprobs'],
  n: [[1], "Send a request for each answer"],
}

/** Fields that determine the prompt. */
const promptFields = {
  // Read by items.ts.
  input: z.unknown().optional(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  reasoning: z.looseObject({ effort: z.enum(efforts).nullish(), summary: z.string().nullish() }).nullish(),
  // Its format is read by constraint.ts.
  text: z.looseObject({}).nullish(),
  truncation: z.enum(["auto", "disabled"]).nullish(),
  // Read by tools.ts and toolchoice.ts.
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: flag,
  max_tool_calls: count,
  thinking_token_budget: z.int().min(0).nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
}

const { n: _, ...shared } = generationFields
/** The fields of a request. */
export const responseFields = z.object({
  ...shared,
  ...promptFields,
  max_output_tokens: count,
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: z.array(z.string()).nullish(),
  store: flag,
  // Repeated in the reply.
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
})

/** The fields of a request for a count. */
export const countFields = z.object({ ...promptFields, model: z.string().min(1).nullish() })

type PromptFields = z.infer<z.ZodObject<typeof promptFields>>

/** Returns the checked request, its constraint and its policies. Throws `Refusal`. */
export function parseResponse(body: RequestBody): { response: ResponsesRequest } & ConstraintRequest {
  const read = readFields(body, responseFields, refused)
  const { fields } = read
  const metadata = readMetadata(body.value.metadata)
  const topLogprobs = readLogprobs(fields)
  const leftOut: LeftOut[] = []
  const { asked, tools, options } = readPrompt(body, fields, leftOut)
  const request = generationRequest(
    body,
    { ...read, fields: { ...fields, n: null } },
    {
      ...options,
      maxTokens: fields.max_output_tokens,
      logprobs: topLogprobs,
    },
    leftOut,
  )
  const response = {
    ...request,
    ...asked,
    topLogprobs,
    tools,
    stores: fields.store ?? true,
    echo: echoOf(body, fields, metadata),
  }
  return { response, ...readConstraint(body, formatPath) }
}

/** Returns the checked request for a count. Throws `Refusal`. */
export function parseCountResponse(body: RequestBody): CountRequest {
  const { fields, ignored } = readFields(body, countFields, refused)
  const { generate } = readConstraint(body, formatPath).policies
  const { asked, tools, options } = readPrompt(body, fields, [])
  const { toolsInPrompt = null } = generate
  return { ...asked, model: fields.model ?? null, tools, options: { ...options, toolsInPrompt }, ignored }
}

const formatPath = ["text", "format"]

function readPrompt(
  body: RequestBody,
  fields: PromptFields,
  leftOut: LeftOut[],
): { asked: Asked; tools: FlatTools; options: TurnOptions & Pick<GenerateOptions, "templateOptions"> } {
  // zod omits a key named `__proto__`, so the original object is checked.
  checkTemplateKwargs(body.value.chat_template_kwargs ?? {})
  const tools = readFlatTools(body, leftOut)
  return {
    asked: {
      input: readInput(body.value.input, leftOut),
      instructions: fields.instructions ?? null,
      previousResponseId: fields.previous_response_id ?? null,
    },
    tools,
    options: {
      tools: tools.nested.length > 0 ? tools.nested : null,
      toolChoice: readFlatChoice(body.value.tool_choice, tools, leftOut),
      parallelToolCalls: fields.parallel_tool_calls ?? null,
      maxToolCalls: fields.max_tool_calls ?? null,
      reasoningEffort: updatedEffort(body) ?? fields.reasoning?.effort ?? null,
      thinkingTokenBudget: fields.thinking_token_budget ?? null,
      ...templateOptionsOf(fields.chat_template_kwargs),
    },
  }
}

const configurationUpdate = z.looseObject({
  reasoning: z.object({ effort: z.enum(efforts).nullish() }).nullish(),
})

/**
 * Returns the effort of the last `configuration_update` among the items, or null if there is none.
 * Throws `Refusal`.
 */
function updatedEffort({ value: { input } }: RequestBody): string | null {
  if (!Array.isArray(input)) return null
  let effort: string | null = null
  for (const [i, item] of input.entries()) {
    if (!isFields(item) || item.type !== "configuration_update") continue
    const at = `input[${i}]`
    if (item.text !== undefined && item.text !== null) {
      throw unsupported(
        `${at}.text`,
        ": the format of an answer is a field of the request here",
        "Send text.format",
      )
    }
    const { success, data } = configurationUpdate.safeParse(item)
    const param = `${at}.reasoning.effort`
    if (!success) throw invalid(param, `is not ${efforts.join(", ")}`)
    effort = data.reasoning?.effort ?? effort
  }
  return effort
}

/**
 * Returns the number of alternatives, or null without log-probabilities. `include` asks for
 * log-probabilities, and so does a number of alternatives alone.
 */
function readLogprobs({
  include,
  top_logprobs: top,
  logprob_token_ids: ids,
}: z.infer<typeof responseFields>): number | null {
  const isAsked = include?.includes("message.output_text.logprobs") || (top ?? 0) > 0
  if (isAsked) return top ?? 0
  if (ids?.length) {
    const param = "logprob_token_ids"
    throw invalid(param, `needs include: ["message.output_text.logprobs"]`)
  }
  return null
}

/** Returns the metadata: named texts, within OpenAI's bounds. Throws `Refusal`. */
export function readMetadata(metadata: unknown): object {
  if (metadata === undefined || metadata === null) return {}
  if (!isFields(metadata)) throw invalid("metadata", "must be an object")
  const pairs = Object.entries(metadata)
  checkBound(wholeBounds.metadata, pairs.length)
  for (const [key, value] of pairs) {
    checkBound(wholeBounds.metadataUnits, key.length)
    const param = `metadata.${key}`
    if (typeof value !== "string") throw invalid(param, "must be a string")
    checkBound(wholeBounds.metadataUnits, value.length, param)
  }
  refuseHalfPairs(metadata, "metadata")
  return metadata
}

function echoOf(
  { value }: RequestBody,
  fields: z.infer<typeof responseFields>,
  metadata: object,
): Record<string, unknown> {
  const { effort = null, summary = null } = fields.reasoning ?? {}
  return {
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    metadata,
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: fields.previous_response_id ?? null,
    prompt_cache_key: fields.prompt_cache_key ?? null,
    reasoning: { effort, summary },
    safety_identifier: fields.safety_identifier ?? null,
    service_tier: "default",
    store: fields.store ?? true,
    temperature: fields.temperature ?? 1,
    text: echoedText(fields.text ?? {}),
    tool_choice: value.tool_choice ?? "auto",
    tools: echoedTools(value.tools),
    top_logprobs: fields.top_logprobs ?? 0,
    top_p: fields.top_p ?? 1,
    truncation: fields.truncation ?? "disabled",
    user: fields.user ?? undefined,
    access_programs: null,
    background: false,
  }
}

function echoedText({ format, ...rest }: Record<string, unknown>): object {
  return { format: format ?? { type: "text" }, ...rest }
}
