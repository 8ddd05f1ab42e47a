/**
 * Nasty schemas, one at a time in a stream of its own, while four other clients stream.
 *
 * Usage: `node dist/test/attack/schemas.js [--count 300] [--seed 1] [--only TEXT] [--head-ms 3000] [--profile DIR] [--json]`.
 * The generators take turns, each with growing sizes; every third answer is to be closed within its budget. Exit 1
 * when one is neither answered nor refused with 400, when its status line takes longer than `--head-ms`, when a stream
 * ends in an error after it has begun, or when others were touched.
 */
import { parseArgs } from "node:util"
import { randomOf } from "../support/oracle.ts"
import { quantile, row, tally } from "./figures.ts"
import { chatBody, describe, send } from "./requests.ts"
import { schemaText } from "./schemas/generator.ts"
import { logicSchemas } from "./schemas/logic.ts"
import { valueSchemas } from "./schemas/values.ts"
import { report } from "./verdict.ts"
import { Watch } from "./watch.ts"

const { values: flags } = parseArgs({
  options: {
    count: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    "head-ms": { type: "string", default: "3000" },
    profile: { type: "string" },
    json: { type: "boolean", default: false },
  },
})

const wholeMs = 30_000
const generators = Object.entries({ ...logicSchemas, ...valueSchemas })
const nasty = Array.from({ length: Number(flags.count) }, (_, i) => {
  const [name, generate] = generators[i % generators.length]
  const size = Math.floor(i / generators.length)
  const seed = 1_000 * Number(flags.seed) + i
  return { name: `${name} ${size}`, seed, text: schemaText(generate(randomOf(seed), size)) }
}).filter(({ name }) => name.includes(flags.only))

const faults: string[] = []
const died: string[] = []
const results: {
  name: string
  status: string
  headMs: number
  ms: number
  healthMs: number
  gapMs: number
  lagMs: number
}[] = []
const watch = await Watch.open({
  ...(flags.profile !== undefined && { nodeFlags: ["--cpu-prof", `--cpu-prof-dir=${flags.profile}`] }),
})
for (const [at, { name, seed, text }] of nasty.entries()) {
  const isClosed = at % 3 === 2
  const fields = {
    max_tokens: 60,
    stream: true,
    seed,
    ...(isClosed && { tokenrail: { on_length: "close" } }),
  }
  const body = `${chatBody(fields).slice(0, -1)},"structured_outputs":{"json":${text}}}`
  const { value: answer, damage } = await watch.during((port) => send(port, { body, timeoutMs: wholeMs }))
  const { health, neighbours, death, slotsKept } = damage
  const { status, headMs, ms, diedOf } = answer
  results.push({
    ...{ name: `${name}${isClosed ? ", closed" : ""}`, status: String(status), headMs, ms },
    ...{ healthMs: health.gapMs, gapMs: neighbours.gapMs, lagMs: health.lagMs },
  })
  const found = [
    ...(status === 200 || status === 400 ? [] : [`status ${describe(answer)}`]),
    ...(headMs > Number(flags["head-ms"]) ? [`${Math.round(headMs)} ms to the status line`] : []),
    ...(death === null ? [] : [`the server died: ${death}`]),
    ...neighbours.broken.slice(0, 1).map((broken) => `a neighbour was touched: ${broken}`),
    ...(slotsKept > 0 ? [`${slotsKept} slots stayed taken`] : []),
  ]
  for (const fault of found) {
    console.log(`${name}: ${fault}`)
    faults.push(`${name}: ${fault}`)
  }
  if (diedOf !== null) died.push(`${name}${isClosed ? ", closed" : ""}: ${diedOf}`)
}
await watch.close()

console.log(`${results.length} schemas: ${tally(results.map(({ status }) => status))}`)
for (const [what, of] of [
  ["to the status line", (result) => result.headMs],
  ["gap of /health", (result) => result.healthMs],
  ["gap of a neighbour", (result) => result.gapMs],
] satisfies [string, (result: (typeof results)[number]) => number][]) {
  const values = results.map(of)
  console.log(
    `ms ${what}: median ${quantile(values, 0.5).toFixed(0)}, p90 ${quantile(values, 0.9).toFixed(0)}, largest ${quantile(values, 1).toFixed(0)}`,
  )
}
const widths = [-36, -8, 8, 8, 8, 8, 6]
console.log(
  row(widths, ["the worst by the neighbours' gap", "status", "head", "whole", "health", "gap", "lag"]),
)
const worst = results.sort((a, b) => b.gapMs - a.gapMs).slice(0, 10)
for (const { name, status, headMs, ms, healthMs, gapMs, lagMs } of worst) {
  console.log(row(widths, [name, status, headMs, ms, healthMs, gapMs, lagMs]))
}
console.log(`died in the middle: ${died.length}`)
for (const line of died) console.log(`  ${line}`)
report("schemas", {
  // What died in the middle failed alone and with its own error: a figure, and no fault of the server's.
  faults,
  isJson: flags.json,
  figures: { schemas: results.length, died: died.length },
})
