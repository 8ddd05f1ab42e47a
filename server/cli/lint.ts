/**
 * `tokenrail compile --target`: reports what other engines do with a JSON Schema, as a table per
 * engine. The exit code is 1 if some engine refuses the schema, drops a keyword or enforces it
 * wrongly.
 */
import { InvalidArgumentError } from "commander"
import {
  type GrammarInput,
  type LintReport,
  type LintTarget,
  lint,
  lintTargets,
} from "../../runtime/index.ts"
import { Exit, type Io, UsageError } from "./exit.ts"

/** Adds one value of the flag to those before it. `all` stands for every target. */
export function addTarget(value: string, before: readonly LintTarget[] = []): LintTarget[] {
  const found = value === "all" ? lintTargets : lintTargets.filter((target) => target === value)
  if (found.length === 0)
    throw new InvalidArgumentError(`Allowed choices are ${lintTargets.join(", ")}, all.`)
  return [...new Set([...before, ...found])]
}

/** Prints what each target does with the schema. Returns the exit code. */
export function lintSchema(
  input: GrammarInput,
  targets: readonly LintTarget[],
  io: Io,
  json = false,
): number {
  if (input.kind !== "json") throw new UsageError("--target reads a JSON Schema: give --schema with it")
  const reports = targets.map((target) => lint(input.schema, target))
  for (const report of reports) {
    if (json) io.out(`${JSON.stringify(report)}\n`)
    else printReport(report, io)
  }
  return reports.some(({ outcome }) => outcome === "refused" || outcome === "lossy") ? Exit.Rejected : Exit.Ok
}

const outcomes: Readonly<Record<LintReport["outcome"], string>> = {
  refused: "refuses this schema",
  lossy: "accepts invalid values",
  narrowed: "accepts valid values only, but not all of them",
  exact: "nothing is lost",
}

function printReport({ title, source, outcome, notes }: LintReport, io: Io): void {
  io.out(`${title}: ${outcomes[outcome]} (${source.name}, ${source.url})\n`)
  for (const { path, keyword, verdict, note, source: own } of notes) {
    const from = own.url === source.url ? "" : ` (${own.name}, ${own.url})`
    io.out(`  ${(path || "/").padEnd(40)} ${keyword.padEnd(22)} ${verdict.padEnd(9)} ${note}${from}\n`)
  }
}
