/**
 * A moderate load for an hour: thousands of schemas in rotation, streams and whole answers, and the server's memory.
 *
 * Usage: `node dist/test/attack/soak.js [minutes, 60] [--schemas 5000] [--clients 6] [--seed 1] [--json]`. Memory is read every second
 * and its median printed every minute. Exit 1 on an answer that is neither 200 nor 400, and when memory is not flat over
 * the last half: when the fitted line rises there by more than 3 %, or the medians of its three thirds lie further apart.
 * Single minutes say nothing: between two collections V8's old generation grows and shrinks by a fifth.
 */
import { setTimeout } from "node:timers/promises"
import { parseArgs } from "node:util"
import { randomOf } from "../support/oracle.ts"
import { randomSchema } from "../support/schemas.ts"
import { fitLine, median, tally } from "./figures.ts"
import { chat, describe } from "./requests.ts"
import { among, type Random, repeat, whole } from "./schemas/generator.ts"
import { AttackedServer, residentMiB } from "./server.ts"
import { report } from "./verdict.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    schemas: { type: "string", default: "5000" },
    clients: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
})

const sampleMs = 1_000
const samplesAMinute = 60_000 / sampleMs
const flat = 0.03
const words = [
  "name",
  "city",
  "price",
  "count",
  "status",
  "created",
  "email",
  "tags",
  "note",
  "owner",
  "score",
  "kind",
]

const minutes = Number(positionals[0] ?? 60)
const faults: string[] = []
const statuses: (string | number)[] = []
const samples: number[] = []
const server = new AttackedServer()
await server.start()
const begin = performance.now()
const end = begin + minutes * 60_000
let next = 0
await Promise.all([...Array.from({ length: Number(flags.clients) }, answer), sample()])
const rate = (1000 * statuses.length) / (performance.now() - begin)
await server.stop()

const last = samples.slice(samples.length >> 1)
const third = Math.max(1, Math.floor(last.length / 3))
const medians = repeat(3, (i) => median(last.slice(i * third, (i + 1) * third)))
const line = fitLine(last)
const rise = (line.last - line.first) / line.first
const spread = (Math.max(...medians) - Math.min(...medians)) / Math.min(...medians)
const percent = (part: number) => `${(100 * part).toFixed(1)} %`
console.log(`${statuses.length} answers, ${rate.toFixed(1)} a second: ${tally(statuses)}`)
console.log(
  `resident over the last half: the line rises by ${percent(rise)}, thirds of ${medians.map((mib) => mib.toFixed(0)).join(", ")} MiB lie ${percent(spread)} apart`,
)
if (rise > flat || spread > flat) faults.push(`memory is not flat: ${percent(rise)}, ${percent(spread)}`)
report("soak", {
  faults,
  isJson: flags.json,
  figures: { minutes, answers: statuses.length, rate, rise, spread, samples },
})

async function answer(): Promise<void> {
  while (performance.now() < end && server.diedOf === null) {
    const number = next++
    const json = typicalSchema(number % Number(flags.schemas))
    const shape = { stream: number % 2 === 0, ...(number % 5 === 0 && { tokenrail: { on_length: "close" } }) }
    const fields = { structured_outputs: { json }, max_tokens: 20 + (number % 60), seed: number, ...shape }
    const got = await chat(server.port, fields)
    statuses.push(got.diedOf === null ? got.status : `${got.status} died`)
    if ((got.status !== 200 && got.status !== 400) || got.diedOf !== null) {
      faults.push(`request ${number}: ${describe(got)}`)
      console.log(faults.at(-1))
    }
    await setTimeout(20)
  }
  if (server.diedOf !== null && !faults.some((fault) => fault.startsWith("the server died"))) {
    faults.push(`the server died: ${server.diedOf}`)
  }
}

async function sample(): Promise<void> {
  while (performance.now() < end && server.diedOf === null) {
    await setTimeout(Math.min(sampleMs, end - performance.now()))
    samples.push(residentMiB(server.pid))
    if (samples.length % samplesAMinute === 0) {
      const minute = samples.length / samplesAMinute
      console.log(
        `minute ${minute}: ${median(samples.slice(-samplesAMinute)).toFixed(0)} MiB, ${statuses.length} answers`,
      )
    }
  }
}

/** A schema of a usual kind; every fourth is a random one of any keyword. */
function typicalSchema(number: number): unknown {
  const random = randomOf(Number(flags.seed) * 7_919 + number)
  return number % 4 === 3 ? randomSchema(number) : record(random, number, number % 10 === 0 ? 3 : 1)
}

function record(random: Random, number: number, depth: number): object {
  const fields = repeat(3 + whole(random, 4 * depth), (i) => `${among(random, words)}_${number % 97}_${i}`)
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, fieldOf(random, number, depth)])),
    required: fields.filter(() => random() < 0.6),
    additionalProperties: random() < 0.2,
  }
}

function fieldOf(random: Random, number: number, depth: number): object {
  switch (whole(random, depth > 0 ? 8 : 6)) {
    case 0:
      return { type: "string", minLength: whole(random, 4), maxLength: 8 + whole(random, 60) }
    case 1:
      return { type: "integer", minimum: -whole(random, 100), maximum: 1 + whole(random, 100_000) }
    case 2:
      return { enum: repeat(2 + whole(random, 6), (i) => `${among(random, words)} ${number} ${i}`) }
    case 3:
      return { type: "string", pattern: `^[a-z]{2,${3 + whole(random, 9)}}-${number % 1_000}[0-9]+$` }
    case 4:
      return { type: "string", format: among(random, ["date", "date-time", "email", "uuid", "ipv4"]) }
    case 5:
      return { type: ["number", "null"], multipleOf: among(random, [0.01, 0.5, 5]) }
    case 6:
      return { type: "array", items: fieldOf(random, number, depth - 1), maxItems: 1 + whole(random, 6) }
    default:
      return record(random, number, depth - 1)
  }
}
