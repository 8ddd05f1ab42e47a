/**
 * Whether the tokenizer of a model from elsewhere can be read at all: tried in a thread, which is
 * ended when it takes too long or too much memory, before this thread reads it. It goes on beside
 * the model's own loading.
 */

import { stat } from "node:fs/promises"
import { join } from "node:path"
import { ModelError } from "../errors.ts"
import { maxHeapMb } from "../guides/threads.ts"
import { startThread } from "./encoder.ts"
import { OutOfTimeError, within } from "./within.ts"

/** Milliseconds; a tokenizer of 200,000 tokens takes some 1,000. */
const maxReadMs = 30_000

export interface Trial {
  /**
   * Rejects with ModelError where the time or the memory did not do. What else is wrong, whoever
   * reads it next says better.
   */
  readonly done: Promise<void>
  stop(): void
}

/** Bytes of a tokenizer that are soon read, whatever they say. */
const smallBytes = 2 ** 22

/**
 * What `work` returns, which reads such files in this thread. Throws ModelError where it takes too
 * long.
 */
export function readWithin<Result>(model: string, work: () => Result): Result {
  try {
    return within(maxReadMs, work)
  } catch (error) {
    throw error instanceof OutOfTimeError ? refusal(model, `${maxReadMs} ms`) : error
  }
}

/**
 * Begins with the tokenizer of a model directory, unless it is a small one: then there is nothing
 * to wait for.
 */
export async function beginTrial(thread: {
  readonly model: string
  readonly dtype: string | undefined
}): Promise<Trial | null> {
  const { size } = await stat(join(thread.model, "tokenizer.json"))
  return size > smallBytes ? tryTokenizer(thread) : null
}

/** Begins with the tokenizer of a model directory. */
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
    `${model}: to read its tokenizer and its chat templates takes more than ${what}. Choose another model`,
  )
}
