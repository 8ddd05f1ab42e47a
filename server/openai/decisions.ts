/**
 * `POST /v1/decisions`: answers chosen among given options, with exact probabilities.
 * `POST /v1/score`: log-probabilities of given continuations. Nothing is generated, so the usage
 * has no completion tokens.
 */
import type { Answer, Engine } from "../../runtime/index.ts"
import { entry } from "./reply/logprobs.ts"
import { counts } from "./reply/usage.ts"
import { type EndpointOptions, readRequest, respond } from "./request/endpoint.ts"
import { ignoredHeaders } from "./request/keys.ts"

/** Replies with the answers to all questions. Never rejects: every failure is a response. */
export async function decisions(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  return respond(options, async () => {
    const { model, input, questions, variables, ignored } = await readRequest("decisions", request, options)
    options.models.check(model)
    const { signal } = request
    const { isBackground: background } = options.exchange
    const how = { signal, background, templateOptions: { variables } }
    const { answers, usage } = await engine.decide(input, questions, how)
    const reply = { model, answers: answers.map(answerOf), usage: spend(usage, options) }
    return Response.json(reply, { headers: ignoredHeaders(ignored) })
  })
}

/** Replies with the scores of all texts. Never rejects: every failure is a response. */
export async function score(engine: Engine, request: Request, options: EndpointOptions): Promise<Response> {
  return respond(options, async () => {
    const asked = await readRequest("score", request, options)
    const { model, texts } = asked
    options.models.check(model)
    const { signal } = request
    const { scores, usage } = await engine.score(asked.prompt, texts, { ...asked.options, signal })
    const { promptTokens, cachedTokens, scoredTokens } = usage
    const spent = spend({ promptTokens: promptTokens + scoredTokens, cachedTokens }, options)
    const rows = scores.map(({ logprob, endLogprob, tokens }, index) => ({
      ...{ text: texts[index], logprob: finite(logprob), end_logprob: finite(endLogprob) },
      tokens: tokens.map((each) => entry(each.token, each.logprob, engine.vocabulary)),
    }))
    return Response.json({ model, scores: rows, usage: spent }, { headers: ignoredHeaders(asked.ignored) })
  })
}

/** JSON has no infinity; OpenAI writes −9999 instead. */
function finite(logprob: number): number {
  return Number.isFinite(logprob) ? logprob : -9999
}

/** Records the tokens of a request, and returns its usage. */
function spend(
  { promptTokens, cachedTokens }: { promptTokens: number; cachedTokens: number },
  { exchange }: EndpointOptions,
): object {
  const usage = { promptTokens, cachedTokens, completionTokens: 0 }
  exchange.follow({ ...usage, result: Promise.resolve({ choices: [], usage }) })
  return counts(promptTokens, 0, { cachedTokens })
}

function answerOf({ mass, ...answer }: Answer): object {
  return { ...answer, tokenrail: { mass } }
}
