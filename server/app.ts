/**
 * The server as a function from Request to Response: routes, request ids, and the mapping of every error.
 *
 * There is no socket, argument or environment variable in here, so that the same application runs under Node, in a test
 * and in a browser. Access rules that depend on the socket are in serve.ts.
 */

import { type Context, Hono } from "hono"
import { matchedRoutes } from "hono/route"
import type { Engine } from "../runtime/index.ts"
import { checkOptions, type Fields } from "../runtime/options.ts"
import { countTokens } from "./anthropic/counttokens.ts"
import { isAnthropic, messagesErrorResponse } from "./anthropic/errors.ts"
import { messages } from "./anthropic/messages.ts"
import { errorResponse, Refusal, retryHeaders } from "./errors.ts"
import { checkKey, readKeys } from "./http/access.ts"
import { type BodyLimits, defaultBodyLimits, HeldBytes } from "./http/body.ts"
import { corsHeaders, preflight } from "./http/cors.ts"
import { Exchange } from "./http/exchange.ts"
import type { Metrics } from "./http/metrics.ts"
import { RateLimits, type RateOptions } from "./http/ratelimits.ts"
import { logOutcome, type RequestLogger } from "./http/requestlog.ts"
import { type Line, ServiceTime } from "./http/servicetime.ts"
import { chat } from "./openai/chat/chat.ts"
import { completions } from "./openai/completions/completions.ts"
import { type ModelNameOptions, ModelNames } from "./openai/models.ts"
import { createBodyReader } from "./openai/read/bodyreader.ts"
import type { BodyReader } from "./openai/read/readbody.ts"
import type { EndpointOptions } from "./openai/request/endpoint.ts"
import { countInput, createResponse } from "./openai/responses/create.ts"
import { isResponseId, ResponseStore } from "./openai/responses/store.ts"
import { cancelResponse, deleteResponse, getResponse, listInput } from "./openai/responses/stored.ts"
import { detokenize, tokenize } from "./openai/tokenize.ts"
import { version } from "./version.ts"

/** What `createApp` makes: `serve` takes it, and so does whatever calls a `fetch` with a request. */
export interface App {
  fetch(request: Request): Response | Promise<Response>
  /** The reply to a path of the application. */
  request(input: string | URL | Request, init?: RequestInit): Response | Promise<Response>
}

/**
 * Who may call an application, what a request may hold, and what it says where a request says nothing. Every
 * field may be missing.
 */
export interface AppOptions extends ModelNameOptions {
  bodyLimits?: Partial<BodyLimits>
  /** Reads bodies. Default: large ones in a thread, where there are threads. */
  reader?: BodyReader
  /** Silence of a stream before a comment is sent; 15 s. */
  heartbeatMs?: number
  /** Keys of which every request but a health check must carry one. An empty one is a RangeError. */
  apiKeys?: readonly string[]
  /** Origins whose pages may call, besides those of this machine and of this server; `*`: any. */
  cors?: readonly string[]
  /** What a constrained answer does at the end of its budget when the request does not say. Default truncate. */
  onLength?: "truncate" | "close"
  /** Milliseconds that a constraint may take to compile. Default 2,000. */
  compileMs?: number
  /**
   * Refuse a budget that the context cannot hold. Default: the answer gets what is left of the context, and `tokenrail.warnings`
   * says so.
   */
  strictMaxTokens?: boolean
  /**
   * Refuse tools that a service would run, such as `web_search`. Default: they are left out while no call of one is asked for, and
   * `tokenrail.warnings` says so.
   */
  strictTools?: boolean
  /** Answers that may wait for a slot before further requests are refused with 429, if the engine's bound is not lower. Default 256. */
  maxWaiting?: number
  /** What each key may ask for in a minute; all callers together where there are no keys. Default: no bound. */
  rates?: RateOptions
  /** Is told of every request, by one line when its reply is whole. */
  logger?: RequestLogger
  /** `/metrics` needs no key. */
  metricsPublic?: boolean
  /** Asked on every request: whether new work is taken. A dead engine is seen without it. */
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
  ...{ strictMaxTokens: "boolean", strictTools: "boolean" },
  maxWaiting: "number",
  rates: { fields: { requests: "number", tokens: "number" } satisfies Fields<RateOptions> },
  ...{ logger: "any", metricsPublic: "boolean", status: "function" },
} as const satisfies Fields<AppOptions>

const unavailable = {
  loading: ["model_loading", "the model is still loading"],
  draining: ["shutting_down", "the server is shutting down"],
  dead: ["engine_dead", "the engine has stopped"],
} as const

/** Routes by path: method → handler. A path that is not here is 404, a method that is not here 405. */
type Routes = Record<string, Record<string, Handler>>
type Handler = (request: Request, call: Call) => Response | Promise<Response>
type Call = Pick<EndpointOptions, "exchange" | "key"> & { id: string }
type Environment = { Variables: { exchange: Exchange; key: number } }

/** Throws OptionError on an option that there is not, RangeError on one that no server can have. */
export function createApp(engine: Engine, options: AppOptions = {}): App {
  checkOptions(options, appFields, {
    aliases: { apiKey: "apiKeys", alias: "aliases", maxBody: "bodyLimits" },
  })
  const { cors = [] } = options
  const apiKeys = readKeys(options.apiKeys ?? [])
  const status = () => {
    const told = options.status?.() ?? "ok"
    return told === "ok" && engine.isDead ? "dead" : told
  }
  const models = new ModelNames(engine, options)
  const serviceTime = new ServiceTime()
  const observe = () => serviceTime.observe(lineOf(engine), performance.now())
  const bodyLimits = { ...defaultBodyLimits, ...options.bodyLimits }
  const endpointOptions = {
    maxWaiting: options.maxWaiting ?? 256,
    bodyLimits,
    held: new HeldBytes(bodyLimits),
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
  }
  const rates = options.rates && new RateLimits(options.rates)
  const metrics = openMetrics(engine)
  const record = async (exchange: Exchange, status: number): Promise<void> => {
    const outcome = await exchange.ended(status)
    if (options.logger) logOutcome(options.logger, outcome)
    const counts = await metrics
    counts.record(outcome)
  }
  const answer =
    (endpoint: (engine: Engine, request: Request, options: EndpointOptions) => Promise<Response>): Handler =>
    async (request, { exchange, key }) => {
      observe()
      const response = await endpoint(engine, request, { ...endpointOptions, exchange, key })
      observe()
      return response
    }
  /** The same for what takes a place in the line. */
  const generate = (endpoint: Parameters<typeof answer>[0]): Handler =>
    answer(async (engine, request, options) => {
      engine.checkLine(1, endpointOptions.maxWaiting)
      return endpoint(engine, request, options)
    })
  const responses = new ResponseStore()
  const routes: Routes = {
    "/v1/chat/completions": { POST: generate(chat) },
    "/v1/completions": { POST: generate(completions) },
    "/v1/messages": { POST: generate(messages) },
    "/v1/messages/count_tokens": { POST: answer(countTokens) },
    "/v1/responses": {
      POST: generate((engine, request, options) => createResponse(engine, request, options, responses)),
    },
    "/v1/responses/input_tokens": {
      POST: answer((engine, request, options) => countInput(engine, request, options, responses)),
    },
    "/v1/responses/:id": {
      GET: (request, { id, key }) => getResponse(request, id, responses.of(key)),
      DELETE: (_, { id, key }) => deleteResponse(id, responses.of(key)),
    },
    "/v1/responses/:id/cancel": { POST: (_, { id, key }) => cancelResponse(id, responses.of(key)) },
    "/v1/responses/:id/input_items": {
      GET: (request, { id, key }) => listInput(request, id, responses.of(key)),
    },
    "/tokenize": { POST: answer(tokenize) },
    "/detokenize": { POST: answer(detokenize) },
    "/v1/tokenize": { POST: answer(tokenize) },
    "/v1/detokenize": { POST: answer(detokenize) },
    "/v1/models": {
      GET: (request) => {
        const { searchParams } = new URL(request.url)
        return Response.json(isAnthropic(request) ? models.listAnthropic(searchParams) : models.list())
      },
    },
    "/v1/models/:id{.+}": {
      GET: (request, { id }) => {
        models.check(id)
        return Response.json(isAnthropic(request) ? models.describeAnthropic(id) : models.describe(id))
      },
    },
    // Clients and load balancers ask whether a server is there by HEAD.
    "/": { GET: () => Response.json({ status: "ok" }) },
    "/health": {
      GET: () => {
        // Requests are taken meanwhile and wait, but another server would answer them sooner.
        const health = status() === "ok" && engine.isRestarting ? "loading" : status()
        if (health === "ok") return Response.json({ status: health })
        return Response.json({ status: health }, { status: 503, headers: retryHeaders(1) })
      },
    },
    "/ping": { GET: () => Response.json({}) },
    "/version": { GET: () => Response.json({ version }) },
    "/load": { GET: () => Response.json({ ...engine.load(), kv: engine.cacheLoad() }) },
    "/tokenizer_info": { GET: () => Response.json(tokenizerInfo(engine)) },
    "/metrics": { GET: async () => (await metrics).response() },
  }

  const hint = `This server has ${Object.keys(routes)
    .map((path) => path.replace(/\{.*\}/, ""))
    .join(", ")}`
  const nothingAt = (c: Context<Environment>): Response => {
    const message = `there is nothing at ${c.req.method} ${c.req.path}`
    return failed(new Refusal("unknown_url", message, { hint }), c)
  }
  const app = new Hono<Environment>()
  app.use(async (c, next) => {
    const exchange = new Exchange(c.req.raw, routeOf(c))
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
  })
  app.use(async (c, next) => {
    const early = preflight(c.req.raw, cors)
    if (early) return early
    const headers = corsHeaders(c.req.raw, cors)
    await next()
    for (const [name, value] of Object.entries(headers ?? {})) c.res.headers.set(name, value)
    return undefined
  })
  const open = new Set(["/", "/health", "/ping", ...(options.metricsPublic ? ["/metrics"] : [])])
  app.use(async (c, next) => {
    const key = open.has(c.req.path) ? -1 : await checkKey(c.req.raw, apiKeys)
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
  })
  for (const [path, methods] of Object.entries(routes)) {
    const allow = Object.keys(methods).join(", ")
    for (const [method, handle] of Object.entries(methods)) {
      app.on(method, path, (c) =>
        handle(c.req.raw, { id: c.req.param("id") ?? "", exchange: c.var.exchange, key: c.var.key }),
      )
    }
    app.all(path, (c) => {
      const { id } = c.req.param() as { id?: string }
      const isKnown = id === undefined || (path.startsWith("/v1/models") ? models.has(id) : isResponseId(id))
      if (!isKnown) return nothingAt(c)
      // Agents that try a socket first go on by HTTP at once where they are told so.
      if (c.req.header("upgrade") !== undefined) {
        throw new Refusal("upgrade_required", `${c.req.path} has no socket`, {
          hint: `Use ${allow}`,
          headers: { allow, upgrade: "HTTP/1.1" },
        })
      }
      const message = `${c.req.method} is not a method of ${c.req.path}`
      throw new Refusal("method_not_allowed", message, { hint: `Use ${allow}`, headers: { allow } })
    })
  }
  app.notFound(nothingAt)
  app.onError(failed)
  // What its handlers say to each other is nobody else's business.
  return app
}

/** An error in the form of the API that the path belongs to. */
function failed(error: unknown, c: Context<Environment>): Response {
  const form = isAnthropic(c.req.raw) ? messagesErrorResponse : errorResponse
  return form(error, c.var.exchange)
}

/** The route that a request belongs to; one for all that belong to none. */
function routeOf(c: Context): string {
  const path = matchedRoutes(c).at(-1)?.path ?? "/*"
  return path === "/*" ? "other" : path.replace(/\{.*\}/, "")
}

/** The package that counts is of Node alone. */
async function openMetrics(engine: Engine): Promise<Pick<Metrics, "record" | "response">> {
  try {
    const { Metrics } = await import("./http/metrics.ts")
    return new Metrics(engine)
  } catch {
    const refusal = new Refusal("unknown_url", "there are no metrics here: prom-client could not be loaded")
    return { record: () => {}, response: async () => errorResponse(refusal) }
  }
}

/** Special tokens by what they are for, as clients ask for them; null where the model has none. */
const namedTokens = [
  "bos_token",
  "eos_token",
  "pad_token",
  "unk_token",
  "sep_token",
  "cls_token",
  "mask_token",
]

function tokenizerInfo({ vocabulary, tokenizer }: Engine): object {
  return {
    vocab_size: vocabulary.tokenCount,
    width: vocabulary.width,
    eos: vocabulary.endIds,
    ...Object.fromEntries(namedTokens.map((name) => [name, tokenizer.namedTokens[name] ?? null])),
    special_tokens: Object.fromEntries(vocabulary.specials),
    chat_template: tokenizer.template.plainSource ?? null,
  }
}

function lineOf(engine: Engine): Line {
  // Aborted ones may never have left the line: to count them would promise too much.
  const { stop, length, error } = engine.metrics.finished
  return { ...engine.load(), finished: stop + length + error }
}
