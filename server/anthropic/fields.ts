/**
 * The fields of `POST /v1/messages` and `/v1/messages/count_tokens`: from a JSON object to a
 * checked request.
 *
 * Both endpoints take the same fields, since a client counts the tokens of the request that it is
 * about to send. The parts shared with other endpoints are in ../openai/request/fields.ts: sampling
 * and stop fields, also under our own names, and the handling of unknown keys.
 */
import { z } from "zod"
import type { GenerateOptions, Message } from "../../runtime/index.ts"
import { missing } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import {
  type GenerationRequest,
  generationFields,
  generationRequest,
  readFields,
} from "../openai/request/fields.ts"
import type { RefusedKeys } from "../openai/request/keys.ts"
import { type LeftOut, serversLeftOut } from "../openai/request/leftout.ts"
import { checkTemplateKwargs } from "../openai/request/templatekwargs.ts"
import { readConversation, refusePrefill } from "./conversation.ts"
import { outputConfig, readThinking, thinking } from "./thinking.ts"
import { readTools } from "./tools.ts"

export interface MessagesRequest extends GenerationRequest {
  messages: Message[]
  /** Texts that end the answer. */
  stopSequences: readonly string[]
  /** Whether the reply shows the thoughts, or only that there were some. */
  showsThinking: boolean
}

const unread = z.unknown().optional()

/** The fields of a request. */
export const messagesFields = z.object({
  ...generationFields,
  max_tokens: z.int().min(1).nullish(),
  // Read by conversation.ts and tools.ts.
  messages: z.array(z.unknown()).min(1),
  system: unread,
  tools: unread,
  tool_choice: unread,
  thinking: thinking.nullish(),
  output_config: outputConfig.nullish(),
  // Read by constraint.ts.
  output_format: unread,
  stop_sequences: z.array(z.string().min(1)).nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  // Names from chat that ask for the only possible value here.
  n: z.literal(1, { error: "is always 1 here" }).nullish(),
  stop: z.null({ error: "is named stop_sequences here" }).optional(),
  stream_options: z.null({ error: "is not needed here: usage is always reported" }).optional(),
  // Accepted without effect, because Anthropic promises none.
  ...{ cache_control: unread, diagnostics: unread, inference_geo: unread, speed: unread },
  mcp_servers: unread,
  ...{ user_profile_id: unread, workspace_id: unread, betas: unread },
})

/** Fields that ask for services, and fields that have another name here. */
const refused: RefusedKeys = {
  response_format: [[], "Send output_config.format"],
  parallel_tool_calls: [[true], "Send tool_choice.disable_parallel_tool_use"],
  container: [[], "No code is run here: leave it out"],
  thread: [[], "Send the whole conversation without it"],
}

/**
 * Returns the checked request. Throws `Refusal`. The cost is linear in the sizes that the bounds
 * allow.
 */
export function parseMessages(body: RequestBody): MessagesRequest {
  const request = parse(body)
  if (request.options.maxTokens === undefined) throw missing("max_tokens")
  refusePrefill(request.messages)
  return request
}

/** Returns the checked request for a token count. Throws `Refusal`. */
export function parseCount(body: RequestBody): MessagesRequest {
  return parse(body)
}

function parse(body: RequestBody): MessagesRequest {
  const read = readFields(body, messagesFields, refused)
  const { fields } = read
  // zod omits a key named `__proto__`, so the original object is checked.
  checkTemplateKwargs(body.value.chat_template_kwargs ?? {})
  const { options, variables, showsThinking } = readThinking(
    fields.thinking,
    fields.output_config?.effort ?? null,
    fields.max_tokens ?? null,
  )
  const leftOut: LeftOut[] = []
  if (Array.isArray(fields.mcp_servers) && fields.mcp_servers.length > 0) {
    leftOut.push(serversLeftOut)
  }
  const own = {
    maxTokens: fields.max_tokens,
    stop: fields.stop_sequences,
    ...readTools(body, leftOut),
    ...options,
    templateOptions: templateOptions({ ...variables, ...fields.chat_template_kwargs }),
  }
  const messages = readConversation(body, leftOut)
  const stopSequences = fields.stop_sequences ?? []
  return { ...generationRequest(body, read, own, leftOut), messages, stopSequences, showsThinking }
}

function templateOptions(variables: Record<string, unknown>): GenerateOptions["templateOptions"] | null {
  return Object.keys(variables).length > 0 ? { variables } : null
}
