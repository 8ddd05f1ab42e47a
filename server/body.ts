/**
 * The body of a request: read once, kept in two views.
 *
 * `value` is what `JSON.parse` makes of it and serves every ordinary field. A schema must not pass through it, because
 * it forgets how numbers are spelt, rounds big integers, moves integer-like keys to the front and drops repeated keys.
 * So `text(path)` gives the exact characters of any part, cut out by the lossless reader of grammar/, and that is what
 * a constraint is compiled from.
 */
import { GrammarError, type JsonNode, readJson } from "../runtime/index.ts"
import { Refusal } from "./errors.ts"
import { quote } from "./quote.ts"

export interface BodyLimits {
  /** Size of a JSON body. */
  maxBytes: number
  /** Nesting of a JSON body. */
  maxDepth: number
}

export const defaultBodyLimits: Readonly<BodyLimits> = { maxBytes: 16 << 20, maxDepth: 512 }

export class RequestBody {
  readonly value: Record<string, unknown>
  private readonly source: string
  private readonly root: JsonNode

  constructor(source: string, root: JsonNode, value: Record<string, unknown>) {
    this.source = source
    this.root = root
    this.value = value
  }

  /** The characters of the value at `path` (member names), or null when there is none. */
  text(path: readonly string[]): string | null {
    let node: JsonNode | undefined = this.root
    for (const name of path) {
      if (node?.kind !== "object") return null
      node = node.members.get(name)
    }
    return node ? this.source.slice(node.start, node.end) : null
  }
}

/** Reads and checks the JSON body. Throws `Refusal`: 413 when it is too large, else 400. */
export async function readBody(request: Request, limits: BodyLimits): Promise<RequestBody> {
  return parseBody(await readBytes(request, limits.maxBytes), limits.maxDepth)
}

/** The JSON object that the bytes spell. Throws `Refusal`. Time and memory are linear in them. */
export function parseBody(bytes: Uint8Array, maxDepth: number): RequestBody {
  const source = decode(bytes)
  if (source.trim() === "")
    throw new Refusal("invalid_json", "the body is empty", { hint: "Send a JSON object" })
  let root: JsonNode
  try {
    root = readJson(source, { maxDepth })
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    throw new Refusal("invalid_json", `the body is not JSON: ${error.message}`)
  }
  if (root.kind !== "object")
    throw new Refusal("invalid_json", `the body is JSON of kind ${root.kind}, not an object`)
  return new RequestBody(source, root, JSON.parse(source))
}

/** The bytes of a JSON body. Throws `Refusal`: 413 when there are too many, 400 when it is said to be something else. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const type = request.headers.get("content-type") ?? ""
  if (!/^application\/json\b/i.test(type)) {
    throw new Refusal("invalid_json", `content-type is ${quote(type)}`, {
      hint: "Send content-type: application/json",
    })
  }
  const tooLarge = (bytes: string) =>
    new Refusal("request_too_large", `the body has ${bytes} bytes, the bound is ${maxBytes}`, {
      hint: "Send less, or start the server with a higher --max-body",
    })
  const declared = Number(request.headers.get("content-length") ?? 0)
  if (declared > maxBytes) throw tooLarge(String(declared))
  const chunks: Uint8Array[] = []
  let byteCount = 0
  // A body without content-length may be endless, so it is counted as it arrives.
  for await (const chunk of request.body ?? []) {
    byteCount += chunk.length
    if (byteCount > maxBytes) throw tooLarge(`more than ${maxBytes}`)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(byteCount)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal("invalid_json", "the body is not UTF-8", { hint: "Encode the JSON text as UTF-8" })
  }
}
