/**
 * The code of the thread of `slowreading.ts`: it takes one text and answers with its contents or
 * the error. It is started from `dist`.
 */
import { parentPort, workerData } from "node:worker_threads"
import { packError } from "../guides/protocol.ts"
import type { SlowAnswer } from "./slowreading.ts"
import { readWhole, type WholeText } from "./wholereading.ts"

let answer: SlowAnswer
try {
  answer = { read: readWhole(workerData as WholeText) }
} catch (error) {
  answer = { error: packError(error) }
}
parentPort!.postMessage(answer)
