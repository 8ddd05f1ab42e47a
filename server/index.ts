/**
 * The public names of the server: the application, its socket, and a fetch that needs no socket.
 */
import "./platform.ts"

export { type App, type AppOptions, createApp } from "./app.ts"
export type {
  BatchError,
  BatchStatus,
  BatchStore,
  BatchUsage,
  FileFields,
  Outcome,
  Outcomes,
  StoredBatch,
  StoredFile,
} from "./batches/store.ts"
export type { ErrorBody, ErrorCode } from "./errors.ts"
export type { RateOptions } from "./http/ratelimits.ts"
export type { RequestLogger } from "./http/requestlog.ts"
export { type FastifyScope, fastifyPlugin, nodeListener, type RequestAnswer, underPath } from "./mounts.ts"
export type { BodyReader } from "./openai/read/readbody.ts"
export {
  type Application,
  createFetch,
  ListenError,
  type RunningServer,
  type ServeOptions,
  serve,
} from "./serve.ts"
