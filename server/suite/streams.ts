/**
 * Streamed chat requests, many at once, to a server that speaks OpenAI's API: when each piece of
 * each answer came.
 */
import { type ApiTarget, describe, readBody } from "./api/client.ts"

/** One answer. Times are milliseconds of `performance.now()`. */
export interface Stream {
  readonly sentAt: number
  /** When each event with text came. */
  readonly times: readonly number[]
  /** As the server counts them, else the number of events with text. */
  readonly tokens: number
}

/** Why a stream has no answer. */
export class StreamError extends Error {
  override readonly name = "StreamError"
}

/** Maximum characters of one event, and of a refusal that is quoted. */
const maxEventUnits = 1 << 20
const maxQuotedUnits = 300

/** Sends a request and reads its answer to the end. Rejects with `StreamError`. */
export async function readStream(target: ApiTarget, fields: object): Promise<Stream> {
  const sentAt = performance.now()
  const reply = await post(target, { ...fields, stream: true, stream_options: { include_usage: true } })
  if (reply.status !== 200 || reply.body === null) {
    const { bytes } = await readBody(reply, () => null)
    const text = new TextDecoder().decode(bytes)
    throw new StreamError(
      `${target.url} replied with status ${reply.status}: ${text.slice(0, maxQuotedUnits)}`,
    )
  }
  const times: number[] = []
  let tokens: number | null = null
  for await (const data of eventsOf(piecesOf(reply.body, target.url))) {
    if (data === "[DONE]") break
    const { hasText, count } = readEvent(data)
    if (hasText) times.push(performance.now())
    tokens = count ?? tokens
  }
  if (times.length === 0) throw new StreamError(`${target.url} sent a stream without text`)
  return { sentAt, times, tokens: tokens ?? times.length }
}

async function post({ url, apiKey, signal, timeoutMs }: ApiTarget, body: object): Promise<Response> {
  try {
    return await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]),
    })
  } catch (error) {
    throw new StreamError(`${url}: ${describe(error)}`)
  }
}

/** Yields the pieces of a body. Throws `StreamError` if the connection ends before the body. */
async function* piecesOf(body: ReadableStream<Uint8Array>, url: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) yield piece
  } catch (error) {
    throw new StreamError(`${url}: the stream does not end: ${describe(error)}`)
  }
}

/** Yields the data of the events of a stream. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of body) {
    const blocks = `${rest}${decoder.decode(chunk, { stream: true }).replaceAll("\r", "")}`.split("\n\n")
    rest = blocks.pop() ?? ""
    if (rest.length > maxEventUnits)
      throw new StreamError(`an event is longer than ${maxEventUnits} characters`)
    for (const block of blocks) {
      const lines = block.split("\n").filter((line) => line.startsWith("data:"))
      if (lines.length > 0) yield lines.map((line) => line.slice(5).trimStart()).join("\n")
    }
  }
}

/** Reads one event. Throws `StreamError` if it is an error or no JSON object. */
function readEvent(data: string): { hasText: boolean; count: number | null } {
  const value = objectOf(data)
  const { error, usage } = value
  if (error !== undefined && error !== null)
    throw new StreamError(`the stream ended with an error: ${JSON.stringify(error).slice(0, maxQuotedUnits)}`)
  const [choice] = Array.isArray(value.choices) ? value.choices : []
  const delta = fieldsOf(fieldsOf(choice).delta)
  const text = delta.content ?? delta.reasoning_content
  const count = fieldsOf(usage).completion_tokens
  return { hasText: typeof text === "string" && text !== "", count: typeof count === "number" ? count : null }
}

function objectOf(data: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(data))
  } catch {
    throw new StreamError(`an event is not JSON: ${data.slice(0, maxQuotedUnits)}`)
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {}
}
