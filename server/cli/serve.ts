/**
 * `tokenrail serve`: the HTTP server, until a signal ends it.
 *
 * After the first SIGINT or SIGTERM, new requests get 503. The port stays open, so that clients and
 * proxies receive this status. Running answers may finish; those that take longer than `--drain`
 * end with an error, and the process ends with 0. A second signal ends it at once (program.ts).
 *
 * Every flag may also come from the environment or a file (settings.ts).
 */
import { mkdir } from "node:fs/promises"
import { type Command, InvalidArgumentError, Option } from "commander"
import { createApp } from "../app.ts"
import { DirectoryStore } from "../batches/directory.ts"
import { lockDirectory } from "../batches/directorylock.ts"
import { isLoopback, readKeys } from "../http/access.ts"
import { serve } from "../serve.ts"
import { defaultCompileMs, defaultMaskMs } from "./constraint.ts"
import { Exit, type Io, UsageError } from "./exit.ts"
import { examples, groups } from "./helptext.ts"
import { type Log, type LogLevel, logLevels, openLog } from "./log.ts"
import { type ModelFlags, modelFlags, openModel, wholeNumber } from "./model.ts"
import { applySettings } from "./settings.ts"

interface ServeFlags extends ModelFlags {
  host: string
  port: number
  apiKey?: string[]
  insecure?: boolean
  allowHost?: string[]
  cors?: string[]
  alias?: string[]
  anyModel?: boolean
  maxBody: number
  maxQueue: number
  maxCompile: number
  maxMask: number
  maxCompletion: number
  drain: number
  stall: number
  maxConnections: number
  rateRequests?: number
  rateTokens?: number
  dataDir?: string
  metricsPublic?: boolean
  onLength?: "truncate" | "close"
  strictMaxTokens?: boolean
  strictTools?: boolean
  ollama?: boolean
  config?: string
  logLevel: LogLevel
  logJson?: boolean
  quiet?: boolean
}

export function serveCommand(program: Command, io: Io, done: (code: number) => void): void {
  modelFlags(program.command("serve").description("serve the OpenAI chat API over HTTP"))
    .optionsGroup(groups.access)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <n>", "port to listen on; 0 takes a free one", portNumber, 8080)
    .option("--api-key <key...>", "require one of these keys")
    .option("--insecure", "listen on a public address without a key")
    .option("--allow-host <name...>", "accept this Host header in addition to loopback names")
    .option("--cors <origin...>", "let pages of this origin call; * means any")
    .option("--alias <name...>", "further names of the model")
    .option("--any-model", "accept any model name for the loaded model")
    .optionsGroup(groups.limits)
    .option("--max-body <bytes>", "largest JSON body", wholeNumber, 16 << 20)
    .option("--max-queue <n>", "answers that may wait for a slot", wholeNumber, 256)
    .option("--max-compile <ms>", "time that a constraint may take to compile", wholeNumber, defaultCompileMs)
    .option("--max-mask <ms>", "time that one mask may take", wholeNumber, defaultMaskMs)
    .option("--max-completion <ms>", "time for completing an answer within its budget", wholeNumber, 1_000)
    .addOption(
      new Option(
        "--on-length <what>",
        "cut constrained answers at the end of their budget, or complete them by then",
      ).choices(["truncate", "close"]),
    )
    .option("--strict-max-tokens", "refuse a max_tokens that the context cannot hold")
    .option("--strict-tools", "refuse tools that a service would run, such as web_search")
    .optionsGroup(groups.operation)
    .option("--ollama", "serve Ollama's API too, below /api")
    .option("--drain <seconds>", "time for running answers after SIGTERM", wholeNumber, 30)
    .option(
      "--stall <seconds>",
      "close connections whose client reads nothing of its reply for this long; 0: never",
      wholeNumber,
      300,
    )
    .option("--max-connections <n>", "connections at once; further ones are closed", positiveNumber, 4_096)
    .option("--rate-requests <n>", "requests of one key in a minute (default: no bound)", positiveNumber)
    .option("--rate-tokens <n>", "tokens of one key in a minute (default: no bound)", positiveNumber)
    .option("--data-dir <dir>", "keep files and batches here (default: only while the server runs)")
    .option("--metrics-public", "serve /metrics without a key")
    .addOption(
      new Option("--log-level <level>", "least severe level that is logged")
        .choices(logLevels)
        .default("info"),
    )
    .option("--log-json", "log JSON lines on a terminal too")
    .option("--quiet", "log only errors: --log-level error")
    .option("--config <file>", "TOML file with further flags, such as: port = 8000")
    .addHelpText("after", examples("serve --port 8000", "serve --host 0.0.0.0 --api-key secret --ollama"))
    .action(async (_: ServeFlags, command: Command) => {
      const strangers = await applySettings(command, io)
      done(await run(command.opts<ServeFlags>(), strangers, io))
    })
}

/** Runs the server. `strangers` are environment variables that look like settings. */
async function run(flags: ServeFlags, strangers: readonly string[], io: Io): Promise<number> {
  io.outliveReader?.()
  const { host, port, allowHost, drain, stall, maxConnections } = flags
  const level = flags.quiet ? "error" : flags.logLevel
  const log = await openLog({ level, isJson: flags.logJson ?? false }, io)
  for (const name of strangers) log.warn(`${name} is not a setting of serve and has no effect`)
  const apiKeys = chooseKeys(flags, log)
  const { maxCompile: compileMs, maxMask: maskMs, maxCompletion: completionMs } = flags
  let isListening = false
  const engine = await openModel(flags, io, {
    maxWaiting: flags.maxQueue,
    limits: { compileMs, maskMs, completionMs },
    spareThreads: 2,
    warmsUp: true,
    // All messages are logged while the model is opened, later only warnings.
    log: (line) => (isListening ? log.warn(line) : log.info(line)),
  })
  let closed: Promise<void> | undefined
  const closeEngine = (): Promise<void> => {
    closed ??= engine.close()
    return closed
  }
  try {
    // A signal may have come while the model was loading. No request is running that would have to
    // end.
    if (io.signal.aborted) return Exit.Ok
    const batches = await openData(flags.dataDir, log)
    const app = createApp(engine, {
      apiKeys,
      cors: flags.cors,
      ...(flags.onLength && { onLength: flags.onLength }),
      aliases: flags.alias,
      anyModel: flags.anyModel,
      maxWaiting: flags.maxQueue,
      bodyLimits: { maxBytes: flags.maxBody },
      compileMs,
      rates: { requests: flags.rateRequests, tokens: flags.rateTokens },
      ...(batches && { batches }),
      metricsPublic: flags.metricsPublic ?? false,
      strictMaxTokens: flags.strictMaxTokens ?? false,
      strictTools: flags.strictTools ?? false,
      ollama: flags.ollama ?? false,
      logger: log,
      status: () => (io.signal.aborted ? "draining" : "ok"),
    })
    const connections = { stallMs: stall * 1000, maxConnections }
    const server = await serve(app, { host, port, allowHosts: allowHost, ...connections })
    isListening = true
    io.out(`tokenrail: ${engine.model.id} on ${server.url}\n`)
    await aborted(io.signal)
    log.info(`${String(io.signal.reason)}: no new requests, running ones have ${drain} s`)
    const isSettled = await server.settled(drain * 1000)
    if (!isSettled) log.warn(`${drain} s are over: running requests end with an error`)
    // Ends running requests at once, and leaves some time to send their errors.
    await Promise.all([closeEngine(), server.close({ drainMs: lastWordsMs })])
  } finally {
    await closeEngine()
  }
  return Exit.Ok
}

/** Opens the directory of files and batches, so that a wrong one is reported at the start. */
async function openData(directory: string | undefined, log: Log): Promise<DirectoryStore | null> {
  if (directory === undefined) return null
  const control = new AbortController()
  const lost = (): void => {
    control.abort()
    log.error({}, `--data-dir ${directory}: another server has taken it, so this one ends`)
    process.kill(process.pid, "SIGTERM")
  }
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await lockDirectory(directory, { lost })
    return await DirectoryStore.open(directory, control.signal)
  } catch (error) {
    throw new UsageError(`--data-dir ${directory}: ${(error as Error).message}`)
  }
}

/** Time for the errors of aborted answers to reach their clients. */
const lastWordsMs = 1_000

/** Returns the required keys. Throws UsageError if no key is given and the address is public. */
function chooseKeys({ host, apiKey = [], insecure }: ServeFlags, log: Log): string[] {
  if (apiKey.some((key) => key.trim() === "")) {
    throw new UsageError("--api-key is empty: give a key, or leave the flag out")
  }
  const keys = readKeys(apiKey)
  if (keys.length > 0) return keys
  if (insecure) {
    log.warn(`--insecure: no API key is required, so anyone who can reach ${host} can use the model`)
  } else if (!isLoopback(host)) {
    throw new UsageError(`${host} is a public address: give --api-key, or --insecure to serve anyone`)
  }
  return keys
}

function positiveNumber(text: string): number {
  const number = wholeNumber(text)
  if (number < 1) throw new InvalidArgumentError("must be at least 1.")
  return number
}

function portNumber(text: string): number {
  const port = wholeNumber(text)
  if (port > 65_535) throw new InvalidArgumentError("must be a port, 0 to 65535.")
  return port
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
}
