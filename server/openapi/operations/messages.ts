/** The description of /v1/messages and /v1/messages/count_tokens. */
import { z } from "zod"
import { messagesFields } from "../../anthropic/fields.ts"
import { constraints, generationTexts, inert, question, wetSchema } from "../generation.ts"
import { jsonReply, named, type Operation, ofAnswer, ofBody, streamedReply, withTexts } from "../operation.ts"
import { fields, int, messagesError, never, notes, text, times } from "../replies.ts"

const block = z.looseObject({ type: text }).describe("text, tool_use, tool_result or thinking.")
const blocks = z.union([text, z.array(block)])

const tool = z.looseObject({
  type: text.nullish().describe("custom; a tool that a service runs is left out."),
  name: text,
  description: text.nullish(),
  input_schema: z
    .record(text, z.unknown())
    .nullish()
    .describe("The JSON Schema of the arguments, which calls follow exactly."),
})

const format = z.looseObject({ type: z.literal("json_schema"), schema: z.record(text, z.unknown()) })

const texts = {
  ...generationTexts,
  max_tokens: "Maximum tokens of the answer, thoughts included. Required in /v1/messages.",
  stop_sequences: "Texts that end the answer and are not part of it.",
  thinking: "Whether the model thinks before it answers, and for how many tokens.",
  chat_template_kwargs: "Variables for the chat template.",
  n: "Always 1.",
  stop: "Use stop_sequences.",
  stream_options: "Not needed: the usage is always reported.",
  cache_control: "No effect.",
  diagnostics: "No effect.",
  inference_geo: "No effect.",
  speed: "No effect.",
  mcp_servers: "Left out: this server calls no other.",
  user_profile_id: "No effect.",
  workspace_id: "No effect.",
  betas: "No effect.",
}

const described = withTexts(messagesFields, texts).extend({
  messages: z
    .array(z.looseObject({ role: z.enum(["user", "assistant", "system"]), content: blocks }))
    .min(1)
    .describe("The conversation so far. It ends with a message of the user."),
  system: blocks.nullish().describe("The system message."),
  tools: z.array(tool).nullish().describe("Tools that the model may call."),
  tool_choice: z
    .looseObject({ type: z.enum(["auto", "any", "tool", "none"]), name: text.optional() })
    .nullish()
    .describe("Whether, and which, tools are called. A required call is enforced by the grammar."),
  output_config: z
    .looseObject({ effort: text.nullish(), format: format.nullish() })
    .nullish()
    .describe("`format`: the schema of the answer. `effort` is passed to the chat template."),
  output_format: format.nullish().describe("The older name of output_config.format."),
  ...constraints,
  ...inert,
})

const request = named("MessagesRequest", "A conversation, and how it is answered.", described)

const usage = z.object({
  input_tokens: int,
  cache_creation_input_tokens: int,
  cache_read_input_tokens: int,
  output_tokens: int,
  cache_creation: never,
  inference_geo: never,
  server_tool_use: never,
  service_tier: z.literal("standard"),
  speed: never,
  output_tokens_details: z.object({ thinking_tokens: int }),
  tokenrail: times,
})

const contentBlock = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("thinking"), thinking: text, signature: text }),
  z.object({
    type: z.literal("tool_use"),
    id: text,
    caller: z.object({ type: z.literal("direct") }),
    name: text,
    input: z.record(text, z.unknown()),
  }),
])

const noDetails = { container: never, stop_details: never }
const stop = {
  stop_reason: z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use"]).nullable(),
  stop_sequence: text.nullable(),
}
const noted = z.object({ ...notes, fields })

const message = named(
  "Message",
  "An answer, in blocks.",
  z.object({
    id: text,
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: text,
    ...noDetails,
    diagnostics: never,
    content: z.array(contentBlock),
    ...stop,
    usage,
    tokenrail: noted,
  }),
)

const delta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), text }),
  z.object({ type: z.literal("thinking_delta"), thinking: text }),
  z.object({ type: z.literal("signature_delta"), signature: text }),
  z.object({ type: z.literal("input_json_delta"), partial_json: text }),
])

const more = { tokenrail: noted.optional() }

const messageEvent = named(
  "MessageEvent",
  "One event of a stream. Its name is its `type`.",
  z.union([
    z.object({ type: z.literal("message_start"), message }),
    z.object({ type: z.literal("content_block_start"), index: int, content_block: contentBlock, ...more }),
    z.object({ type: z.literal("content_block_delta"), index: int, delta, ...more }),
    z.object({ type: z.literal("content_block_stop"), index: int, ...more }),
    z.object({
      type: z.literal("message_delta"),
      delta: z.object({ ...stop, ...noDetails }),
      usage,
      tokenrail: noted.optional(),
    }),
    z.object({ type: z.literal("message_stop") }),
    z.object({ type: z.literal("ping") }),
    messagesError,
  ]),
)

const weather = {
  name: "weather",
  input_schema: { type: "object", properties: { city: { enum: ["Bern", "Oslo"] } }, required: ["city"] },
}
const output_config = { format: { type: "json_schema", schema: wetSchema } }

const examples = {
  schema: {
    summary: "JSON that a schema accepts",
    value: { messages: question, output_config, max_tokens: 50, tokenrail: { report: true, timing: true } },
  },
  tool: {
    summary: "A call of a tool",
    value: {
      messages: [{ role: "user", content: "How is the weather in Oslo?" }],
      tools: [weather],
      tool_choice: { type: "tool", name: "weather" },
      max_tokens: 60,
    },
  },
  stream: {
    summary: "A stream",
    value: { messages: question, output_config, max_tokens: 50, stream: true, tokenrail: { fields: true } },
  },
  toolStream: {
    summary: "A call of a tool as a stream",
    value: {
      messages: question,
      tools: [weather],
      tool_choice: { type: "any" },
      max_tokens: 60,
      stream: true,
    },
  },
  missing: {
    summary: "A budget is required",
    value: { messages: question },
    status: 400,
  },
}

export const messageOperations = {
  messages: {
    tag: "Messages",
    summary: "Answers a conversation",
    body: { schema: request, examples },
    reply: streamedReply("The answer.", message, messageEvent),
    refusals: ofAnswer,
  },
  countMessageTokens: {
    tag: "Messages",
    summary: "Counts the tokens of a prompt",
    body: {
      schema: request,
      examples: { text: { summary: "A conversation", value: { messages: question } } },
    },
    reply: jsonReply("The count.", z.object({ input_tokens: int })),
    refusals: ofBody,
  },
} satisfies Record<string, Operation>
