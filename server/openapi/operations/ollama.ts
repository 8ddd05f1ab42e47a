/** The description of the paths below /api, which `--ollama` adds. */
import { z } from "zod"
import { chatFields, generateFields } from "../../ollama/fields.ts"
import { optionFields } from "../../ollama/options.ts"
import { chatTool, constraints, generationTexts, question, toolChoice, wetSchema } from "../generation.ts"
import { jsonReply, named, type Operation, ofAnswer, ofBody, withTexts } from "../operation.ts"
import { int, logprobRow, notes, ollamaError, text } from "../replies.ts"

const { repetition_penalty: repeat_penalty, penalty_window: repeat_last_n, ...own } = optionFields.shape

const options = named(
  "OllamaOptions",
  "Sampling, stops and budget. Options that are not listed have no effect.",
  z.looseObject({
    ...own,
    seed: z.int().nullish(),
    num_predict: own.num_predict.describe(
      "Maximum tokens of the answer; 0 and below: the rest of the context.",
    ),
    repeat_penalty: repeat_penalty.describe(generationTexts.repetition_penalty),
    repeat_last_n: repeat_last_n.describe("Number of last tokens that the penalties read."),
  }),
)

const shared = {
  model: generationTexts.model,
  stream: "Whether the reply is a stream of lines. Default true.",
  keep_alive: "No effect: the model stays loaded.",
  think: "Whether the model thinks before it answers, or how much.",
  logprobs: "Whether the reply has log-probabilities.",
  top_logprobs: "Number of alternatives for each token. Only with `logprobs`.",
}

const ownFields = {
  format: z
    .union([z.literal("json"), z.literal(""), z.record(text, z.unknown())])
    .nullish()
    .describe('A JSON Schema, or "json" for any object.'),
  options: options.nullish(),
  ...constraints,
}

const chatMessage = z.looseObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: text.nullish(),
  thinking: text.nullish(),
  tool_calls: z
    .array(z.looseObject({ function: z.looseObject({ name: text, arguments: z.record(text, z.unknown()) }) }))
    .nullish(),
  tool_name: text.nullish(),
})

const chatRequest = named(
  "OllamaChatRequest",
  "A conversation, and how it is answered.",
  withTexts(chatFields, {
    ...shared,
    parallel_tool_calls: "Whether one turn may have several calls.",
  }).extend({
    messages: z
      .array(chatMessage)
      .nullish()
      .describe("The conversation so far; without it the model is loaded."),
    tools: z.array(chatTool).nullish().describe("Functions that the model may call."),
    tool_choice: toolChoice,
    ...ownFields,
  }),
)

const generateRequest = named(
  "OllamaGenerateRequest",
  "A prompt, and how it is answered.",
  withTexts(generateFields, {
    ...shared,
    prompt: "A message of the user; without it the model is loaded.",
    system: "The system message.",
    raw: "Whether the prompt is sent to the model as it is.",
  }).extend(ownFields),
)

const call = z.object({
  id: text,
  function: z.object({ index: int, name: text, arguments: z.record(text, z.unknown()) }),
})
const pieces = { thinking: text.optional(), tool_calls: z.array(call).optional() }

const line = {
  model: text,
  created_at: text,
  logprobs: z.array(logprobRow).optional(),
  done: z.boolean(),
  done_reason: z.enum(["stop", "length", "load"]).optional(),
  total_duration: int.optional().describe("In nanoseconds, as all durations."),
  load_duration: int.optional(),
  prompt_eval_count: int.optional(),
  prompt_eval_duration: int.optional(),
  eval_count: int.optional(),
  eval_duration: int.optional(),
  tokenrail: z.object(notes).optional(),
}

const chatLine = named(
  "OllamaChatLine",
  "A part of an answer, or the whole one. The last line has the reason of the end and the counts.",
  z.object({ ...line, message: z.object({ role: z.literal("assistant"), content: text, ...pieces }) }),
)

const generateLine = named(
  "OllamaGenerateLine",
  "A part of an answer, or the whole one. The last line has the reason of the end and the counts.",
  z.object({ ...line, response: text, ...pieces }),
)

const details = z.object({
  parent_model: text,
  format: text,
  family: text,
  families: z.array(text),
  parameter_size: text,
  quantization_level: text,
})

const listed = {
  name: text,
  model: text,
  modified_at: text,
  size: int,
  digest: text,
  details,
}

const shown = z.object({
  license: text,
  modelfile: text,
  parameters: text,
  template: text,
  details,
  model_info: z.record(text, z.unknown()),
  capabilities: z.array(z.enum(["completion", "tools", "thinking"])),
  modified_at: text,
})

const running = { ...listed, expires_at: text, size_vram: int, context_length: int }

/** A stream of lines, or one value with `stream: false`. */
function lines(schema: z.ZodType): Operation["reply"] {
  return {
    description:
      "The answer. Unless the request says `stream: false`, a stream of lines; the schema is that of one line, and of the last line if the answer fails.",
    content: { "application/x-ndjson": z.union([schema, ollamaError]), "application/json": schema },
  }
}

const short = { num_predict: 40, seed: 1 }
const weather = {
  type: "function",
  function: {
    name: "weather",
    parameters: { type: "object", properties: { city: { enum: ["Bern", "Oslo"] } }, required: ["city"] },
  },
}

const chatExamples = {
  schema: {
    summary: "JSON that a schema accepts",
    value: { messages: question, format: wetSchema, options: short, stream: false },
  },
  stream: {
    summary: "A stream of lines, with log-probabilities",
    value: { messages: question, format: "json", options: short, logprobs: true },
  },
  tool: {
    summary: "A call of a tool",
    value: { messages: question, tools: [weather], tool_choice: "required", stream: false },
  },
  load: { summary: "Loads the model, which is loaded already", value: { messages: [] } },
}

const generateExamples = {
  whole: { summary: "An answer", value: { prompt: "Is water wet?", options: short, stream: false } },
  stream: {
    summary: "A raw prompt as a stream of lines",
    value: { prompt: "Water is", raw: true, options: short },
  },
}

export const ollamaOperations = {
  ollamaChat: {
    tag: "Ollama",
    summary: "Answers a conversation",
    body: { schema: chatRequest, examples: chatExamples },
    reply: lines(chatLine),
    refusals: ofAnswer,
  },
  ollamaGenerate: {
    tag: "Ollama",
    summary: "Answers a prompt",
    body: { schema: generateRequest, examples: generateExamples },
    reply: lines(generateLine),
    refusals: ofAnswer,
  },
  ollamaShow: {
    tag: "Ollama",
    summary: "Describes the model",
    body: {
      schema: z.object({
        model: text.optional().describe(generationTexts.model),
        name: text.optional().describe("The older name of `model`."),
      }),
      examples: { model: { summary: "The loaded model", value: {} } },
    },
    reply: jsonReply("The model.", shown),
    refusals: ofBody,
  },
  ollamaTags: {
    tag: "Ollama",
    summary: "Lists the names of the model",
    reply: jsonReply("The names.", z.object({ models: z.array(z.object(listed)) })),
    refusals: [],
  },
  ollamaPs: {
    tag: "Ollama",
    summary: "Lists the loaded model",
    reply: jsonReply("The names.", z.object({ models: z.array(z.object(running)) })),
    refusals: [],
  },
  ollamaVersion: {
    tag: "Ollama",
    summary: "Returns the version of this server",
    reply: jsonReply("The version.", z.object({ version: text })),
    refusals: [],
  },
} satisfies Record<string, Operation>
