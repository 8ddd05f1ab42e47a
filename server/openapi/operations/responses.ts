/** The description of /v1/responses and the paths below it. */
import { z } from "zod"
import { countFields, responseFields } from "../../openai/responses/fields.ts"
import { constraints, flatTool, generationTexts, textFormat, toolChoice, wetSchema } from "../generation.ts"
import { jsonReply, named, type Operation, ofAnswer, ofBody, streamedReply, withTexts } from "../operation.ts"
import {
  fieldEvent,
  fields,
  int,
  logprobRow,
  never,
  notes,
  pageOf,
  pages,
  seconds,
  stopReason,
  text,
  times,
} from "../replies.ts"

const inputPart = z.union([
  z.object({ type: z.literal("input_text"), text }),
  z.looseObject({ type: z.literal("output_text"), text }),
  z.object({ type: z.literal("refusal"), refusal: text }),
])
const content = z.union([text, z.array(inputPart)])
const sentItem = { id: text.nullish(), status: text.nullish() }
const call = { call_id: text, name: text, namespace: text.nullish() }

const inputItem = named(
  "InputItem",
  "A message, a call, the result of a call, thoughts, or a reference to a stored item. Items of tools that a service runs are left out.",
  z.union([
    z.looseObject({
      type: z.literal("message").optional(),
      ...sentItem,
      role: z.enum(["system", "developer", "user", "assistant"]),
      content,
    }),
    z.looseObject({ type: z.literal("function_call"), ...sentItem, ...call, arguments: text }),
    z.looseObject({ type: z.literal("custom_tool_call"), ...sentItem, ...call, input: text }),
    z.looseObject({
      type: z.enum(["function_call_output", "custom_tool_call_output"]),
      ...sentItem,
      call_id: text,
      output: content,
    }),
    z.looseObject({ type: z.literal("reasoning"), ...sentItem }),
    z.looseObject({ type: z.literal("item_reference").nullish(), id: text }),
    z
      .looseObject({ type: text })
      .describe("additional_tools, configuration_update, and items without effect."),
  ]),
)

const promptTexts = {
  instructions: "A system message before the input.",
  previous_response_id: "The response that this one continues.",
  reasoning: "`effort` is passed to the chat template; none is a grammar without thoughts.",
  truncation: "No effect: a prompt above the context is refused.",
  parallel_tool_calls: "Whether one turn may have several calls. Default true.",
  max_tool_calls: "Maximum calls of one turn.",
  thinking_token_budget: "Maximum tokens of the thoughts; then their end is forced.",
  chat_template_kwargs: "Variables for the chat template.",
}

const ownFields = {
  input: z.union([text, z.array(inputItem).min(1)]).describe("A text of the user, or items."),
  text: z.looseObject({ format: textFormat.nullish() }).nullish().describe("The form of the answer."),
  tools: z.array(flatTool).nullish().describe("Tools that the model may call."),
  tool_choice: toolChoice,
  ...constraints,
}

const { n: _, ...generation } = generationTexts

const request = named(
  "ResponseRequest",
  "A conversation, and how it is answered.",
  withTexts(responseFields, {
    ...generation,
    ...promptTexts,
    max_output_tokens: "Maximum tokens of the answer, thoughts included.",
    top_logprobs: "Number of alternatives for each token.",
    include: "`message.output_text.logprobs` asks for log-probabilities; other values have no effect.",
    store: "Whether the response can be retrieved later. Default true.",
    user: "Repeated in the reply.",
    safety_identifier: "Repeated in the reply.",
    prompt_cache_key: "Repeated in the reply.",
  }).extend({
    ...ownFields,
    metadata: z.record(text, text).nullish().describe("Repeated in the reply."),
  }),
)

const countRequest = named(
  "ResponseCountRequest",
  "The fields of a response that determine its prompt.",
  withTexts(countFields, { ...promptTexts, model: generationTexts.model }).extend(ownFields),
)

const status = z.enum(["in_progress", "completed", "incomplete"])
const outputText = z.object({
  type: z.literal("output_text"),
  text,
  annotations: z.array(z.unknown()).max(0),
  logprobs: z.array(logprobRow),
})
const reasoningText = z.object({ type: z.literal("reasoning_text"), text })
const phase = z.enum(["commentary", "final_answer"]).optional()
const callItem = { id: text, status, call_id: text, name: text, namespace: text.optional() }

const outputItem = named(
  "OutputItem",
  "An item of a response, in the order in which the model wrote them.",
  z.discriminatedUnion("type", [
    z.object({
      type: z.literal("message"),
      id: text,
      status,
      role: z.literal("assistant"),
      content: z.array(outputText),
      phase,
    }),
    z.object({
      type: z.literal("reasoning"),
      id: text,
      status,
      summary: z.array(z.unknown()).max(0),
      content: z.array(reasoningText),
    }),
    z.object({ type: z.literal("function_call"), ...callItem, arguments: text }),
    z.object({ type: z.literal("custom_tool_call"), ...callItem, input: text }),
  ]),
)

const usage = z.object({
  input_tokens: int,
  input_tokens_details: z.object({ cached_tokens: int, cache_write_tokens: int }),
  output_tokens: int,
  output_tokens_details: z.object({ reasoning_tokens: int }),
  total_tokens: int,
  tokenrail: times,
})

const response = named(
  "Response",
  "A response, and the parameters of its request.",
  z.object({
    id: text,
    object: z.literal("response"),
    created_at: seconds,
    completed_at: seconds.nullable(),
    status: z.enum(["in_progress", "completed", "incomplete", "failed", "cancelled"]),
    model: text,
    output: z.array(outputItem),
    error: z.object({ code: text, message: text }).nullable(),
    incomplete_details: z.object({ reason: z.literal("max_output_tokens") }).nullable(),
    usage: usage.nullable(),
    instructions: text.nullable(),
    max_output_tokens: int.nullable(),
    max_tool_calls: int.nullable(),
    metadata: z.record(text, text),
    parallel_tool_calls: z.boolean(),
    previous_response_id: text.nullable(),
    prompt_cache_key: text.nullable(),
    reasoning: z.object({ effort: text.nullable(), summary: text.nullable() }),
    safety_identifier: text.nullable(),
    service_tier: z.literal("default"),
    store: z.boolean(),
    temperature: z.number(),
    text: z.looseObject({ format: z.looseObject({ type: text }) }),
    tool_choice: z.union([text, z.looseObject({ type: text })]),
    tools: z.array(z.looseObject({ type: text })),
    top_logprobs: int,
    top_p: z.number(),
    truncation: z.enum(["auto", "disabled"]),
    user: text.optional(),
    access_programs: never,
    background: z.literal(false),
    tokenrail: z.object({ ...notes, stop_reason: stopReason.optional(), fields }),
  }),
)

/** Returns the schema of a stream event. */
function event<Type extends string>(type: Type, shape: z.ZodRawShape): z.ZodObject {
  return z.object({ type: z.literal(type), sequence_number: int, ...shape })
}

const inItem = { item_id: text, output_index: int }
const inPart = { ...inItem, content_index: int }
const noted = { tokenrail: z.object({ fields: z.array(fieldEvent) }).optional() }

const responseEvent = named(
  "ResponseEvent",
  "One event of a stream. Its name is its `type`.",
  z.union([
    ...(["created", "in_progress", "completed", "incomplete", "failed"] as const).map((type) =>
      event(`response.${type}`, { response }),
    ),
    event("response.output_item.added", { output_index: int, item: outputItem }),
    event("response.output_item.done", { output_index: int, item: outputItem }),
    event("response.content_part.added", { ...inPart, part: outputText }),
    event("response.content_part.done", { ...inPart, part: outputText }),
    event("response.output_text.delta", { ...inPart, delta: text, logprobs: z.array(logprobRow), ...noted }),
    event("response.output_text.done", { ...inPart, text, logprobs: z.array(logprobRow), ...noted }),
    event("response.reasoning_text.delta", { ...inPart, delta: text, ...noted }),
    event("response.reasoning_text.done", { ...inPart, text }),
    event("response.function_call_arguments.delta", { ...inItem, delta: text, ...noted }),
    event("response.function_call_arguments.done", { ...inItem, name: text, arguments: text }),
    event("response.custom_tool_call_input.delta", { ...inItem, delta: text, ...noted }),
    event("response.custom_tool_call_input.done", { ...inItem, input: text }),
    event("error", { code: text, message: text, param: text.nullable() }),
  ]),
)

const listedItem = z.looseObject({ type: text, id: text, status: text })

const weather = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { enum: ["Bern", "Oslo"] } }, required: ["city"] },
}
const format = { type: "json_schema", name: "answer", schema: wetSchema }

const examples = {
  schema: {
    summary: "JSON that a schema accepts",
    value: { input: "Is water wet?", text: { format }, max_output_tokens: 50 },
  },
  tool: {
    summary: "A call of a tool",
    value: {
      input: "How is the weather in Oslo?",
      tools: [weather],
      tool_choice: "required",
      max_output_tokens: 60,
    },
  },
  stream: {
    summary: "A stream",
    value: {
      input: [{ role: "user", content: [{ type: "input_text", text: "Is water wet?" }] }],
      text: { format },
      include: ["message.output_text.logprobs"],
      tokenrail: { fields: true, timing: true },
      max_output_tokens: 50,
      stream: true,
    },
  },
  toolStream: {
    summary: "A call of a tool as a stream",
    value: { input: "Oslo?", tools: [weather], tool_choice: "required", max_output_tokens: 60, stream: true },
  },
  hosted: {
    summary: "A service that this server does not have",
    value: { input: "Is water wet?", background: true },
    status: 400,
  },
}

const id = { description: "Id of the response.", schema: text }

export const responseOperations = {
  createResponse: {
    tag: "Responses",
    summary: "Answers a conversation",
    body: { schema: request, examples },
    reply: streamedReply("The response.", response, responseEvent),
    refusals: ofAnswer,
  },
  countResponseTokens: {
    tag: "Responses",
    summary: "Counts the tokens of a prompt",
    body: {
      schema: countRequest,
      examples: { text: { summary: "A text", value: { input: "Is water wet?" } } },
    },
    reply: jsonReply(
      "The count.",
      z.object({ object: z.literal("response.input_tokens"), input_tokens: int }),
    ),
    refusals: ofBody,
  },
  getResponse: {
    tag: "Responses",
    summary: "Returns a response",
    id,
    reply: jsonReply("The response, or, while it is running, what it has so far.", response),
    refusals: [400, 404],
  },
  deleteResponse: {
    tag: "Responses",
    summary: "Deletes a response",
    id,
    reply: jsonReply(
      "It is deleted.",
      z.object({ id: text, object: z.literal("response"), deleted: z.literal(true) }),
    ),
    refusals: [404],
  },
  cancelResponse: {
    tag: "Responses",
    summary: "Ends a running response",
    id,
    reply: jsonReply("The response, which is `cancelled`.", response),
    refusals: [400, 404],
  },
  listResponseInput: {
    tag: "Responses",
    summary: "Returns the input of a response",
    id,
    query: pages(100),
    reply: jsonReply("A page of items.", pageOf(listedItem)),
    refusals: [400, 404],
  },
} satisfies Record<string, Operation>
