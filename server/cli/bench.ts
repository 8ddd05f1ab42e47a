/**
 * `tokenrail bench`: measures how long the mask layer takes, token by token, on a corpus; how fast
 * a server is (benchserver.ts); or one other part (benchparts.ts). The mask layer is measured in
 * one process and one thread, so that the results can be compared with engines that are measured
 * the same way.
 */
import { basename } from "node:path"
import { type Command, Option } from "commander"
import { warmUp } from "../../runtime/index.ts"
import type { Chart } from "../plot/bars.ts"
import { chartPage } from "../plot/page.ts"
import { type MaskResult, runMaskRow } from "../suite/maskbench.ts"
import { benchPart } from "./benchparts.ts"
import { benchServer, machineName, type ServerBenchFlags, serverBenchFlags } from "./benchserver.ts"
import { readCorpus } from "./corpus.ts"
import { Exit, type Io, UsageError, writeText } from "./exit.ts"
import { examples } from "./helptext.ts"
import { wholeNumber } from "./model.ts"
import { csvLine, progress } from "./progress.ts"
import { compileEarly } from "./restart.ts"

const parts = ["mask", "server", "compile", "sampler", "engine"] as const

interface BenchFlags extends ServerBenchFlags {
  what: (typeof parts)[number]
  vocab?: string
  every: number
  json?: boolean
  csv?: boolean
}

/** The percentiles of `Distribution` that charts show. */
const charted = ["p50", "p90", "p99", "p999", "max"] as const

export function benchCommand(program: Command, io: Io, done: (code: number) => void): void {
  const command = program
    .command("bench")
    .description("time masks on a corpus, compilation, the sampler, the engine, or a server")
    .argument(
      "[file]",
      "mask: the .jsonl or .jsonl.gz file, or a directory with one JSON file for each schema; compile: a JSON Schema",
    )
    .addOption(new Option("--what <name>", "what to time").choices([...parts]).default("mask"))
    .option("--vocab <dir>", "mask: directory of the tokenizer that the token ids belong to")
    .option("--every <n>", "mask: take every n-th schema", wholeNumber, 1)
    .option("--json", "print one JSON object for each schema or row, then a summary")
    .addOption(
      new Option("--csv", "mask: print one line for each schema: verdict, tokens and times").conflicts(
        "json",
      ),
    )
    .option("--html <file>", "mask, server: write the figures as a page with charts")
    .addHelpText(
      "after",
      examples(
        "bench maskbench.jsonl.gz --vocab llama3",
        "bench --what compile",
        "bench --what engine --streams 1,8",
        "bench --what server --streams 1,8",
      ),
    )
  serverBenchFlags(command).action(async (file: string | undefined, flags: BenchFlags) => {
    const { what } = flags
    if (what === "mask") return done(await run(file, flags, io))
    if (flags.csv) throw new UsageError(`--csv is for --what mask: --what ${what} has --json`)
    if (what !== "server") {
      if (flags.html) throw new UsageError(`--html is for --what mask and server: --what ${what} has --json`)
      return done(await benchPart(what, file, flags, io))
    }
    if (file !== undefined)
      throw new UsageError(`--what server takes no file: leave ${file} away, or give --url`)
    return done(await benchServer(flags, io))
  })
}

async function run(file: string | undefined, flags: BenchFlags, io: Io): Promise<number> {
  if (file === undefined) throw new UsageError("--what mask needs a corpus: a file or a directory")
  if (!flags.vocab) throw new UsageError("--what mask needs --vocab, the directory of the corpus's tokenizer")
  if (flags.html !== undefined) await writeText(flags.html, "", "a")
  const { vocabulary, rows: all } = await readCorpus(file, flags.vocab)
  const rows = all.filter((_, index) => index % Math.max(1, flags.every) === 0)
  // A server does the same after it has loaded a model.
  compileEarly(true)
  for (const _ of warmUp(vocabulary)) io.signal.throwIfAborted()
  compileEarly(false)
  // Only numbers are kept, so that the memory of a run is that of the engine.
  const tokens: number[] = []
  const firstMasks: number[] = []
  const tick = progress(io, "bench", rows.length)
  if (flags.csv) io.out(csvLine(["id", "verdict", "tokens", "first_mask_us", "avg_us", "max_us"]))
  for (const row of rows) {
    const result = runMaskRow(row.read(), vocabulary, true)
    if (flags.json) io.out(`${JSON.stringify(result)}\n`)
    if (flags.csv) io.out(csvLine(cellsOf(result)))
    if ("refused" in result) io.err(`refused: ${result.id}: ${result.refused}\n`)
    if ("tests" in result) {
      for (const us of result.us ?? []) tokens.push(us)
      firstMasks.push(result.ttfm_us ?? 0)
    }
    tick()
    io.signal.throwIfAborted()
  }
  const machine = machineName()
  const summary = {
    schemas: rows.length,
    refused: rows.length - firstMasks.length,
    token_us: distribution(tokens),
    first_mask_us: distribution(firstMasks),
    machine,
  }
  if (flags.json) io.out(`${JSON.stringify({ summary })}\n`)
  else if (!flags.csv) {
    io.out(`${summary.schemas} schemas, ${summary.refused} refused; ${summary.machine}\n`)
    io.out(`fill + accept per token, µs:   ${describe(summary.token_us)}\n`)
    io.out(`schema text to first mask, µs: ${describe(summary.first_mask_us)}\n`)
  }
  if (flags.html !== undefined) {
    const what = `${summary.schemas} schemas of ${basename(file)}, ${summary.refused} refused`
    await writeText(flags.html, chartPage("The cost of masks", [what, machine], [maskChart(summary)]))
  }
  return Exit.Ok
}

function maskChart({ token_us, first_mask_us }: Record<"token_us" | "first_mask_us", Distribution>): Chart {
  return {
    ...{ title: "Time of masks", unit: "µs", scale: "log" },
    series: ["fill and accept per token", "schema text to first mask"],
    groups: charted.map((share) => ({
      label: share.replace("p999", "p99.9"),
      values: [token_us, first_mask_us].map((times) => (times.n === 0 ? null : times[share])),
    })),
  }
}

function cellsOf(result: MaskResult): (string | number)[] {
  if (!("tests" in result)) return [result.id, "refused", 0, "", "", ""]
  const { n, avg, max } = distribution(result.us ?? [])
  const isRight = result.tests.every(({ valid, accepted }) => valid === accepted)
  return [result.id, isRight ? "pass" : "wrong", n, result.ttfm_us ?? "", avg.toFixed(2), max]
}

interface Distribution {
  n: number
  avg: number
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
}

export function distribution(values: readonly number[]): Distribution {
  const sorted = new Float64Array(values.length)
  for (let i = 0; i < values.length; i++) sorted[i] = values[i]
  sorted.sort()
  const n = sorted.length
  const at = (share: number) => sorted[Math.min(n - 1, Math.floor(n * share))] ?? 0
  const avg = sorted.reduce((sum, value) => sum + value, 0) / Math.max(1, n)
  return { n, avg, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) }
}

function describe({ n, ...shares }: Distribution): string {
  const figures = Object.entries(shares).map(
    ([name, value]) => `${name.replace("p999", "p99.9")} ${value.toPrecision(3)}`,
  )
  return `${figures.join("  ")}  (n ${n})`
}
