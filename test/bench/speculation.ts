/**
 * What drafts save: steps of the model for each token and tokens a second, without drafts, with prompt lookup and with a
 * draft model (the model itself: the most that acceptance can give, and no saving of work), free and constrained, for one
 * sequence and for four. Answers are compared: with and without drafts they are the same.
 * Usage: `node dist/test/bench/speculation.js [model directory [draft model directory]]`.
 */

import { cpus } from "node:os"
import { type Engine, type GenerateOptions, type OpenOptions, open } from "../../runtime/index.ts"

const [, , model, draft = model ?? "runtime/embedded"] = process.argv
const people = ["Ann Miller", "Bo Chen", "Carla Gomez", "Dan Osei", "Eva Lind", "Farid Haddad"]
const prompt = people
  .map((name, at) => `${name} (${20 + 7 * at}) works in Oslo as an editor, order number 44${at}-${9 - at}71.`)
  .join(" ")
const schema = {
  type: "array",
  minItems: 6,
  maxItems: 6,
  items: {
    type: "object",
    properties: {
      name: { type: "string", maxLength: 16 },
      age: { type: "integer", minimum: 0, maximum: 120 },
      city: { type: "string", maxLength: 12 },
      order_number: { type: "string", maxLength: 12 },
    },
    required: ["name", "age", "city", "order_number"],
    additionalProperties: false,
  },
}
const tasks: [name: string, options: GenerateOptions][] = [
  ["free, greedy", { temperature: 0, maxTokens: 120, ignoreEos: true }],
  ["free, T 0.8", { temperature: 0.8, maxTokens: 120, ignoreEos: true }],
  ["JSON, greedy", { temperature: 0, maxTokens: 200, schema }],
  ["JSON, T 0.8", { temperature: 0.8, maxTokens: 200, schema }],
]
const modes: [name: string, speculation: OpenOptions["speculation"]][] = [
  ["none", null],
  ["prompt lookup", { method: "ngram" }],
  ["draft model", { method: "model", model: draft, tokens: 4 }],
]

async function run(engine: Engine, options: GenerateOptions, count: number) {
  const { metrics } = engine
  const before = { ...metrics }
  const start = performance.now()
  const results = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      engine.generate(prompt, { ...options, seed: BigInt(at) }).catch(String),
    ),
  )
  const seconds = (performance.now() - start) / 1000
  const tokens = metrics.completionTokens - before.completionTokens
  const drafted = metrics.draftedTokens - before.draftedTokens
  const accepted = metrics.acceptedTokens - before.acceptedTokens
  return {
    text: results.map((result) => (typeof result === "string" ? result : result.text)).join("\n"),
    steps: ((metrics.steps - before.steps) * count) / tokens,
    rate: tokens / seconds,
    accepted: drafted > 0 ? (100 * accepted) / drafted : Number.NaN,
  }
}

console.log(`machine: ${cpus().length} × ${cpus()[0].model}, Node ${process.version}`)
console.log("task            batch  drafts           steps/token  tokens/s  accepted %")
const expected = new Map<string, string>()
let differing = 0
for (const [mode, speculation] of modes) {
  const engine = await open({
    ...(model !== undefined && { model }),
    device: "cpu",
    threads: 1,
    slots: 4,
    speculation,
  })
  await run(engine, { maxTokens: 8 }, 1)
  for (const [task, options] of tasks) {
    for (const count of [1, 4]) {
      const { text, steps, rate, accepted } = await run(engine, options, count)
      const key = `${task} ${count}`
      if (text !== (expected.get(key) ?? text)) differing++
      expected.set(key, text)
      console.log(
        task.padEnd(16) +
          String(count).padStart(5) +
          `  ${mode}`.padEnd(19) +
          steps.toFixed(3).padStart(11) +
          rate.toFixed(0).padStart(10) +
          (Number.isNaN(accepted) ? "-" : accepted.toFixed(1)).padStart(12),
      )
    }
  }
  await engine.close()
}
console.log(`${differing} answers differ from those without drafts`)
process.exitCode = differing > 0 ? 1 : 0
