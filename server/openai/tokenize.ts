/**
 * `POST /tokenize` and `/detokenize`: the tokens of a prompt, and the text of tokens.
 *
 * Both use the form of the model's input: the tokens of `messages` are those of a chat request with
 * the same fields, and the tokens of `prompt` are those of a completion.
 */
import type { Engine, Vocabulary } from "../../runtime/index.ts"
import { invalid } from "../errors.ts"
import { spell, textOf } from "./completions/legacylogprobs.ts"
import { type EndpointOptions, readRequest, respond } from "./request/endpoint.ts"
import { ignoredHeaders } from "./request/keys.ts"

/** Replies with the tokens of a prompt. Never rejects: every failure is a response. */
export async function tokenize(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  return respond(options, async () => {
    const asked = await readRequest("tokenize", request, options)
    checkModel(asked.model, options)
    const tokens = await engine.tokenize(asked.prompt, { ...asked.options, signal: request.signal })
    const reply = {
      count: tokens.length,
      max_model_len: engine.model.contextLength,
      tokens,
      ...(asked.spells && { token_strs: tokens.map((id) => spell(id, engine.vocabulary)) }),
    }
    return Response.json(reply, { headers: ignoredHeaders(asked.ignored) })
  })
}

/**
 * Replies with the text of tokens, including control tokens. Never rejects: every failure is a
 * response.
 */
export async function detokenize(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  return respond(options, async () => {
    const { model, tokens, ignored } = await readRequest("detokenize", request, options)
    checkModel(model, options)
    const { vocabulary } = engine
    const foreign = tokens.findIndex((id) => !isToken(id, vocabulary))
    if (foreign >= 0) {
      const param = `tokens[${foreign}]`
      const what = `: ${JSON.stringify(tokens[foreign])} is not a token of this model, whose ids end at ${vocabulary.width - 1}`
      throw invalid(param, what, "Send ids that /tokenize returns")
    }
    return Response.json({ prompt: textOf(tokens, vocabulary) }, { headers: ignoredHeaders(ignored) })
  })
}

function isToken(id: unknown, vocabulary: Vocabulary): boolean {
  if (typeof id !== "number" || !vocabulary.hasColumn(id)) return false
  return vocabulary.isSpecial(id) || vocabulary.bytes(id).length > 0
}

function checkModel(name: string | null, { models }: EndpointOptions): void {
  if (name !== null) models.check(name)
}
