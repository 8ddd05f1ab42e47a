/**
 * What a row costs on the CPU, beside a sort-based pipeline in plain TypeScript and PyTorch on one thread, on the same rows
 * and in turns; and the grid of vocabularies, parameters, masks and distributions, beside one read of the memory.
 *
 * The plain pipeline is what one writes from a textbook: copy, mask, softmax, sort of all indices, cumulative sum, inverse
 * CDF. Parts: `bars`, `grid`, `gpu`; all of them without an argument. `npm run bench:sampler -- bars`.
 */
import { type StdioOptions, spawnSync } from "node:child_process"
import { cpus } from "node:os"
import { performance } from "node:perf_hooks"
import { open } from "../../runtime/open.ts"
import { Selector } from "../../sampler/fast/select.ts"
import { normalOf, type RowOptions, randomOf, rowOf } from "../support/sampler/rows.ts"
import { swiftshaderEnvironment } from "../support/swiftshader.ts"
import { floorUs, measureReadRate } from "./sampler-floor.ts"
import { type PlainOptions, Torch } from "./torch.ts"

const random = randomOf(1)
const normal = normalOf(random)
const selector = new Selector()

/** The textbook: every stage over the whole vocabulary. */
function sampleBySort(
  row: Float32Array,
  { temperature = 1, topK = 0, topP = 1, minP = 0, mask }: PlainOptions,
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
  while (count < kept.length && mass < topP * total && weights[count] >= minP) mass += weights[count++]
  let rest = u * mass
  for (let at = 0; at < count; at++) {
    rest -= weights[at]
    if (rest < 0) return kept[at]
  }
  return kept[count - 1]
}

interface Bar {
  readonly name: string
  readonly options: PlainOptions
  /** At least so many times as fast as the sort. */
  readonly sort?: number
  /** At most so much of torch's time. */
  readonly torch?: number
  readonly us?: number
}

const few = Array.from({ length: 64 }, (_, at) => 2000 * at + 17)
const bars: readonly Bar[] = [
  { name: "greedy", options: { temperature: 0 }, sort: 250 },
  { name: "temperature", options: { temperature: 0.8 }, sort: 30 },
  { name: "k 50, p .9", options: { topK: 50, topP: 0.9 }, sort: 40, torch: 1 },
  { name: "p .9", options: { topP: 0.9 }, sort: 12 },
  { name: "min-p .05", options: { minP: 0.05 } },
  { name: "64 legal, p .9", options: { mask: few, topP: 0.9 }, us: 20 },
]

/** Side by side, one row of 128,256 from N(0, 1). Ours 300 times after a warm-up, the others between them. */
async function printBars(): Promise<void> {
  const width = 128_256
  const logits = Float32Array.from({ length: width }, normal)
  const torch = await Torch.open(logits)
  console.log(`one row, V ${width}, N(0, 1); medians, and p99 of ours`)
  if (!torch)
    console.log("torch: not found by python3, or by the Python that PYTHON names; its column is skipped")
  console.log("case              sort ms  torch ms   ours µs   p99 µs  × sort  × torch  bars")
  for (const { name, options, sort, torch: torchShare, us } of bars) {
    const row = rowOf(width, { ...options, seed: 5 })
    const times = { ours: [] as number[], sort: [] as number[], torch: [] as number[] }
    let position = 0
    const runOurs = () => selector.select(logits, { ...row, position: position++ })
    for (let run = 0; run < (options.mask ? 5000 : 100); run++) runOurs()
    for (let run = 0; run < 300; run++) {
      times.ours.push(time(runOurs))
      if (run % 25 !== 0) continue
      times.sort.push(time(() => sampleBySort(logits, options, random())))
      if (torch) times.torch.push(await torch.time(options))
      // The others have emptied the caches.
      runOurs()
    }
    const ours = quantile(times.ours, 0.5)
    const sortRatio = quantile(times.sort, 0.5) / ours
    const torchRatio = torch ? quantile(times.torch, 0.5) / ours : undefined
    const verdicts = [
      sort === undefined ? "" : verdict(sortRatio >= sort, `≥ ${sort} × sort`),
      torchShare === undefined || !torchRatio
        ? ""
        : verdict(1 / torchRatio <= torchShare, `≤ ${torchShare.toFixed(1)} torch`),
      us === undefined ? "" : verdict(ours <= us, `≤ ${us} µs`),
    ]
    const cells = [
      name.padEnd(15),
      (quantile(times.sort, 0.5) / 1000).toFixed(1).padStart(9),
      (torch ? (quantile(times.torch, 0.5) / 1000).toFixed(2) : "–").padStart(9),
      ours.toFixed(1).padStart(9),
      quantile(times.ours, 0.99).toFixed(1).padStart(8),
      sortRatio.toFixed(1).padStart(7),
      (torchRatio?.toFixed(1) ?? "–").padStart(8),
      verdicts.filter((each) => each !== "").join(", "),
    ]
    console.log(cells.join(" "))
  }
  torch?.close()
}

function verdict(isMet: boolean, bar: string): string {
  return `${bar} ${isMet ? "met" : "NOT MET"}`
}

const params: readonly [string, RowOptions][] = [
  ["greedy", { temperature: 0 }],
  ["T .8", { temperature: 0.8 }],
  ["k 50", { topK: 50 }],
  ["p .9", { topP: 0.9 }],
  ["k 50, p .9", { topK: 50, topP: 0.9 }],
  ["min-p .05", { minP: 0.05 }],
  ["penalties", { repetitionPenalty: 1.2, frequencyPenalty: 0.2, presencePenalty: 0.1 }],
]

/**
 * µs a row: every vocabulary with a mask of each density, then each distribution. Rows are computed one after the other,
 * so a batch costs their sum; one line says whether that is so.
 */
async function printGrid(): Promise<void> {
  const rate = measureReadRate(() => performance.now())
  console.log(
    `\none thread reads ${(rate / 1e9).toFixed(1)} GB/s; µs a row, median; in brackets: times one read of the row`,
  )
  const header = params.map(([name]) => name.padStart(14)).join("")
  const line = (name: string, logits: Float32Array, mask?: readonly number[]) => {
    const floor = floorUs(logits.length, 1, rate)
    const cells = params.map(([, options]) => {
      const us = medianUs(logits, { ...options, ...(mask ? { mask } : {}) })
      return `${us.toFixed(0)} (${(us / floor).toFixed(1)})`.padStart(14)
    })
    console.log(`${name.padEnd(32)}${cells.join("")}`)
  }
  console.log(`${"".padEnd(32)}${header}`)
  for (const width of [32_000, 49_152, 128_256, 151_936, 256_000]) {
    const logits = Float32Array.from({ length: width }, normal)
    for (const [name, share] of [
      ["no mask", 1],
      ["half", 0.5],
      ["1 %", 0.01],
      ["64 ids", 64 / width],
    ] as const) {
      const ids =
        share === 1
          ? undefined
          : Array.from({ length: Math.round(share * width) }, (_, at) => Math.floor(at / share))
      line(`V ${width}, N(0, 1), ${name}`, logits, ids)
    }
  }
  const width = 128_256
  line(
    `V ${width}, N(0, 5)`,
    Float32Array.from({ length: width }, () => 5 * normal()),
  )
  line(`V ${width}, all but one −∞`, new Float32Array(width).fill(Number.NEGATIVE_INFINITY).fill(1, 77, 78))
  const recorded = await recordLogits()
  line(`V ${recorded.length}, recorded`, recorded)
  const logits = Float32Array.from({ length: width }, normal)
  const row = rowOf(width, { topK: 50, topP: 0.9, seed: 5 })
  const batch = (count: number) => {
    const once = () => {
      for (let index = 0; index < count; index++) selector.select(logits, { ...row, position: index })
    }
    return (
      quantile(
        Array.from({ length: 30 }, () => time(once)),
        0.5,
      ) / count
    )
  }
  const perRow = [1, 8, 32].map((count) => batch(count).toFixed(0))
  console.log(`k 50, p .9 in batches of 1, 8, 32 rows: ${perRow.join(", ")} µs a row`)
}

function medianUs(logits: Float32Array, options: RowOptions): number {
  const prompt = options.repetitionPenalty
    ? Array.from({ length: 1000 }, (_, at) => (at * 127) % logits.length)
    : []
  const row = rowOf(logits.length, { ...options, prompt, seed: 5 })
  const times: number[] = []
  const start = performance.now()
  for (let position = 0; position < 300 && (position < 12 || performance.now() - start < 150); position++) {
    times.push(time(() => selector.select(logits, { ...row, position })))
  }
  return quantile(times.slice(times.length >> 2), 0.5)
}

/** A row of the shipped model's logits, in the middle of a sentence. */
async function recordLogits(): Promise<Float32Array> {
  const engine = await open({ device: "cpu", slots: 1, threads: 1 })
  const options = { maxTokens: 3, seed: 1n, logprobs: -1, logprobsMode: "raw_logits" }
  const { choices } = await engine.generate("Anna Meyer ordered three lamps.", options)
  const last = choices[0].logprobs!.at(-1)!
  const logits = new Float32Array(engine.vocabulary.width).fill(Number.NEGATIVE_INFINITY)
  for (const { token, logprob } of last.top) logits[token] = logprob
  await engine.close()
  return logits
}

/** The device's part is a program of its own: its driver reads the environment when the process starts. */
function runGpu(): void {
  const program = new URL("./sampler-gpu.js", import.meta.url)
  for (const environment of [{}, swiftshaderEnvironment() ?? {}]) {
    const env = { ...process.env, ...environment }
    // The driver that is not there complains at length.
    const stdio: StdioOptions = ["ignore", "inherit", "ignore"]
    if (spawnSync(process.execPath, [program.pathname], { env, stdio }).status === 0) return
  }
  console.log("no WebGPU adapter, hardware or software: the device's part is skipped")
}

function time(work: () => unknown): number {
  const start = performance.now()
  work()
  return 1000 * (performance.now() - start)
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}

const parts = process.argv.length > 2 ? process.argv.slice(2) : ["bars", "grid", "gpu"]
console.log(`${cpus()[0].model}, Node ${process.version}`)
if (parts.includes("bars")) await printBars()
if (parts.includes("grid")) await printGrid()
if (parts.includes("gpu")) runGpu()
