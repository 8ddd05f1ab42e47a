/**
 * Many streams at once: some are left at a random place, some are read slowly, all others must be whole.
 *
 * Usage: `node dist/test/attack/streams.js [--count 600] [--at-once 200] [--seed 1] [--free-ms 200] [--json]`. Exit 1 when a stream that was not
 * left is cut or holds an error, or when slots are not free within `--free-ms` of the last.
 */
import { request } from "node:http"
import { setTimeout } from "node:timers/promises"
import { parseArgs } from "node:util"
import { randomOf } from "../support/oracle.ts"
import { EventReader } from "./events.ts"
import { tally } from "./figures.ts"
import { chatBody, send } from "./requests.ts"
import { AttackedServer, residentMiB } from "./server.ts"
import { report } from "./verdict.ts"

const { values: flags } = parseArgs({
  options: {
    count: { type: "string", default: "600" },
    "at-once": { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    "free-ms": { type: "string", default: "200" },
    json: { type: "boolean", default: false },
  },
})

const streamTimeoutMs = 180_000
const slowMs = 25

const count = Number(flags.count)
const faults: string[] = []
const outcomes: string[] = []
const schema = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "integer" } },
  required: ["a", "b"],
}
const constraints: object[] = [
  { ignore_eos: true },
  { structured_outputs: { json: schema } },
  { structured_outputs: { regex: "[a-z ]{80}" } },
]

const server = new AttackedServer()
await server.start()
await send(server.port, { body: chatBody({}) })
const before = residentMiB(server.pid)
let next = 0
const begin = performance.now()
await Promise.all(Array.from({ length: Number(flags["at-once"]) }, runStreams))
const seconds = (performance.now() - begin) / 1000
const free = server.diedOf === null ? await untilFree() : null
const after = residentMiB(server.pid)
if (server.diedOf !== null) faults.push(`the server died: ${server.diedOf}`)
else if (free === null || free > Number(flags["free-ms"]))
  faults.push(`slots were not free after ${free ?? "5,000"} ms`)
await server.stop()
console.log(`${count} streams in ${seconds.toFixed(0)} s: ${tally(outcomes)}`)
console.log(
  `slots free after ${free?.toFixed(0) ?? "never"} ms; resident MiB ${before.toFixed(0)} before, ${after.toFixed(0)} after`,
)
report("streams", { faults, isJson: flags.json, figures: { streams: count, before, after } })

async function runStreams(): Promise<void> {
  while (next < count && server.diedOf === null) {
    const number = next++
    const outcome = await stream(number)
    outcomes.push(outcome.replace(/:.*/, ""))
    if (outcome !== "whole" && outcome !== "left") faults.push(`stream ${number}: ${outcome}`)
  }
}

/** One stream to its end: whole, left by us, or what was wrong. */
function stream(number: number): Promise<string> {
  const random = randomOf(Number(flags.seed) * 10_007 + number)
  const leaveAt = number % 3 === 0 ? Math.floor(random() * 8_000) : Infinity
  const isSlow = number % 3 === 1 && random() < 0.5
  const fields = {
    stream: true,
    max_tokens: 40,
    seed: number,
    ...constraints[(number % 4) % constraints.length],
  }
  return new Promise((resolve) => {
    const timer = globalThis.setTimeout(() => {
      outgoing.destroy()
      resolve("no end in time")
    }, streamTimeoutMs)
    const finish = (outcome: string) => {
      globalThis.clearTimeout(timer)
      resolve(outcome)
    }
    const outgoing = request(
      {
        ...{
          host: "127.0.0.1",
          port: server.port,
          method: "POST",
          path: "/v1/chat/completions",
          agent: false,
        },
        headers: { "content-type": "application/json" },
      },
      async (response) => {
        if (response.statusCode !== 200) return finish(`status ${response.statusCode}`)
        const reader = new EventReader()
        let [byteCount, isDone, hasFinish] = [0, false, false]
        try {
          for await (const bytes of response) {
            byteCount += bytes.length
            if (byteCount > leaveAt) {
              outgoing.destroy()
              return finish("left")
            }
            for (const { value } of reader.push(bytes)) {
              if (value === null) isDone = true
              else if (value.error) return finish(`error: ${value.error.message}`)
              else hasFinish ||= value.choices?.some(({ finish_reason }) => finish_reason != null) ?? false
            }
            if (isSlow) await setTimeout(slowMs)
          }
          finish(isDone && hasFinish ? "whole" : "cut: it has no end")
        } catch (error) {
          finish(`cut: ${(error as Error).message}`)
        }
      },
    )
    outgoing.on("error", (error) => finish(`cut: ${error.message}`))
    outgoing.end(chatBody(fields))
  })
}

/** Milliseconds until nothing runs or waits, or null after five seconds. */
async function untilFree(): Promise<number | null> {
  const begin = performance.now()
  while (performance.now() - begin < 5_000) {
    const { text } = await send(server.port, { method: "GET", path: "/load", timeoutMs: 5_000 })
    const { running, waiting } = JSON.parse(text || '{"running":1,"waiting":0}')
    if (running + waiting === 0) return performance.now() - begin
    await setTimeout(5)
  }
  return null
}
