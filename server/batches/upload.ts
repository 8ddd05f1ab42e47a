/**
 * Reads an upload: a body of `multipart/form-data` with one file, passed on as it comes.
 *
 * The parts come in any order. The fields are known when the body has ended.
 */
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import { Busboy, type BusboyConfig, type BusboyHeaders } from "@fastify/busboy"
import { invalid, missing, Refusal } from "../errors.ts"
import { quote } from "../http/quote.ts"

/** The parts of an upload. */
export interface Upload {
  filename: string
  content: AsyncIterable<Uint8Array>
  /** Resolves to the other fields when the body has been read. */
  fields: Promise<Record<string, string>>
}

const maxFields = 16
const maxFieldBytes = 4_096

/**
 * Begins to read the body. `content` must be read to its end. Rejects with `Refusal`: here and in
 * `fields`, 413 if the file has more than `maxBytes`.
 */
export function readUpload(request: Request, maxBytes: number): Promise<Upload> {
  const type = request.headers.get("content-type") ?? ""
  if (!/^multipart\/form-data\b.*boundary=/i.test(type) || request.body === null) {
    throw invalid("content-type", `is ${quote(type)}`, "Send multipart/form-data with file and purpose")
  }
  const limits = { files: 1, fileSize: maxBytes, fields: maxFields, fieldSize: maxFieldBytes }
  const parser = parserOf({ headers: { "content-type": type } as BusboyHeaders, limits })
  const values: Record<string, string> = {}
  const body = Readable.fromWeb(request.body as ReadableStream)
  return new Promise((resolve, reject) => {
    let file: Readable | undefined
    let isTooLarge = false
    const { promise: fields, resolve: resolveFields, reject: rejectFields } = deferred<typeof values>()
    fields.catch(() => {})
    const fail = (error: unknown): void => {
      body.unpipe(parser)
      body.resume()
      const refusal = error instanceof Refusal ? error : malformed(error)
      rejectFields(refusal)
      reject(refusal)
      file?.destroy(refusal)
    }
    parser.on("field", (name, value) => {
      values[name] = value
    })
    parser.on("file", (name, stream, filename) => {
      file = stream
      // Errors are reported by `contentOf`, if it is being read.
      stream.on("error", () => {})
      if (name !== "file") return fail(invalid("file", `is missing: there is a file ${quote(name)}`))
      stream.on("limit", () => {
        isTooLarge = true
        fail(tooLarge(maxBytes))
      })
      resolve({ filename: filename || "file", content: contentOf(stream), fields })
    })
    parser.on("finish", () => {
      if (isTooLarge) return
      resolveFields(values)
      if (file === undefined) reject(missing("file", "Send the file as the part file"))
    })
    parser.on("error", fail)
    body.on("error", fail)
    body.pipe(parser)
  })
}

function parserOf(config: BusboyConfig) {
  try {
    return new Busboy(config)
  } catch (error) {
    throw malformed(error)
  }
}

async function* contentOf(file: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* file
  } catch (error) {
    throw error instanceof Refusal ? error : malformed(error)
  }
}

function malformed(error: unknown): Refusal {
  return invalid("body", `is not multipart/form-data: ${error instanceof Error ? error.message : error}`)
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal("request_too_large", `the file has more than ${maxBytes} bytes`, {
    param: "file",
    hint: "Send it in several files",
  })
}

function deferred<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}
