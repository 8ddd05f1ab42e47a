/**
 * Mutated requests over every route, several sockets at once: bodies changed by structure and by bytes, methods, paths,
 * queries and headers.
 *
 * Usage: `node dist/test/attack/mutants.js [--count 10000] [--seed 1] [--sockets 6] [--json]`. The server has a short context,
 * so that no answer is long. Exit 1 on a reply of 5xx, one that is neither JSON nor a stream of events nor Node's own
 * refusal, one that does not come in ten seconds, and a death. The reply to HEAD, 204 and 304 have no body.
 */
import { parseArgs } from "node:util"
import { randomOf } from "../support/oracle.ts"
import { tally } from "./figures.ts"
import { type Mutant, mutantRequest } from "./mutation.ts"
import { sendRaw } from "./requests.ts"
import { AttackedServer } from "./server.ts"
import { report } from "./verdict.ts"

const { values: flags } = parseArgs({
  options: {
    count: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    sockets: { type: "string", default: "6" },
    json: { type: "boolean", default: false },
  },
})

const patienceMs = 10_000
/** Requests that are printed with one fault. */
const maxExamples = 3

const count = Number(flags.count)
/** How often each was met. */
const faults = new Map<string, number>()
const statuses: (string | number)[] = []
const server = new AttackedServer({ flags: ["--context", "256", "--ollama"] })
await server.start()
let restart: Promise<void> | null = null
let next = 0
const begin = performance.now()
await Promise.all(Array.from({ length: Number(flags.sockets) }, attack))
const seconds = (performance.now() - begin) / 1000
await server.stop()
console.log(`${statuses.length} requests in ${seconds.toFixed(0)} s: ${tally(statuses)}`)
report("mutants", {
  faults: [...faults].map(([fault, times]) => `${fault} (${times} times)`),
  isJson: flags.json,
  figures: { requests: statuses.length, deaths: server.deathCount },
})

/** One socket at a time until all mutants are sent. */
async function attack(): Promise<void> {
  while (next < count) {
    const number = next++
    const mutant = mutantRequest(randomOf(Number(flags.seed) * 1_000_003 + number))
    const sentAt = performance.now()
    const reply = await sendRaw(server.port, mutant.bytes, { timeoutMs: mutant.mayWait ? 300 : patienceMs })
    const isLate = performance.now() - sentAt >= patienceMs
    const fault =
      server.diedOf === null ? faultOf(mutant, reply, isLate) : `the server died: ${server.diedOf}`
    statuses.push(/^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1] ?? "none")
    if (fault !== null) {
      const times = (faults.get(fault) ?? 0) + 1
      faults.set(fault, times)
      const request = JSON.stringify(mutant.bytes.toString("latin1").slice(0, 1_500))
      if (times <= maxExamples) console.log(`${number}: ${fault}\n    ${request}`)
    }
    if (server.diedOf === null) continue
    // One of the sockets starts it again, the others wait for that.
    restart ??= server.start().finally(() => {
      restart = null
    })
    await restart
  }
}

/** What is wrong with a reply, or null. */
function faultOf({ isHead, mayWait }: Mutant, raw: string, isLate: boolean): string | null {
  const reply = raw.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")
  if (mayWait && reply === "") return null
  if (isLate) return `no answer in ${patienceMs} ms, but ${JSON.stringify(reply.slice(0, 80))}`
  const found = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(reply)
  if (found === null)
    return reply === "" ? "closed without an answer" : `no HTTP: ${JSON.stringify(reply.slice(0, 80))}`
  const [, status, head, body] = found
  if (status.startsWith("5")) return `status ${status}: ${body.slice(0, 300)}`
  // What Node's parser refuses does not reach the program.
  if ((status === "400" || status === "431" || status === "417") && body === "") return null
  if (status === "204" || status === "304" || isHead) return null
  if (/content-type: text\/event-stream/i.test(head)) {
    const error = /"error":\{"message":"((?:[^"\\]|\\.)*)"/.exec(body)
    return error === null ? null : `a stream died: ${error[1].slice(0, 300)}`
  }
  if (/content-type: application\/x-ndjson/i.test(head)) {
    const error = /^\{"error":"((?:[^"\\]|\\.)*)"/m.exec(body)
    return error === null ? null : `a stream died: ${error[1].slice(0, 300)}`
  }
  // Metrics are lines of text, by Prometheus' format.
  if (
    status === "200" &&
    /content-type: text\/plain; version=/i.test(head) &&
    body.startsWith("# HELP tokenrail_")
  )
    return null
  if (!/content-type: application\/json/i.test(head))
    return `status ${status} is not JSON: ${JSON.stringify(body.slice(0, 80))}`
  try {
    JSON.parse(/transfer-encoding: chunked/i.test(head) ? unchunk(body) : body)
    return null
  } catch {
    return `status ${status} is broken JSON: ${JSON.stringify(body.slice(0, 120))}`
  }
}

function unchunk(body: string): string {
  let text = ""
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf("\r\n", at)
    const length = Number.parseInt(body.slice(at, end), 16)
    if (!(length > 0)) break
    text += body.slice(end + 2, end + 2 + length)
    at = end + 4 + length
  }
  return text
}
