/**
 * What a constraint costs in the whole engine: the same model, prompts and token counts, with and without a schema, in
 * one process and in turn. Prints tokens a second of both, their ratio, and the time to fill a mask and to accept a
 * token. Usage: `node dist/test/bench/engine.js [cpu|gpu|auto]`.
 */

import { cpus } from "node:os"
import { quantile } from "../../runtime/engine/metrics.ts"
import { type Engine, type GenerateOptions, open } from "../../runtime/index.ts"

const schema = {
  type: "object",
  properties: {
    people: {
      type: "array",
      minItems: 60,
      items: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 3, maxLength: 20 },
          age: { type: "integer", minimum: 0, maximum: 120 },
          role: { enum: ["admin", "editor", "viewer"] },
          mail: { type: "string", pattern: "^[a-z]{2,8}@[a-z]{2,8}\\.(com|org)$" },
          tags: { type: "array", items: { type: "string", maxLength: 12 }, maxItems: 3 },
        },
        required: ["name", "age", "role", "mail"],
        additionalProperties: false,
      },
    },
  },
  required: ["people"],
  additionalProperties: false,
}

const tokenCount = 200
const rounds = 5

interface Run {
  tokens: number
  elapsedMs: number
  forced: number
  maskUs: number[]
  acceptUs: number[]
}

async function run(engine: Engine, count: number, options: GenerateOptions): Promise<Run> {
  const start = performance.now()
  const generations = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      engine.start(`List some people, please (${index}).`, {
        ...options,
        seed: BigInt(index),
        maxTokens: tokenCount,
      }),
    ),
  )
  const results = await Promise.all(generations.map((generation) => generation.result))
  const sequences = generations.flatMap((generation) => generation.sequences)
  return {
    tokens: results.reduce((sum, { usage }) => sum + usage.completionTokens, 0),
    elapsedMs: performance.now() - start,
    forced: results.reduce((sum, { usage }) => sum + usage.forcedTokens, 0),
    maskUs: sequences.flatMap((sequence) => sequence.maskUs),
    acceptUs: sequences.flatMap((sequence) => sequence.acceptUs),
  }
}

const median = (values: number[]): number => quantile(values, 0.5)
const show = (value: number, digits = 1): string => value.toFixed(digits).padStart(9)

const device = (process.argv[2] ?? "cpu") as "auto" | "gpu" | "cpu"
const engine = await open({ device, log: console.log })
console.log(`machine: ${cpus().length} × ${cpus()[0].model}, Node ${process.version}`)
console.log(`model: ${engine.model.id}, ${engine.model.width} columns, context ${engine.model.contextLength}`)
console.log(`${rounds} rounds of ${tokenCount} tokens a sequence; medians of the rounds`)
const free: GenerateOptions = { ignoreEos: true, temperature: 1 }
const bound: GenerateOptions = { schema, temperature: 1 }
await run(engine, 2, free)
await run(engine, 2, bound)
console.log("batch     free/s  bound/s    ratio  forced%   fill µs p50      p99  accept p50      p99")
for (const count of [1, 8]) {
  const pairs: { free: Run; bound: Run }[] = []
  for (let round = 0; round < rounds; round++) {
    pairs.push({ free: await run(engine, count, free), bound: await run(engine, count, bound) })
  }
  const rate = ({ tokens, elapsedMs }: Run): number => (1000 * tokens) / elapsedMs
  const masks = pairs.flatMap(({ bound }) => bound.maskUs)
  const accepts = pairs.flatMap(({ bound }) => bound.acceptUs)
  const forced = median(pairs.map(({ bound }) => (100 * bound.forced) / bound.tokens))
  console.log(
    [
      String(count).padStart(5),
      show(median(pairs.map((pair) => rate(pair.free)))),
      show(median(pairs.map((pair) => rate(pair.bound)))),
      show(median(pairs.map((pair) => rate(pair.bound) / rate(pair.free))), 2),
      show(forced),
      show(quantile(masks, 0.5), 2),
      show(quantile(masks, 0.99), 2),
      show(quantile(accepts, 0.5), 2),
      show(quantile(accepts, 0.99), 2),
    ].join(""),
  )
}
await engine.close()
