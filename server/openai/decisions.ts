/**
 * `POST /v1/decisions`: answers chosen among given options, with exact probabilities. Nothing is
 * generated, so the usage has no completion tokens.
 */
import type { Answer, Engine } from "../../runtime/index.ts"
import { errorResponse } from "../errors.ts"
import { counts } from "./reply/usage.ts"
import { type EndpointOptions, readRequest } from "./request/endpoint.ts"
import { ignoredHeaders } from "./request/keys.ts"

/** Replies with the answers to all questions. Never rejects: every failure is a response. */
export async function decisions(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  const { exchange, models, retryAfterSeconds } = options
  try {
    const { model, input, questions, variables, ignored } = await readRequest("decisions", request, options)
    models.check(model)
    const { signal } = request
    const { answers, usage } = await engine.decide(input, questions, {
      signal,
      templateOptions: { variables },
    })
    const { promptTokens, cachedTokens } = usage
    const spent = { promptTokens, cachedTokens, completionTokens: 0 }
    exchange.follow({ ...spent, result: Promise.resolve({ choices: [], usage: spent }) })
    const reply = { model, answers: answers.map(answerOf), usage: counts(promptTokens, 0, { cachedTokens }) }
    return Response.json(reply, { headers: ignoredHeaders(ignored) })
  } catch (error) {
    return errorResponse(error, { retryAfterSeconds: retryAfterSeconds(), noted: exchange.noted })
  }
}

function answerOf({ mass, ...answer }: Answer): object {
  return { ...answer, tokenrail: { mass } }
}
