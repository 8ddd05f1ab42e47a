/**
 * Some hundred kinds of hostile requests, one kind at a time, while other clients stream and /health is polled.
 *
 * Usage: `node dist/test/attack/kinds.js [--only TEXT] [--every N] [--gap-ms MS] [--profile DIR] [--messages] [--json]`. `--only`
 * takes the kinds whose names contain one of the texts (`a|b`), `--every` each n-th; `--messages` prints what each answer said. Exit 1 when the server died or answered 5xx (503 and 429
 * with their headers are answers of a full line), when a neighbour's stream was touched, when slots were not free
 * again, when an answer did not come, or when /health stood still for more than `--gap-ms` (default: any time).
 */
import { parseArgs } from "node:util"
import { row, tally } from "./figures.ts"
import { bodyKinds, hasAttackFiles } from "./kinds/bodies.ts"
import { constraintKinds } from "./kinds/constraints.ts"
import type { Kinds } from "./kinds/kind.ts"
import { socketKinds } from "./kinds/sockets.ts"
import { type Answer, describe } from "./requests.ts"
import { report } from "./verdict.ts"
import { type Damage, Watch } from "./watch.ts"

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    every: { type: "string", default: "1" },
    "gap-ms": { type: "string", default: "Infinity" },
    profile: { type: "string" },
    messages: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
})

const widths = [-46, -28, 8, 8, 8, 8, 6, 6, 8]
const all: Kinds = { ...bodyKinds, ...constraintKinds, ...socketKinds }
const chosen = Object.entries(all).filter(
  ([name], at) => flags.only.split("|").some((part) => name.includes(part)) && at % Number(flags.every) === 0,
)
const faults: string[] = []
const notes: string[] = []
const gaps: { name: string; gapMs: number; lagMs: number }[] = []

if (!hasAttackFiles) console.log("skipped: the files of ../shared/data/attacks, which are not here")
console.log(row(widths, ["kind", "statuses", "ms", "health", "gap", "lag", "whole", "alive", "MiB"]))
const watch = await Watch.open({
  ...(flags.profile !== undefined && { nodeFlags: ["--cpu-prof", `--cpu-prof-dir=${flags.profile}`] }),
})
for (const [name, kind] of chosen) {
  const { value: answers, damage } = await watch.during(kind)
  const { health, neighbours, death } = damage
  const ms = Math.max(0, ...answers.map((answer) => answer.ms))
  const isWhole = neighbours.broken.length === 0
  console.log(
    row(widths, [
      ...[
        name,
        tally(answers.map(({ status, diedOf }) => (diedOf === null ? status : `${status} died`))).slice(
          0,
          28,
        ),
      ],
      ...[ms, health.gapMs, neighbours.gapMs, health.lagMs],
      ...[isWhole ? "yes" : "NO", death === null ? "yes" : "NO", health.peakMiB],
    ]),
  )
  gaps.push({ name, gapMs: health.gapMs, lagMs: health.lagMs })
  faults.push(...faultsOf(answers, damage).map((fault) => `${name}: ${fault}`))
  const said = answers.filter(
    ({ status, diedOf }) => diedOf !== null || (typeof status === "number" && status >= 500),
  )
  if (flags.messages) for (const line of new Set(answers.map(describe))) console.log(`    ${line}`)
  notes.push(...new Set(said.map((answer) => `${name}: ${describe(answer)}`)))
}
await watch.close()
const worst = gaps.sort((a, b) => b.gapMs - a.gapMs).slice(0, 10)
console.log("largest gaps of /health, with the delay of the poller's own timer:")
for (const { name, gapMs, lagMs } of worst) console.log(row([8, 8], [gapMs, lagMs, name]))
if (notes.length > 0) console.log(["what the failed answers said:", ...notes].join("\n"))
report("kinds", { faults, isJson: flags.json, figures: { kinds: chosen.length, worst } })

function faultsOf(answers: readonly Answer[], { health, neighbours, death, slotsKept }: Damage): string[] {
  const found: string[] = []
  if (death !== null) found.push(`the server died: ${death}`)
  for (const broken of neighbours.broken.slice(0, 2)) found.push(`a neighbour was touched: ${broken}`)
  if (slotsKept > 0) found.push(`${slotsKept} slots or places in the line stayed taken`)
  const failed = answers.filter(isFailure)
  if (failed.length > 0) found.push(`answers: ${tally(failed.map(({ status }) => status))}`)
  const died = answers.filter(({ diedOf }) => diedOf !== null)
  if (died.length > 0) found.push(`streams that died in the middle: ${died.length}`)
  if (health.gapMs > Number(flags["gap-ms"]))
    found.push(`/health stood still for ${Math.round(health.gapMs)} ms`)
  return found
}

/** Whether an answer is a fault of the server. Attackers who left, and what Node's parser cuts off, are none. */
function isFailure({ status, headers }: Answer): boolean {
  if (status === 503 || status === 429) return !("retry-after" in headers && "retry-after-ms" in headers)
  return typeof status === "number" ? status >= 500 : !/^(closed|(\d+ )?left|\d+ timeout)$/.test(status)
}
