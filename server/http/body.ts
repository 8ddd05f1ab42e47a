/**
 * The body of a request: read once, kept in two views.
 *
 * `value` is the result of `JSON.parse` and serves all ordinary fields. A schema must not be taken
 * from it, because JSON.parse loses the spelling of numbers, rounds big integers, moves
 * integer-like keys to the front and drops repeated keys. So `text(path)` returns the exact
 * characters of any part, which the lossless reader of grammar/ finds, and constraints are compiled
 * from that text.
 */
import { GrammarError, type JsonNode, readJson } from "../../runtime/index.ts"
import { Refusal } from "../errors.ts"
import { decoded, encodingOf } from "./encoding.ts"
import { quote } from "./quote.ts"

export interface BodyLimits {
  /** Maximum bytes of a JSON body. */
  maxBytes: number
  /** Maximum nesting of a JSON body. */
  maxDepth: number
  /**
   * Maximum commas, colons and opening brackets outside strings. Each of them makes a value or a
   * member of some 200 bytes.
   */
  maxMarks: number
  /** Maximum escapes in strings. Each makes a piece of a string of some 60 bytes. */
  maxEscapes: number
  /**
   * Maximum bytes of all bodies that are being read at once. One body of `maxBytes` is always
   * accepted.
   */
  maxHeldBytes: number
}

export const defaultBodyLimits: Readonly<BodyLimits> = {
  maxBytes: 16 << 20,
  maxDepth: 512,
  maxMarks: 2_000_000,
  maxEscapes: 3_000_000,
  maxHeldBytes: 256 << 20,
}

/** Counts the bytes of all bodies that are being read. */
export class HeldBytes {
  private count = 0
  private readonly most: number

  constructor({ maxBytes, maxHeldBytes }: BodyLimits) {
    this.most = Math.max(maxBytes, maxHeldBytes)
  }

  /** Adds bytes. Throws `Refusal` (429) if the total would exceed the bound. */
  take(count: number): void {
    if (this.count + count > this.most) {
      const message = `all bodies that are being read may have at most ${this.most} bytes together`
      throw new Refusal("queue_full", message, { hint: "Try again soon, or send less" })
    }
    this.count += count
  }

  give(count: number): void {
    this.count -= count
  }
}

export class RequestBody {
  readonly value: Record<string, unknown>
  private readonly source: string
  private readonly root: JsonNode

  constructor(source: string, root: JsonNode, value: Record<string, unknown>) {
    this.source = source
    this.root = root
    this.value = value
  }

  /**
   * Returns the characters of the value at `path` (names of members, indices of items), or null if
   * there is no such value.
   */
  text(path: readonly (string | number)[]): string | null {
    let node: JsonNode | undefined = this.root
    for (const step of path) {
      if (node?.kind === "object" && typeof step === "string") node = node.members.get(step)
      else if (node?.kind === "array" && typeof step === "number") node = node.items[step]
      else return null
    }
    return node ? this.source.slice(node.start, node.end) : null
  }
}

/** The bounds on parsing bytes that have been read. */
export type ParseLimits = Pick<BodyLimits, "maxDepth" | "maxMarks" | "maxEscapes">

/**
 * Returns the JSON object in the bytes. Throws `Refusal`. Time and memory are linear in their
 * number.
 */
export function parseBody(bytes: Uint8Array, limits: ParseLimits): RequestBody {
  const { maxDepth } = limits
  checkExtent(bytes, limits)
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

/**
 * Returns the decoded bytes of a JSON body. Throws `Refusal`: 413 if there are too many bytes, 429
 * if all bodies together have too many, 415 if they cannot be decoded, 400 if the content type is
 * not JSON and `anyType` is false. They count as `held` until the caller releases them.
 */
export async function readBytes(
  request: Request,
  maxBytes: number,
  held: HeldBytes,
  anyType = false,
): Promise<Uint8Array<ArrayBuffer>> {
  const type = request.headers.get("content-type") ?? ""
  if (!anyType && !/^application\/json\b/i.test(type)) {
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
  const encoding = encodingOf(request)
  const sent: AsyncIterable<Uint8Array> = request.body ?? nothing()
  const body =
    encoding === null ? sent : decoded(sent, encoding, maxBytes, () => tooLarge(`more than ${maxBytes}`))
  const bytes = new GrowingBytes(encoding === null ? declared : 0)
  try {
    // A body without content-length may be endless, so its bytes are counted as they arrive.
    for await (const chunk of body) {
      if (bytes.length + chunk.length > maxBytes) throw tooLarge(`more than ${maxBytes}`)
      held.take(chunk.length)
      bytes.append(chunk)
    }
  } catch (error) {
    held.give(bytes.length)
    throw error
  }
  return bytes.view()
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A buffer to which bytes are appended. Copies its content each time that its size has doubled. */
class GrowingBytes {
  length = 0
  private bytes: Uint8Array<ArrayBuffer>

  constructor(expected: number) {
    this.bytes = new Uint8Array(Math.min(expected, 1 << 20))
  }

  append(piece: Uint8Array): void {
    const length = this.length + piece.length
    if (length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.bytes.length))
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    this.bytes.set(piece, this.length)
    this.length = length
  }

  /**
   * Returns the bytes in an array of exactly their length, which can be transferred to another
   * thread.
   */
  view(): Uint8Array<ArrayBuffer> {
    return this.length === this.bytes.length ? this.bytes : this.bytes.slice(0, this.length)
  }
}

// ASCII bytes, which are never part of another character in UTF-8.
const Quote = 0x22
const Comma = 0x2c
const Colon = 0x3a
const OpenBracket = 0x5b
const Backslash = 0x5c
const OpenBrace = 0x7b

/**
 * Throws `Refusal` if the parsed value could take too much memory: three bytes can become an object
 * of hundreds, and a full heap ends the process, even in a thread. For malformed text the count is
 * meaningless but harmless.
 */
function checkExtent(bytes: Uint8Array, { maxMarks, maxEscapes }: ParseLimits): void {
  const { markCount, escapeCount } = extentOf(bytes)
  checkCount("commas, colons and opening brackets", markCount, maxMarks)
  checkCount("escapes in strings", escapeCount, maxEscapes)
}

/**
 * Returns the counts that, besides the bytes, determine the cost of reading a JSON text; see
 * `BodyLimits`. Makes one pass over the bytes, 1 ns each.
 */
export function extentOf(bytes: Uint8Array): { markCount: number; escapeCount: number } {
  let markCount = 0
  let escapeCount = 0
  let isString = false
  // hot
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === Quote) isString = !isString
    else if (isString) {
      if (byte !== Backslash) continue
      escapeCount++
      at++
    } else if (byte === Comma || byte === Colon || byte === OpenBracket || byte === OpenBrace) markCount++
  }
  return { markCount, escapeCount }
}

function checkCount(what: string, count: number, most: number): void {
  if (count <= most) return
  throw new Refusal("invalid_json", `the body has ${count} ${what}, the bound is ${most}`, {
    hint: "Send less, or in fewer and longer strings",
  })
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new Refusal("invalid_json", "the body is not UTF-8", { hint: "Encode the JSON text as UTF-8" })
  }
}
