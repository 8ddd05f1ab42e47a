/** The description of /v1/chat/completions and /v1/completions. */
import { z } from "zod"
import { chatFields } from "../../openai/chat/schema.ts"
import { completionFields } from "../../openai/completions/completionfields.ts"
import { message } from "../../openai/request/messages.ts"
import {
  chatTool,
  constraints,
  generationTexts,
  inert,
  question,
  responseFormat,
  toolChoice,
  wetSchema,
} from "../generation.ts"
import { named, type Operation, ofAnswer, streamedReply, withTexts } from "../operation.ts"
import {
  errorBody,
  fields,
  int,
  logprobRow,
  never,
  notes,
  seconds,
  stopReason,
  text,
  tokenrail,
  trace,
  usage,
} from "../replies.ts"

export const chatMessage = named("ChatMessage", "A message of a conversation.", message)

const shared = generationTexts

const chatRequest = named(
  "ChatRequest",
  "A conversation, and how it is answered. Fields of other servers are accepted by their names: see docs/peers.md.",
  withTexts(chatFields, {
    ...shared,
    messages: "The conversation so far.",
    max_completion_tokens:
      "Maximum tokens of an answer, thoughts included. Default: the rest of the context.",
    max_tokens: "The older name of max_completion_tokens.",
    prediction: "A text that the answer is likely to repeat. It changes the speed alone.",
    logprobs: "Whether the reply has log-probabilities.",
    top_logprobs: "Number of alternatives for each token. Only with `logprobs`.",
    reasoning_effort: "Passed to the chat template; none is a grammar without thoughts.",
    thinking_token_budget: "Maximum tokens of the thoughts; then their end is forced.",
    include_reasoning: "Whether the reply has the thoughts. Default true.",
    parallel_tool_calls: "Whether one turn may have several calls. Default true.",
    max_tool_calls: "Maximum calls of one turn.",
    chat_template_kwargs: "Variables for the chat template.",
  }).extend({
    messages: z.array(chatMessage).min(1).describe("The conversation so far."),
    response_format: responseFormat.nullish(),
    tools: z.array(chatTool).nullish().describe("Tools that the model may call."),
    tool_choice: toolChoice,
    ...constraints,
    ...inert,
  }),
)

const customCall = { name: text, input: text }
const functionCall = { name: text, arguments: text.describe("A JSON text.") }

const toolCall = named(
  "ToolCall",
  "A call of a tool.",
  z.discriminatedUnion("type", [
    z.object({ id: text, type: z.literal("function"), function: z.object(functionCall) }),
    z.object({ id: text, type: z.literal("custom"), custom: z.object(customCall) }),
  ]),
)

const logprobs = z.object({ content: z.array(logprobRow), refusal: never }).nullable()
const finishReason = z.enum(["stop", "length", "tool_calls"])
const head = {
  id: text,
  created: seconds,
  model: text,
  system_fingerprint: text,
}
const thoughts = {
  reasoning_content: text.optional().describe("Thoughts before the answer."),
  reasoning: text.optional().describe("The same."),
}
const noted = z.object({ fields, trace }).optional()

const chatReply = named(
  "ChatReply",
  "The answers to a conversation.",
  z.object({
    ...head,
    object: z.literal("chat.completion"),
    choices: z.array(
      z.object({
        index: int,
        message: z.object({
          role: z.literal("assistant"),
          content: text.nullable(),
          refusal: never,
          ...thoughts,
          tool_calls: z.array(toolCall).optional(),
        }),
        logprobs,
        finish_reason: finishReason,
        stop_reason: stopReason,
        tokenrail: noted,
      }),
    ),
    usage,
    service_tier: z.literal("default"),
    tokenrail,
  }),
)

const delta = z.object({
  role: z.literal("assistant").optional(),
  content: text.optional(),
  ...thoughts,
  tool_calls: z
    .array(
      z.object({
        index: int,
        id: text.optional(),
        type: z.enum(["function", "custom"]).optional(),
        function: z.object(functionCall).partial().optional(),
        custom: z.object(customCall).partial().optional(),
      }),
    )
    .optional(),
})

const chatChunk = named(
  "ChatChunk",
  "One event of a stream: a part of one answer, or, with `stream_options.include_usage`, the usage. The text `[DONE]` follows the last one.",
  z.union([
    z.object({
      ...head,
      object: z.literal("chat.completion.chunk"),
      choices: z.array(
        z.object({
          index: int,
          delta,
          logprobs,
          finish_reason: finishReason.nullable(),
          stop_reason: stopReason.optional(),
          tokenrail: noted,
        }),
      ),
      usage: usage.nullable().optional(),
      tokenrail: tokenrail.optional(),
    }),
    errorBody,
  ]),
)

const completionRequest = named(
  "CompletionRequest",
  "Raw prompts, and how they are continued.",
  withTexts(completionFields, {
    ...shared,
    max_tokens: "Maximum tokens of an answer. Default 16; 0 only with `echo`.",
    best_of: "Number of answers that are generated; the reply has the best n.",
    echo: "Whether the reply has the prompt before the answer.",
    logprobs: "Number of alternatives for each token; null is none, and no log-probabilities.",
    parse_special: "Whether names of control tokens in the prompt are those tokens. Default true.",
    add_special_tokens: "Whether the tokenizer adds its own control tokens. Default true.",
    prediction: "A text that the answer is likely to repeat. It changes the speed alone.",
  }).extend({
    prompt: z
      .union([text, z.array(text), z.array(int), z.array(z.array(int))])
      .describe("A text, or token ids, or a list of either."),
    response_format: responseFormat.nullish(),
    ...constraints,
    ...inert,
  }),
)

const legacyRows = z
  .object({
    tokens: z.array(text),
    token_logprobs: z.array(z.number().nullable()),
    top_logprobs: z.array(z.record(text, z.number()).nullable()),
    text_offset: z.array(int),
  })
  .nullable()

const completionChoice = { index: int, text, logprobs: legacyRows, tokenrail: noted }
const completionFinish = z.enum(["stop", "length"])
const completionHead = { ...head, object: z.literal("text_completion") }

const completionReply = named(
  "CompletionReply",
  "The continuations of raw prompts.",
  z.object({
    ...completionHead,
    choices: z.array(
      z.object({ ...completionChoice, finish_reason: completionFinish, stop_reason: stopReason }),
    ),
    usage,
    tokenrail,
  }),
)

const completionChunk = named(
  "CompletionChunk",
  "One event of a stream: a part of one continuation, or the usage. The text `[DONE]` follows the last one.",
  z.union([
    z.object({
      ...completionHead,
      choices: z.array(
        z.object({
          ...completionChoice,
          finish_reason: completionFinish.nullable(),
          stop_reason: stopReason.optional(),
        }),
      ),
      usage: usage.nullable().optional(),
      tokenrail: z.object(notes).optional(),
    }),
    errorBody,
  ]),
)

const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { enum: ["Bern", "Oslo"] } }, required: ["city"] },
  },
}

const chatExamples = {
  schema: {
    summary: "JSON that a schema accepts",
    value: {
      messages: question,
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: wetSchema } },
      max_completion_tokens: 50,
    },
  },
  choice: {
    summary: "One of given texts",
    value: { messages: question, structured_outputs: { choice: ["yes", "no"] } },
  },
  regex: {
    summary: "A regular expression, with log-probabilities",
    value: {
      messages: [{ role: "user", content: "Say a date." }],
      structured_outputs: { regex: "\\d{4}-\\d{2}-\\d{2}" },
      logprobs: true,
      top_logprobs: 2,
    },
  },
  tool: {
    summary: "A call of a tool",
    value: {
      messages: [{ role: "user", content: "How is the weather in Oslo?" }],
      tools: [weather],
      tool_choice: "required",
      max_completion_tokens: 60,
    },
  },
  stream: {
    summary: "A stream",
    value: {
      messages: question,
      structured_outputs: { json: wetSchema },
      tokenrail: { fields: true, report: true, timing: true },
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 50,
    },
  },
  refused: {
    summary: "A constraint that nothing satisfies is refused",
    value: { messages: question, structured_outputs: { json: { type: "integer", minimum: 5, maximum: 3 } } },
    status: 400,
  },
}

const completionExamples = {
  whole: {
    summary: "A continuation",
    value: { prompt: "Water is", max_tokens: 8, seed: 1, logprobs: 1, echo: true },
  },
  stream: {
    summary: "Two prompts as a stream",
    value: {
      prompt: ["Water is", "Fire is"],
      max_tokens: 4,
      stream: true,
      stream_options: { include_usage: true },
    },
  },
}

export const chatOperations = {
  chat: {
    tag: "Chat",
    summary: "Answers a conversation",
    body: { schema: chatRequest, examples: chatExamples },
    reply: streamedReply("The answers.", chatReply, chatChunk),
    refusals: ofAnswer,
  },
  completions: {
    tag: "Chat",
    summary: "Continues raw prompts",
    body: { schema: completionRequest, examples: completionExamples },
    reply: streamedReply("The continuations.", completionReply, completionChunk),
    refusals: ofAnswer,
  },
} satisfies Record<string, Operation>
