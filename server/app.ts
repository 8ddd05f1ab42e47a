/**
 * The server as a function from Request to Response: routes, request ids, and the mapping of every error.
 *
 * There is no socket, argument or environment variable in here, so that the same application runs under Node, in a test
 * and in a browser. Access rules that depend on the socket are in serve.ts.
 */
import { Hono } from "hono"
import type { Engine } from "../runtime/index.ts"
import { errorResponse, Refusal } from "./errors.ts"
import { checkKey, readKeys } from "./http/access.ts"
import { type BodyLimits, defaultBodyLimits, HeldBytes } from "./http/body.ts"
import { corsHeaders, preflight } from "./http/cors.ts"
import { type Line, ServiceTime } from "./http/servicetime.ts"
import { chat } from "./openai/chat.ts"
import { type ModelNameOptions, ModelNames } from "./openai/models.ts"
import { createBodyReader } from "./openai/read/bodyreader.ts"
import type { BodyReader } from "./openai/read/readbody.ts"
import { version } from "./version.ts"

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
  /** Asked on every request: whether new work is taken. A dead engine is seen without it. */
  status?: () => "ok" | "loading" | "draining" | "dead"
}

const unavailable = {
  loading: ["model_loading", "the model is still loading"],
  draining: ["shutting_down", "the server is shutting down"],
  dead: ["engine_dead", "the engine has stopped"],
} as const

/** Routes by path: method → handler. A path that is not here is 404, a method that is not here 405. */
type Routes = Record<string, Record<string, (request: Request, id: string) => Response | Promise<Response>>>

/** Throws RangeError on an option that no server can have. */
export function createApp(engine: Engine, options: AppOptions = {}): Hono {
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
    bodyLimits,
    held: new HeldBytes(bodyLimits),
    reader: options.reader ?? createBodyReader(),
    models,
    heartbeatMs: options.heartbeatMs,
    onLength: options.onLength,
    compileMs: options.compileMs ?? 2_000,
    retryAfterSeconds: () => {
      observe()
      return serviceTime.waitSeconds
    },
  }
  const routes: Routes = {
    "/v1/chat/completions": {
      POST: async (request) => {
        observe()
        const response = await chat(engine, request, endpointOptions)
        observe()
        return response
      },
    },
    "/v1/models": { GET: () => Response.json(models.list()) },
    "/v1/models/:id{.+}": {
      GET: (_, id) => {
        models.check(id)
        return Response.json(models.describe(id))
      },
    },
    "/health": {
      GET: () => {
        // Requests are taken meanwhile and wait, but another server would answer them sooner.
        const health = status() === "ok" && engine.isRestarting ? "loading" : status()
        return Response.json({ status: health }, { status: health === "ok" ? 200 : 503 })
      },
    },
    "/ping": { GET: () => Response.json({}) },
    "/version": { GET: () => Response.json({ version }) },
    "/load": { GET: () => Response.json(engine.load()) },
  }

  const app = new Hono()
  app.use(async (c, next) => {
    const begin = performance.now()
    await next()
    c.res.headers.set("x-request-id", requestId(c.req.raw))
    c.res.headers.set("openai-processing-ms", String(Math.round(performance.now() - begin)))
  })
  app.use(async (c, next) => {
    const early = preflight(c.req.raw, cors)
    if (early) return early
    const headers = corsHeaders(c.req.raw, cors)
    await next()
    for (const [name, value] of Object.entries(headers ?? {})) c.res.headers.set(name, value)
    return undefined
  })
  const open = new Set(["/health", "/ping"])
  app.use(async (c, next) => {
    if (!open.has(c.req.path)) await checkKey(c.req.raw, apiKeys)
    const state = status()
    if (state !== "ok" && c.req.method === "POST") {
      const [code, message] = unavailable[state]
      throw new Refusal(code, message)
    }
    await next()
  })
  for (const [path, methods] of Object.entries(routes)) {
    const allow = Object.keys(methods).join(", ")
    for (const [method, handle] of Object.entries(methods)) {
      app.on(method, path, (c) => handle(c.req.raw, c.req.param("id") ?? ""))
    }
    app.all(path, (c) => {
      const message = `${c.req.method} is not a method of ${c.req.path}`
      throw new Refusal("method_not_allowed", message, { hint: `Use ${allow}`, headers: { allow } })
    })
  }
  app.notFound((c) => {
    const hint = `This server has ${Object.keys(routes)
      .map((path) => path.replace(/\{.*\}/, ""))
      .join(", ")}`
    return errorResponse(
      new Refusal("unknown_url", `there is nothing at ${c.req.method} ${c.req.path}`, { hint }),
    )
  })
  app.onError((error) => errorResponse(error))
  return app
}

// The caller's own id when it is short and printable, so that both logs tell the same story.
function requestId(request: Request): string {
  const given = request.headers.get("x-request-id") ?? ""
  return /^[\x21-\x7e]{1,128}$/.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`
}

function lineOf(engine: Engine): Line {
  // Aborted ones may never have left the line: to count them would promise too much.
  const { stop, length, error } = engine.metrics.finished
  return { ...engine.load(), finished: stop + length + error }
}
