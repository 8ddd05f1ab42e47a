/** `POST /v1/messages/count_tokens`: counts the tokens of the prompt that a message would have. */
import type { Engine } from "../../runtime/index.ts"
import { type EndpointOptions, readRequest } from "../openai/request/endpoint.ts"
import { ignoredHeaders } from "../openai/request/keys.ts"
import { messagesErrorResponse } from "./errors.ts"

/** Replies with the count. Never rejects: every failure is a response. */
export async function countTokens(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  try {
    const { count, constraint, policies } = await readRequest("countTokens", request, options)
    options.models.check(count.model)
    const tokens = await engine.tokenize(count.messages, {
      ...count.options,
      ...(constraint && { constraint: constraint.input }),
      ...policies.generate,
      signal: request.signal,
    })
    const headers = ignoredHeaders(count.ignored)
    return Response.json({ input_tokens: tokens.length }, { headers })
  } catch (error) {
    const { noted, requestId } = options.exchange
    return messagesErrorResponse(error, {
      retryAfterSeconds: options.retryAfterSeconds(),
      noted,
      requestId,
    })
  }
}
