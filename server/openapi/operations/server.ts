/** The description of the paths that describe the server and its model. */
import { z } from "zod"
import { jsonReply, named, type Operation } from "../operation.ts"
import { pageFiles } from "../page.ts"
import { int, text } from "../replies.ts"

const model = named(
  "Model",
  "A name of the loaded model.",
  z.object({
    id: text,
    object: z.literal("model"),
    created: int,
    owned_by: z.literal("tokenrail"),
    root: text.describe("The model's own name."),
    parent: text.nullable().describe("The model's own name, for an alias."),
    max_model_len: int.describe("Tokens of the context."),
  }),
)

const anthropicModel = named(
  "AnthropicModel",
  "A name of the loaded model, for requests with the header anthropic-version.",
  z.object({
    type: z.literal("model"),
    id: text,
    display_name: text,
    created_at: text,
    max_input_tokens: int,
    max_tokens: int,
    capabilities: z.null(),
  }),
)

const anthropicModels = z.object({
  data: z.array(anthropicModel),
  has_more: z.boolean(),
  first_id: text.nullable(),
  last_id: text.nullable(),
})

const models = z.object({ object: z.literal("list"), data: z.array(model) })
const anthropicOnly = "Only with the header anthropic-version."

const load = z.object({
  running: int.describe("Answers in a slot."),
  waiting: int.describe("Answers that wait for a slot."),
  slots: int.describe("Answers that run at once."),
  kv: z.object({ used: int, size: int }).describe("Tokens in the cache, and its size."),
})

const token = text.nullable()

const tokenizer = z.object({
  vocab_size: int,
  width: int.describe("Number of logits."),
  eos: z.array(int),
  bos_token: token,
  eos_token: token,
  pad_token: token,
  unk_token: token,
  sep_token: token,
  cls_token: token,
  mask_token: token,
  special_tokens: z.record(text, int),
  chat_template: token,
})

const health = z.object({ status: z.enum(["ok", "loading", "draining", "dead"]) })

export const serverOperations = {
  root: {
    tag: "Server",
    summary: "Says that the server answers",
    reply: {
      description:
        "It answers. A client that accepts HTML gets the playground; with `--ollama` others get the words of Ollama, unless they accept JSON.",
      content: {
        "text/html": text,
        "application/json": z.object({ status: z.literal("ok") }),
        "text/plain": z.literal("Ollama is running"),
      },
    },
    refusals: [],
  },
  health: {
    tag: "Server",
    summary: "Says whether the server takes work",
    reply: jsonReply("It takes work.", health),
    also: { 503: "It takes no work at present." },
    refusals: [],
  },
  ping: {
    tag: "Server",
    summary: "Says that the server answers",
    reply: jsonReply("It answers.", z.object({})),
    refusals: [],
  },
  version: {
    tag: "Server",
    summary: "Returns the version of the server",
    reply: jsonReply("The version.", z.object({ version: text })),
    refusals: [],
  },
  load: {
    tag: "Server",
    summary: "Returns how many answers run and wait",
    reply: jsonReply("The load.", load),
    refusals: [],
  },
  metrics: {
    tag: "Server",
    summary: "Returns the metrics in the format of Prometheus",
    reply: { description: "The metrics.", content: { "text/plain": text } },
    refusals: [404],
  },
  tokenizerInfo: {
    tag: "Tokens",
    summary: "Describes the tokenizer",
    reply: jsonReply("The tokenizer.", tokenizer),
    refusals: [],
  },
  listModels: {
    tag: "Models",
    summary: "Lists the names of the model",
    query: {
      limit: { description: anthropicOnly, schema: z.int().min(1).max(1000) },
      after_id: { description: anthropicOnly, schema: text },
      before_id: { description: anthropicOnly, schema: text },
    },
    reply: jsonReply("The names.", z.union([models, anthropicModels])),
    refusals: [400],
  },
  getModel: {
    tag: "Models",
    summary: "Describes a name of the model",
    id: { description: "The name. It may contain slashes.", schema: text },
    reply: jsonReply("The name.", z.union([model, anthropicModel])),
    refusals: [404],
  },
  openapi: {
    tag: "Server",
    summary: "Returns this description",
    reply: jsonReply("An OpenAPI 3.1 document.", z.looseObject({ openapi: text })),
    refusals: [],
  },
  docs: {
    tag: "Server",
    summary: "Returns this description as a page",
    reply: { description: "The page.", content: { "text/html": text } },
    refusals: [],
  },
  docsFile: {
    tag: "Server",
    summary: "Returns a file of the page",
    id: { description: "The name of the file.", schema: z.enum(Object.keys(pageFiles)) },
    reply: { description: "The file.", content: { "text/javascript": text, "text/css": text } },
    refusals: [404],
  },
  playgroundFile: {
    tag: "Server",
    summary: "Returns a file of the playground",
    id: { description: "The name of the file.", schema: z.string() },
    reply: {
      description: "The file.",
      content: { "text/javascript": text, "text/css": text, "application/json": z.unknown() },
    },
    also: { 304: "The file has not changed." },
    refusals: [404],
  },
} satisfies Record<string, Operation>
