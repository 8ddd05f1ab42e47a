/**
 * What a row costs: the CPU sampler beside a sort-based pipeline in plain TypeScript, on the same rows, side by side.
 *
 * The plain pipeline is what one writes from a textbook: copy, mask, softmax, sort of all indices,
 * cumulative sum, inverse CDF. It is warmed up and timed in turns with ours. Run after a build of this file:
 *   npx tsc -p tsconfig.json --noEmit false --outDir dist-bench && node dist-bench/test/bench/sampler.js
 */
import { cpus } from "node:os"
import { performance } from "node:perf_hooks"
import { Selector } from "../../sampler/select.ts"
import { maskOf, normalOf, randomOf, rowOf } from "../sampler/rows.ts"

const width = 128_256
const random = randomOf(1)
const normal = normalOf(random)
const logits = Float32Array.from({ length: width }, normal)

interface PlainOptions {
  temperature?: number
  topK?: number
  topP?: number
  minP?: number
  mask?: readonly number[]
}

/** The textbook: every stage over the whole vocabulary. */
function sampleBySort(
  row: Float32Array,
  { temperature = 1, topK = 0, topP = 1, mask }: PlainOptions,
  u: number,
): number {
  const values = Float32Array.from(row)
  if (mask) {
    const set = new Set(mask)
    for (let id = 0; id < values.length; id++) if (!set.has(id)) values[id] = Number.NEGATIVE_INFINITY
  }
  const order = Int32Array.from(values.keys()).sort((a, b) => values[b] - values[a])
  if (temperature === 0) return order[0]
  const kept = order.subarray(0, topK > 0 ? topK : order.length)
  const max = values[kept[0]]
  const weights = Float64Array.from(kept, (id) => Math.exp((values[id] - max) / temperature))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let mass = 0
  let count = 0
  while (count < kept.length && mass < topP * total) mass += weights[count++]
  let rest = u * mass
  for (let at = 0; at < count; at++) {
    rest -= weights[at]
    if (rest < 0) return kept[at]
  }
  return kept[count - 1]
}

const legal = Array.from({ length: 64 }, (_, at) => 2000 * at + 17)
const cases: [string, PlainOptions, number][] = [
  ["greedy", { temperature: 0 }, 250],
  ["temperature", { temperature: 0.8 }, 30],
  ["top-k 50, top-p .9", { topK: 50, topP: 0.9 }, 40],
  ["top-p .9", { topP: 0.9 }, 12],
  ["min-p .05", { minP: 0.05 }, 0],
  ["64 legal tokens", { mask: legal, topP: 0.9 }, 0],
]

const selector = new Selector()
console.log(
  `${cpus()[0].model}, Node ${process.version}, V ${width}, N(0, 1), one row; median and p99 of runs`,
)
console.log("case                 sort ms   ours µs   p99 µs   ratio   bar")
for (const [name, options, bar] of cases) {
  const row = rowOf(width, { ...options, seed: 5 })
  const mask = options.mask ? maskOf(width, legal) : row.mask
  const ours: number[] = []
  const plain: number[] = []
  for (let run = 0; run < 300; run++) {
    const start = performance.now()
    selector.select(logits, { ...row, mask, position: run })
    if (run >= 30) ours.push(performance.now() - start)
    if (run % 30 !== 0) continue
    const plainStart = performance.now()
    sampleBySort(logits, options, random())
    if (run >= 30) plain.push(performance.now() - plainStart)
  }
  const ratio = quantile(plain, 0.5) / quantile(ours, 0.5)
  const cells = [
    name.padEnd(18),
    quantile(plain, 0.5).toFixed(1).padStart(9),
    (1000 * quantile(ours, 0.5)).toFixed(1).padStart(9),
    (1000 * quantile(ours, 0.99)).toFixed(1).padStart(8),
    `${ratio.toFixed(1)}×`.padStart(9),
    bar > 0 ? `≥ ${bar}×`.padStart(7) : "",
  ]
  console.log(cells.join(" "))
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}
