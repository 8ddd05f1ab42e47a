/**
 * Whether this checkout behaves as an older one does, for changes that must not change behaviour.
 *
 * Usage: `npm run verify:unchanged -- --before DIR [--vocab DIR] [--pairs 3] [--only rows,verdicts,speed] [--texts]`. DIR is a
 * checkout of the older state, installed and built; `--vocab` is the tokenizer of MaskBench's token ids, which the last
 * two parts need. Exit 1 when something differs.
 *
 * - rows: SHA-256 of all mask rows over MaskBench and over the schema bombs under both surfaces, and the words of every
 *   refusal (`record.ts`). `--texts` lists words that differ and does not count them.
 * - verdicts: `conformance` on MaskBench and on the five drafts; nothing that was right may be lost.
 * - speed: `bench` in interleaved pairs; no median of ratios may be above 1.03.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { drafts, hasMaskBench } from "../support/validate/corpora.ts"
import type { Recorded } from "./record.ts"

const { values: flags } = parseArgs({
  options: {
    before: { type: "string" },
    vocab: { type: "string" },
    pairs: { type: "string", default: "3" },
    only: { type: "string", default: "rows,verdicts,speed" },
    texts: { type: "boolean", default: false },
  },
})
/** A ratio of medians above this is slower. */
const mostRatio = 1.03
const maskbench = "../shared/data/maskbench-dev.jsonl.gz"
const suite = "../shared/data/json-schema-test-suite"

if (flags.before === undefined || !existsSync(join(flags.before, "dist"))) {
  console.error("usage: --before DIR, a checkout of the older state with its dist")
  process.exit(2)
}
const builds = { before: resolve(flags.before), after: process.cwd() }
const parts = flags.only.split(",")
const folder = mkdtempSync(join(tmpdir(), "unchanged-"))
const faults: string[] = []
try {
  if (parts.includes("rows")) compareRows()
  if (parts.includes("verdicts")) compareVerdicts()
  if (parts.includes("speed")) compareSpeed()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(faults.length === 0 ? "unchanged" : `${faults.length} differences`)
process.exitCode = faults.length === 0 ? 0 : 1

function fault(text: string): void {
  faults.push(text)
  console.log(text)
}

/** Runs a program with its output in a file; its exit code is its own business. */
function run(program: string, args: readonly string[], name: string): string {
  const path = join(folder, name)
  const { status } = spawnSync(process.execPath, [program, ...args], {
    stdio: ["ignore", openSync(path, "w"), "inherit"],
  })
  if (status === null || status > 1) throw new Error(`${program} ${args.join(" ")} ended with ${status}`)
  return path
}

function compareRows(): void {
  const read = (name: "before" | "after"): Map<string, Recorded> => {
    const path = run("dist/test/unchanged/record.js", [builds[name]], `rows-${name}`)
    const lines: Recorded[] = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    return new Map(lines.map((line) => [line.id, line]))
  }
  const [before, after] = [read("before"), read("after")]
  let rows = 0
  let texts = 0
  for (const [id, now] of after) {
    const then = before.get(id)
    rows += now.rows
    if (then?.sha256 !== now.sha256) fault(`${id}: rows differ (${then?.rows} before, ${now.rows} now)`)
    if (then?.refused === now.refused) continue
    texts++
    const said = `${id}:\n  - ${then?.refused}\n  + ${now.refused}`
    const isRefused = then?.refused !== undefined && now.refused !== undefined
    if (flags.texts && isRefused) console.log(said)
    else fault(said)
  }
  const refused = [...after.values()].filter((line) => line.refused !== undefined).length
  console.log(
    `rows: ${after.size} schemas, ${rows} rows, ${refused} refusals, of which ${texts} say other words`,
  )
  if (after.size < 100) fault("rows: there are too few schemas to say anything")
}

function compareVerdicts(): void {
  if (!hasMaskBench) {
    console.log("verdicts: skipped, the corpora are not here")
    return
  }
  const jobs = [
    ...(flags.vocab ? [[maskbench, "--suite", "maskbench", "--vocab", flags.vocab]] : []),
    ...drafts.map(([draft]) => [suite, "--suite", "jsts", "--draft", draft.replace("draft", "")]),
  ]
  if (!flags.vocab) console.log("verdicts: MaskBench skipped, it needs --vocab")
  for (const job of jobs) {
    const name = job.slice(2).join("-").replaceAll("/", "-")
    const conform = (build: string, more: string[], file: string) =>
      run(join(build, "dist/server/main.js"), ["conformance", ...job, "--json", ...more], file)
    const before = conform(builds.before, [], `before-${name}`)
    const after = conform(builds.after, ["--against", before], `after-${name}`)
    const summary = readFileSync(after, "utf8").trim().split("\n").at(-1)!
    console.log(`verdicts ${name}: ${summary}`)
    const lost = JSON.parse(summary).summary?.lost
    if (Array.isArray(lost) ? lost.length > 0 : lost > 0) fault(`verdicts ${name}: lost`)
    if (readFileSync(before, "utf8").length === 0) fault(`verdicts ${name}: nothing was read before`)
  }
}

interface Distribution {
  avg: number
  p50: number
  p99: number
  p999: number
}

function compareSpeed(): void {
  if (!hasMaskBench || !flags.vocab) {
    console.log("speed: skipped, it needs the corpus and --vocab")
    return
  }
  const bench = (build: string, file: string): Record<string, Distribution> => {
    const path = run(
      join(build, "dist/server/main.js"),
      ["bench", "--what", "mask", maskbench, "--vocab", flags.vocab!, "--json"],
      file,
    )
    return JSON.parse(readFileSync(path, "utf8").trim().split("\n").at(-1)!).summary
  }
  const ratios = new Map<string, number[]>()
  for (let pair = 0; pair < Number(flags.pairs); pair++) {
    // Who goes first takes turns: a machine that slows down is fair to both.
    const order = pair % 2 === 0 ? (["before", "after"] as const) : (["after", "before"] as const)
    const got = Object.fromEntries(order.map((name) => [name, bench(builds[name], `bench-${name}-${pair}`)]))
    for (const what of ["token_us", "first_mask_us"])
      for (const share of ["avg", "p50", "p99", "p999"] as const) {
        const name = `${what} ${share}`
        const ratio = got.after[what][share] / got.before[what][share]
        ratios.set(name, [...(ratios.get(name) ?? []), ratio])
      }
  }
  for (const [name, all] of ratios) {
    const middle = all.sort((a, b) => a - b)[all.length >> 1]
    const line = `speed ${name}: ${middle.toFixed(3)} of before (${all.map((ratio) => ratio.toFixed(3)).join(", ")})`
    if (middle > mostRatio) fault(line)
    else console.log(line)
  }
}
