/** The paths of the server: a table from path and method to a handler. */
import type { Engine } from "../runtime/index.ts"
import { countTokens } from "./anthropic/counttokens.ts"
import { isAnthropic } from "./anthropic/errors.ts"
import { messages } from "./anthropic/messages.ts"
import { type BatchActions, batchRoutes } from "./batches/routes.ts"
import { retryHeaders } from "./errors.ts"
import type { Metrics } from "./http/metrics.ts"
import { ollamaChat, ollamaGenerate } from "./ollama/answer.ts"
import { listModels, listRunning, ollamaVersion, showModel } from "./ollama/models.ts"
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
  /** Opens files and batches, once. */
  batches(): Promise<BatchActions>
  readonly endpointOptions: Omit<EndpointOptions, "exchange" | "key">
}

/**
 * Handlers by path and method. An unknown path is answered with 404, an unknown method with 405.
 */
type Routes = Record<string, Record<string, Handler>>
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
  const responses = new ResponseStore()
  return {
    "/v1/chat/completions": { POST: generate(chat) },
    "/v1/completions": { POST: generate(completions) },
    "/v1/decisions": { POST: generate(decisions) },
    "/v1/compile": { POST: answer(compile) },
    "/v1/score": { POST: generate(score) },
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
    ...batchRoutes(service.batches),
    ...(service.ollama && {
      "/api/chat": { POST: generate(ollamaChat) },
      "/api/generate": { POST: generate(ollamaGenerate) },
      "/api/show": { POST: answer(showModel) },
      "/api/tags": { GET: () => listModels(engine, service.models) },
      "/api/ps": { GET: () => listRunning(engine, service.models) },
      "/api/version": { GET: ollamaVersion },
      ...absentRoutes(),
    }),
    ...descriptions(service),
  }
}

/** The routes that describe the server and its model. */
function descriptions({ engine, models, metrics, status }: Service): Routes {
  return {
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
    // Clients and load balancers send HEAD to check whether the server is up.
    "/": { GET: () => Response.json({ status: "ok" }) },
    "/health": {
      GET: () => {
        // A restarting engine accepts requests and lets them wait. "loading" makes a load balancer
        // choose another server, which answers sooner.
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
