/**
 * The paths of the server: one table from path and method to a handler and its description.
 *
 * app.ts answers by this table, and so do 404, 405, the labels of metrics and /openapi.json, so
 * that no path can lack one of them.
 */
import type { Engine } from "../runtime/index.ts"
import { countTokens } from "./anthropic/counttokens.ts"
import { isAnthropic } from "./anthropic/errors.ts"
import { messages } from "./anthropic/messages.ts"
import { type BatchActions, batchRoutes } from "./batches/routes.ts"
import { retryHeaders } from "./errors.ts"
import { homepage, playgroundFile, wantsPage } from "./homepage.ts"
import type { Metrics } from "./http/metrics.ts"
import { ollamaChat, ollamaGenerate } from "./ollama/answer.ts"
import { listModels, listRunning, ollamaRoot, ollamaVersion, showModel } from "./ollama/models.ts"
import { absentRoutes } from "./ollama/routes.ts"
import { chat } from "./openai/chat/chat.ts"
import { compile } from "./openai/compile/compile.ts"
import { completions } from "./openai/completions/completions.ts"
import { decisions, score } from "./openai/decisions.ts"
import type { ModelNames } from "./openai/models.ts"
import type { EndpointOptions } from "./openai/request/endpoint.ts"
import { countInput, createResponse } from "./openai/responses/create.ts"
import { ResponseStore } from "./openai/responses/store.ts"
import { cancelResponse, deleteResponse, getResponse, listInput } from "./openai/responses/stored.ts"
import { detokenize, tokenize } from "./openai/tokenize.ts"
import type { OperationName } from "./openapi/operations.ts"
import { docsFile, docsPage, pageFiles } from "./openapi/page.ts"
import { version } from "./version.ts"

/** The values that the routes of one application share. */
export interface Service {
  readonly engine: Engine
  readonly models: ModelNames
  readonly metrics: Promise<Pick<Metrics, "record" | "response">>
  /** Whether there are the paths of Ollama's API. */
  readonly ollama: boolean
  /** Measures the speed of the queue. Called before and after each answer. */
  observe(): void
  status(): "ok" | "loading" | "draining" | "dead"
  readonly metricsPublic: boolean
  /** Whether requests need a key. */
  readonly hasKeys: boolean
  /** Opens files and batches, once. */
  batches(): Promise<BatchActions>
  readonly endpointOptions: Omit<EndpointOptions, "exchange" | "key">
}

/** A method of a path. */
interface Route {
  /** Its description. Null: it answers only with 404, and is not described. */
  operation: OperationName | null
  answer: Handler
  /** Whether it needs no key. */
  isOpen?: boolean
}

/**
 * Routes by path and method. An unknown path is answered with 404, an unknown method with 405.
 */
type Routes = Record<string, Record<string, Route>>
type Handler = (request: Request, call: Call) => Response | Promise<Response>
type Call = Pick<EndpointOptions, "exchange" | "key"> & { id: string }
type EndpointFunction = (engine: Engine, request: Request, options: EndpointOptions) => Promise<Response>

export function routesOf(service: Service): Routes {
  const { engine, endpointOptions, observe } = service
  const answer =
    (endpoint: EndpointFunction): Handler =>
    async (request, { exchange, key }) => {
      observe()
      const response = await endpoint(engine, request, { ...endpointOptions, exchange, key })
      observe()
      return response
    }
  /** Like `answer`, for endpoints whose request waits in the queue. */
  const generate = (endpoint: EndpointFunction): Handler =>
    answer(async (engine, request, options) => {
      engine.checkLine(1, endpointOptions.maxWaiting, options.exchange.isBackground)
      return endpoint(engine, request, options)
    })
  const routes: Routes = {
    "/v1/chat/completions": { POST: route("chat", generate(chat)) },
    "/v1/completions": { POST: route("completions", generate(completions)) },
    "/v1/decisions": { POST: route("decisions", generate(decisions)) },
    "/v1/compile": { POST: route("compile", answer(compile)) },
    "/v1/score": { POST: route("score", generate(score)) },
    "/v1/messages": { POST: route("messages", generate(messages)) },
    "/v1/messages/count_tokens": { POST: route("countMessageTokens", answer(countTokens)) },
    ...responseRoutes(answer, generate),
    "/tokenize": { POST: route("tokenize", answer(tokenize)) },
    "/detokenize": { POST: route("detokenize", answer(detokenize)) },
    "/v1/tokenize": { POST: route("tokenize", answer(tokenize)) },
    "/v1/detokenize": { POST: route("detokenize", answer(detokenize)) },
    ...batchRoutes(service.batches),
    ...(service.ollama && {
      "/api/chat": { POST: route("ollamaChat", generate(ollamaChat)) },
      "/api/generate": { POST: route("ollamaGenerate", generate(ollamaGenerate)) },
      "/api/show": { POST: route("ollamaShow", answer(showModel)) },
      "/api/tags": { GET: route("ollamaTags", () => listModels(engine, service.models)) },
      "/api/ps": { GET: route("ollamaPs", () => listRunning(engine, service.models)) },
      "/api/version": { GET: route("ollamaVersion", ollamaVersion) },
      ...absentRoutes(),
    }),
    ...descriptions(service),
    "/docs": { GET: openRoute("docs", docsPage) },
    [`/docs/:id{(?:${Object.keys(pageFiles).join("|").replaceAll(".", "\\.")})}`]: {
      GET: openRoute("docsFile", (_, { id }) => docsFile(id)),
    },
    "/openapi.json": {
      GET: openRoute(
        "openapi",
        describer(() => routes, service),
      ),
    },
  }
  return routes
}

/** Returns the handler that replies with the description of the routes, which is made once. */
function describer(routes: () => Routes, { engine, hasKeys }: Service): Handler {
  let text: Promise<string> | undefined
  const make = async (): Promise<string> => {
    const { openapiDocument } = await import("./openapi/document.ts")
    return JSON.stringify(openapiDocument({ routes: routes(), model: engine.model.id, hasKeys }))
  }
  return async () => {
    text ??= make()
    return new Response(await text, { headers: { "content-type": "application/json" } })
  }
}

function route(operation: OperationName, answer: Handler): Route {
  return { operation, answer }
}

function openRoute(operation: OperationName, answer: Handler): Route {
  return { operation, answer, isOpen: true }
}

type Wrap = (endpoint: EndpointFunction) => Handler

function responseRoutes(answer: Wrap, generate: Wrap): Routes {
  const stored = new ResponseStore()
  const create: EndpointFunction = (engine, request, options) =>
    createResponse(engine, request, options, stored)
  const count: EndpointFunction = (engine, request, options) => countInput(engine, request, options, stored)
  return {
    "/v1/responses": { POST: route("createResponse", generate(create)) },
    "/v1/responses/input_tokens": { POST: route("countResponseTokens", answer(count)) },
    "/v1/responses/:id": {
      GET: route("getResponse", (request, { id, key }) => getResponse(request, id, stored.of(key))),
      DELETE: route("deleteResponse", (_, { id, key }) => deleteResponse(id, stored.of(key))),
    },
    "/v1/responses/:id/cancel": {
      POST: route("cancelResponse", (_, { id, key }) => cancelResponse(id, stored.of(key))),
    },
    "/v1/responses/:id/input_items": {
      GET: route("listResponseInput", (request, { id, key }) => listInput(request, id, stored.of(key))),
    },
  }
}

/** The routes that describe the server and its model. */
function descriptions(service: Service): Routes {
  const { engine, metrics, status } = service
  const health = (): Response => {
    // A restarting engine accepts requests and lets them wait. "loading" makes a load balancer
    // choose another server, which answers sooner.
    const health = status() === "ok" && engine.isRestarting ? "loading" : status()
    if (health === "ok") return Response.json({ status: health })
    return Response.json({ status: health }, { status: 503, headers: retryHeaders(1) })
  }
  const loads = () => Response.json({ ...engine.load(), kv: engine.cacheLoad() })
  return {
    ...modelRoutes(service),
    // Clients and load balancers send HEAD to check whether the server is up.
    "/": { GET: openRoute("root", rootOf(service.ollama ? ollamaRoot : plainRoot)) },
    "/playground/:id{[\\w./-]+}": {
      GET: openRoute("playgroundFile", (request, { id }) => playgroundFile(request, id)),
    },
    "/health": { GET: openRoute("health", health) },
    "/ping": { GET: openRoute("ping", () => Response.json({})) },
    "/version": { GET: route("version", () => Response.json({ version })) },
    "/load": { GET: route("load", loads) },
    "/tokenizer_info": { GET: route("tokenizerInfo", () => Response.json(tokenizerInfo(engine))) },
    "/metrics": {
      GET: {
        ...route("metrics", async () => (await metrics).response()),
        isOpen: service.metricsPublic,
      },
    },
  }
}

/** Browsers get the page, all other clients get `plain`. */
function rootOf(plain: (request: Request) => Response): Handler {
  return (request) => {
    const other = (): Response => {
      const response = plain(request)
      response.headers.set("vary", "accept")
      return response
    }
    return wantsPage(request) ? homepage(request, other) : other()
  }
}

function plainRoot(): Response {
  return Response.json({ status: "ok" })
}

function modelRoutes({ models }: Service): Routes {
  const list: Handler = (request) => {
    const { searchParams } = new URL(request.url)
    return Response.json(isAnthropic(request) ? models.listAnthropic(searchParams) : models.list())
  }
  const describe: Handler = (request, { id }) => {
    models.check(id)
    return Response.json(isAnthropic(request) ? models.describeAnthropic(id) : models.describe(id))
  }
  return {
    "/v1/models": { GET: route("listModels", list) },
    "/v1/models/:id{.+}": { GET: route("getModel", describe) },
  }
}

/** Special tokens by the names that clients use; null if the model has none. */
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
