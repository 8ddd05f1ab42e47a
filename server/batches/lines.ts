/**
 * The lines of a batch's input: how they are cut, read and checked.
 *
 * The input is read as a stream, one line at a time. The body of a line is kept as it was written,
 * since a schema inside it must not lose the spelling of its numbers.
 */
import { parseBody } from "../http/body.ts"
import { quote } from "../http/quote.ts"
import { type BatchError, maxCustomIdUnits, maxLineBytes, maxLineErrors } from "./store.ts"

/** The endpoints that a line may call. */
export const batchEndpoints = [
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/responses",
  "/v1/messages",
  "/v1/decisions",
] as const

/** A line of text. */
export interface TextLine {
  /** Its number, from 1. */
  number: number
  /** Without the line's end. Empty if the line is too long. */
  text: string
  /** Number of its bytes, with the line's end. */
  byteCount: number
  /** Whether the line's end was there. */
  isWhole: boolean
  isTooLong: boolean
}

/** A request of a batch. */
export interface BatchLine {
  customId: string
  url: string
  /** The JSON text of the body. */
  body: string
}

/** Cuts a stream of bytes into lines. Holds one line and one piece of the stream. */
export async function* linesOf(
  content: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<TextLine> {
  let number = 0
  let byteCount = 0
  let parts: Uint8Array[] = []
  const take = (isWhole: boolean): TextLine => {
    const isTooLong = byteCount > maxBytes
    const text = isTooLong
      ? ""
      : Buffer.concat(parts)
          .toString("utf8")
          .replace(/\r?\n$/, "")
    const line = { number: ++number, text, byteCount, isWhole, isTooLong }
    byteCount = 0
    parts = []
    return line
  }
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(0x0a, at)
      const part = chunk.subarray(at, end < 0 ? chunk.length : end + 1)
      byteCount += part.length
      if (byteCount <= maxBytes) parts.push(part)
      at += part.length
      if (end >= 0) yield take(true)
    }
  }
  if (byteCount > 0) yield take(false)
}

interface ReadOptions {
  /** The endpoint of all lines; null: any of `batchEndpoints`. */
  endpoint: string | null
  maxLines: number
}

/** Yields the requests of an input that has passed `checkInput`. */
export async function* readInput(
  content: AsyncIterable<Uint8Array>,
  endpoint: string | null,
): AsyncGenerator<BatchLine> {
  for await (const line of linesOf(content, maxLineBytes)) {
    if (isBlank(line)) continue
    const read = readLine(line, endpoint)
    if ("error" in read) throw new Error(`line ${line.number}: ${read.error.message}`)
    yield read.line
  }
}

/** Checks a whole input. Resolves to the number of its requests, their ids and first errors. */
export async function checkInput(
  content: AsyncIterable<Uint8Array>,
  { endpoint, maxLines }: ReadOptions,
): Promise<{ total: number; customIds: ReadonlySet<string>; errors: BatchError[] }> {
  const errors: BatchError[] = []
  const customIds = new Set<string>()
  let total = 0
  for await (const line of linesOf(content, maxLineBytes)) {
    if (isBlank(line)) continue
    total++
    if (total > maxLines) {
      const message = `the input has more than ${maxLines} lines: send several batches`
      errors.push({ code: "too_many_lines", message, param: null, line: null })
      break
    }
    const read = readLine(line, endpoint)
    if ("error" in read) errors.push(read.error)
    else if (customIds.has(read.line.customId)) {
      const message = `custom_id ${quote(read.line.customId)} is that of an earlier line`
      errors.push({ code: "duplicate_custom_id", message, param: "custom_id", line: line.number })
    } else customIds.add(read.line.customId)
    if (errors.length >= maxLineErrors) break
  }
  if (total === 0)
    errors.push({ code: "empty_file", message: "the input has no lines", param: null, line: null })
  return { total, customIds, errors }
}

function isBlank({ text, isTooLong }: TextLine): boolean {
  return !isTooLong && text.trim() === ""
}

const lineLimits = { maxDepth: 512, maxMarks: 200_000, maxEscapes: 300_000 }

type LineRead = { line: BatchLine } | { error: BatchError }

function readLine({ text, number, isTooLong }: TextLine, endpoint: string | null): LineRead {
  const wrong = (code: string, param: string | null, message: string): LineRead => ({
    error: { code, message, param, line: number },
  })
  if (isTooLong) return wrong("line_too_long", null, `the line has more than ${maxLineBytes} bytes`)
  let read: ReturnType<typeof parseBody>
  try {
    read = parseBody(Buffer.from(number === 1 ? text.replace(/^\uFEFF/, "") : text), lineLimits)
  } catch (error) {
    const { message } = error as Error
    return wrong("invalid_json_line", null, message.replace("the body", "the line"))
  }
  const { custom_id: customId, method, url, body } = read.value
  for (const name of ["custom_id", "method", "url", "body"]) {
    if (read.value[name] === undefined) return wrong("missing_required_parameter", name, `${name} is missing`)
  }
  if (typeof customId !== "string" || customId === "" || customId.length > maxCustomIdUnits) {
    const message = `custom_id must be a string of 1 to ${maxCustomIdUnits} units`
    return wrong("invalid_custom_id", "custom_id", message)
  }
  if (method !== "POST") return wrong("invalid_method", "method", `method is ${quote(method)}, not POST`)
  const urls: readonly unknown[] = endpoint === null ? batchEndpoints : [endpoint]
  if (!urls.includes(url)) {
    const message = `url is ${quote(url)}, it must be ${urls.join(" or ")}`
    return wrong(endpoint === null ? "invalid_url" : "mismatched_url", "url", message)
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return wrong("invalid_request", "body", "body is not an object")
  if ((body as { stream?: unknown }).stream === true)
    return wrong(
      "invalid_request",
      "body.stream",
      "body.stream is true: a batch has no streams, leave it out",
    )
  return { line: { customId, url: String(url), body: read.text(["body"]) ?? "{}" } }
}
