/**
 * A server of the shipped model that clients reach in two ways: over a socket, and in process by a `fetch` that ends in the
 * application. A suite calls `serveWays` once; its clients are made in its tests or later, when the server listens.
 */
import { afterAll, beforeAll } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { type AppOptions, createApp, createFetch, type RunningServer, serve } from "../../server/index.ts"

export const ways = ["socket", "in process"] as const
export type Way = (typeof ways)[number]

/** What every client takes. */
export interface ClientOptions {
  baseURL: string
  apiKey: string
  fetch: typeof fetch
}

export interface Served {
  readonly engine: Engine
  client(way: Way): ClientOptions
}

export function serveWays(options: AppOptions = {}): Served {
  let engine: Engine
  let server: RunningServer
  let inProcess: typeof fetch
  beforeAll(async () => {
    engine = await open({ device: "cpu", context: 2048 })
    const app = createApp(engine, { anyModel: true, ...options })
    server = await serve(app, { port: 0 })
    inProcess = createFetch(app)
  })
  afterAll(async () => {
    await server.close()
    await engine.close()
  })
  return {
    get engine() {
      return engine
    },
    client: (way) => ({
      baseURL: way === "socket" ? `${server.url}/v1` : "http://localhost/v1",
      apiKey: "none",
      fetch: way === "socket" ? globalThis.fetch : inProcess,
    }),
  }
}
