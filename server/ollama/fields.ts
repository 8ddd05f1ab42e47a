/**
 * The fields of Ollama's `POST /api/chat`, `/api/generate` and `/api/show`: from a JSON object to a
 * checked request.
 *
 * Sampling is in `options` (options.ts), the answer's schema in `format` (readBareFormat), and the
 * messages in Ollama's own form (conversation.ts). Unknown keys are handled as on all endpoints.
 */
import { z } from "zod"
import type { GenerateOptions, Message } from "../../runtime/index.ts"
import { invalid, missing } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import {
  flag,
  type GenerationRequest,
  generationFields,
  generationRequest,
  readFields,
} from "../openai/request/fields.ts"
import type { RefusedKeys } from "../openai/request/keys.ts"
import type { LeftOut } from "../openai/request/leftout.ts"
import { readTools } from "../openai/request/tools.ts"
import { isFields } from "../openai/request/wire.ts"
import { readConversation } from "./conversation.ts"
import { readOptions } from "./options.ts"

/** A request of `/api/chat` or `/api/generate`. */
export interface OllamaRequest extends GenerationRequest {
  /** The conversation; a string is a raw prompt. */
  prompt: Message[] | string
  /** Whether the prompt is empty, which only asks that the model be loaded. */
  isLoad: boolean
  /** Number of alternatives in each row, or null for a reply without log-probabilities. */
  topLogprobs: number | null
  /** Whether the request asks the model to think. */
  thinks: boolean
}

const unread = z.unknown().optional()
const { model } = generationFields

const sharedFields = {
  model,
  stream: flag,
  keep_alive: z.union([z.string(), z.number()]).nullish(),
  think: z
    .union([z.boolean(), z.enum(["low", "medium", "high", "max"])], {
      error: 'must be true, false, "low", "medium", "high" or "max"',
    })
    .nullish(),
  logprobs: flag,
  top_logprobs: z.int().min(0).max(20).nullish(),
}

/** The fields of a request of `/api/chat`. */
export const chatFields = z.object({
  ...sharedFields,
  messages: z.array(z.unknown()).nullish(),
  // Read by tools.ts.
  ...{ tools: unread, tool_choice: unread, parallel_tool_calls: flag },
})

/** The fields of a request of `/api/generate`. */
export const generateFields = z.object({
  ...sharedFields,
  prompt: z.string().nullish(),
  system: z.string().nullish(),
  raw: flag,
})

const refused: RefusedKeys = {
  response_format: [[], "Send the schema as format"],
  template: [[""], "The server renders with the model's own template: leave it out"],
  images: [[[]], "The model reads text only: leave them out"],
}

const refusedOfGenerate: RefusedKeys = {
  ...refused,
  suffix: [[""], "Write the prompt with the model's own tokens for a gap, and set raw"],
  context: [[[]], "Send the conversation as messages to /api/chat"],
  tools: [[[]], "Send messages and tools to /api/chat"],
  tool_choice: [["none", "auto"], "Send messages and tools to /api/chat"],
}

/**
 * Returns the checked request of `/api/chat`. Throws `Refusal`. The cost is linear in the sizes
 * that the bounds allow.
 */
export function parseOllamaChat(body: RequestBody): OllamaRequest {
  const { fields, ignored } = readFields(withoutFormat(body), chatFields, refused)
  const leftOut: LeftOut[] = []
  const { toolChoice, ...turn } = readTools(body, leftOut)
  for (const [i, tool] of (turn.tools ?? []).entries()) {
    if (isFields(tool) && tool.type === "function") continue
    throw invalid(`tools[${i}].type`, "must be function", "Describe its arguments by a schema")
  }
  const own = { ...turn, ...(toolChoice !== undefined && { toolChoice }) }
  const prompt = readConversation(body)
  return { ...shared(body, { fields, ignored }, own, leftOut), prompt, isLoad: prompt.length === 0 }
}

/** Returns the checked request of `/api/generate`. Throws `Refusal`. Its cost is as above. */
export function parseGenerate(body: RequestBody): OllamaRequest {
  const { fields, ignored } = readFields(withoutFormat(body), generateFields, refusedOfGenerate)
  const { prompt = "", system = "", raw } = fields
  const isLoad = prompt === null || prompt === ""
  const request = shared(body, { fields, ignored }, raw ? { raw } : {})
  if (raw) {
    if (system) throw invalid("system", "has no place in a raw prompt", "Write it into the prompt")
    if (fields.think) throw invalid("think", "has no place with a raw prompt", "Write it into the prompt")
    return { ...request, prompt: prompt ?? "", isLoad, thinks: false }
  }
  const messages = [
    ...(system ? [{ role: "system", content: system }] : []),
    { role: "user", content: prompt ?? "" },
  ]
  return { ...request, prompt: messages, isLoad }
}

/** Returns the model that a request of `/api/show` names. Throws `Refusal`. */
export function parseShow(body: RequestBody): { model: string } {
  const { model, name } = body.value
  const said = model ?? name
  if (said === undefined || said === null) throw missing("model")
  if (typeof said !== "string") throw invalid("model", "must be a string")
  return { model: said }
}

/** A schema has no bounds but those of its compilation, so it is not checked with other fields. */
function withoutFormat({ value }: RequestBody): Pick<RequestBody, "value" | "text"> {
  const { format: _, options: __, ...rest } = value
  return { value: rest, text: () => null }
}

interface Shared {
  fields: z.infer<z.ZodObject<typeof sharedFields>>
  ignored: string[]
}

/** Returns the parts that both endpoints share. */
function shared(
  body: RequestBody,
  { fields, ignored }: Shared,
  own: Nullable<GenerateOptions>,
  leftOut: readonly LeftOut[] = [],
): Omit<OllamaRequest, "prompt" | "isLoad"> {
  const options = readOptions(body)
  if (fields.top_logprobs && !fields.logprobs) throw invalid("top_logprobs", "needs logprobs: true")
  const topLogprobs = fields.logprobs ? (fields.top_logprobs ?? 0) : null
  const read = {
    fields: { ...options.fields, model: fields.model, stream: fields.stream ?? true },
    seed: options.seed,
    ignored: [...ignored, ...options.ignored],
  }
  const thoughts = thinking(fields.think)
  const more = { maxTokens: options.maxTokens, logprobs: topLogprobs, ...thoughts, ...own }
  return {
    ...generationRequest(body, read, more, leftOut),
    topLogprobs,
    thinks: fields.think !== undefined && fields.think !== null && fields.think !== false,
  }
}

type Nullable<T> = { [K in keyof T]?: T[K] | null | undefined }

/** Returns the options of a turn for `think`; without it the model's template decides. */
function thinking(think: boolean | string | null | undefined): GenerateOptions {
  if (think === true) return { templateOptions: { variables: { enable_thinking: true } } }
  if (think === false) return { reasoningEffort: "none" }
  return think ? { reasoningEffort: think } : {}
}
