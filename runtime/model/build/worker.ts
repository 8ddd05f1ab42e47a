/**
 * The code of the thread of `cache.ts`: it builds one model directory, and reports its progress. It
 * is started from `dist`.
 */
import { parentPort, workerData } from "node:worker_threads"
import { ModelError } from "../../errors.ts"
import type { BuildAnswer, BuildTask } from "./cache.ts"
import { convert } from "./convert.ts"

const say = (answer: BuildAnswer) => parentPort!.postMessage(answer)
/** Milliseconds between two progress messages. */
const everyMs = 50
let saidAt = 0

try {
  await convert(workerData as BuildTask, (doneBytes, allBytes) => {
    const now = performance.now()
    if (now - saidAt < everyMs && doneBytes < allBytes) return
    saidAt = now
    say({ kind: "progress", doneBytes, allBytes })
  })
  say({ kind: "done" })
} catch (error) {
  const { message, code } = error as NodeJS.ErrnoException
  const isRefusal = error instanceof ModelError
  // Any error except a refusal or one of the file system is a bug of this program.
  if (!isRefusal && code === undefined) throw error
  say({ kind: "failed", message, code, isRefusal })
}
