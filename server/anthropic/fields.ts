/**
 * The fields of `POST /v1/messages` and `/v1/messages/count_tokens`: from a JSON object to a
 * checked request.
 *
 * The two have one shape, since a client counts the tokens of what it is about to send. What they
 * share with the other endpoints is in ../openai/request/fields.ts: sampling and stops by our names
 * too, and what becomes of an unknown key.
 */
import { z } from "zod"
import type { GenerateOptions, Message } from "../../runtime/index.ts"
import { Refusal } from "../errors.ts"
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
  /** Texts of which one may end the answer. */
  stopSequences: readonly string[]
  /** Whether the reply shows the thoughts, or only that there were some. */
  showsThinking: boolean
}

const unread = z.unknown().optional()

const messagesFields = z.object({
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
  // Names of chat, which ask for what is here already, or cannot be here.
  n: z.literal(1, { error: "is always 1 here" }).nullish(),
  stop: z.null({ error: "is named stop_sequences here" }).optional(),
  stream_options: z.null({ error: "has no place here, usage is told in any case" }).optional(),
  // Accepted, and no effect is promised.
  ...{ cache_control: unread, diagnostics: unread, inference_geo: unread, speed: unread },
  mcp_servers: unread,
  ...{ user_profile_id: unread, workspace_id: unread, betas: unread },
})

/** What asks for services, and what has another name here. */
const refused: RefusedKeys = {
  response_format: [[], "Send output_config.format"],
  parallel_tool_calls: [[true], "Send tool_choice.disable_parallel_tool_use"],
  container: [[], "No code is run here: leave it out"],
  thread: [[], "Send the whole conversation without it"],
}

/** The checked request. Throws `Refusal`. The cost is linear in what the bounds let through. */
export function parseMessages(body: RequestBody): MessagesRequest {
  const request = parse(body)
  if (request.options.maxTokens === undefined) {
    throw new Refusal("missing_required_parameter", "max_tokens is missing", { param: "max_tokens" })
  }
  refusePrefill(request.messages)
  return request
}

/** The checked request for a count of tokens. Throws `Refusal`. */
export function parseCount(body: RequestBody): MessagesRequest {
  return parse(body)
}

function parse(body: RequestBody): MessagesRequest {
  const read = readFields(body, messagesFields, refused)
  const { fields } = read
  // zod leaves out a key that is named `__proto__`.
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
