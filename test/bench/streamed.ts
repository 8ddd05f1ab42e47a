/** One streamed chat request: what came of its answer, and when. */
import { type Agent, request } from "node:http"
import { EventReader } from "../attack/events.ts"
import { chatBody } from "../attack/requests.ts"

export interface Streamed {
  /** The text of each delta, or the arguments of its calls. */
  pieces: string[]
  /** When each of them came, and when the first name of a call did. Milliseconds of `performance.now()`. */
  times: number[]
  /** Tokens of the answer up to each of them, where the request asks for continuous usage; a token may write nothing by itself. */
  tokens: number[]
  sentAt: number
  namedAt: number | null
  finish: string | null
}

/** Sends `fields` over the defaults of the attackers' chat requests. Rejects on an error event and on an answer without text. */
export function streamed(port: number, agent: Agent, fields: object): Promise<Streamed> {
  return new Promise((resolve, reject) => {
    const body = chatBody({ ...fields, stream: true })
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const read: Streamed = {
      pieces: [],
      times: [],
      tokens: [],
      sentAt: performance.now(),
      namedAt: null,
      finish: null,
    }
    const sent = request({ port, path: "/v1/chat/completions", method: "POST", headers, agent }, (reply) => {
      const events = new EventReader()
      let refusal = ""
      reply.on("data", (chunk) => {
        if (reply.statusCode !== 200) refusal += chunk
        else
          try {
            for (const { value } of events.push(chunk)) take(read, value)
          } catch (error) {
            reject(error)
          }
      })
      reply.once("end", () =>
        read.pieces.length > 0
          ? resolve(read)
          : reject(new Error(`status ${reply.statusCode}, no text ${refusal.slice(0, 300)}`)),
      )
    })
    sent.once("error", reject)
    sent.end(body)
  })
}

function take(read: Streamed, value: ReturnType<EventReader["push"]>[number]["value"]): void {
  if (value?.error) throw new Error(value.error.message)
  const choice = value?.choices?.[0]
  if (choice === undefined) return
  const { content, tool_calls: calls } = choice.delta ?? {}
  if (calls?.some((call) => call.function?.name)) read.namedAt ??= performance.now()
  const piece = (content ?? "") + (calls ?? []).map((call) => call.function?.arguments ?? "").join("")
  if (piece !== "") {
    read.pieces.push(piece)
    read.times.push(performance.now())
    read.tokens.push(value?.usage?.completion_tokens ?? 0)
  }
  read.finish = choice.finish_reason ?? read.finish
}
