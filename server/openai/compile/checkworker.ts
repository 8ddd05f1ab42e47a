/** The thread that checks texts. Started from `dist` by `checkthread.ts`, for one question. */
import { parentPort, workerData } from "node:worker_threads"
import { packError } from "../../../runtime/guides/protocol.ts"
import { type CheckQuestion, checkTexts } from "./checktexts.ts"
import type { CheckAnswer } from "./checkthread.ts"

function answer(): CheckAnswer {
  try {
    return { results: checkTexts(workerData as CheckQuestion) }
  } catch (error) {
    return { error: packError(error) }
  }
}

parentPort!.postMessage(answer())
