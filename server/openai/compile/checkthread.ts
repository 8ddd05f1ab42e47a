/**
 * Checks texts in a thread that is ended when the check is over, when it takes too long or when the
 * client has gone: a constraint may read bytes slowly, and other requests go on meanwhile.
 */
import { Worker } from "node:worker_threads"
import { type PackedError, unpackError } from "../../../runtime/guides/protocol.ts"
import { AbortError, packageFile } from "../../../runtime/index.ts"
import { invalid, Refusal } from "../../errors.ts"
import type { CheckQuestion, CheckResult } from "./checktexts.ts"

export type CheckAnswer = { results: CheckResult[] } | { error: PackedError }

/** Maximum milliseconds of one check, with the start of its thread. */
export const maxCheckMs = 10_000
/** Maximum number of checks at once. Further ones are refused. */
export const maxChecks = 4
/** Maximum heap of a thread, in MiB. */
const maxHeapMb = 512

let running = 0

/** Returns a result for each text. Rejects with GrammarError, AbortError and `Refusal`. */
export async function checkApart(question: CheckQuestion, signal: AbortSignal): Promise<CheckResult[]> {
  if (running >= maxChecks) {
    const message = `${running} checks of texts run already, which is the maximum`
    throw new Refusal("queue_full", message, { hint: "Try again soon" })
  }
  if (signal.aborted) throw new AbortError()
  running++
  let timer: NodeJS.Timeout | undefined
  let leave = (): void => {}
  let worker: Worker | undefined
  try {
    const thread = new Worker(packageFile("dist/server/openai/compile/checkworker.js"), {
      workerData: question,
      // Flags of this process are not passed on, since a thread refuses some of them.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    })
    worker = thread
    const answer = await new Promise<CheckAnswer>((resolve, reject) => {
      const costly = (what: string) => reject(invalid("check", what, "Send fewer or shorter texts"))
      timer = setTimeout(() => costly(`takes more than ${maxCheckMs} ms`), maxCheckMs)
      leave = () => reject(new AbortError())
      signal.addEventListener("abort", leave, { once: true })
      thread.on("message", resolve)
      thread.on("error", (error: NodeJS.ErrnoException) =>
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? costly(`takes more than ${maxHeapMb} MiB of memory`)
          : reject(error),
      )
      thread.on("exit", (code) => reject(new Error(`the thread of a check ended with code ${code}`)))
    })
    if ("error" in answer) throw unpackError(answer.error)
    return answer.results
  } finally {
    running--
    clearTimeout(timer)
    signal.removeEventListener("abort", leave)
    void worker?.terminate()
  }
}
