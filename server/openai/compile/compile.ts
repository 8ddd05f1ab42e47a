/**
 * `POST /v1/compile`: what a constraint compiles to, and whether it accepts given texts.
 *
 * The constraint is compiled as for an answer, in the same threads and within the same time, and
 * refused as there. Texts are read byte by byte, as `tokenrail check` reads them, in a thread of
 * their own.
 */
import type { Engine } from "../../../runtime/index.ts"
import { errorResponse } from "../../errors.ts"
import { type EndpointOptions, engineOptions, readRequest } from "../request/endpoint.ts"
import { ignoredHeaders } from "../request/keys.ts"
import { type CheckQuestion, type CheckResult, checkTexts } from "./checktexts.ts"
import type { CompileRequest } from "./fields.ts"

/** Replies with the report and the verdicts. Never rejects: every failure is a response. */
export async function compile(engine: Engine, request: Request, options: EndpointOptions): Promise<Response> {
  let constraint: CompileRequest["constraint"] | null = null
  try {
    const asked = await readRequest("compile", request, options)
    constraint = asked.constraint
    if (asked.model !== null) options.models.check(asked.model)
    const { policies, check } = asked
    const own = { options: {}, report: true, leftOut: [] }
    const generation = await engine.start(engine.model.endIds, {
      ...engineOptions(own, { constraint, policies }, options),
      ...{ onLength: "truncate", raw: true, maxTokens: 1, signal: request.signal },
      ...{ schemaInPrompt: false, reasonUntil: null, fields: false, confidence: false },
      ...{ trace: false, firstTokens: null },
    })
    generation.cancel()
    const { compileMs } = options
    const question = { input: constraint.input, policies: policies.compile, compileMs, texts: check }
    const results = check.length > 0 ? await resultsOf(question, request.signal) : undefined
    const reply = { report: generation.report, ...(results && { results }) }
    return Response.json(reply, { headers: ignoredHeaders(asked.ignored) })
  } catch (error) {
    const { noted } = options.exchange
    return errorResponse(error, { constraint, retryAfterSeconds: options.retryAfterSeconds(), noted })
  }
}

/** Returns a result for each text. A platform without threads checks them on the event loop. */
async function resultsOf(question: CheckQuestion, signal: AbortSignal): Promise<CheckResult[]> {
  const isNode = typeof process !== "undefined" && process.versions?.node !== undefined
  if (!isNode) return checkTexts(question)
  const { checkApart } = await import("./checkthread.ts")
  return checkApart(question, signal)
}
