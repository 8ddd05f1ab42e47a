/**
 * `tokenrail conformance --suite api --url URL`: sends the cases of suite/api/ to any server that
 * speaks OpenAI's API, and reports which constraints it honours.
 */
import { type Command, Option } from "commander"
import { isLoopback } from "../http/access.ts"
import { type CaseOptions, type SchemaForm, schemaForms } from "../suite/api/ask.ts"
import type { ApiCase } from "../suite/api/case.ts"
import { apiCases } from "../suite/api/cases/all.ts"
import { fieldsOf, listOf, parsed } from "../suite/api/chat.ts"
import { type ApiTarget, send } from "../suite/api/client.ts"
import { junit } from "../suite/api/junit.ts"
import { page } from "../suite/api/page.ts"
import { apiTable, failures, summarizeApi } from "../suite/api/report.ts"
import { type ApiResult, messageOf, runCases } from "../suite/api/run.ts"
import { sampledCases } from "../suite/api/sampled.ts"
import { losses, readBaseline } from "../suite/baseline.ts"
import { Exit, type Io, printable, UsageError, writeText } from "./exit.ts"
import { wholeNumber } from "./model.ts"
import { csvLine, progress } from "./progress.ts"

export interface ApiFlags {
  url?: string
  apiKey?: string
  model?: string
  samples: number
  maxTokens?: number
  schemaAs: SchemaForm
  area?: string
  timeout: number
  time: number
  parallel?: number
  every: number
  sampleFrom?: string
  junit?: string
  html?: string
  against?: string
  json?: boolean
  csv?: boolean
}

/** Returns the description of `--api-key`. */
export function keyHelp(what: string): string {
  return `${what} (default: TOKENRAIL_TARGET_KEY; for a server on this machine also TOKENRAIL_API_KEY)`
}

/** Adds the flags that only this suite has. */
export function apiFlags(command: Command): Command {
  return command
    .option("--url <url>", "api: base URL of the server, such as http://localhost:8080/v1")
    .option("--api-key <key>", keyHelp("api: key of the server"))
    .option("--model <name>", "api: model to name in requests (default: the first one that the server lists)")
    .option("--samples <n>", "api: how often each case is sent, with different seeds", wholeNumber, 2)
    .option("--max-tokens <n>", "api: smallest budget of an answer (default: 96)", wholeNumber)
    .addOption(
      new Option("--schema-as <field>", "api: the field that names a schema")
        .choices(schemaForms)
        .default("json_schema"),
    )
    .option(
      "--sample-from <path>",
      "api: also every n-th schema (--every) of the JSON Schema test suite's directory, a directory of schemas, " +
        "or a file of MaskBench rows",
    )
    .option("--junit <file>", "api: write the results as JUnit XML")
    .option("--html <file>", "api: write the results as a page")
    .option("--area <text>", "api: only the areas and cases whose name contains this")
    .option("--timeout <s>", "api: time for one request", wholeNumber, 60)
    .option(
      "--time <s>",
      "api: time for the whole run; cases that were not sent are skipped",
      wholeNumber,
      3_600,
    )
}

/** Runs the suite. Throws `UsageError` if no server can be asked. */
export async function runApi(flags: ApiFlags, io: Io): Promise<number> {
  const isRight = (row: unknown) => ["honoured", "refused"].includes(String(fieldsOf(row).verdict))
  const baseline = flags.against === undefined ? null : await readBaseline(flags.against, isRight)
  const { against } = flags
  if (baseline?.rows.size === 0)
    throw new UsageError(`${against} has no cases: --against takes what a run printed with --json`)
  const target = targetOf(flags, io)
  const model = flags.model ?? (await firstModel(target))
  const cases = await casesOf(flags)
  for (const path of [flags.junit, flags.html]) if (path !== undefined) await writeText(path, "", "a")
  const results = await runCases(cases, {
    ...{ target, model },
    samples: Math.max(1, flags.samples),
    parallel: Math.max(1, flags.parallel ?? 4),
    onResult: progress(io, "conformance", cases.length),
  })
  const summary = summarizeApi(results, target.url, model)
  const lost = baseline === null ? [] : losses(baseline, results.map(asRow), noSummary, isRight)
  printResults(results, flags, io)
  if (flags.junit) await writeText(flags.junit, junit(results, target.url, model))
  if (flags.html) await writeText(flags.html, page(results, { url: target.url, model, at: new Date() }))
  if (flags.json) {
    const more = baseline === null ? {} : { lost: lost.length }
    io.out(`${JSON.stringify({ summary: { ...summary, ...more } })}\n`)
  } else if (!flags.csv) io.out(apiTable(summary))
  io.signal.throwIfAborted()
  for (const name of lost) io.err(`lost since ${against}: ${name}\n`)
  const isFailed = failures.some((verdict) => summary[verdict] > 0) || lost.length > 0
  return isFailed ? Exit.Rejected : Exit.Ok
}

async function casesOf({
  area = "",
  maxTokens,
  schemaAs: schemaForm,
  sampleFrom,
  every,
}: ApiFlags): Promise<ApiCase[]> {
  const options: CaseOptions = { schemaForm, ...(maxTokens && { maxTokens }) }
  const sampled = sampleFrom === undefined ? [] : await sampledCases(sampleFrom, every, options)
  const cases = [...apiCases(options), ...sampled].filter((each) =>
    `${each.area}/${each.name}`.includes(area),
  )
  if (cases.length > 0) return cases
  throw new UsageError(`no case has a name that contains ${JSON.stringify(area)}`)
}

/** Writes a file. With the flag `a` and no text it only tests whether the file can be written. */
/** A baseline without rows is refused, so that summaries are never compared. */
const noSummary = { pass: 0, wrong_accepts: 0 }
const asRow = (result: ApiResult): Record<string, unknown> => ({ ...result })

function printResults(results: readonly ApiResult[], { json, csv }: ApiFlags, io: Io): void {
  if (json) for (const result of results) io.out(`${JSON.stringify(result)}\n`)
  if (csv) {
    io.out(csvLine(["name", "verdict", "why"]))
    for (const { id, verdict, why } of results) io.out(csvLine([id, verdict, printable(why)]))
  }
  if (json || csv) return
  for (const { id, verdict, why } of results)
    if (verdict !== "honoured")
      io.err(printable(`${verdict}: ${id}${why && `: ${why.replace(/\s+/g, " ")}`}\n`))
}

/** Returns the server that the flags name. Throws `UsageError`. */
export function targetOf(flags: Pick<ApiFlags, "url" | "apiKey" | "timeout" | "time">, io: Io): ApiTarget {
  if (flags.url === undefined) throw new UsageError("--suite api needs --url, the base URL of a server")
  const url = URL.canParse(flags.url) ? new URL(flags.url) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `--url ${flags.url} is not the URL of a server: give one such as http://localhost:8080/v1`,
    )
  // TOKENRAIL_API_KEY is the secret of a server on this machine: no other host gets it.
  const ownKey = isLoopback(url.hostname) ? io.env.TOKENRAIL_API_KEY : undefined
  const apiKey = flags.apiKey ?? (io.env.TOKENRAIL_TARGET_KEY || ownKey)
  return {
    url: flags.url.replace(/\/+$/, ""),
    ...(apiKey !== undefined && { apiKey }),
    timeoutMs: flags.timeout * 1000,
    deadline: performance.now() + flags.time * 1000,
    signal: io.signal,
  }
}

/** Returns the first model that the server lists. Throws `UsageError` if it lists none. */
export async function firstModel(target: ApiTarget): Promise<string> {
  const reply = await send(target, { path: "/models" }, {})
  if (reply.status === 0) throw new UsageError(`no server answers at ${target.url}: ${reply.failure}`)
  if (reply.status === 401 || reply.status === 403)
    throw new UsageError(
      `${target.url} wants a key (status ${reply.status}): give --api-key or TOKENRAIL_TARGET_KEY`,
    )
  const { data, models } = fieldsOf(parsed(reply.text))
  const [first] = [...listOf(data), ...listOf(models)]
  const { id = fieldsOf(first).name } = fieldsOf(first)
  if (typeof id === "string") return id
  throw new UsageError(
    `${target.url}/models lists no model (status ${reply.status}: ${messageOf(reply).slice(0, 100)}): give --model, and check that --url ends where /chat/completions begins`,
  )
}
