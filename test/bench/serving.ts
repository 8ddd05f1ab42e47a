/**
 * What HTTP and server-sent events cost beside the bare engine: the same streams, once from an engine in a process of its own, once
 * from the server over sockets, in turn. Prints processor time a token of the main threads of both, and the gaps between the
 * tokens of a stream.
 *
 * Usage: `node dist/test/bench/serving.js [--streams 32,500] [--tokens 200] [--rounds 3]`. Linux: processor time is read from /proc.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { Agent } from "node:http"
import { parseArgs } from "node:util"
import { quantile } from "../../runtime/engine/metrics.ts"
import { open } from "../../runtime/index.ts"
import { AttackedServer } from "../attack/server.ts"
import { streamed } from "./streamed.ts"

interface Streams {
  count: number
  tokens: number
}

/** Of one round: gaps in milliseconds between the tokens of one stream, and when each stream had its last token. */
interface Run {
  gaps: number[]
  elapsedMs: number
}

const prompt = "Write something."
const { values: flags } = parseArgs({
  options: {
    streams: { type: "string", default: "32,500" },
    tokens: { type: "string", default: "200" },
    rounds: { type: "string", default: "3" },
    engine: { type: "string" },
  },
})

// The engine has the same heaps as the server. See `server/cli/restart.ts`.
Object.assign(process.env, { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "1048576" })
if (flags.engine !== undefined) await serveEngine(Number(flags.engine))
else
  for (const count of flags.streams.split(","))
    await compare({ count: Number(count), tokens: Number(flags.tokens) })

async function compare(streams: Streams): Promise<void> {
  const { count, tokens } = streams
  const engine = fork(process.argv[1], ["--engine", String(count)])
  await once(engine, "message")
  const server = new AttackedServer({ flags: ["--slots", String(count), "--max-connections", "4096"] })
  await server.start()
  const agent = new Agent({ keepAlive: true })
  const few = { count: Math.min(count, 8), tokens: 16 }
  await runEngine(engine, few)
  await runServer(server.port, agent, few)
  const bare: { run: Run; cpuUs: number }[] = []
  const served: { run: Run; cpuUs: number }[] = []
  for (let round = 0; round < Number(flags.rounds); round++) {
    bare.push(await measured(engine.pid!, () => runEngine(engine, streams)))
    served.push(await measured(server.pid, () => runServer(server.port, agent, streams)))
  }
  agent.destroy()
  engine.kill()
  await server.stop()
  const perToken = (runs: typeof bare) =>
    quantile(
      runs.map(({ cpuUs }) => cpuUs / (count * tokens)),
      0.5,
    )
  const gap = (runs: typeof bare, part: number) =>
    quantile(
      runs.map(({ run }) => quantile(run.gaps, part)),
      0.5,
    )
  const line = (name: string, runs: typeof bare) =>
    `${name}: ${perToken(runs).toFixed(1)} µs of processor a token; gaps p50 ${gap(runs, 0.5).toFixed(1)}, p99 ${gap(runs, 0.99).toFixed(1)} ms`
  console.log(`${count} streams of ${tokens} tokens, medians of ${flags.rounds} rounds`)
  console.log(line("  engine", bare))
  console.log(line("  server", served))
  const more = perToken(served) - perToken(bare)
  const ratio = gap(served, 0.99) / gap(bare, 0.99)
  console.log(`  HTTP and events: ${more.toFixed(1)} µs a token; p99 of the gaps ${ratio.toFixed(2)} times`)
}

/** What `run` gives, and the processor time that the process took meanwhile. */
async function measured(pid: number, run: () => Promise<Run>): Promise<{ run: Run; cpuUs: number }> {
  const before = processorUs(pid)
  return { run: await run(), cpuUs: processorUs(pid) - before }
}

/** User and system time of the main thread, which steps the engine and speaks HTTP; the model runs in another. In ticks of 10 ms. */
function processorUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
  return 10_000 * (Number(fields[11]) + Number(fields[12]))
}

async function runEngine(engine: ChildProcess, streams: Streams): Promise<Run> {
  const answer = once(engine, "message")
  engine.send(streams)
  return (await answer)[0] as Run
}

/** The other process: an engine that reads streams as the server would, without HTTP. */
async function serveEngine(slots: number): Promise<void> {
  const engine = await open({ device: "cpu", slots, log: () => {} })
  process.on("message", async ({ count, tokens }: Streams) => {
    const begin = performance.now()
    const gaps: number[] = []
    const one = async (index: number) => {
      const messages = [{ role: "user", content: prompt } as const]
      const options = { maxTokens: tokens, ignoreEos: true, temperature: 1, seed: BigInt(index) }
      const tick = ticker(gaps)
      for await (const event of await engine.start(messages, options)) if (event.type === "text") tick()
    }
    await Promise.all(Array.from({ length: count }, (_, index) => one(index)))
    process.send!({ gaps, elapsedMs: performance.now() - begin } satisfies Run)
  })
  process.send!("ready")
}

async function runServer(port: number, agent: Agent, { count, tokens }: Streams): Promise<Run> {
  const begin = performance.now()
  const messages = [{ role: "user", content: prompt }]
  const runs = await Promise.all(
    Array.from({ length: count }, (_, seed) =>
      streamed(port, agent, { messages, max_tokens: tokens, ignore_eos: true, seed }),
    ),
  )
  const gaps = runs.flatMap(({ times }) => times.slice(1).map((time, at) => time - times[at]))
  return { gaps, elapsedMs: performance.now() - begin }
}

/** Each call adds the time since the one before to `gaps`. */
function ticker(gaps: number[]): () => void {
  let last: number | undefined
  return () => {
    const now = performance.now()
    if (last !== undefined) gaps.push(now - last)
    last = now
  }
}
