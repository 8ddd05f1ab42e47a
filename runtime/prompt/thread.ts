/** The thread of long prompts (`worker.ts`), and the bounds of short ones, for `encoder.ts`. */
import { Worker } from "node:worker_threads"
import { packageFile } from "../files.ts"
import { maxHeapMb } from "../guides/protocol.ts"
import type { PromptThreads } from "./encoder.ts"
import { within } from "./within.ts"

/** The data with which the thread reads the tokenizer. */
export interface PromptThread {
  readonly model: string
  readonly dtype: string | undefined
  /** Columns of the logits; undefined until they are known. */
  readonly width: number | undefined
}

/** Returns the threads of a model's prompts. */
export function promptThreads(thread: PromptThread): PromptThreads {
  return { start: () => startThread(thread), within }
}

/** Starts the thread. It answers `ready`, and for each text `begun` and the result. */
export function startThread(thread: PromptThread): Worker {
  return new Worker(packageFile("dist/runtime/prompt/worker.js"), {
    workerData: thread,
    // Flags of this process are not passed on, since a thread refuses some of them.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
}
