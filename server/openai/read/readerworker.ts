/**
 * The thread that reads large bodies. It receives one body after the other and returns the request
 * or its refusal.
 *
 * Started from `dist` by `readerthread.ts`, which defines the messages.
 */
import { parentPort } from "node:worker_threads"
import { Refusal } from "../../errors.ts"
import { readBody } from "./readbody.ts"
import type { Answer, Question } from "./readerthread.ts"

const port = parentPort!

port.on("message", (question: Question) => port.postMessage(answer(question)))
port.postMessage({ kind: "ready" } satisfies Answer)

function answer({ endpoint, bytes, limits }: Question): Answer {
  try {
    return { kind: "read", read: readBody(endpoint, bytes, limits) }
  } catch (error) {
    if (error instanceof Refusal) {
      const { code, fault, details } = error
      return { kind: "refused", code, fault, details }
    }
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) }
  }
}
