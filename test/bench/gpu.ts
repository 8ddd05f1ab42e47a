/**
 * What it gains that logits stay on the GPU: answers with seeds and tokens per second of the model
 * runtimes `web` and `node` on the same GPU, and the bytes that each step of `web` moves.
 *
 *   node dist/test/bench/gpu.js [--model DIR] [--seeds 100] [--batches 1,8,64] [--tokens 64] [--only web]
 *
 * Without a model it writes a tiny graph with random weights, for which a software adapter will do.
 * Answers are compared with those of the CPU: graphs with 4-bit weights round differently there, so
 * the number of equal ones is printed, and the average length of the equal part. Times of single
 * kernels are printed by `sampler.js`.
 */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { parseArgs } from "node:util"
import { type DeviceTraffic, type Engine, open } from "../../runtime/index.ts"
import { writeTinyModel } from "../support/onnx.ts"

const { values } = parseArgs({
  options: {
    model: { type: "string" },
    seeds: { type: "string", default: "100" },
    batches: { type: "string", default: "1,8,64" },
    tokens: { type: "string", default: "64" },
    only: { type: "string" },
  },
})
const model = values.model ?? writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { isGrouped: true })
const batches = values.batches.split(",").map(Number)
const maxTokens = Number(values.tokens)
const seedCount = Number(values.seeds)
const slots = Math.max(...batches)
const nouns = ["river", "stone", "cloud", "engine", "garden", "letter", "window"]

function start(engine: Engine, seed: number) {
  const prompt = `Write about a ${nouns[seed % nouns.length]}${" and another".repeat(seed % 5)}.`
  return engine.start(prompt, {
    seed: BigInt(seed),
    temperature: 0.8,
    topP: 0.95,
    maxTokens,
    ignoreEos: true,
  })
}

async function answers(engine: Engine): Promise<number[][]> {
  const found: number[][] = []
  for (let first = 0; first < seedCount; first += slots) {
    const count = Math.min(slots, seedCount - first)
    const running = await Promise.all(Array.from({ length: count }, (_, at) => start(engine, first + at)))
    for (const { result } of running) found.push([...(await result).choices[0].tokens])
  }
  return found
}

/** Tokens per second of a number of answers at once, after one round that compiles kernels. */
async function speed(engine: Engine, batch: number): Promise<number> {
  let rate = 0
  for (let round = 0; round < 2; round++) {
    const running = await Promise.all(Array.from({ length: batch }, (_, at) => start(engine, 1000 + at)))
    const begun = performance.now()
    const results = await Promise.all(running.map(({ result }) => result))
    const count = results.reduce((sum, { usage }) => sum + usage.completionTokens, 0)
    rate = (1000 * count) / (performance.now() - begun)
  }
  return rate
}

function perToken(before: DeviceTraffic, after: DeviceTraffic, tokens: number): string {
  const bytes = (side: keyof DeviceTraffic, key: "uploadedBytes" | "readBytes"): string =>
    ((after[side][key] - before[side][key]) / tokens).toFixed(1)
  return [
    `model up ${bytes("model", "uploadedBytes")} down ${bytes("model", "readBytes")}`,
    `sampler up ${bytes("sampler", "uploadedBytes")} down ${bytes("sampler", "readBytes")}`,
  ].join(", ")
}

function compare(one: readonly number[][], other: readonly number[][]): string {
  let equal = 0
  let shared = 0
  for (const [index, tokens] of one.entries()) {
    const differs = tokens.findIndex((token, at) => token !== other[index][at])
    if (differs < 0) equal++
    shared += differs < 0 ? tokens.length : differs
  }
  return `${equal} of ${one.length} answers equal, the first ${(shared / one.length).toFixed(1)} tokens on average`
}

const cpu = await open({ model, device: "cpu", slots })
const expected = await answers(cpu)
await cpu.close()
for (const runtime of (["web", "node"] as const).filter((name) => (values.only ?? name) === name)) {
  const lines: string[] = []
  const engine = await open({ model, device: "gpu", runtime, slots, log: (line) => lines.push(line) })
  console.log(lines.at(-1))
  const before = engine.deviceTraffic()
  const found = await answers(engine)
  console.log(`  against the CPU: ${compare(found, expected)}`)
  if (before)
    console.log(`  bytes a token: ${perToken(before, engine.deviceTraffic()!, seedCount * maxTokens)}`)
  for (const batch of batches)
    console.log(`  ${batch} at once: ${(await speed(engine, batch)).toFixed(1)} tokens/s`)
  await engine.close()
}
