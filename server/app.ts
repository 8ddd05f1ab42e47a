/**
 * The server as a function from Request to Response: adds request ids, access checks and the
 * mapping of errors to the routes of routes.ts.
 *
 * This file uses no socket, argument or environment variable, so the same application runs under
 * Node, in a test and in a browser. Access rules that depend on the socket are in serve.ts.
 */

import { type Context, Hono, type MiddlewareHandler } from "hono"
import { matchedRoutes } from "hono/route"
import type { Engine } from "../runtime/index.ts"
import { checkOptions, type Fields } from "../runtime/options.ts"
import { isAnthropic, messagesErrorResponse } from "./anthropic/errors.ts"
import type { BatchActions } from "./batches/routes.ts"
import type { BatchStore } from "./batches/store.ts"
import { errorResponse, Refusal } from "./errors.ts"
import { checkKey, readKeys } from "./http/access.ts"
import { type BodyLimits, defaultBodyLimits, HeldBytes } from "./http/body.ts"
import { corsHeaders, preflight } from "./http/cors.ts"
import { Exchange } from "./http/exchange.ts"
import type { Metrics } from "./http/metrics.ts"
import { RateLimits, type RateOptions } from "./http/ratelimits.ts"
import { logOutcome, type RequestLogger } from "./http/requestlog.ts"
import { type Line, ServiceTime } from "./http/servicetime.ts"
import { isOllama, ollamaErrorResponse } from "./ollama/errors.ts"
import { type ModelNameOptions, ModelNames } from "./openai/models.ts"
import { createBodyReader } from "./openai/read/bodyreader.ts"
import type { BodyReader } from "./openai/read/readbody.ts"
import { isResponseId } from "./openai/responses/store.ts"
import { routesOf, type Service } from "./routes.ts"

/** The result of `createApp`: pass it to `serve`, or call its `fetch`. */
export interface App {
  fetch(request: Request): Response | Promise<Response>
  /** Returns the reply to a path of the application. */
  request(input: string | URL | Request, init?: RequestInit): Response | Promise<Response>
}

/** Access, bounds of requests, and defaults for requests. Every field is optional. */
export interface AppOptions extends ModelNameOptions {
  bodyLimits?: Partial<BodyLimits>
  /** Reads bodies. Default: reads large bodies in a thread, if the platform has threads. */
  reader?: BodyReader
  /** Milliseconds without an event after which a stream sends a comment. Default 15,000. */
  heartbeatMs?: number
  /**
   * API keys. Every request except a health check must carry one of them. An empty key throws a
   * RangeError.
   */
  apiKeys?: readonly string[]
  /**
   * Origins whose pages may call, besides those of this machine and of this server; `*` allows all.
   */
  cors?: readonly string[]
  /**
   * What happens to a constrained answer at the end of its budget, unless the request says
   * otherwise. Default truncate.
   */
  onLength?: "truncate" | "close"
  /** Milliseconds that a constraint may take to compile. Default 2,000. */
  compileMs?: number
  /**
   * Whether to refuse a budget that the context cannot hold. By default the answer gets the rest of
   * the context, and `tokenrail.warnings` says so.
   */
  strictMaxTokens?: boolean
  /**
   * Whether to refuse tools that a service would run, such as `web_search`. By default they are
   * left out unless a call of one is required, and `tokenrail.warnings` says so.
   */
  strictTools?: boolean
  /** Whether to serve Ollama's API too, at `/api/chat` and further paths below `/api/`. */
  ollama?: boolean
  /**
   * Number of answers that may wait for a slot before further requests are refused with 429. The
   * engine's own bound applies if it is lower. Default 256.
   */
  maxWaiting?: number
  /**
   * Requests and tokens a minute for each key, or for all callers together if there are no keys.
   * Default: no bound.
   */
  rates?: RateOptions
  /**
   * Directory of files and batches. Unfinished batches in it are continued. Only one application at
   * a time may use it. Default: a directory of this process, removed at its end.
   */
  dataDir?: string
  /** Where files and batches are kept, in place of `dataDir`. */
  batches?: BatchStore
  /** Receives one line for each request, when its reply is complete. */
  logger?: RequestLogger
  /** Whether `/metrics` needs no key. */
  metricsPublic?: boolean
  /**
   * Called on every request: returns whether the application accepts new work. A dead engine is
   * detected without it.
   */
  status?: () => "ok" | "loading" | "draining" | "dead"
}

const appFields = {
  bodyLimits: {
    fields: {
      ...{ maxBytes: "number", maxDepth: "number", maxMarks: "number", maxEscapes: "number" },
      maxHeldBytes: "number",
    } satisfies Fields<BodyLimits>,
  },
  ...{ aliases: "texts", anyModel: "boolean", reader: "any", heartbeatMs: "number", apiKeys: "texts" },
  cors: "texts",
  onLength: { words: ["truncate", "close"] },
  compileMs: "number",
  ...{ strictMaxTokens: "boolean", strictTools: "boolean", ollama: "boolean" },
  maxWaiting: "number",
  rates: { fields: { requests: "number", tokens: "number" } satisfies Fields<RateOptions> },
  ...{ dataDir: "text", batches: "any" },
  ...{ logger: "any", metricsPublic: "boolean", status: "function" },
} as const satisfies Fields<AppOptions>

const unavailable = {
  loading: ["model_loading", "the model is still loading"],
  draining: ["shutting_down", "the server is shutting down"],
  dead: ["engine_dead", "the engine has stopped"],
} as const

type Environment = { Variables: { exchange: Exchange; key: number } }
type Answer = Context<Environment>
type Middleware = MiddlewareHandler<Environment>

/**
 * Creates the application. Throws OptionError on an unknown option, and RangeError on an invalid
 * value.
 */
export function createApp(engine: Engine, options: AppOptions = {}): App {
  checkOptions(options, appFields, {
    aliases: { apiKey: "apiKeys", alias: "aliases", maxBody: "bodyLimits" },
  })
  const apiKeys = readKeys(options.apiKeys ?? [])
  const background = new WeakSet<Request>()
  const answer = (request: Request): Response | Promise<Response> => {
    background.add(request)
    return app.fetch(request)
  }
  const service = openService(engine, options, { apiKeys, answer })
  const routes = routesOf(service)
  const paths = Object.keys(routes).map((path) => path.replace(/\{.*\}/, ""))
  const nothingAt = (c: Answer): Response => {
    const message = `there is no route ${c.req.method} ${c.req.path}`
    const isOff = !service.ollama && isOllama(c.req.raw)
    const hint = isOff
      ? "Start the server with --ollama for Ollama's API"
      : `This server has ${paths.join(", ")}`
    return failed(new Refusal("unknown_url", message, { hint }), c)
  }
  const app = new Hono<Environment>()
  app.use(recorded(service, background, options.logger))
  app.use(shared(options.cors ?? []))
  const open = new Set(
    Object.entries(routes)
      .filter(([, methods]) => Object.values(methods).some(({ isOpen }) => isOpen))
      .map(([path]) => path),
  )
  app.use(admitted(service, { open, apiKeys, rates: options.rates }))
  for (const [path, methods] of Object.entries(routes)) {
    for (const [method, { answer }] of Object.entries(methods)) {
      app.on(method, path, (c) =>
        answer(c.req.raw, { id: c.req.param("id") ?? "", exchange: c.var.exchange, key: c.var.key }),
      )
    }
    app.all(path, (c) => {
      const { id } = c.req.param() as { id?: string }
      const isKnown = id === undefined || isKnownId(path, id, service)
      return isKnown ? refuseMethod(c, Object.keys(methods).join(", ")) : nothingAt(c)
    })
  }
  app.notFound(nothingAt)
  app.onError(failed)
  // Batches that an earlier process left unfinished are continued.
  if (options.dataDir !== undefined || options.batches) void service.batches().catch(() => {})
  // `App` hides the types by which Hono's handlers exchange values.
  return app
}

/** Returns whether a path below /v1 may have this id, so that it has methods. */
function isKnownId(path: string, id: string, { models }: Service): boolean {
  const [, , room] = path.split("/")
  // The path itself lists the names of these files.
  if (path.startsWith("/docs/") || path.startsWith("/playground/")) return true
  if (room === "models") return models.has(id)
  if (room === "files") return id.startsWith("file-")
  return room === "batches" ? id.startsWith("batch_") : isResponseId(id)
}

/** What only the application knows. */
interface Own {
  apiKeys: readonly string[]
  /** Answers a request of a batch. */
  answer: (request: Request) => Response | Promise<Response>
}

function openService(engine: Engine, options: AppOptions, own: Own): Service {
  const serviceTime = new ServiceTime()
  const observe = () => serviceTime.observe(lineOf(engine), performance.now())
  const bodyLimits = { ...defaultBodyLimits, ...options.bodyLimits }
  const models = new ModelNames(engine, options)
  const held = new HeldBytes(bodyLimits)
  let batches: Promise<BatchActions> | undefined
  return {
    engine,
    batches() {
      const { batches: store = options.dataDir, logger } = options
      const log = (message: string): void => logger?.warn({}, message)
      const of = { model: engine.model.id, width: engine.batchWidth, isOver: () => engine.isClosed }
      batches ??= importBatches()
        .then(({ openBatches }) => openBatches({ ...own, ...of, store, log, bodyLimits, held }))
        .catch((error: unknown) => {
          // The next request tries again.
          batches = undefined
          throw error
        })
      return batches
    },
    models,
    metrics: openMetrics(engine),
    ollama: options.ollama ?? false,
    metricsPublic: options.metricsPublic ?? false,
    hasKeys: own.apiKeys.length > 0,
    observe,
    status() {
      const status = options.status?.() ?? "ok"
      return status === "ok" && engine.isDead ? "dead" : status
    },
    endpointOptions: {
      maxWaiting: options.maxWaiting ?? 256,
      bodyLimits,
      held,
      reader: options.reader ?? createBodyReader(),
      models,
      heartbeatMs: options.heartbeatMs,
      onLength: options.onLength,
      compileMs: options.compileMs ?? 2_000,
      strictMaxTokens: options.strictMaxTokens ?? false,
      strictTools: options.strictTools ?? false,
      retryAfterSeconds: () => {
        observe()
        return serviceTime.waitSeconds
      },
    },
  }
}

/** Opens an exchange for each request, writes its headers, and records how it ended. */
function recorded(
  { metrics }: Service,
  background: WeakSet<Request>,
  logger: RequestLogger | undefined,
): Middleware {
  const record = async (exchange: Exchange, status: number): Promise<void> => {
    const outcome = await exchange.ended(status)
    if (logger) logOutcome(logger, outcome)
    const counts = await metrics
    counts.record(outcome)
  }
  return async (c, next) => {
    const exchange = new Exchange(c.req.raw, routeOf(c), background.has(c.req.raw))
    c.set("exchange", exchange)
    await next()
    const { requestId, ms, admission } = exchange
    const headers = {
      ...admission?.headers,
      "x-request-id": requestId,
      ...(isAnthropic(c.req.raw) && { "request-id": requestId }),
      "openai-processing-ms": `${Math.round(ms)}`,
    }
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value)
    void record(exchange, c.res.status)
  }
}

/** Adds the headers that let pages of the given origins read the replies. */
function shared(origins: readonly string[]): Middleware {
  return async (c, next) => {
    const early = preflight(c.req.raw, origins)
    if (early) return early
    const headers = corsHeaders(c.req.raw, origins)
    await next()
    for (const [name, value] of Object.entries(headers ?? {})) c.res.headers.set(name, value)
    return undefined
  }
}

/** Checks the key of a request, whether the engine takes work, and the rate limits of the key. */
function admitted(
  { status }: Pick<Service, "status">,
  {
    open,
    apiKeys,
    rates: bounds,
  }: { open: ReadonlySet<string>; apiKeys: readonly string[] } & Pick<AppOptions, "rates">,
): Middleware {
  const rates = bounds && new RateLimits(bounds)
  return async (c, next) => {
    const key = open.has(pathOf(c)) ? -1 : await checkKey(c.req.raw, apiKeys)
    c.set("key", key)
    if (c.req.method === "POST") {
      const state = status()
      if (state !== "ok") {
        const [code, message] = unavailable[state]
        throw new Refusal(code, message)
      }
      if (rates) c.var.exchange.admission = rates.admit(key)
    }
    await next()
  }
}

/**
 * Throws the refusal of a method, or of an upgrade, that a path does not have; `allow` lists the
 * methods that it has.
 */
function refuseMethod(c: Answer, allow: string): never {
  // A client that first tries a WebSocket falls back to HTTP at once when it gets this refusal.
  if (c.req.header("upgrade") !== undefined) {
    throw new Refusal("upgrade_required", `${c.req.path} has no WebSocket`, {
      hint: `Use ${allow}`,
      headers: { allow, upgrade: "HTTP/1.1" },
    })
  }
  const message = `${c.req.method} is not a method of ${c.req.path}`
  throw new Refusal("method_not_allowed", message, { hint: `Use ${allow}`, headers: { allow } })
}

/** Returns an error in the form of the API that the path belongs to. */
function failed(error: unknown, c: Context<Environment>): Response {
  const { raw } = c.req
  const form = isAnthropic(raw) ? messagesErrorResponse : isOllama(raw) ? ollamaErrorResponse : errorResponse
  return form(error, c.var.exchange)
}

/** Returns the path of the route of a request, as the table has it; `/*` if it has none. */
function pathOf(c: Context): string {
  return matchedRoutes(c).at(-1)?.path ?? "/*"
}

/** Returns the route of a request, or `other` if it has none. */
function routeOf(c: Context): string {
  const path = pathOf(c)
  return path === "/*" ? "other" : path.replace(/\{.*\}/, "")
}

/** Files and batches are kept on a disk. */
async function importBatches(): Promise<typeof import("./batches/service.ts")> {
  try {
    return await import("./batches/service.ts")
  } catch {
    throw new Refusal("unknown_url", "there are no files and batches here: they need Node")
  }
}

/** prom-client runs on Node only. */
async function openMetrics(engine: Engine): Promise<Pick<Metrics, "record" | "response">> {
  try {
    const { Metrics } = await import("./http/metrics.ts")
    return new Metrics(engine)
  } catch {
    const refusal = new Refusal("unknown_url", "there are no metrics here: prom-client could not be loaded")
    return { record: () => {}, response: async () => errorResponse(refusal) }
  }
}

function lineOf(engine: Engine): Line {
  // Aborted sequences are not counted: they may never have left the queue, and counting them would
  // make the wait look too short.
  const { stop, length, error } = engine.metrics.finished
  return { ...engine.load(), finished: stop + length + error }
}
