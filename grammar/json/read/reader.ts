/**
 * The lossless JSON reader: RFC 8259, strict, iterative.
 *
 * JSON.parse reorders integer-like keys, rounds 18446744073709551615, drops the ".0" of 1.0 and
 * lets a second equal key win. In a schema, each of these has a meaning. Here numbers keep their
 * text, objects their key order (and a second equal key is refused, unless instances are read),
 * strings their lone surrogates, and every value its range in the text.
 */
import { checkTime } from "../../deadline.ts"
import { GrammarError, limitError } from "../../errors.ts"

interface Ranged {
  /** Half-open range in UTF-16 units of the text; 0, 0 for values that come from no text. */
  readonly start: number
  readonly end: number
}

/**
 * A JSON value that keeps the spelling of its numbers, the order of its keys, and its position in
 * the text.
 */
export type JsonNode = Ranged &
  (
    | { readonly kind: "null" | "true" | "false" }
    | { readonly kind: "number"; readonly text: string }
    | { readonly kind: "string"; readonly value: string }
    | { readonly kind: "array"; readonly items: readonly JsonNode[] }
    | {
        readonly kind: "object"
        readonly keys: readonly string[]
        readonly members: ReadonlyMap<string, JsonNode>
      }
  )

export interface ReaderOptions {
  /** The greatest depth of nesting. Default 512. */
  maxDepth?: number
  /** Whether a second equal key is refused, or wins as in JSON.parse. Default "refuse". */
  duplicateKeys?: "refuse" | "last"
}

const numberText = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const moreOfNumber = /[0-9.eE+-]/y
const escapes = new Map([...'"\\/bfnrt'].map((letter, i) => [letter, '"\\/\b\f\n\r\t'[i]]))

// UTF-16 units.
const Quote = 0x22
const Comma = 0x2c
const Colon = 0x3a
const Backslash = 0x5c
const OpenArray = 0x5b
const CloseArray = 0x5d
const OpenObject = 0x7b
const CloseObject = 0x7d
const SmallF = 0x66
const SmallN = 0x6e
const SmallT = 0x74

/** Reads one JSON text. Throws `syntax` with line and column, `limit` if it nests too deep. */
export function readJson(text: string, options: ReaderOptions = {}): JsonNode {
  return new Reader(text, options).read()
}

// The keys and members of arrays; they stay empty.
const noKeys: string[] = []
const noMembers = new Map<string, JsonNode>()

interface OpenContainer {
  start: number
  items: JsonNode[] | null
  keys: string[]
  members: Map<string, JsonNode>
  /** Key of the member being read, and its offset. */
  key: string
  keyStart: number
}

class Reader {
  private readonly text: string
  private readonly maxDepth: number
  private readonly refusesDuplicates: boolean
  private at = 0

  constructor(text: string, { maxDepth = 512, duplicateKeys = "refuse" }: ReaderOptions) {
    this.text = text
    this.maxDepth = maxDepth
    this.refusesDuplicates = duplicateKeys === "refuse"
    if (text.charCodeAt(0) === 0xfeff) this.at = 1
  }

  read(): JsonNode {
    const open: OpenContainer[] = []
    for (;;) {
      this.skipSpace()
      let value = this.readStart(open)
      // A finished value closes as many containers as there are closing marks after it.
      while (value !== null) {
        const top = open.at(-1)
        if (top === undefined) {
          this.skipSpace()
          if (this.at < this.text.length)
            throw this.error(`expected the end of the text, found ${this.found()}`)
          return value
        }
        value = this.addMember(open, top, value)
      }
    }
  }

  /**
   * Returns a scalar or an empty container, or null after opening a container whose first member
   * follows.
   */
  private readStart(open: OpenContainer[]): JsonNode | null {
    const start = this.at
    const mark = this.text.charCodeAt(start)
    if (mark !== OpenObject && mark !== OpenArray) return this.readScalar(mark)
    if (open.length >= this.maxDepth) {
      throw limitError({ schemaDepth: this.maxDepth }, "schemaDepth", open.length + 1, this.place(start))
    }
    this.at++
    this.skipSpace()
    const container: OpenContainer = {
      start,
      items: mark === OpenArray ? [] : null,
      keys: mark === OpenArray ? noKeys : [],
      members: mark === OpenArray ? noMembers : new Map(),
      key: "",
      keyStart: 0,
    }
    if (this.text.charCodeAt(this.at) === (mark === OpenArray ? CloseArray : CloseObject)) {
      this.at++
      return closed(container, this.at)
    }
    open.push(container)
    if (mark === OpenObject) this.readKey(container)
    return null
  }

  /**
   * Adds `value` to the innermost container. Returns that container if it closes here, else null.
   */
  private addMember(open: OpenContainer[], top: OpenContainer, value: JsonNode): JsonNode | null {
    if (top.items === null) this.setMember(top, value)
    else top.items.push(value)
    this.skipSpace()
    const mark = this.text.charCodeAt(this.at)
    if (mark === (top.items === null ? CloseObject : CloseArray)) {
      this.at++
      open.pop()
      return closed(top, this.at)
    }
    if (mark !== Comma)
      throw this.error(`expected "," or "${top.items === null ? "}" : "]"}", found ${this.found()}`)
    this.at++
    this.skipSpace()
    if (top.items === null) this.readKey(top)
    return null
  }

  private readKey(container: OpenContainer): void {
    const start = this.at
    if (this.text.charCodeAt(start) !== Quote)
      throw this.error(`expected a property name in quotes, found ${this.found()}`)
    container.key = this.readString()
    container.keyStart = start
    this.skipSpace()
    if (this.text.charCodeAt(this.at) !== Colon) throw this.error(`expected ":", found ${this.found()}`)
    this.at++
  }

  /** One lookup decides whether the key is new: then there is one member more. */
  private setMember({ members, keys, key, keyStart }: OpenContainer, value: JsonNode): void {
    members.set(key, value)
    if (members.size > keys.length) keys.push(key)
    else if (this.refusesDuplicates)
      throw new GrammarError("syntax", this.place(keyStart), `duplicate key ${JSON.stringify(key)}`)
  }

  private readScalar(mark: number): JsonNode {
    const start = this.at
    if (mark === Quote) {
      const value = this.readString()
      return { kind: "string", value, start, end: this.at }
    }
    const word = mark === SmallN ? "null" : mark === SmallT ? "true" : mark === SmallF ? "false" : null
    if (word !== null && this.text.startsWith(word, start)) {
      this.at += word.length
      return { kind: word, start, end: this.at }
    }
    numberText.lastIndex = start
    if (!numberText.test(this.text)) throw this.error(`expected a value, found ${this.found()}`)
    this.at = moreOfNumber.lastIndex = numberText.lastIndex
    if (moreOfNumber.test(this.text)) throw this.error(`malformed number, found ${this.found()}`)
    return { kind: "number", text: this.text.slice(start, this.at), start, end: this.at }
  }

  private readString(): string {
    const { text } = this
    const start = this.at
    let value = ""
    let from = start + 1
    for (let at = from; ; at++) {
      const unit = text.charCodeAt(at)
      if (unit === Quote) {
        this.at = at + 1
        const last = text.slice(from, at)
        return value === "" ? last : value + last
      }
      if (unit === Backslash) {
        this.at = at
        value += text.slice(from, at) + this.readEscape()
        at = this.at
        from = at + 1
      } else if (!(unit >= 0x20)) {
        this.at = at
        // At the end of the text the unit is NaN.
        if (at >= text.length) throw new GrammarError("syntax", this.place(start), "unterminated string")
        throw this.error(`control character ${this.found()} in a string. Escape it`)
      }
    }
  }

  /** Reads an escape; leaves `at` on its last unit. */
  private readEscape(): string {
    const letter = this.text[++this.at]
    if (letter === "u") {
      const digits = this.text.slice(this.at + 1, this.at + 5)
      if (!/^[0-9a-fA-F]{4}$/.test(digits))
        throw this.error(`expected four hexadecimal digits, found ${JSON.stringify(digits)}`)
      this.at += 4
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
    const decoded = escapes.get(letter)
    if (decoded === undefined) throw this.error(`unknown escape \\${letter ?? ""}`)
    return decoded
  }

  private skipSpace(): void {
    const { text } = this
    let { at } = this
    for (;;) {
      const unit = text.charCodeAt(at)
      if (unit > 0x20 || (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09)) break
      at++
    }
    this.at = at
  }

  private found(): string {
    const unit = this.text.codePointAt(this.at)
    return unit === undefined ? "the end of the text" : JSON.stringify(String.fromCodePoint(unit))
  }

  private error(message: string): GrammarError {
    return new GrammarError("syntax", this.place(this.at), message)
  }

  private place(at: number): string {
    const before = this.text.slice(0, at).split("\n")
    return `line ${before.length}, column ${[...(before.at(-1) as string)].length + 1}`
  }
}

function closed({ start, items, keys, members }: OpenContainer, end: number): JsonNode {
  return items === null ? { kind: "object", keys, members, start, end } : { kind: "array", items, start, end }
}

/**
 * Returns a JavaScript value as a node, with numbers by their shortest decimal. Bigints are
 * allowed. Throws `syntax` for anything else, `limit` if it nests too deep, as a value that
 * contains itself does.
 */
export function fromValue(value: unknown, options: ReaderOptions = {}): JsonNode {
  return nodeOf(value, "", options.maxDepth ?? 512)
}

function nodeOf(value: unknown, path: string, depth: number): JsonNode {
  checkTime()
  const range = { start: 0, end: 0 }
  if (value === null) return { kind: "null", ...range }
  switch (typeof value) {
    case "boolean":
      return { kind: value ? "true" : "false", ...range }
    case "string":
      return { kind: "string", value, ...range }
    case "bigint":
      return { kind: "number", text: `${value}`, ...range }
    case "number":
      if (Number.isFinite(value)) {
        return { kind: "number", text: Object.is(value, -0) ? "-0" : `${value}`, ...range }
      }
      break
    case "object": {
      if (depth === 0) {
        const bound = path.split("/").length - 1
        throw limitError({ schemaDepth: bound }, "schemaDepth.value", bound + 1, path)
      }
      if (Array.isArray(value)) {
        // An index that was never set reads as undefined, and is refused like that.
        const items = Array.from(value, (item, index) => nodeOf(item, `${path}/${index}`, depth - 1))
        return { kind: "array", items, ...range }
      }
      refuseForeign(value, path)
      const keys = Object.keys(value)
      const members = new Map(
        keys.map((key) => [
          key,
          nodeOf((value as Record<string, unknown>)[key], `${path}/${key}`, depth - 1),
        ]),
      )
      return { kind: "object", keys, members, ...range }
    }
    default:
  }
  throw new GrammarError(
    "syntax",
    path,
    `${typeof value === "number" ? value : typeof value} is not a JSON value`,
  )
}

/**
 * Throws for objects whose enumerable fields are not their content: built-in ones, and schema
 * objects of a library.
 */
function refuseForeign(value: object, path: string): void {
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1)
  if (kind !== "Object") throw new GrammarError("syntax", path, `a ${kind} is not a JSON value`)
  // A schema that a library has converted is a plain object, and may have the library's interface
  // at its root.
  if (!("~standard" in value) || (path === "" && isPlain(value))) return
  const message = "this is a schema of a library, not JSON Schema. Convert the whole schema with its library"
  throw new GrammarError("syntax", path, message)
}

/** Whether an object has the prototype of a literal, of any realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Returns the node as compact JSON: numbers as they were written, keys in order. */
export function toText(node: JsonNode): string {
  switch (node.kind) {
    case "number":
      return node.text
    case "string":
      return JSON.stringify(node.value)
    case "array":
      return `[${node.items.map(toText).join(",")}]`
    case "object":
      return `{${node.keys.map((key) => `${JSON.stringify(key)}:${toText(node.members.get(key) as JsonNode)}`).join(",")}}`
    default:
      return node.kind
  }
}
