/**
 * The engine in the page itself: the application of the server, its model and its constraints run
 * in a worker, so the page works without a server. It is loaded when it is switched on; its files
 * lie beside the page, and the browser keeps them.
 */
import type { Backend } from "./backend.ts"

/** How much of the files has come, in bytes. */
export interface Progress {
  done: number
  total: number
}

/** Megabytes that are loaded once: the model, WebAssembly and the worker. */
export const engineMegabytes = 31

/** The engine in the page looks only at the paths of its requests. */
export const pageBase = "http://page/"

/**
 * Opens the engine. `tell` is called while files are fetched. Rejects with ModelError, and with the
 * signal's reason.
 */
export async function pageBackend(tell: (progress: Progress) => void, signal: AbortSignal): Promise<Backend> {
  const { open } = await import("../browser/index.ts")
  const files = new Map<string, Progress>()
  const engine = await open({
    signal,
    // The build puts the worker and the model there too (vite.page.config.ts).
    wasm: "playground/engine/ort-wasm-simd-threaded.wasm",
    onDownload: ({ url, doneBytes, fileBytes }) => {
      files.set(url, { done: doneBytes, total: fileBytes ?? doneBytes })
      const all = [...files.values()]
      tell({
        done: all.reduce((sum, { done }) => sum + done, 0),
        total: all.reduce((sum, { total }) => sum + total, 0),
      })
    },
  })
  return {
    base: pageBase,
    fetch: (request) => engine.fetch(request),
    close: () => void engine.close(),
  }
}
