/** Ends the thread of a model by an error that nobody catches in it. */
import { once } from "node:events"
import type { Worker } from "node:worker_threads"
import type { Engine } from "../../runtime/index.ts"

/**
 * Resolves when the engine knows of it. `worker.terminate()` would not do: a thread that is inside onnxruntime then
 * takes the whole process down.
 */
export async function killModel(engine: Engine): Promise<void> {
  const { parts } = engine as unknown as { parts: { model: { worker: Worker } } }
  const { worker } = parts.model
  const ended = once(worker, "error")
  worker.postMessage(null)
  await ended
}
