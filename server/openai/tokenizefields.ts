/**
 * The fields of `POST /tokenize` and `/detokenize`: from a JSON object to a checked request.
 *
 * The fields of chat and of completions that affect the tokens of a prompt have the same meaning
 * here.
 */
import { z } from "zod"
import type { GenerateOptions, Message } from "../../runtime/index.ts"
import { missing, Refusal, unsupported } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { flag, readFields } from "./request/fields.ts"
import { message, toMessages } from "./request/messages.ts"
import { readPolicies } from "./request/policies.ts"
import { checkTemplateKwargs } from "./request/templatekwargs.ts"
import { readTools } from "./request/tools.ts"

export interface TokenizeRequest {
  model: string | null
  prompt: string | Message[]
  options: GenerateOptions
  /** Whether the reply has the text of each token. */
  spells: boolean
  ignored: string[]
}

export interface DetokenizeRequest {
  model: string | null
  tokens: readonly number[]
  ignored: string[]
}

const model = z.string().min(1).nullish()

/** The fields of a request of `/tokenize`. */
export const tokenizeFields = z.object({
  model,
  prompt: z.string({ error: "must be a string" }).nullish(),
  messages: z.array(message).min(1).nullish(),
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  add_generation_prompt: flag,
  add_special_tokens: flag,
  parse_special: flag,
  reasoning_effort: z.string().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  return_token_strs: flag,
})

/** The fields of a request of `/detokenize`. */
export const detokenizeFields = z.object({
  model,
  tokens: z.array(z.unknown(), { error: "must be a list of token ids" }),
})

/** Returns the checked request. Throws `Refusal`. */
export function parseTokenize(body: RequestBody): TokenizeRequest {
  const { fields, ignored } = readFields(body, tokenizeFields)
  checkTemplateKwargs(body.value.chat_template_kwargs ?? {})
  const { prompt, messages, add_special_tokens: addSpecialTokens } = fields
  const common = { model: fields.model ?? null, spells: fields.return_token_strs ?? false, ignored }
  if (typeof prompt === "string") {
    if (messages) {
      throw new Refusal("invalid_value", "prompt and messages are both given", {
        param: "messages",
        hint: "Send one of them",
      })
    }
    const options = { raw: true, parseSpecial: fields.parse_special ?? true }
    return { ...common, prompt, options: { ...options, addSpecialTokens: addSpecialTokens ?? true } }
  }
  if (!messages) throw missing("prompt", "Send a prompt, or messages")
  if (addSpecialTokens) {
    throw unsupported(
      "add_special_tokens",
      "is not supported with messages",
      "Leave it out: the chat template writes them",
    )
  }
  const { toolsInPrompt = null } = readPolicies(body.value).generate
  const templateOptions = {
    addGenerationPrompt: fields.add_generation_prompt ?? true,
    variables: fields.chat_template_kwargs ?? {},
  }
  const turn = { ...readTools(body, []), toolsInPrompt, reasoningEffort: fields.reasoning_effort ?? null }
  return { ...common, prompt: toMessages(messages), options: { ...turn, templateOptions } }
}

/** Returns the checked request. Throws `Refusal`. */
export function parseDetokenize(body: RequestBody): DetokenizeRequest {
  const { fields, ignored } = readFields(body, detokenizeFields)
  return { model: fields.model ?? null, tokens: fields.tokens as number[], ignored }
}
