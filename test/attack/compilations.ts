/**
 * Slow compilations at once beside four streams: how long a stream waits for its next token meanwhile.
 *
 * Usage: `node dist/test/attack/compilations.js [--count 10] [--rounds 3] [--fields 300] [--bound-ms 100] [--json]`. Each schema is
 * one that nobody has seen, of so many alternatives that it compiles for one to two seconds. Exit 1 when a stream's gap is longer than
 * the bound, when one is neither answered nor refused with 400, or when others were touched.
 */
import { parseArgs } from "node:util"
import { quantile, row, tally } from "./figures.ts"
import { chatBody, send } from "./requests.ts"
import { report } from "./verdict.ts"
import { Watch } from "./watch.ts"

const { values: flags } = parseArgs({
  options: {
    count: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    fields: { type: "string", default: "300" },
    "bound-ms": { type: "string", default: "100" },
    json: { type: "boolean", default: false },
  },
})

const faults: string[] = []
const rounds: { statuses: string; ms: number; gapMs: number; healthMs: number }[] = []
const watch = await Watch.open()
console.log(row([-14, 7, 7, 7], ["statuses", "ms", "gap ms", "health"]))
const quiet = await watch.during(() => new Promise((resolve) => setTimeout(resolve, 3_000)))
for (let round = 0; round < Number(flags.rounds); round++) {
  const bodies = Array.from({ length: Number(flags.count) }, (_, i) =>
    chatBody({ max_tokens: 8, structured_outputs: { json: slowSchema(1_000 * round + i) } }),
  )
  const { value, damage } = await watch.during(async (port) => {
    const begin = performance.now()
    const got = await Promise.all(bodies.map((body) => send(port, { body, timeoutMs: 60_000 })))
    return { got, ms: performance.now() - begin }
  })
  const wrong = value.got.filter(({ status }) => status !== 200 && status !== 400 && status !== 429)
  if (wrong.length > 0) faults.push(`round ${round}: ${tally(wrong.map(({ status }) => status))}`)
  faults.push(...damage.neighbours.broken)
  const { gapMs } = damage.neighbours
  if (gapMs > Number(flags["bound-ms"])) faults.push(`round ${round}: a stream waited ${gapMs.toFixed(0)} ms`)
  rounds.push({
    statuses: tally(value.got.map(({ status }) => status)),
    ms: value.ms,
    gapMs,
    healthMs: damage.health.gapMs,
  })
  console.log(row([-14, 7, 7, 7], [rounds[round].statuses, value.ms, gapMs, damage.health.gapMs]))
}
await watch.close()
console.log(`in quiet a stream waits at most ${quiet.damage.neighbours.gapMs.toFixed(0)} ms`)
console.log(
  `gaps, median of rounds: ${quantile(
    rounds.map(({ gapMs }) => gapMs),
    0.5,
  ).toFixed(0)} ms`,
)
report("compilations", {
  faults,
  isJson: flags.json,
  figures: { quietGapMs: quiet.damage.neighbours.gapMs, rounds },
})

function slowSchema(seed: number): object {
  const alternatives = (i: number) =>
    Array.from({ length: 6 }, (_, j) => ({
      type: "object",
      properties: { [`x${j}${seed}`]: { pattern: `^a${i}.*${j}` } },
      required: [`x${j}`],
    }))
  const properties = Object.fromEntries(
    Array.from({ length: Number(flags.fields) }, (_, i) => [`k${i}`, { oneOf: alternatives(i) }]),
  )
  return { properties }
}
