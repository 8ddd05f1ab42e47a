/**
 * Runs the cases against a server: several at once, each with several samples, within the time of
 * the run. A judge that fails is a verdict of its case, never the end of the run.
 */

import type { Reply } from "./case.ts"
import {
  type ApiCase,
  type ApiRequest,
  type Finding,
  finding,
  type JsonObject,
  type Verdict,
  worst,
} from "./case.ts"
import { fieldsOf, parsed } from "./chat.ts"
import { type ApiTarget, endOfRun, send } from "./client.ts"

/** What is known of a case after the run; one row of the output. */
export interface ApiResult {
  /** `<area>/<name>`. */
  id: string
  area: string
  verdict: Verdict
  why: string
  truncated: boolean
  /** How many samples were judged: the first bad one ends a case. */
  samples: number
  ms: number
  /** Status, request and the beginning of the reply of the sample that decided. */
  status: number
  request: string
  answer: string
}

export interface ApiRun {
  readonly target: ApiTarget
  readonly model: string
  readonly samples: number
  readonly parallel: number
  onResult?(result: ApiResult): void
}

const excerpt = 2_000
const temperatures = [1, 1.5]

/** Runs all cases and returns their results in the order of the cases. */
export async function runCases(cases: readonly ApiCase[], run: ApiRun): Promise<ApiResult[]> {
  const results: ApiResult[] = []
  let next = 0
  const work = async () => {
    while (next < cases.length) {
      const at = next++
      results[at] = await runCase(cases[at], run)
      run.onResult?.(results[at])
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.parallel, cases.length) }, work))
  return results
}

interface Sample {
  finding: Finding
  reply: Reply | undefined
}

async function runCase(each: ApiCase, run: ApiRun): Promise<ApiResult> {
  const begunAt = performance.now()
  const samples: Sample[] = []
  const count = each.isSentOnce ? 1 : run.samples
  for (let i = 0; i < count; i++) {
    samples.push(await runSample(each, run, i))
    const { verdict } = samples[i].finding
    if (verdict !== "honoured" && verdict !== "skipped") break
  }
  const decided = worst(samples.map((sample) => sample.finding))
  const { reply } = samples.find((sample) => sample.finding === decided)!
  return {
    id: `${each.area}/${each.name}`,
    area: each.area,
    verdict: decided.verdict,
    why: decided.why,
    truncated: decided.truncated ?? false,
    samples: samples.length,
    ms: Math.round(performance.now() - begunAt),
    status: reply?.status ?? 0,
    request: (reply?.sent ?? "").slice(0, excerpt),
    answer: (reply?.text ?? "").slice(0, excerpt),
  }
}

async function runSample(each: ApiCase, run: ApiRun, i: number): Promise<Sample> {
  if (run.target.signal.aborted || performance.now() > run.target.deadline)
    return { finding: finding("skipped", endOfRun(run.target, false)), reply: undefined }
  const replies: Reply[] = []
  for (const [at, request] of each.requests.entries()) {
    const reply = await send(run.target, request, defaultsOf(request, run.model, i))
    replies.push(reply)
    const failed = failureOf(each, reply, at === each.requests.length - 1)
    if (failed !== null) return { finding: failed, reply }
  }
  const reply = replies.at(-1)
  try {
    return { finding: each.judge(replies), reply }
  } catch (error) {
    return { finding: finding("wrong", `the reply cannot be read: ${(error as Error).message}`), reply }
  }
}

function defaultsOf({ path }: ApiRequest, model: string, sample: number): JsonObject {
  const seed = sample + 1
  const temperature = temperatures[sample % temperatures.length]
  // Responses have no seed.
  return path.startsWith("/responses") ? { model, temperature } : { model, seed, temperature }
}

/** Returns the verdict on a reply that is not judged, or null. */
function failureOf({ expectsRefusal, isOptional }: ApiCase, reply: Reply, isLast: boolean): Finding | null {
  const { status, failure, isRunOver } = reply
  if (failure !== null) return finding(isRunOver ? "skipped" : "error", failure)
  if (status === 200) return null
  const said = `status ${status}: ${messageOf(reply)}`
  if (expectsRefusal && isLast && status >= 400) {
    if (status >= 500)
      return finding("wrong", `a mistake of the request is reported as one of the server: ${said}`)
    if (status !== 429) return null
  }
  if (isOptional && [404, 405, 501].includes(status)) return finding("skipped", said)
  const isRefusal = status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)
  return finding(isRefusal ? "refused" : "error", said)
}

/** Returns the message of an error reply, or the beginning of its text. */
export function messageOf({ text }: Reply): string {
  const { error, message, detail } = fieldsOf(parsed(text))
  const said = fieldsOf(error).message ?? error ?? message ?? detail ?? text
  return (typeof said === "string" ? said : JSON.stringify(said)).slice(0, 300)
}
