/**
 * The body of a request: read once, kept in two views.
 *
 * `value` is what `JSON.parse` makes of it and serves every ordinary field. A schema must not pass
 * through it, because it forgets how numbers are spelt, rounds big integers, moves integer-like
 * keys to the front and drops repeated keys. So `text(path)` gives the exact characters of any
 * part, cut out by the lossless reader of grammar/, and that is what a constraint is compiled from.
 */
import { GrammarError, type JsonNode, readJson } from "../../runtime/index.ts"
import { Refusal } from "../errors.ts"
import { decoded, encodingOf } from "./encoding.ts"
import { quote } from "./quote.ts"

export interface BodyLimits {
  /** Size of a JSON body. */
  maxBytes: number
  /** Nesting of a JSON body. */
  maxDepth: number
  /**
   * Commas, colons and opening brackets between its strings: each makes a value or a member, of
   * some 200 bytes.
   */
  maxMarks: number
  /** Escapes in its strings: each makes a piece of a string, of some 60 bytes. */
  maxEscapes: number
  /** Bytes of all bodies that are being read at once. One body of `maxBytes` passes in any case. */
  maxHeldBytes: number
}

export const defaultBodyLimits: Readonly<BodyLimits> = {
  maxBytes: 16 << 20,
  maxDepth: 512,
  maxMarks: 2_000_000,
  maxEscapes: 3_000_000,
  maxHeldBytes: 256 << 20,
}

/** The bytes of all bodies that are being read. */
export class HeldBytes {
  private count = 0
  private readonly most: number

  constructor({ maxBytes, maxHeldBytes }: BodyLimits) {
    this.most = Math.max(maxBytes, maxHeldBytes)
  }

  /** Throws `Refusal` (429) when there would be too many. */
  take(count: number): void {
    if (this.count + count > this.most) {
      const message = `the bodies that are being read have the bound of ${this.most} bytes together`
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
   * The characters of the value at `path` (names of members, numbers of items), or null when there
   * is none.
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

/** What bounds the reading of bytes that are there. */
export type ParseLimits = Pick<BodyLimits, "maxDepth" | "maxMarks" | "maxEscapes">

/** The JSON object that the bytes spell. Throws `Refusal`. Time and memory are linear in them. */
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
 * The bytes of a JSON body, decoded. Throws `Refusal`: 413 when there are too many, 429 when all
 * bodies together have too many, 415 when they cannot be decoded, 400 when it is said to be
 * something else. They count as `held` until the caller gives them back.
 */
export async function readBytes(
  request: Request,
  maxBytes: number,
  held: HeldBytes,
): Promise<Uint8Array<ArrayBuffer>> {
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
  const encoding = encodingOf(request)
  const sent: AsyncIterable<Uint8Array> = request.body ?? nothing()
  const body =
    encoding === null ? sent : decoded(sent, encoding, maxBytes, () => tooLarge(`more than ${maxBytes}`))
  const bytes = new GrowingBytes(encoding === null ? declared : 0)
  try {
    // A body without content-length may be endless, so it is counted as it arrives.
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

/**
 * Bytes that are appended piece by piece. Costs a copy of them all each time that they have
 * doubled.
 */
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

  /** What there is, in an array of its own length: it may go to another thread. */
  view(): Uint8Array<ArrayBuffer> {
    return this.length === this.bytes.length ? this.bytes : this.bytes.slice(0, this.length)
  }
}

// Bytes of ASCII, which in UTF-8 are part of no other character.
const Quote = 0x22
const Comma = 0x2c
const Colon = 0x3a
const OpenBracket = 0x5b
const Backslash = 0x5c
const OpenBrace = 0x7b

/**
 * Throws `Refusal` when what the bytes spell would take too much memory: three bytes can make an
 * object of hundreds, and a heap that is full ends the process, in a thread too. Of malformed text
 * the count means nothing, and does no harm.
 */
function checkExtent(bytes: Uint8Array, { maxMarks, maxEscapes }: ParseLimits): void {
  const { markCount, escapeCount } = extentOf(bytes)
  checkCount("commas, colons and opening brackets", markCount, maxMarks)
  checkCount("escapes in strings", escapeCount, maxEscapes)
}

/**
 * What the reading of a JSON text costs by, beside its bytes: see `BodyLimits`. Cost: one pass over
 * them, 1 ns each.
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
