/**
 * `tokenrail/browser`: the engine in a page, without a server. `open` starts a worker with the
 * engine, its model and the application of the server; the page's thread only passes messages.
 */

import { onAbort } from "../../runtime/aborts.ts"
import { ModelError } from "../../runtime/errors.ts"
import { checkOptions, type Fields, unpackError } from "../../runtime/page/errors.ts"
import { type PageModelOptions, pageModelFields } from "../../runtime/page/options.ts"
import type { FileProgress } from "../../runtime/page/store.ts"
import { embeddedFiles, embeddedSums, wasmSum } from "./embedded.ts"
import type { OpenMessage, PageAppOptions, Said } from "./messages.ts"
import { PageEngine } from "./page.ts"

export {
  AbortError,
  IncompleteError,
  ModelError,
  RequestError,
  ValidationError,
} from "../../runtime/errors.ts"
export { GrammarError, OptionError, SamplingError } from "../../runtime/page/errors.ts"
export type { PageModelOptions } from "../../runtime/page/options.ts"
export type { FileProgress } from "../../runtime/page/store.ts"
export { tool } from "../../runtime/turn/run.ts"
export type { PageAppOptions } from "./messages.ts"
export { PageEngine } from "./page.ts"

/** Options of an engine in a page. Every field is optional. */
export interface BrowserOptions extends PageModelOptions {
  /**
   * URL of `ort-wasm-simd-threaded.wasm` of onnxruntime-web 1.30.0. Default: it lies beside the
   * worker.
   */
  wasm?: string
  /** The worker, for pages that put its file elsewhere. Default: `worker.js` beside this module. */
  worker?: Worker
  /** Options of the application that `fetch` asks; see `createApp`. */
  app?: PageAppOptions
  /** Called while a file is fetched. */
  onDownload?: (progress: FileProgress) => void
  /** Ends the opening, and its worker. */
  signal?: AbortSignal
  log?: (line: string) => void
}

const browserFields = {
  ...pageModelFields,
  ...{ wasm: "text", worker: "object", app: "object" },
  ...{ onDownload: "function", signal: "object", log: "function" },
} as const satisfies Fields<BrowserOptions>

/**
 * Opens an engine in a worker. Throws ModelError naming the file, OptionError for an unknown
 * option, RangeError for an impossible value, and the signal's reason.
 */
export async function open(options: BrowserOptions = {}): Promise<PageEngine> {
  const { wasm, worker: given, app = {}, onDownload, signal, log, ...model } = options
  checkOptions(options, browserFields)
  signal?.throwIfAborted()
  const worker = given ?? startWorker()
  let release = (): void => {}
  try {
    return await new Promise<PageEngine>((resolve, reject) => {
      release = onAbort(signal, () => reject(signal?.reason))
      worker.onerror = ({ message }) =>
        reject(new ModelError(`the worker of the engine does not start: ${message || "is its file there?"}`))
      worker.onmessage = ({ data: said }: MessageEvent<Said>) => {
        if (said.kind === "progress") onDownload?.(said.progress)
        else if (said.kind === "log") log?.(said.line)
        else if (said.kind === "opened") resolve(new PageEngine(worker, said.model))
        else reject(unpackError(said.error))
      }
      worker.postMessage({
        kind: "open",
        ...{ options: located(model), app },
        embedded: { model: embeddedFiles, checksums: embeddedSums },
        wasm: { url: wasmUrl(wasm), sha256: wasmSum },
      } satisfies OpenMessage)
    })
  } catch (error) {
    worker.terminate()
    throw error
  } finally {
    release()
  }
}

function startWorker(): Worker {
  return new Worker(new URL("./worker.js", import.meta.url), { type: "module" })
}

/** A bundler cannot find this file, so it must not look for it either. */
const wasmFile = "ort-wasm-simd-threaded.wasm"

function wasmUrl(given: string | undefined): string {
  return given === undefined ? new URL(wasmFile, import.meta.url).href : new URL(given, location.href).href
}

/** Returns the options with whole URLs: those of a worker are relative to its own file. */
function located({ model, ...others }: PageModelOptions): PageModelOptions {
  const whole = (url: string): string => new URL(url, location.href).href
  if (typeof model === "string") return { ...others, model: whole(model) }
  if (model === undefined || model === null) return others
  return {
    ...others,
    model: Object.fromEntries(Object.entries(model).map(([file, url]) => [file, whole(url)])),
  }
}
