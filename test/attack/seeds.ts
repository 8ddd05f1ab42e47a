/**
 * Good requests of every route that takes a body: what mutants are made from. Together they use most fields that there are.
 */
import { model } from "./requests.ts"

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Seed {
  readonly path: string
  readonly body: Json
}

const base = { model, messages: [{ role: "user", content: "hi" }], max_tokens: 2 }
const schema: Json = {
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
  type: "object",
  properties: {
    a: { type: "string", pattern: "^a+$", maxLength: 3 },
    b: { type: "integer", minimum: 1, multipleOf: 3 },
    c: {
      type: "array",
      items: { oneOf: [{ enum: [1, "x"] }, { $ref: "#/$defs/node" }] },
      maxItems: 2,
      uniqueItems: true,
    },
    d: { type: "string", format: "date" },
  },
  required: ["a"],
  additionalProperties: false,
}
const chats: Json[] = [
  { ...base, response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } } },
  {
    ...base,
    structured_outputs: { regex: "(a|b)*c", whitespace: "any" },
    temperature: 1,
    top_p: 0.9,
    seed: 1,
    n: 2,
  },
  {
    ...base,
    guided_choice: ["yes", "no"],
    stop: ["x"],
    logit_bias: { "5": 1 },
    logprobs: true,
    top_logprobs: 2,
  },
  {
    ...base,
    stream: true,
    stream_options: { include_usage: true },
    tokenrail: { report: true, order: "any" },
  },
  {
    ...base,
    stop_regex: ["a+b"],
    repetition_detection: { min: 1, max: 4, count: 3 },
    stop_when: "json",
    bad_words: ["no"],
  },
  {
    ...base,
    stream: true,
    structured_outputs: { json: schema },
    tokenrail: { on_length: "close", confidence: true },
    max_tokens: 30,
  },
  {
    ...base,
    messages: [
      { role: "system", content: [{ type: "text", text: "a" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "x" },
    ],
    ...{
      chat_template_kwargs: { a: 1 },
      reasoning_effort: "low",
      prediction: { type: "content", content: "hi" },
    },
  },
  {
    ...base,
    ...{
      dry_multiplier: 1,
      dry_sequence_breakers: ["a"],
      xtc_probability: 0.5,
      min_p: 0.1,
      top_k: 5,
    },
    ...{
      allowed_token_ids: [5, 6],
      stop_token_ids: [7],
      min_tokens: 1,
      sampler_order: "llamacpp",
    },
  },
]

/** Short, so that a prompt with tools fits into a short context. */
const args: Json = {
  $defs: { s: { type: "string", maxLength: 3 } },
  type: "object",
  properties: { a: { $ref: "#/$defs/s" } },
  required: ["a"],
  additionalProperties: false,
}
const tool: Json = {
  type: "function",
  function: { name: "f", description: "d", parameters: args, strict: true },
}
const dial: Json = {
  type: "custom",
  custom: { name: "dial", format: { type: "grammar", grammar: { syntax: "regex", definition: "[0-9]{2}" } } },
}
const lark: Json = {
  type: "custom",
  custom: {
    name: "talk",
    format: { type: "grammar", grammar: { syntax: "lark", definition: 'start: "a"+' } },
  },
}
const call: Json = { id: "c", type: "function", function: { name: "f", arguments: '{"a":"a"}' } }

/** Chat that calls tools. */
const calling: Json[] = [
  {
    ...base,
    tools: [tool, dial],
    tool_choice: "required",
    parallel_tool_calls: false,
    max_tokens: 40,
    stream: true,
  },
  {
    ...base,
    tools: [tool, dial, lark],
    tool_choice: { type: "custom", custom: { name: "talk" } },
    max_tool_calls: 2,
    max_tokens: 40,
    tokenrail: { fields: true, confidence: true, tools_in_prompt: false },
  },
  {
    ...base,
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: null, tool_calls: [call], reasoning_content: "r" },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "x" }] },
    ],
    tools: [tool],
    tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool] } },
    response_format: { type: "json_schema", json_schema: { name: "x", schema: { enum: ["yes", "no"] } } },
    max_tokens: 30,
    reasoning_effort: "high",
    thinking_token_budget: 3,
  },
  {
    ...base,
    tokenrail: { reason: { until: "." } },
    response_format: { type: "json_object" },
    max_tokens: 20,
  },
]

const completionBody = { model, prompt: "hi", max_tokens: 2 }
const completions: Json[] = [
  { ...completionBody, prompt: ["a", "b"], n: 2, echo: true, logprobs: 2, best_of: 3, seed: 1 },
  {
    ...completionBody,
    prompt: [5, 6, 7],
    stream: true,
    stream_options: { include_usage: true },
    stop: ["x"],
  },
  {
    ...completionBody,
    structured_outputs: { json: schema },
    tokenrail: { on_length: "close" },
    max_tokens: 30,
  },
  {
    ...completionBody,
    prompt: [[5], [6, 7]],
    parse_special: false,
    add_special_tokens: true,
    temperature: 0,
  },
]

const input: Json = [
  { role: "developer", content: [{ type: "input_text", text: "a" }] },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "b", annotations: [] }] },
  { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
  { type: "function_call_output", call_id: "c", output: "x" },
  { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "r" }] },
  { role: "user", content: "go on" },
]
const flatTools: Json = [
  { type: "function", name: "f", parameters: args, strict: null },
  { type: "custom", name: "dial", format: { type: "grammar", syntax: "regex", definition: "[0-9]{2}" } },
  {
    type: "namespace",
    name: "n",
    description: "d",
    tools: [{ type: "function", name: "g", parameters: null }],
  },
]
const responseBody = { model, input: "hi", max_output_tokens: 40 }
const responses: Json[] = [
  { ...responseBody, input, instructions: "Be short.", reasoning: { effort: "low" }, metadata: { a: "b" } },
  {
    ...responseBody,
    text: { format: { type: "json_schema", name: "x", schema, strict: true } },
    stream: true,
  },
  { ...responseBody, tools: flatTools, tool_choice: "required", max_tool_calls: 1, max_output_tokens: 40 },
  {
    ...responseBody,
    tools: flatTools,
    tool_choice: { type: "function", name: "f" },
    parallel_tool_calls: false,
    include: ["message.output_text.logprobs"],
    top_logprobs: 2,
    store: false,
    stream: true,
  },
]
const inputCounts: Json[] = [
  { model, input, tools: flatTools, instructions: "Be short.", reasoning: { effort: "none" } },
]

const messageBody = { model, messages: [{ role: "user", content: "hi" }], max_tokens: 20 }
const dialogue: Json = [
  { role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "r", signature: "unsigned" },
      { type: "text", text: "b" },
      { type: "tool_use", id: "c", name: "f", input: { a: "a" } },
    ],
  },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "x", is_error: true }] },
]
const messageTools: Json = [{ name: "f", description: "d", input_schema: args, strict: true }]
const messages: Json[] = [
  {
    ...messageBody,
    system: [{ type: "text", text: "a" }],
    stop_sequences: ["x"],
    top_k: 5,
    temperature: 1,
    stream: true,
  },
  { ...messageBody, messages: dialogue, tools: messageTools, tool_choice: { type: "any" }, max_tokens: 40 },
  {
    ...messageBody,
    tools: messageTools,
    tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 3 },
    max_tokens: 40,
    stream: true,
  },
  {
    ...messageBody,
    output_config: { effort: "low", format: { type: "json_schema", schema } },
    metadata: { user_id: "u" },
  },
]
const messageCounts: Json[] = [
  { model, messages: dialogue, system: "a", tools: messageTools, thinking: { type: "disabled" } },
]

const tokenized: Json[] = [
  { model, prompt: "hi", add_special_tokens: true, return_token_strs: true, parse_special: false },
  {
    model,
    messages: base.messages,
    tools: [tool],
    add_generation_prompt: true,
    chat_template_kwargs: { a: 1 },
  },
]
const detokenized: Json[] = [{ model, tokens: [5, 6, 7] }]

const questions: Json[] = [
  { type: "predicate", name: "n", instructions: "It rains." },
  { type: "choice", instructions: "Which?", choices: [{ value: "a", description: "d" }, { value: true }] },
  { type: "score", instructions: "How?", levels: [{ label: "a", description: null }, { label: "b" }] },
]
// One question each: an option that a mutation makes long takes thousands of forwards.
const decided: Json[] = [
  ...questions.map((question): Json => ({ model, input: "hi", questions: [question] })),
  {
    model,
    input: base.messages,
    questions: [{ type: "predicate", instructions: "x" }],
    chat_template_kwargs: { a: 1 },
  },
]
const scored: Json[] = [
  { model, prompt: "hi", texts: ["a", "b c"] },
  { model, messages: base.messages, texts: ["a"], chat_template_kwargs: { a: 1 } },
]

const format: Json = {
  type: "structural_tag",
  format: {
    type: "triggered_tags",
    triggers: ["<|im_start|>"],
    tags: [
      { begin: "<|im_start|>f", content: { type: "json_schema", json_schema: args }, end: "<|im_end|>" },
    ],
  },
}
const compiled: Json[] = [
  { model, structured_outputs: { json: schema }, check: ['{"a":"a"}', "{", ""], tokenrail: { order: "any" } },
  { model, response_format: format, check: ["x<|im_start|>f{}<|im_end|>"] },
  { grammar: 'start: "a"+ <[1,3-5]>?', tokenrail: { report: true } },
]

const options: Json = {
  ...{ num_predict: 2, temperature: 0.5, top_k: 3, top_p: 0.9, min_p: 0.1, seed: 7, stop: ["x"] },
  ...{ repeat_penalty: 1.1, repeat_last_n: 8, presence_penalty: 0.1, frequency_penalty: 0.1, num_ctx: 64 },
}
const ollamaTool: Json = { type: "function", function: { name: "f", description: "a", parameters: schema } }
const ollamaChats: Json[] = [
  { model, messages: base.messages, format: schema, options, stream: false, keep_alive: "5m", think: false },
  {
    model,
    messages: [
      { role: "system", content: "a" },
      { role: "user", content: "hi", images: [] },
      {
        role: "assistant",
        content: "",
        thinking: "b",
        tool_calls: [{ function: { name: "f", arguments: { a: "aa" } } }],
      },
      { role: "tool", tool_name: "f", content: "1" },
    ],
    ...{ tools: [ollamaTool], options: { num_predict: 30 }, logprobs: true, top_logprobs: 2 },
  },
  { model, messages: [] },
]
const ollamaPrompts: Json[] = [
  { model, prompt: "hi", system: "a", format: "json", options: { num_predict: 30 }, suffix: "", context: [] },
  { model, prompt: "hi", raw: true, options: { ...(options as object), num_predict: 2 }, stream: true },
]

const bodies: readonly (readonly [path: string, bodies: readonly Json[]])[] = [
  ["/v1/chat/completions", [...chats, ...calling]],
  ["/v1/completions", completions],
  ["/v1/responses", responses],
  ["/v1/responses/input_tokens", inputCounts],
  ["/v1/messages", messages],
  ["/v1/messages/count_tokens", messageCounts],
  ["/api/chat", ollamaChats],
  ["/api/generate", ollamaPrompts],
  ["/api/show", [{ model, name: "m" }]],
  ["/tokenize", tokenized],
  ["/v1/decisions", decided],
  ["/v1/score", scored],
  ["/v1/compile", compiled],
  ["/v1/detokenize", detokenized],
]

export const seeds: readonly Seed[] = bodies.flatMap(([path, each]) => each.map((body) => ({ path, body })))
