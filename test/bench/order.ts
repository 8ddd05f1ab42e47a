/**
 * Many streams at once on one process: each must have the text of the same request alone, piece by piece in its order, and none may
 * starve. A fourth of them each is free, under a schema, under a pattern, and calls a tool.
 *
 * Prints how many streams differ, how far the first of them was ahead of the last while all of them ran, in tokens, and gaps. Exit 1
 * where one differs, or where one is more than eight tokens ahead: text waits for whole characters.
 *
 * Usage: `node dist/test/bench/order.js [--streams 500] [--tokens 100] [--alone 16]`. `--alone`: whole requests at once.
 */
import { Agent } from "node:http"
import { cpus } from "node:os"
import { parseArgs } from "node:util"
import { quantile } from "../attack/figures.ts"
import { chat } from "../attack/requests.ts"
import { AttackedServer } from "../attack/server.ts"
import { type Streamed, streamed } from "./streamed.ts"

const { values: flags } = parseArgs({
  options: {
    streams: { type: "string", default: "500" },
    tokens: { type: "string", default: "100" },
    alone: { type: "string", default: "16" },
  },
})

const count = Number(flags.streams)
const schema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 8 },
    sizes: { type: "array", items: { type: "integer" } },
  },
  required: ["name", "sizes"],
}
const kinds: readonly object[] = [
  { ignore_eos: true },
  { response_format: { type: "json_schema", json_schema: { schema } } },
  { structured_outputs: { regex: `[a-z ]{${flags.tokens}}` } },
  {
    tools: [{ type: "function", function: { name: "note", parameters: schema } }],
    tool_choice: "required",
    tokenrail: { tools_in_prompt: false },
  },
]
const fieldsOf = (seed: number) => ({ max_tokens: Number(flags.tokens), seed, ...kinds[seed % kinds.length] })
const usage = { continuous_usage_stats: true }
const seeds = Array.from({ length: count }, (_, seed) => seed)

const server = new AttackedServer({ flags: ["--slots", String(count), "--max-connections", "4096"] })
await server.start()
const alone = await wholeTexts()
const agent = new Agent({ keepAlive: true })
const begin = performance.now()
const streams = await Promise.all(
  seeds.map((seed) => streamed(server.port, agent, { ...fieldsOf(seed), stream_options: usage })),
)
const seconds = (performance.now() - begin) / 1000
agent.destroy()
await server.stop()

const different = seeds.filter((seed) => streams[seed].pieces.join("") !== alone[seed])
const pieces = streams.reduce((sum, stream) => sum + stream.pieces.length, 0)
const first = streams.map(({ times, sentAt }) => times[0] - sentAt)
const gaps = streams.map(({ times }) => Math.max(0, ...times.slice(1).map((time, at) => time - times[at])))
const ms = (values: number[], part: number) => quantile(values, part).toFixed(0)
const { ahead, together } = leadOf(streams)
console.log(`${cpus()[0]?.model}, node ${process.version}`)
console.log(`${count} streams at once, ${pieces} pieces in ${seconds.toFixed(1)} s`)
console.log(`  ${different.length} differ from the same request alone and whole`)
console.log(`  first piece after p50 ${ms(first, 0.5)}, last of all ${ms(first, 1)} ms`)
console.log(`  longest gap of a stream p50 ${ms(gaps, 0.5)}, of all ${ms(gaps, 1)} ms`)
console.log(
  `  of the free ones, while all run, the first is ${ahead} tokens ahead of the last at most, of ${together}`,
)
for (const seed of different.slice(0, 3))
  console.log(
    `  seed ${seed}: ${JSON.stringify(streams[seed].pieces.join(""))} instead of ${JSON.stringify(alone[seed])}`,
  )
if (different.length > 0 || ahead > 8) process.exitCode = 1

/** The same requests, not streamed, few at once. */
async function wholeTexts(): Promise<string[]> {
  const texts: string[] = []
  let next = 0
  const client = async () => {
    while (next < count) {
      const seed = next++
      const { status, text } = await chat(server.port, fieldsOf(seed), { timeoutMs: 120_000 })
      if (status !== 200) throw new Error(`status ${status}: ${text.slice(0, 300)}`)
      const { content, tool_calls: calls } = JSON.parse(text).choices[0].message
      texts[seed] =
        calls === undefined ? content : calls.map((call: Call) => call.function.arguments).join("")
    }
  }
  await Promise.all(Array.from({ length: Number(flags.alone) }, client))
  return texts
}

interface Call {
  function: { arguments: string }
}

/**
 * Of the free streams, from when all of them had a token until the first of them had its last: how many tokens the first of them was
 * ahead of the last, at most, and how many each had.
 */
function leadOf(all: readonly Streamed[]): { ahead: number; together: number } {
  const free = all.filter((_, seed) => seed % kinds.length === 0)
  const from = Math.max(...free.map(({ times }) => times[0]))
  const to = Math.min(...free.map(({ times }) => times.at(-1)!))
  const events = free.flatMap(({ times, tokens }, stream) =>
    times.map((time, at) => ({ time, stream, count: tokens[at] })),
  )
  events.sort((a, b) => a.time - b.time)
  // Each began at a step of its own: what counts is how far it comes from there.
  const begun = free.map(({ times, tokens }) => tokens[times.findLastIndex((time) => time <= from)])
  const counts = free.map(() => 0)
  let ahead = 0
  for (const { time, stream, count } of events) {
    if (time <= from || time > to) continue
    counts[stream] = count - begun[stream]
    ahead = Math.max(ahead, counts[stream] - Math.min(...counts))
  }
  return { ahead, together: Math.min(...counts) }
}
