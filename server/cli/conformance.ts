/**
 * `tokenrail conformance`: the verdicts of the mask layer on a corpus, beside the verdicts that the corpus gives.
 *
 * A wrong accept lets an invalid text through: the one failure that this project must not have, so it decides the exit
 * code. A wrong reject and a refusal cost completeness. Suites run in parallel child processes (suite/shards.ts).
 */
import { availableParallelism } from "node:os"
import { type Command, Option } from "commander"
import { type MaskResult, type PackedRow, readMaskRows, runMaskRow, warmUp } from "../suite/maskbench.ts"
import { readSuite, runSuiteGroup, type SuiteResult } from "../suite/schemasuite.ts"
import { runShards } from "../suite/shards.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { wholeNumber } from "./model.ts"
import { readVocabulary } from "./vocabulary.ts"

interface ConformanceFlags {
  suite: "maskbench" | "jsts"
  vocab?: string
  draft?: string
  every: number
  parallel: number
  jobMs: number
  shard?: string
  json?: boolean
}

export function conformanceCommand(program: Command, io: Io, done: (code: number) => void): void {
  program
    .command("conformance")
    .description("compare verdicts with those of a corpus; exit 1 on a wrong accept")
    .argument("<path>", "maskbench: the .jsonl or .jsonl.gz file; jsts: the suite's directory")
    .addOption(new Option("--suite <name>", "corpus").choices(["maskbench", "jsts"]).makeOptionMandatory())
    .option("--vocab <dir>", "maskbench: directory of the tokenizer that the token ids belong to")
    .option("--draft <name>", "jsts: 4, 6, 7, 2019-09, 2020-12", "2020-12")
    .option("--every <n>", "take every n-th schema", wholeNumber, 1)
    .option("--parallel <n>", "processes", wholeNumber, availableParallelism())
    .option("--job-ms <n>", "time for one schema", wholeNumber, 60_000)
    .addOption(new Option("--shard <first/step>", "in a child: print these jobs").hideHelp())
    .option("--json", "print one JSON object a schema or test, then the summary")
    .action(async (path: string, flags: ConformanceFlags) => done(await run(path, flags, io)))
}

async function run(path: string, flags: ConformanceFlags, io: Io): Promise<number> {
  const jobs = flags.suite === "maskbench" ? await maskJobs(path, flags) : await suiteJobs(path, flags)
  if (flags.shard) {
    const [first, step] = flags.shard.split("/").map(Number)
    for (let job = first; job < jobs.count; job += step) io.out(`${JSON.stringify(await jobs.run(job))}\n`)
    return Exit.Ok
  }
  const lines = await runShards({
    jobCount: jobs.count,
    shardCount: Math.max(1, Math.min(flags.parallel, jobs.count)),
    jobMs: flags.jobMs,
    loadMs: flags.jobMs + 60_000,
    args: (first, step) => [
      ...["conformance", path, "--suite", flags.suite, "--every", String(flags.every)],
      ...(flags.vocab ? ["--vocab", flags.vocab] : []),
      ...["--draft", flags.draft ?? "", "--shard", `${first}/${step}`],
    ],
  })
  const results = lines.flatMap((line, job) =>
    line.startsWith("crashed") ? jobs.crashed(job, line) : JSON.parse(line),
  )
  if (flags.json) for (const result of results) io.out(`${JSON.stringify(result)}\n`)
  const summary = jobs.summarize(results)
  io.out(flags.json ? `${JSON.stringify({ summary })}\n` : describe(summary))
  return summary.wrong_accepts > 0 ? Exit.Rejected : Exit.Ok
}

interface Jobs {
  count: number
  /** A result, or a list of them. */
  run(job: number): Promise<unknown>
  crashed(job: number, reason: string): unknown[]
  summarize(results: unknown[]): Summary
}

export interface Summary {
  suite: string
  total: number
  pass: number
  wrong_accepts: number
  wrong_rejects: number
  refused: number
  crashed: number
  /** Refusals by kind. */
  refused_kinds: Record<string, number>
  /** jsts: the same counts for required, optional and format tests. */
  parts?: Record<string, Omit<Summary, "suite" | "parts" | "refused_kinds">>
}

// ---- MaskBench: a schema is right when all of its texts are

async function maskJobs(path: string, flags: ConformanceFlags): Promise<Jobs> {
  if (!flags.vocab) throw new UsageError("--suite maskbench needs --vocab, the directory of its tokenizer")
  const rows = (await readMaskRows(path)).filter((_, index) => index % Math.max(1, flags.every) === 0)
  let ready: Promise<(row: PackedRow) => MaskResult> | undefined
  return {
    count: rows.length,
    async run(job) {
      ready ??= readVocabulary(flags.vocab!).then((vocabulary) => {
        runMaskRow(warmUp, vocabulary, false)
        return (row) => runMaskRow(row.read(), vocabulary, false)
      })
      return (await ready)(rows[job])
    },
    crashed: (job, reason) => [{ id: rows[job].id, crashed: reason }],
    summarize: (results) => summarizeMask(results as MaskResult[]),
  }
}

function summarizeMask(results: MaskResult[]): Summary {
  const summary = emptySummary("maskbench")
  for (const result of results) {
    summary.total++
    if ("refused" in result) refuse(summary, result.refused)
    else if ("crashed" in result) summary.crashed++
    else if (result.tests.some(({ valid, accepted }) => accepted && !valid)) summary.wrong_accepts++
    else if (result.tests.some(({ valid, accepted }) => valid && !accepted)) summary.wrong_rejects++
    else summary.pass++
  }
  return summary
}

// ---- JSON-Schema-Test-Suite: every test counts by itself

async function suiteJobs(path: string, flags: ConformanceFlags): Promise<Jobs> {
  const suite = await readSuite(path, flags.draft ?? "2020-12")
  const groups = suite.groups.filter((_, index) => index % Math.max(1, flags.every) === 0)
  return {
    count: groups.length,
    run: async (job) => runSuiteGroup(groups[job], suite),
    crashed: (job, reason) =>
      groups[job].tests.map(({ test, valid }) => ({
        ...{ file: groups[job].file, group: groups[job].group, test, valid },
        refused: reason,
      })),
    summarize: (results) => summarizeSuite(results as SuiteResult[], suite.draft),
  }
}

function summarizeSuite(results: SuiteResult[], draft: string): Summary {
  const whole = emptySummary(`jsts ${draft}`)
  const parts: Record<string, Summary> = {}
  for (const result of results) {
    const part = /^optional.format/.test(result.file)
      ? "format"
      : result.file.startsWith("optional")
        ? "optional"
        : "required"
    parts[part] ??= emptySummary(part)
    for (const summary of [whole, parts[part]]) count(summary, result)
  }
  whole.parts = Object.fromEntries(
    Object.entries(parts).map(([name, { suite, refused_kinds, ...counts }]) => [name, counts]),
  )
  return whole
}

function count(summary: Summary, result: SuiteResult): void {
  summary.total++
  if ("refused" in result) {
    if (result.refused.startsWith("crashed")) summary.crashed++
    else refuse(summary, result.refused)
  } else if (result.accepted === result.valid) summary.pass++
  // Spellings that disagree about an invalid instance let it through in one of them.
  else if (result.valid) summary.wrong_rejects++
  else summary.wrong_accepts++
}

function emptySummary(suite: string): Summary {
  const counts = { total: 0, pass: 0, wrong_accepts: 0, wrong_rejects: 0, refused: 0, crashed: 0 }
  return { suite, ...counts, refused_kinds: {} }
}

function refuse(summary: Summary, reason: string): void {
  const kind = reason.split(" ", 1)[0]
  summary.refused++
  summary.refused_kinds[kind] = (summary.refused_kinds[kind] ?? 0) + 1
}

function describe({ suite, parts = {}, refused_kinds, ...whole }: Summary): string {
  const line = (name: string, counts: Omit<Summary, "suite" | "parts" | "refused_kinds">) => {
    const { total, pass, wrong_accepts, wrong_rejects, refused, crashed } = counts
    const share = ((100 * pass) / Math.max(1, total)).toFixed(2)
    return (
      `${name}: ${pass} of ${total} right (${share} %), ${wrong_accepts} wrong accepts, ${wrong_rejects} wrong rejects, ` +
      `${refused} refused, ${crashed} crashed\n`
    )
  }
  const kinds = Object.entries(refused_kinds).map(([kind, n]) => `${kind} ${n}`)
  const tail = kinds.length ? `refused: ${kinds.join(", ")}\n` : ""
  return (
    line(suite, whole) +
    Object.entries(parts)
      .map(([name, counts]) => line(`  ${name}`, counts))
      .join("") +
    tail
  )
}
