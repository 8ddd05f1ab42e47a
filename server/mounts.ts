/**
 * The application below a path of another server: Express, Fastify, a server of Node, or a
 * framework of route handlers (Next.js). docs/adapters.md has the lines for each; Hono mounts it by
 * itself.
 *
 * The body of a request has to arrive unread: a schema in it keeps number spelling and key order
 * only as text. A request whose body a parser has already read is answered with an error that says
 * so, unless the parser left the decoded bytes in `rawBody`.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { getRequestListener } from "@hono/node-server"
import { errorResponse, Refusal } from "./errors.ts"
import { type Application, listenerErrorResponse } from "./serve.ts"

/**
 * Answers a request of Node: an IncomingMessage and a ServerResponse of `node:http`. The type does
 * not name them, so that it compiles without the types of Node.
 */
export type RequestAnswer = (request: object, response: object) => void

const listenerOptions = {
  // The name in the URL of a request without a Host header. The other server checks names.
  hostname: "localhost",
  overrideGlobalObjects: false,
  errorHandler: listenerErrorResponse,
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  readonly prefix: string
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void
  all(path: string, handler: (request: { raw: object }, reply: { raw: object; hijack(): void }) => void): void
}

/**
 * Returns the application as a function of Request whose paths begin with `path`, such as
 * `/api/llm`. Throws TypeError for a path that does not begin with a slash.
 */
export function underPath(app: Application, path: string): (request: Request) => Promise<Response> {
  const prefix = checkPath(path)
  return async (request) => {
    const url = new URL(request.url)
    const rest = withoutPrefix(url.pathname, prefix)
    if (rest === null) return new Response(null, { status: 404 })
    if (request.bodyUsed) return errorResponse(readBefore())
    url.pathname = rest
    return app.fetch(new Request(url, request))
  }
}

/**
 * Returns the application as a listener of Node, for `createServer` and Express:
 * `express().use("/llm", nodeListener(app))`. `path`: the beginning of the paths, if the framework
 * has not removed it.
 */
export function nodeListener(app: Application, path = "/"): RequestAnswer {
  const prefix = checkPath(path)
  const answer = (request: Request, { incoming }: { incoming: object }): Response | Promise<Response> => {
    if (hasBytes(incoming)) {
      // The parser has decoded the bytes.
      request.headers.delete("content-encoding")
      request.headers.delete("content-length")
    }
    return app.fetch(request)
  }
  const listener = getRequestListener(answer, listenerOptions)
  const refuse = getRequestListener(() => errorResponse(readBefore()), listenerOptions)
  const answerNode = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const url = incoming.url ?? "/"
    const [pathname, ...query] = url.split("?")
    const rest = withoutPrefix(pathname, prefix)
    if (rest === null) outgoing.writeHead(404).end()
    else if (incoming.readableDidRead && !hasBytes(incoming)) void refuse(incoming, outgoing)
    else {
      incoming.url = [rest, ...query].join("?")
      void listener(incoming, outgoing)
    }
  }
  return (request, response) => answerNode(request as IncomingMessage, response as ServerResponse)
}

/**
 * Returns the application as a plugin of Fastify 5: `fastify.register(fastifyPlugin(app), { prefix:
 * "/llm" })`. The plugin's own paths have no parser of bodies.
 */
export function fastifyPlugin(app: Application): (scope: FastifyScope) => Promise<void> {
  return async (scope) => {
    const listener = nodeListener(app, scope.prefix === "" ? "/" : scope.prefix)
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
    scope.all("/*", (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
  }
}

/** Returns whether a parser has left the bytes of the body. */
function hasBytes(incoming: object): boolean {
  return "rawBody" in incoming && Buffer.isBuffer(incoming.rawBody)
}

/** Returns the path without a slash at its end. */
function checkPath(path: string): string {
  if (path.startsWith("/")) return path.replace(/\/+$/, "")
  throw new TypeError(`path: ${JSON.stringify(path)} does not begin with a slash`)
}

/** Returns the path below the prefix; null if it is not below it. */
function withoutPrefix(path: string, prefix: string): string | null {
  if (!path.startsWith(prefix)) return null
  const rest = path.slice(prefix.length)
  return rest === "" ? "/" : rest.startsWith("/") ? rest : null
}

function readBefore(): Refusal {
  return new Refusal(
    "server_error",
    "the body of this request was read before it reached the application, by a parser such as express.json()",
    {
      hint: "Mount the application before the parser, or let the parser keep the bytes in rawBody",
      headers: { "x-should-retry": "false" },
    },
  )
}
