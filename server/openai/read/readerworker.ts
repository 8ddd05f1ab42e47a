/**
 * The thread that reads large bodies: one body after the other, the request or its refusal back.
 *
 * Started from `dist` by `readerthread.ts`, which names the messages.
 */
import { parentPort } from "node:worker_threads"
import { Refusal } from "../../errors.ts"
import type { ParseLimits } from "../../http/body.ts"
import { readChat } from "./readchat.ts"
import type { Answer, Question } from "./readerthread.ts"

const port = parentPort!

port.on("message", ({ bytes, limits }: Question) => port.postMessage(answer(bytes, limits)))
port.postMessage({ kind: "ready" } satisfies Answer)

function answer(bytes: Uint8Array, limits: ParseLimits): Answer {
  try {
    return { kind: "read", read: readChat(bytes, limits) }
  } catch (error) {
    if (error instanceof Refusal) {
      const { code, fault, details } = error
      return { kind: "refused", code, fault, details }
    }
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) }
  }
}
