/**
 * From the bytes of a body to a chat request that is checked and bounded: JSON ▸ fields ▸ constraint ▸ policies.
 *
 * A pure function of its bytes, which runs on the event loop for a small body and in a thread for a large one
 * (chatreader.ts). What it returns is plain data, so that it can travel between threads.
 */
import { type ParseLimits, parseBody } from "../../http/body.ts"
import { type ConstraintRequest, readConstraint } from "../constraint.ts"
import { type ChatRequest, parseChat } from "../schema.ts"

export interface ChatRead extends ConstraintRequest {
  chat: ChatRequest
}

/** Who reads a body: `readChat` where it stands, or a thread that runs it. */
export interface ChatReader {
  /** Throws `Refusal`, and AbortError when the signal fires. The bytes may be gone afterwards. */
  read(bytes: Uint8Array<ArrayBuffer>, limits: ParseLimits, signal: AbortSignal): Promise<ChatRead>
}

/** Throws `Refusal`. */
export function readChat(bytes: Uint8Array, limits: ParseLimits): ChatRead {
  const body = parseBody(bytes, limits)
  return { chat: parseChat(body), ...readConstraint(body) }
}
