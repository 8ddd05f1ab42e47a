/**
 * Reads the tokenizer of an untrusted model in another thread on trial, before this thread reads
 * it. The trial is ended if it takes too long or too much memory. It runs while the model is
 * loaded.
 */

import { stat } from "node:fs/promises"
import { join } from "node:path"
import { ModelError } from "../errors.ts"
import { maxHeapMb } from "../guides/protocol.ts"
import { OutOfTimeError } from "./encoder.ts"
import { startThread } from "./thread.ts"
import { within } from "./within.ts"

/** Maximum milliseconds of the trial; a tokenizer of 200,000 tokens takes about 1,000. */
const maxReadMs = 30_000

export interface Trial {
  /**
   * Rejects with ModelError if the trial exceeds its time or memory. Other errors are left to the
   * next reader, which has better messages.
   */
  readonly done: Promise<void>
  stop(): void
}

/** Maximum size of a tokenizer file that can be read quickly, whatever it contains. */
const smallBytes = 2 ** 22

/**
 * Returns the result of `work`, which reads such files in this thread. Throws ModelError if it
 * takes too long.
 */
export function readWithin<Result>(model: string, work: () => Result): Result {
  try {
    return within(maxReadMs, work)
  } catch (error) {
    throw error instanceof OutOfTimeError ? refusal(model, `${maxReadMs} ms`) : error
  }
}

/** Starts the trial for a model directory, unless its tokenizer file is small and needs none. */
export async function beginTrial(thread: {
  readonly model: string
  readonly dtype: string | undefined
}): Promise<Trial | null> {
  const { size } = await stat(join(thread.model, "tokenizer.json"))
  return size > smallBytes ? tryTokenizer(thread) : null
}

/** Starts the trial for a model directory. */
export function tryTokenizer(
  thread: { readonly model: string; readonly dtype: string | undefined },
  readMs = maxReadMs,
): Trial {
  const worker = startThread({ ...thread, width: undefined })
  const done = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(refusal(thread.model, `${readMs} ms`)), readMs)
    worker.once("message", () => resolve())
    worker.once("exit", () => resolve())
    worker.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY")
        reject(refusal(thread.model, `${maxHeapMb} MB of memory`))
      else resolve()
    })
    worker.once("exit", () => clearTimeout(timer))
  }).finally(() => worker.terminate())
  done.catch(() => {})
  return { done, stop: () => void worker.terminate() }
}

function refusal(model: string, what: string): ModelError {
  return new ModelError(
    `${model}: reading its tokenizer and its chat templates takes more than ${what}. Choose another model`,
  )
}
