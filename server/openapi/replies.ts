/** Parts of replies that several APIs share. */
import { z } from "zod"
import { statuses } from "../errors.ts"
import { named } from "./operation.ts"

export const int = z.int().min(0)
export const text = z.string()
export const seconds = int.describe("Seconds since 1970.")
/** A field that is always null here. */
export const never = z.null()

const keyword = z.object({
  path: text.describe("JSON pointer to the keyword; line and column in a text."),
  keyword: text,
  status: z.enum(["exact", "annotation", "relaxed"]),
  note: text.optional(),
})

export const report = named(
  "Report",
  "What a constraint compiles to: each keyword of its schemas, and how it is enforced.",
  z.object({
    satisfiable: z.boolean().describe("Whether any text satisfies the constraint."),
    reason: z.object({ path: text, message: text }).optional().describe("Why nothing satisfies it."),
    keywords: z.array(keyword),
    counts: z.object({ exact: int, annotation: int, relaxed: int }),
  }),
)

export const fieldEvent = named(
  "FieldEvent",
  "A change of a value inside a JSON answer (`tokenrail.fields`).",
  z.object({
    event: z.enum(["open", "delta", "close"]),
    path: text.describe("JSON pointer to the value."),
    kind: text.optional().describe("With `open`: the type of the value."),
    delta: text.optional().describe("With `delta`: more of a string, decoded."),
    value: z.unknown().optional().describe("With `close`: the value, which is final."),
    logprob: z.number().optional().describe("With `close` and `tokenrail.confidence`."),
    mass: z.number().optional().describe("With `close` and `tokenrail.confidence`."),
    tool_index: int.optional().describe("Index of the call, for arguments of a tool."),
  }),
)

export const fields = z.array(fieldEvent).optional()

const traced = z.object({ id: int, text, bytes: z.array(int), logprob: z.number() })

const tokenTrace = named(
  "TokenTrace",
  "How a token of the answer came about, and what the constraint's mask did (`tokenrail.trace`).",
  z.object({
    id: int,
    text,
    bytes: z.array(int),
    kind: z.enum(["sampled", "forced", "draft", "closing", "given"]),
    allowed: int.nullable().describe("Number of tokens that were allowed; null if no model ran."),
    mass: z.number().nullable().describe("The model's probability of all allowed tokens together."),
    entropy: z.number().nullable().describe("Bits of entropy among the allowed tokens."),
    top: z.array(traced).describe("The likeliest allowed tokens; `logprob` among the allowed ones."),
    illegal: z.array(traced).describe("The likeliest forbidden tokens; `logprob` among all."),
    mask_us: z.number().nullable().describe("Microseconds to fill the mask."),
  }),
)

export const trace = z.array(tokenTrace).optional()

/** Members of the `tokenrail` object of a reply. */
export const notes = {
  seed: z.union([z.int(), text]).optional().describe("The seed; digits if JSON.parse would round it."),
  report: report.optional().describe("With `tokenrail.report`."),
  warnings: z.array(text).optional().describe("What was left out of the request, or overruled."),
  closed: z.literal(true).optional().describe("Whether the budget completed the answer (`on_length`)."),
}

export const tokenrail = named("Notes", "What the reply says beyond its API.", z.object(notes))

export const times = z
  .object({
    forced_tokens: int,
    compile_ms: z.number(),
    mask_us: z.number(),
    mask_us_p50: z.number(),
    mask_us_p99: z.number(),
    ttft_ms: z.number(),
    tpot_ms: z.number(),
  })
  .optional()
  .describe("With `tokenrail.timing`.")

export const usage = named(
  "Usage",
  "Counts of tokens.",
  z.object({
    prompt_tokens: int,
    completion_tokens: int,
    total_tokens: int,
    prompt_tokens_details: z.object({ cached_tokens: int }),
    completion_tokens_details: z.object({
      reasoning_tokens: int,
      accepted_prediction_tokens: int,
      rejected_prediction_tokens: int,
    }),
    tokenrail: times,
  }),
)

const tokenRow = { token: text, logprob: z.number(), bytes: z.array(int) }

export const logprobToken = named(
  "TokenLogprob",
  "A token, its bytes and its log-probability; −9999 is a probability of 0.",
  z.object(tokenRow),
)

export const logprobRow = named(
  "LogprobRow",
  "A token of the answer and its alternatives.",
  z.object({
    ...tokenRow,
    top_logprobs: z.array(logprobToken),
    named_logprobs: z.array(logprobToken).optional().describe("The tokens of `logprob_token_ids`."),
  }),
)

export const stopReason = z
  .union([text, z.int(), z.null()])
  .describe("The stop string or id, `complete` (the grammar ended), `closed`, `timeout`, or null.")

/** Returns the schema of a page of a list. */
export function pageOf(member: z.ZodType): z.ZodObject {
  return z.object({
    object: z.literal("list"),
    data: z.array(member),
    first_id: text.nullable(),
    last_id: text.nullable(),
    has_more: z.boolean(),
  })
}

/** Parameters of the query by which lists are read in pages. */
export const pages = (most: number) => ({
  after: { description: "Id of the last member of the page before.", schema: text },
  limit: { description: "Number of members of a page.", schema: z.int().min(1).max(most) },
  order: { description: "By time of creation.", schema: z.enum(["asc", "desc"]) },
})

export const errorBody = named(
  "Error",
  "Why a request was refused or failed. The message alone is enough.",
  z.object({
    error: z.object({
      message: text,
      type: z.enum(["invalid_request_error", "rate_limit_error", "server_error"]),
      param: text.nullable().describe("The field of the request."),
      code: z.enum(Object.keys(statuses)),
      kind: text.optional().describe("Of a constraint: syntax, unsupported, unsatisfiable or limit."),
      path: text.optional().describe("The place inside the constraint."),
      hint: text.optional().describe("What the caller can do."),
    }),
  }),
)

export const messagesError = named(
  "MessagesError",
  "An error as Anthropic's API has it, with the members of this server's errors.",
  z.object({
    type: z.literal("error"),
    error: z.looseObject({ type: text, message: text, param: text.nullable(), code: text }),
    request_id: text.nullable(),
  }),
)

export const ollamaError = named("OllamaError", "An error as Ollama's API has it.", z.object({ error: text }))

/** Returns the form of the errors of a path. */
export function errorOf(path: string): z.ZodType {
  if (path.startsWith("/api/")) return ollamaError
  return path.startsWith("/v1/messages") ? messagesError : errorBody
}
