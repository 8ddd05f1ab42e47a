/** The description of decisions, scores, compilations and the tokenizer. */
import { z } from "zod"
import { compileFields } from "../../openai/compile/fields.ts"
import { decisionFields, scoreFields } from "../../openai/decisionfields.ts"
import { detokenizeFields, tokenizeFields } from "../../openai/tokenizefields.ts"
import {
  chatTool,
  constraints,
  generationTexts,
  question,
  responseFormat,
  toolChoice,
  wetSchema,
} from "../generation.ts"
import { jsonReply, named, type Operation, ofAnswer, ofBody, withTexts } from "../operation.ts"
import { int, logprobToken, report, text, usage } from "../replies.ts"
import { chatMessage } from "./chat.ts"

const { model } = generationTexts
const chat_template_kwargs = "Variables for the chat template."
const messages = z.array(chatMessage).min(1).nullish().describe("A conversation, as in chat.")

const value = z.union([text, z.boolean()])
const asked = { name: text.nullish(), instructions: text }

const questionSchema = named(
  "Question",
  "A question whose answer is one of given options.",
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("predicate"), ...asked }),
    z.object({
      type: z.literal("choice"),
      ...asked,
      choices: z
        .array(z.object({ value, description: text.nullish() }))
        .min(2)
        .max(255),
    }),
    z.object({
      type: z.literal("score"),
      ...asked,
      levels: z
        .array(z.object({ label: text, description: text.nullish() }))
        .min(2)
        .max(255),
    }),
  ]),
)

const answered = { name: text.nullable(), tokenrail: z.object({ mass: z.number() }) }
const probability = z.number().min(0).max(1)

const answer = named(
  "Answer",
  "An answer with the probabilities of its options. `tokenrail.mass` is that of all options together.",
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("predicate"), ...answered, probability }),
    z.object({
      type: z.literal("choice"),
      ...answered,
      choice: value,
      confidence: probability,
      probabilities: z.array(z.object({ value, probability })),
    }),
    z.object({
      type: z.literal("score"),
      ...answered,
      score: z.number(),
      confidence: probability,
      probabilities: z.array(z.object({ label: text, value: int, probability })),
    }),
  ]),
)

const decisionRequest = named(
  "DecisionRequest",
  "Questions about a text or a conversation.",
  withTexts(decisionFields, { model, chat_template_kwargs }).extend({
    input: z
      .union([text, z.array(chatMessage).min(1)])
      .describe("The text to judge, or messages as in chat."),
    questions: z.array(questionSchema).min(1).max(400).describe("They are answered in their order."),
  }),
)

const scoreRequest = named(
  "ScoreRequest",
  "Texts whose probability after a prompt is asked for.",
  withTexts(scoreFields, {
    model,
    chat_template_kwargs,
    prompt: "The text before. Send either `prompt` or `messages`.",
  }).extend({ messages, texts: z.array(text).min(1).max(400).describe("The continuations.") }),
)

const scored = z.object({
  text,
  logprob: z.number().describe("The sum over the tokens. Natural logarithm."),
  end_logprob: z.number().describe("That of an end after them."),
  tokens: z.array(logprobToken),
})

const compileRequest = named(
  "CompileRequest",
  "A constraint, and texts that are checked against it.",
  withTexts(compileFields, { model, check: "Texts that are checked." }).extend({
    response_format: responseFormat.nullish(),
    ...constraints,
  }),
)

const verdict = z.object({
  accepted: z.boolean(),
  prefix: z.boolean().describe("Whether the text is the beginning of an accepted one."),
  offset: int.describe("Number of bytes before the first that no accepted text has."),
  expected: z
    .array(z.object({ what: text, example: text, path: text }))
    .describe("What may come at the offset."),
})

const tokenizeRequest = named(
  "TokenizeRequest",
  "A prompt whose tokens are asked for: a text as in completions, or messages as in chat.",
  withTexts(tokenizeFields, {
    model,
    chat_template_kwargs,
    prompt: "A text.",
    add_generation_prompt: "Whether the beginning of an answer follows the messages. Default true.",
    add_special_tokens: "Whether the tokenizer adds its own control tokens to the text. Default true.",
    parse_special: "Whether names of control tokens in the text are those tokens. Default true.",
    reasoning_effort: "Passed to the chat template.",
    return_token_strs: "Whether the reply has the text of each token.",
  }).extend({
    messages,
    tools: z.array(chatTool).nullish().describe("Tools, as in chat."),
    tool_choice: toolChoice,
  }),
)

const detokenizeRequest = named(
  "DetokenizeRequest",
  "Token ids whose text is asked for.",
  withTexts(detokenizeFields, { model }).extend({ tokens: z.array(int).describe("Token ids.") }),
)

const decisionExample = {
  input: "My invoice of May shows a charge twice.",
  questions: [
    {
      type: "choice",
      name: "topic",
      instructions: "What is it about?",
      choices: [{ value: "money", description: "invoices and payments" }, { value: "other" }],
    },
    { type: "score", instructions: "How urgent is it?", levels: [{ label: "low" }, { label: "high" }] },
  ],
}

export const textOperations = {
  decisions: {
    tag: "Decisions",
    summary: "Answers questions by the probabilities of given options",
    body: {
      schema: decisionRequest,
      examples: { questions: { summary: "Two questions", value: decisionExample } },
    },
    reply: jsonReply("The answers.", z.object({ model: text, answers: z.array(answer), usage })),
    refusals: ofAnswer,
  },
  score: {
    tag: "Decisions",
    summary: "Returns the log-probabilities of given texts",
    body: {
      schema: scoreRequest,
      examples: {
        texts: { summary: "Two continuations", value: { prompt: "Water is", texts: [" wet", " dry"] } },
        messages: { summary: "An answer", value: { messages: question, texts: ["Yes"] } },
      },
    },
    reply: jsonReply("The scores.", z.object({ model: text, scores: z.array(scored), usage })),
    refusals: ofAnswer,
  },
  compile: {
    tag: "Constraints",
    summary: "Compiles a constraint, and checks texts against it",
    body: {
      schema: compileRequest,
      examples: {
        schema: {
          summary: "A schema and two texts",
          value: { structured_outputs: { json: wetSchema }, check: ['{"wet":true}', '{"wet":1}'] },
        },
        grammar: {
          summary: "A broken grammar is refused",
          value: { structured_outputs: { grammar: "root ::= (" } },
          status: 400,
        },
      },
    },
    reply: jsonReply("The report.", z.object({ report, results: z.array(verdict).optional() })),
    refusals: ofAnswer,
  },
  tokenize: {
    tag: "Tokens",
    summary: "Returns the tokens of a prompt",
    body: {
      schema: tokenizeRequest,
      examples: {
        text: { summary: "A text", value: { prompt: "Is water wet?", return_token_strs: true } },
        messages: { summary: "A conversation", value: { messages: question } },
      },
    },
    reply: jsonReply(
      "The tokens.",
      z.object({
        count: int,
        max_model_len: int,
        tokens: z.array(int),
        token_strs: z.array(text).optional(),
      }),
    ),
    refusals: ofBody,
  },
  detokenize: {
    tag: "Tokens",
    summary: "Returns the text of tokens",
    body: {
      schema: detokenizeRequest,
      examples: { ids: { summary: "Two tokens", value: { tokens: [300, 301] } } },
    },
    reply: jsonReply("The text.", z.object({ prompt: text })),
    refusals: ofBody,
  },
} satisfies Record<string, Operation>
