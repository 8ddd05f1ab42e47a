/**
 * The same request gives the same tokens: alone, in a batch with others coming and going, and with drafts.
 *
 * Every kind of request (greedy, sampled, filtered, penalised, constrained, closed) is answered alone first; then all of
 * them at once, in another order and among requests that are cut off; then with drafts of each drafter. Prints how many
 * answers differ in any token, tokens a step, the share of drafted tokens that stayed, and how often a draw had to be
 * repeated from plain logits. Exit code 1 when one answer differs.
 * Usage: `node dist/test/bench/reproduce.js [requests] [model directory]`.
 */

import { type Engine, type GenerateOptions, type OpenOptions, open } from "../../runtime/index.ts"

const count = Number(process.argv[2] ?? 1000)
const model = process.argv[3]

const schema = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 12 },
    age: { type: "integer", minimum: 0, maximum: 120 },
    role: { enum: ["admin", "editor", "viewer"] },
  },
  required: ["name", "age", "role"],
  additionalProperties: false,
}
const kinds: GenerateOptions[] = [
  { temperature: 0, ignoreEos: true },
  { temperature: 1, ignoreEos: true },
  { temperature: 0.7, topK: 50, topP: 0.9, ignoreEos: true },
  { temperature: 0.8, minP: 0.05, repetitionPenalty: 1.1, ignoreEos: true },
  { temperature: 1, schema },
  { temperature: 0, schema },
  { temperature: 0.8, schema, onLength: "close", maxTokens: 30 },
  { temperature: 1, regex: "([a-z]{3,6} ){4}[0-9]{2}-[0-9]{3}" },
]
const words = "red ship order from Ann Miller of 12 May costs 340 euros and weighs nine kilos in Oslo".split(
  " ",
)

const promptOf = (index: number): string =>
  Array.from(
    { length: 4 + (index % 23) },
    (_, at) => words[(index * 7 + at * (1 + (index % 5))) % words.length],
  ).join(" ")
const optionsOf = (index: number): GenerateOptions => ({
  maxTokens: 16 + (index % 17),
  ...kinds[index % kinds.length],
  seed: BigInt(index),
})

type Answer = readonly number[]

async function answers(engine: Engine, order: readonly number[], width: number): Promise<Answer[]> {
  const found: Answer[] = []
  const rest = [...order]
  const worker = async (lane: number): Promise<void> => {
    for (let index = rest.shift(); index !== undefined; index = rest.shift()) {
      const generation = await engine.start(promptOf(index), optionsOf(index))
      // A neighbour that is cut off somewhere.
      const other =
        width > 1 && index % 3 === 0 ? await engine.start(promptOf(index + 1), { temperature: 1 }) : null
      if (other) setTimeout(() => other.cancel(), (index * 13 + lane) % 97)
      found[index] = (await generation.result).choices[0].tokens
      other?.cancel()
    }
  }
  await Promise.all(Array.from({ length: width }, (_, lane) => worker(lane)))
  return found
}

const inOrder = Array.from({ length: count }, (_, index) => index)
const shuffled = inOrder.map((index) => (index * 379) % count)
if (new Set(shuffled).size !== count) shuffled.splice(0, count, ...inOrder.toReversed())

const modes: [name: string, options: OpenOptions, width: number][] = [
  ["alone", { slots: 1 }, 1],
  ["in a batch of 8", { slots: 8 }, 6],
  ["prompt lookup", { slots: 8, speculation: { method: "ngram" } }, 6],
  ["draft model", { slots: 8, speculation: { method: "model", model: model ?? "runtime/embedded" } }, 6],
]
let expected: Answer[] = []
let differing = 0
console.log(`${count} requests of ${kinds.length} kinds`)
console.log("                 differ   tokens  tokens/step  drafted  stayed %  replays  seconds")
for (const [name, options, width] of modes) {
  const engine = await open({ ...(model !== undefined && { model }), device: "cpu", threads: 1, ...options })
  const start = performance.now()
  const found = await answers(engine, width === 1 ? inOrder : shuffled, width)
  const seconds = (performance.now() - start) / 1000
  if (width === 1) expected = found
  const wrong = found.filter((tokens, index) => tokens.join() !== expected[index].join()).length
  differing += wrong
  const { completionTokens, steps, draftedTokens, acceptedTokens, replays } = engine.metrics
  console.log(
    [
      name.padEnd(15),
      String(wrong).padStart(8),
      String(completionTokens).padStart(9),
      (completionTokens / steps).toFixed(2).padStart(13),
      String(draftedTokens).padStart(9),
      (draftedTokens === 0 ? "-" : ((100 * acceptedTokens) / draftedTokens).toFixed(1)).padStart(10),
      String(replays).padStart(9),
      seconds.toFixed(1).padStart(9),
    ].join(""),
  )
  await engine.close()
}
process.exitCode = differing > 0 ? 1 : 0
