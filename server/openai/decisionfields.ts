/**
 * The fields of `POST /v1/decisions` and `/v1/score`: from a JSON object to a checked request. The
 * engine checks the questions and the texts.
 */
import { z } from "zod"
import type { DecisionInput, Message, Question, ScoreOptions } from "../../runtime/index.ts"
import { invalid, missing, Refusal, unsupported } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { constraintKeys } from "./request/constraint.ts"
import { fieldError, readFields } from "./request/fields.ts"
import { message, toMessages } from "./request/messages.ts"
import { checkTemplateKwargs } from "./request/templatekwargs.ts"

export interface DecisionRequest {
  model: string
  input: DecisionInput
  questions: readonly Question[]
  variables: Record<string, unknown>
  ignored: string[]
}

/** The fields of a request for decisions. */
export const decisionFields = z.object({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(z.unknown())], { error: "must be a text or a list of messages" }),
  questions: z.unknown(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
})

export interface ScoreRequest {
  model: string
  prompt: string | Message[]
  texts: readonly string[]
  options: ScoreOptions
  ignored: string[]
}

/** The fields of a request for scores. */
export const scoreFields = z.object({
  model: z.string().min(1),
  prompt: z.string({ error: "must be a string" }).nullish(),
  messages: z.array(message).min(1).nullish(),
  texts: z.unknown(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
})

const conversation = z.object({ input: z.array(message).min(1) })

/** Returns the checked request. Throws `Refusal`. */
export function parseDecision(body: RequestBody): DecisionRequest {
  refuseConstraints(body)
  if (body.value.input == null) throw missing("input", "Send the text to judge, or messages")
  const { fields, ignored } = readFields(body, decisionFields)
  checkTemplateKwargs(body.value.chat_template_kwargs ?? {})
  return {
    model: fields.model,
    input: typeof fields.input === "string" ? fields.input : readInput(fields.input),
    questions: fields.questions as Question[],
    variables: fields.chat_template_kwargs ?? {},
    ignored,
  }
}

/** Returns the checked request. The engine checks the texts. Throws `Refusal`. */
export function parseScore(body: RequestBody): ScoreRequest {
  refuseConstraints(body)
  const { fields, ignored } = readFields(body, scoreFields)
  checkTemplateKwargs(body.value.chat_template_kwargs ?? {})
  const { model, prompt, messages } = fields
  const common = { model, texts: fields.texts as string[], ignored }
  if (prompt == null && !messages) throw missing("messages", "Send messages, or a prompt")
  if (prompt != null && messages) throw invalid("messages", ": prompt is given as well", "Send one of them")
  if (prompt != null) return { ...common, prompt, options: { raw: true } }
  const variables = fields.chat_template_kwargs ?? {}
  return { ...common, prompt: toMessages(messages!), options: { templateOptions: { variables } } }
}

/** Throws `Refusal` for a constraint, which has no meaning where no text is written. */
function refuseConstraints({ value }: RequestBody): void {
  const found = Object.keys(value).find((key) => constraintKeys.has(key) && value[key] != null)
  if (found === undefined) return
  throw unsupported(found, "is not supported here", "Leave it out: nothing is written")
}

/** Returns the messages of the input. Throws `Refusal` that names them as the field's members. */
function readInput(sent: readonly unknown[]): DecisionInput {
  const parsed = conversation.safeParse({ input: sent })
  if (!parsed.success) throw fieldError(parsed.error)
  try {
    return toMessages(parsed.data.input)
  } catch (error) {
    const { param = "" } = error instanceof Refusal ? error.details : {}
    if (!(error instanceof Refusal) || !param.startsWith("messages[")) throw error
    const own = param.replace("messages", "input")
    throw new Refusal(error.code, error.fault.replace(param, own), { ...error.details, param: own })
  }
}
