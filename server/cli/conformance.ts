/**
 * `tokenrail conformance`: compares the verdicts of the mask layer with those that a corpus
 * expects.
 *
 * A wrong accept lets an invalid text through. This must never happen, so it decides the exit code.
 * A wrong reject or a refusal only costs completeness. Compared with an earlier run, every row that
 * was right must still be right. Suites run in parallel child processes (suite/shards.ts). The
 * suite `api` judges a server instead (conformanceapi.ts).
 */
import { availableParallelism } from "node:os"
import { type Command, Option } from "commander"
import { losses, nameOf, readBaseline } from "../suite/baseline.ts"
import {
  type GrammarResult,
  type Judgement,
  judgeGrammarRow,
  readGrammarRows,
  runGrammarRow,
} from "../suite/grammars.ts"
import { type MaskResult, runMaskRow } from "../suite/maskbench.ts"
import { readSuite, runSuiteGroup, type SuiteResult } from "../suite/schemasuite.ts"
import { runShards } from "../suite/shards.ts"
import { type ApiFlags, apiFlags, runApi } from "./conformanceapi.ts"
import { spelling } from "./constraint.ts"
import { readCorpus } from "./corpus.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { examples } from "./helptext.ts"
import { wholeNumber } from "./model.ts"
import { csvLine, progress } from "./progress.ts"

interface ConformanceFlags extends ApiFlags {
  suite: CorpusSuite | "api"
  vocab?: string
  draft?: string
  every: number
  jobMs: number
  shard?: string
}

type CorpusSuite = "maskbench" | "jsts" | "grammars"

export function conformanceCommand(program: Command, io: Io, done: (code: number) => void): void {
  const command = program
    .command("conformance")
    .description(
      "compare verdicts with those of a corpus, or judge the answers of any server; exit 1 on a wrong accept, " +
        "a constraint that is not honoured, or below a baseline",
    )
    .argument(
      "[path]",
      "the file of rows; jsts: the suite's directory; maskbench: also a directory; api: none",
    )
    .addOption(
      new Option("--suite <name>", "corpus, or api for a server")
        .choices(["maskbench", "jsts", "grammars", "api"])
        .makeOptionMandatory(),
    )
    .option("--vocab <dir>", "maskbench: directory of the tokenizer that the token ids belong to")
    .option("--draft <name>", "jsts: 4, 6, 7, 2019-09, 2020-12", "2020-12")
    .option(
      "--against <file>",
      "output of an earlier run with --json: a row that was right must still be right",
    )
    .option("--every <n>", "take every n-th schema", wholeNumber, 1)
    .option(
      "--parallel <n>",
      "number of processes (default: that of cores); api: of requests at once (default: 4)",
      wholeNumber,
    )
    .option("--job-ms <n>", "time for one schema", wholeNumber, 60_000)
    .addOption(new Option("--shard <first/step>", "in a child: print these jobs").hideHelp())
    .option("--json", "print one JSON object for each schema or test, then the summary")
    .addOption(
      new Option("--csv", "print one line for each schema or test: name, verdict, why").conflicts("json"),
    )
    .addHelpText("after", examples("conformance tests/ --suite jsts --draft 2020-12"))
    .action(async (path: string | undefined, flags: ConformanceFlags) => done(await run(path, flags, io)))
  apiFlags(command)
}

async function run(path: string | undefined, flags: ConformanceFlags, io: Io): Promise<number> {
  const { suite } = flags
  if (suite === "api") {
    if (path !== undefined) throw new UsageError(`--suite api reads no file, but got ${path}`)
    return runApi(flags, io)
  }
  if (path === undefined) throw new UsageError(`--suite ${suite} needs the path of its corpus`)
  return runCorpus(suite, path, flags, io)
}

async function runCorpus(suite: CorpusSuite, path: string, flags: ConformanceFlags, io: Io): Promise<number> {
  const jobs = await suites[suite](path, flags)
  if (flags.shard) {
    const [first, step] = flags.shard.split("/").map(Number)
    for (let job = first; job < jobs.count; job += step) io.out(`${JSON.stringify(await jobs.run(job))}\n`)
    return Exit.Ok
  }
  const isRight = (row: unknown) => jobs.judge(row as Row) === "pass"
  const baseline = flags.against === undefined ? null : await readBaseline(flags.against, isRight)
  const lines = await runShards({
    jobCount: jobs.count,
    shardCount: Math.max(1, Math.min(flags.parallel ?? availableParallelism(), jobs.count)),
    jobMs: flags.jobMs,
    loadMs: flags.jobMs + 60_000,
    onJob: progress(io, "conformance", jobs.count),
    args: (first, step) => [
      ...["conformance", path, "--suite", suite, "--every", String(flags.every)],
      ...(flags.vocab ? ["--vocab", flags.vocab] : []),
      ...["--draft", flags.draft ?? "", "--shard", `${first}/${step}`],
    ],
  })
  const results = lines.flatMap((line, job): Row[] =>
    line.startsWith("crashed") ? jobs.crashed(job, line) : JSON.parse(line),
  )
  if (flags.json) for (const result of results) io.out(`${JSON.stringify(result)}\n`)
  if (flags.csv) {
    io.out(csvLine(["name", "verdict", "why"]))
    for (const row of results) io.out(csvLine([nameOf(row), jobs.judge(row), whyOf(row)]))
  } else if (!flags.json) {
    for (const row of results) {
      const judgement = jobs.judge(row)
      if (judgement !== "pass")
        io.err(`${judgement.replace("_", " ")}: ${nameOf(row)}${whyOf(row) && `: ${whyOf(row)}`}\n`)
    }
  }
  const summary = summarize(jobs, results)
  const lost = baseline === null ? [] : losses(baseline, results, summary, isRight)
  const against = baseline === null ? {} : { lost: lost.length }
  if (!flags.csv)
    io.out(flags.json ? `${JSON.stringify({ summary: { ...summary, ...against } })}\n` : describe(summary))
  for (const name of lost) io.err(`lost since ${flags.against}: ${name}\n`)
  return summary.wrong_accepts > 0 || lost.length > 0 ? Exit.Rejected : Exit.Ok
}

/** Returns why a row is wrong: the refusal, or the texts with wrong verdicts. */
function whyOf(row: Row): string {
  const reason = row.refused ?? row.crashed
  if (reason !== undefined) return String(reason)
  const tests = (row.tests ?? []) as { valid?: boolean; accepted: boolean; error?: string }[]
  const wrong = tests.flatMap(({ valid, accepted, error }, index) =>
    valid === undefined || valid === accepted ? [] : [`test ${index + 1}${error ? ` (${error})` : ""}`],
  )
  return wrong.join(", ")
}

type Row = Record<string, unknown>

interface Jobs {
  suite: string
  count: number
  /** Returns a result, or a list of results. */
  run(job: number): Promise<unknown>
  crashed(job: number, reason: string): Row[]
  judge(row: Row): Judgement
  /** Returns the part of the suite that a row belongs to. */
  part?(row: Row): string
}

type Counts = { total: number } & Record<Judgement, number>

interface Summary extends Counts {
  suite: string
  /** Number of refusals by kind. */
  refused_kinds: Record<string, number>
  /** jsts: the same counts for required, optional and format tests. */
  parts?: Record<string, Counts>
}

const suites: Record<CorpusSuite, (path: string, flags: ConformanceFlags) => Promise<Jobs>> = {
  /** A schema is right if all of its texts are judged right. */
  async maskbench(path, flags) {
    if (!flags.vocab) throw new UsageError("--suite maskbench needs --vocab, the directory of its tokenizer")
    const { vocabulary, rows: all } = await readCorpus(path, flags.vocab)
    const rows = every(all, flags)
    return {
      suite: "maskbench",
      count: rows.length,
      run: async (job) => runMaskRow(rows[job].read(), vocabulary, false),
      crashed: (job, reason) => [{ id: rows[job].id, crashed: reason }],
      judge: (row) => judgeMask(row as MaskResult),
    }
  },

  /** Each test counts separately. */
  async jsts(path, flags) {
    const suite = await readSuite(path, flags.draft ?? "2020-12")
    const groups = every(suite.groups, flags)
    return {
      suite: `jsts ${suite.draft}`,
      count: groups.length,
      run: async (job) => runSuiteGroup(groups[job], suite),
      crashed: (job, reason) =>
        groups[job].tests.map(({ test, valid }) => ({
          ...{ file: groups[job].file, group: groups[job].group, test, valid },
          refused: reason,
        })),
      judge: (row) => judgeTest(row as SuiteResult),
      part: (row) => partOf(row as SuiteResult),
    }
  },

  /** A row is right if all of its texts are judged right, or if it is refused and must be. */
  async grammars(path, flags) {
    const rows = every(await readGrammarRows(path), flags)
    const byId = new Map(rows.map((row) => [row.id, row]))
    return {
      suite: "grammars",
      count: rows.length,
      run: async (job) => runGrammarRow(rows[job], spelling),
      crashed: (job, reason) => [{ id: rows[job].id, crashed: reason }],
      judge(result) {
        const row = byId.get(result.id as string)
        return row === undefined ? "refused" : judgeGrammarRow(row, result as GrammarResult)
      },
    }
  },
}

function every<T>(rows: readonly T[], { every: step }: ConformanceFlags): T[] {
  return rows.filter((_, index) => index % Math.max(1, step) === 0)
}

function judgeMask(result: MaskResult): Judgement {
  if ("refused" in result) return "refused"
  if ("crashed" in result) return "crashed"
  if (result.tests.some(({ valid, accepted }) => accepted && !valid)) return "wrong_accepts"
  if (result.tests.some(({ valid, accepted }) => valid && !accepted)) return "wrong_rejects"
  return "pass"
}

function judgeTest(result: SuiteResult): Judgement {
  if ("refused" in result) return result.refused.startsWith("crashed") ? "crashed" : "refused"
  if (result.accepted === result.valid) return "pass"
  // If the spellings of an invalid instance get different verdicts, one of them lets it through.
  return result.valid ? "wrong_rejects" : "wrong_accepts"
}

function partOf({ file }: SuiteResult): string {
  if (/^optional.format/.test(file)) return "format"
  return file.startsWith("optional") ? "optional" : "required"
}

function summarize(jobs: Jobs, results: readonly Row[]): Summary {
  const summary: Summary = { suite: jobs.suite, ...noCounts(), refused_kinds: {} }
  for (const result of results) {
    const judgement = jobs.judge(result)
    const counted: Counts[] = [summary]
    if (jobs.part !== undefined) {
      summary.parts ??= {}
      const part = jobs.part(result)
      summary.parts[part] ??= noCounts()
      counted.push(summary.parts[part])
    }
    for (const counts of counted) {
      counts.total++
      counts[judgement]++
    }
    if (judgement !== "refused") continue
    const kind = String(result.refused).split(" ", 1)[0]
    summary.refused_kinds[kind] = (summary.refused_kinds[kind] ?? 0) + 1
  }
  return summary
}

function noCounts(): Counts {
  return { total: 0, pass: 0, wrong_accepts: 0, wrong_rejects: 0, refused: 0, crashed: 0 }
}

function describe({ suite, parts = {}, refused_kinds, ...whole }: Summary): string {
  const line = (name: string, counts: Counts) => {
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
