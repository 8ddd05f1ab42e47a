/**
 * `tokenrail bench --what server`: streams of a server, many at once. Without `--url` the server is
 * one of this program in a process of its own, and the same streams are also run by an engine
 * without HTTP: the difference is what HTTP and server-sent events cost.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { arch, cpus, platform } from "node:os"
import type { Command } from "commander"
import { quantile } from "../../runtime/engine/metrics.ts"
import { type Engine, ModelError, open } from "../../runtime/index.ts"
import type { Chart } from "../plot/bars.ts"
import { chartPage } from "../plot/page.ts"
import type { ApiTarget } from "../suite/api/client.ts"
import { readStream, type Stream, StreamError } from "../suite/streams.ts"
import { type ApiFlags, firstModel, keyHelp, targetOf } from "./conformanceapi.ts"
import { Exit, type Io, UsageError, writeText } from "./exit.ts"
import { groups } from "./helptext.ts"
import { wholeNumber } from "./model.ts"
import { progress } from "./progress.ts"
import { withoutSettings } from "./settings.ts"

export interface ServerBenchFlags extends Pick<ApiFlags, "url" | "apiKey" | "model"> {
  streams: string
  tokens: number
  rounds: number
  json?: boolean
  html?: string
}

/** Adds the flags that only this measurement has. */
export function serverBenchFlags(command: Command): Command {
  return command
    .optionsGroup(groups.server)
    .option("--streams <counts>", "server, engine: numbers of streams at once, such as 1,8,32", "1,8,32")
    .option("--tokens <n>", "server, engine: tokens of one stream", wholeNumber, 64)
    .option(
      "--rounds <n>",
      "server, engine: rounds with each number of streams; compile, sampler: rounds of each row",
      wholeNumber,
      3,
    )
    .option("--url <url>", "server: base URL of any server, such as http://localhost:8080/v1")
    .option("--api-key <key>", keyHelp("server: key for --url"))
    .option(
      "--model <name>",
      "server, engine: a model (default: the embedded one; with --url the first one listed)",
    )
}

/** Milliseconds for one stream, and for the start of a server. */
const streamMs = 600_000
const startMs = 120_000
const maxStreams = 1_024
const prompt = "Write something."

/** The streams of one round, and how long they took together. */
interface Round {
  readonly streams: readonly Stream[]
  readonly elapsedMs: number
}

export async function benchServer(flags: ServerBenchFlags, io: Io): Promise<number> {
  const counts = readCounts(flags)
  if (flags.html !== undefined) await writeText(flags.html, "", "a")
  const tick = progress(io, "bench", counts.length * flags.rounds * (flags.url === undefined ? 2 : 1))
  const served =
    flags.url === undefined
      ? await ownServer(flags, counts, io, tick)
      : await roundsOf(counts, flags, tick, foreignStream(targetAt(flags.url, flags, io), flags.model))
  const bare = flags.url === undefined ? await engineRounds(flags, counts, io, tick) : null
  const rows = counts.map((count) => describeRounds(count, served.get(count) ?? [], bare?.get(count) ?? null))
  for (const row of rows) io.out(flags.json ? `${JSON.stringify(row)}\n` : inWords(row))
  const machine = machineName()
  io.out(flags.json ? `${JSON.stringify({ machine })}\n` : `${machine}\n`)
  if (flags.html !== undefined) {
    const what = `${flags.tokens} tokens a stream, rounds: ${flags.rounds}. ${flags.url ?? "A server of this program"}.`
    await writeText(flags.html, chartPage("The speed of a server", [what, machine], serverCharts(rows)))
  }
  return Exit.Ok
}

/** Returns the processor, the platform and the version of Node.js. */
export function machineName(): string {
  return `${cpus()[0]?.model ?? arch()}, ${platform()}, node ${process.version}`
}

function serverCharts(rows: readonly Row[]): Chart[] {
  const groups = (valuesOf: (row: Row) => (number | null)[]) =>
    rows.map((row) => ({
      label: `${row.streams} ${row.streams === 1 ? "stream" : "streams"}`,
      values: valuesOf(row),
    }))
  const spread = ({ p50, p99 }: Row["gap_ms"]) => [p50, p99]
  const charts: Chart[] = [
    {
      ...{
        title: "Tokens per second, all streams together",
        unit: "tokens per second",
        series: ["tokens/s"],
      },
      groups: groups((row) => [row.tokens_per_s]),
    },
    {
      ...{
        title: "Time to the first token",
        unit: "ms",
        series: ["median", "99th percentile"],
        scale: "log",
      },
      groups: groups((row) => spread(row.first_token_ms)),
    },
    {
      ...{ title: "Time between tokens", unit: "ms", series: ["median", "99th percentile"] },
      groups: groups((row) => spread(row.gap_ms)),
    },
  ]
  if (rows.every(({ http_us_per_token: http }) => http === undefined)) return charts
  const http: Chart = {
    ...{ title: "What HTTP and events add to a token", unit: "µs per token", series: ["µs"] },
    groups: groups((row) => [row.http_us_per_token ?? null]),
  }
  return [...charts, http]
}

export function readCounts({ streams, tokens, rounds }: ServerBenchFlags): number[] {
  const counts = streams.split(",").map(Number)
  if (!counts.every((count) => Number.isInteger(count) && count >= 1 && count <= maxStreams))
    throw new UsageError(`--streams ${streams}: give numbers from 1 to ${maxStreams}, separated by commas`)
  if (tokens < 2) throw new UsageError(`--tokens ${tokens} is below 2: give more`)
  if (rounds < 1) throw new UsageError("--rounds 0: give at least 1")
  return counts
}

function targetAt(url: string, flags: ServerBenchFlags, io: Io): ApiTarget {
  return targetOf({ ...flags, url, timeout: streamMs / 1000, time: 24 * 3600 }, io)
}

/** Runs one stream, given its seed and the number of its tokens. */
type RunStream = (seed: number, tokens: number) => Promise<Stream>

function foreignStream(target: ApiTarget, named: string | undefined): RunStream {
  let model: Promise<string> | undefined
  return async (seed, tokens) => {
    model ??= named === undefined ? firstModel(target) : Promise.resolve(named)
    return readStream(target, { model: await model, ...request(seed, tokens) })
  }
}

function request(seed: number, tokens: number): object {
  return { messages: [{ role: "user", content: prompt }], max_tokens: tokens, temperature: 1, seed }
}

async function roundsOf(
  counts: readonly number[],
  { rounds, tokens }: ServerBenchFlags,
  tick: () => void,
  run: RunStream,
): Promise<Map<number, Round[]>> {
  const results = new Map<number, Round[]>()
  try {
    // The first streams compile code and open connections.
    await Promise.all(Array.from({ length: Math.min(8, Math.max(...counts)) }, (_, seed) => run(seed, 8)))
    for (const count of counts) {
      const done: Round[] = []
      for (let round = 0; round < rounds; round++) {
        const begin = performance.now()
        const streams = await Promise.all(Array.from({ length: count }, (_, seed) => run(seed, tokens)))
        done.push({ streams, elapsedMs: performance.now() - begin })
        tick()
      }
      results.set(count, done)
    }
  } catch (error) {
    throw error instanceof StreamError ? new UsageError(error.message) : error
  }
  return results
}

async function ownServer(
  flags: ServerBenchFlags,
  counts: readonly number[],
  io: Io,
  tick: () => void,
): Promise<Map<number, Round[]>> {
  const slots = String(Math.max(...counts))
  const model = flags.model === undefined ? [] : ["--model", flags.model]
  const [program] = process.argv.slice(1, 2)
  const args = ["serve", "--port", "0", "--slots", slots, "--log-level", "error", ...model]
  // The measured server has no data, keys or limits of another one, whose settings may be set here.
  const env = withoutSettings(io.env)
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] })
  const stop = () => child.kill("SIGKILL")
  io.signal.addEventListener("abort", stop, { once: true })
  try {
    const { apiKey: _, ...keyless } = flags
    const target = targetAt(`${await addressOf(child)}/v1`, keyless, { ...io, env })
    const ended = new Promise<never>((_, reject) =>
      child.once("exit", () => reject(new ModelError("the server ended during the measurement"))),
    )
    // It is awaited only after the first request, which may fail for the same reason.
    ended.catch(() => {})
    const name = await firstModel(target)
    const run: RunStream = (seed, tokens) =>
      readStream(target, { model: name, ...request(seed, tokens), ignore_eos: true })
    return await Promise.race([roundsOf(counts, flags, tick, run), ended])
  } finally {
    io.signal.removeEventListener("abort", stop)
    stop()
  }
}

/** Returns the address that the server prints. Rejects with ModelError if it ends or takes long. */
function addressOf(child: ChildProcess): Promise<string> {
  let out = ""
  let err = ""
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ModelError("the server does not start")), startMs)
    const end = (code: number | null) => {
      clearTimeout(timer)
      reject(new ModelError(`the server ended with code ${code}: ${err.trim().slice(0, 500)}`))
    }
    child.once("exit", end)
    child.stderr?.on("data", (chunk) => {
      err += err.length < 2_000 ? chunk : ""
    })
    child.stdout?.on("data", (chunk) => {
      out += out.length < 2_000 ? chunk : ""
      const [url] = /http:\/\/\S+(?=\s)/.exec(out) ?? []
      if (url === undefined) return
      clearTimeout(timer)
      child.off("exit", end)
      resolve(url)
    })
  })
}

/** Runs the same streams in this process, without HTTP. */
export async function engineRounds(
  flags: ServerBenchFlags,
  counts: readonly number[],
  io: Io,
  tick: () => void,
): Promise<Map<number, Round[]>> {
  const slots = Math.max(...counts)
  const model = flags.model === undefined ? {} : { model: flags.model }
  const engine = await open({ signal: io.signal, slots, log: () => {}, ...model })
  try {
    return await roundsOf(counts, flags, tick, (seed, tokens) =>
      engineStream(engine, seed, tokens, io.signal),
    )
  } finally {
    await engine.close()
  }
}

async function engineStream(
  engine: Engine,
  seed: number,
  maxTokens: number,
  signal: AbortSignal,
): Promise<Stream> {
  const sentAt = performance.now()
  const times: number[] = []
  const options = { maxTokens, temperature: 1, seed: BigInt(seed), ignoreEos: true, signal }
  const generation = await engine.start([{ role: "user", content: prompt }], options)
  for await (const event of generation) if (event.type === "text") times.push(performance.now())
  const { usage } = await generation.result
  return { sentAt, times, tokens: usage.completionTokens }
}

/** The figures for one number of streams. */
interface Row {
  streams: number
  tokens: number
  tokens_per_s: number
  first_token_ms: { p50: number; p99: number }
  gap_ms: { p50: number; p99: number }
  /** Time that a token takes more than without HTTP, in microseconds. */
  http_us_per_token?: number
}

export function describeRounds(count: number, rounds: readonly Round[], bare: readonly Round[] | null): Row {
  const streams = rounds.flatMap((round) => round.streams)
  const gaps = streams.flatMap(({ times }) => times.slice(1).map((time, at) => time - times[at]))
  const firsts = streams.map(({ times, sentAt }) => times[0] - sentAt)
  const spread = (values: readonly number[]) => ({ p50: quantile(values, 0.5), p99: quantile(values, 0.99) })
  const us = usPerToken(rounds)
  return {
    ...{ streams: count, tokens: streams.reduce((sum, { tokens }) => sum + tokens, 0) },
    ...{ tokens_per_s: 1e6 / us, first_token_ms: spread(firsts), gap_ms: spread(gaps) },
    ...(bare && { http_us_per_token: us - usPerToken(bare) }),
  }
}

/** Returns the median of the rounds' microseconds for one token of all streams together. */
function usPerToken(rounds: readonly Round[]): number {
  const each = rounds.map(({ streams, elapsedMs }) => {
    return (1000 * elapsedMs) / streams.reduce((sum, { tokens }) => sum + tokens, 0)
  })
  return quantile(each, 0.5)
}

function inWords({ streams, tokens_per_s, first_token_ms, gap_ms, http_us_per_token: http }: Row): string {
  const spread = ({ p50, p99 }: Row["gap_ms"]) => `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`
  const cost = http === undefined ? "" : `; HTTP and events: ${http.toFixed(0)} µs a token`
  return (
    `${String(streams).padStart(4)} streams: ${tokens_per_s.toFixed(0)} tokens/s; ` +
    `first token ${spread(first_token_ms)}; between tokens ${spread(gap_ms)}${cost}\n`
  )
}
