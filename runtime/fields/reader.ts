/**
 * Reads the values of a JSON text while it is written: each opens with its first character, a
 * string grows, and a value closes when no further text can change it.
 *
 * A pushdown automaton over UTF-16 units. It never looks back and never reads a unit twice, so the
 * text may be cut anywhere and gives the same values. Its state is immutable: open objects and
 * arrays are lists of their closed members, linked from the latest to the first. So a fork copies a
 * few fields, and a returned value never changes.
 *
 * It holds the values that are open, with their members, and at most three bytes, an escape and
 * half a surrogate pair.
 */
import { decodeWhole } from "../model/detokenizer.ts"
import { type DeepPartial, setMember } from "./value.ts"

/** The kind of a JSON value. */
export type FieldKind = "object" | "array" | "string" | "number" | "boolean" | "null"

/**
 * A change of a value. `open` comes with its first character. `delta` is a further part of a
 * string, decoded, whole characters only. `close` comes with the last character of the value; for a
 * number, with the character after it. `logprob` and `mass`, if requested, cover the tokens that
 * wrote the value: the sum of their log-probabilities among the allowed tokens, and the product of
 * the probabilities that the model gave to the allowed tokens at each of them.
 */
export type FieldEvent =
  | { readonly type: "open"; readonly path: string; readonly kind: FieldKind }
  | { readonly type: "delta"; readonly path: string; readonly delta: string }
  | {
      readonly type: "close"
      readonly path: string
      readonly value: unknown
      readonly logprob?: number
      readonly mass?: number
    }

/** An open object or array. */
interface Level {
  readonly kind: "object" | "array"
  /** JSON pointer. */
  readonly path: string
  readonly outer: Level | null
  /** Name of the member that is being read; objects only. */
  readonly name: string
  readonly members: Member | null
  readonly memberCount: number
}

/** A closed member of a level, and those before it. */
interface Member {
  readonly before: Member | null
  readonly name: string
  readonly value: unknown
}

type Place =
  | "value" // a value must come
  | "firstItem" // a value or ]
  | "firstName" // a name or }
  | "name"
  | "colon"
  | "after" // a comma or the closing bracket
  | "string"
  | "escape"
  | "unicode"
  | "number"
  | "word" // true, false, null
  | "end"

/**
 * Reads a JSON text in pieces and reports the changes of its values. O(1) a character, and
 * O(members) when a value closes.
 */
export class FieldReader {
  private place: Place = "value"
  private level: Level | null = null
  /** Path of the current or the last value. */
  private path = ""
  /** The string, name or number so far. */
  private text = ""
  /** Characters that this piece added to the string. */
  private delta = ""
  private isName = false
  /** The first half of a surrogate pair if its second half may follow; otherwise "". */
  private half = ""
  /** The digits of `\uXXXX` so far. */
  private digits = ""
  /** The rest of a word such as `true`, and its value. */
  private rest = ""
  private word: boolean | null = null
  /** The whole value once it is closed. */
  private whole: unknown
  /** The first bytes of an incomplete character. */
  private held = new Uint8Array(0)
  /** Number of units read, for error messages. */
  private offset = 0
  private events: FieldEvent[] = []

  /**
   * Reads the next piece of the text and returns its events. Bytes and texts may be cut anywhere.
   * Throws SyntaxError if the text is not JSON, which cannot happen with a constrained text.
   */
  push(piece: Uint8Array | string): readonly FieldEvent[] {
    let text = piece
    if (typeof text !== "string") ({ text, held: this.held } = decodeWhole(this.held, text))
    this.events = []
    for (let at = 0; at < text.length; ) {
      const next = this.place === "string" ? this.readString(text, at) : this.step(text[at]) ? at + 1 : at
      this.offset += next - at
      at = next
    }
    this.flush()
    return this.events
  }

  /**
   * Ends the text and returns the last events: a number at the top level closes. A truncated text
   * leaves its values open.
   */
  finish(): readonly FieldEvent[] {
    this.events = []
    if (this.place === "number" && this.level === null && isNumber(this.text))
      this.closeValue(Number(this.text))
    return this.events
  }

  /** Returns an independent reader in the same state. O(1). */
  fork(): FieldReader {
    return Object.assign(new FieldReader(), this)
  }

  /**
   * Returns the value so far: closed values, open strings as far as they are written, and no other
   * open scalars. Undefined if no value has begun. Closed values are shared with the events.
   * O(members of the open values).
   */
  snapshot<Value = unknown>(): DeepPartial<Value> | undefined {
    if (this.place === "end") return this.whole as DeepPartial<Value>
    let value: unknown
    if (!this.isName && ["string", "escape", "unicode"].includes(this.place)) value = this.text
    for (let level = this.level; level !== null; level = level.outer) {
      const { members, name } = level
      value = builtOf(level, value === undefined ? members : { before: members, name, value })
    }
    return value as DeepPartial<Value> | undefined
  }

  /** Reads one unit. Returns false if the unit only ended a number and must be read again. */
  private step(unit: string): boolean {
    switch (this.place) {
      case "value":
        if (!isSpace(unit)) this.openValue(unit)
        return true
      case "firstItem":
        if (unit === "]") this.closeLevel()
        else if (!isSpace(unit)) this.openValue(unit)
        return true
      case "firstName":
      case "name":
        if (isSpace(unit)) return true
        if (unit === "}" && this.place === "firstName") this.closeLevel()
        else if (unit === '"') this.openString(true)
        else this.refuse(unit)
        return true
      case "colon":
        if (unit === ":") this.place = "value"
        else if (!isSpace(unit)) this.refuse(unit)
        return true
      case "after": {
        const isObject = this.level?.kind === "object"
        if (unit === ",") this.place = isObject ? "name" : "value"
        else if (unit === (isObject ? "}" : "]")) this.closeLevel()
        else if (!isSpace(unit)) this.refuse(unit)
        return true
      }
      case "escape":
      case "unicode":
        this.readEscape(unit)
        return true
      case "number":
        if (/[-+.0-9eE]/.test(unit)) {
          this.text += unit
          return true
        }
        if (!isNumber(this.text)) this.refuse(unit)
        this.closeValue(Number(this.text))
        return false
      case "word":
        if (unit !== this.rest[0]) this.refuse(unit)
        this.rest = this.rest.slice(1)
        if (this.rest === "") this.closeValue(this.word)
        return true
      case "end":
        if (!isSpace(unit)) this.refuse(unit)
        return true
      case "string":
        throw new Error("internal: strings are read in runs")
      default:
        return this.place satisfies never
    }
  }

  /** Reads one unit after a backslash: the letter of an escape, or a digit of `\uXXXX`. */
  private readEscape(unit: string): void {
    if (this.place === "escape" && unit === "u") {
      this.digits = ""
      this.place = "unicode"
      return
    }
    if (this.place === "escape") this.append(escapes[unit] ?? this.refuse(unit))
    else {
      if (!/[0-9a-fA-F]/.test(unit)) this.refuse(unit)
      this.digits += unit
      if (this.digits.length < 4) return
      this.append(String.fromCharCode(Number.parseInt(this.digits, 16)))
    }
    this.place = "string"
  }

  /**
   * Continues reading a string, up to its end, an escape or the end of the piece. Returns the
   * offset where it stopped.
   */
  private readString(piece: string, start: number): number {
    let at = start
    for (; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (code === Quote || code === Backslash) break
      if (code < Space) {
        this.offset += at - start
        this.refuse(piece[at])
      }
    }
    if (at > start) this.append(piece.slice(start, at))
    if (at === piece.length) return at
    if (piece.charCodeAt(at) === Backslash) this.place = "escape"
    else this.closeString()
    return at + 1
  }

  /** Appends to the string; the first half of a surrogate pair waits for the second. */
  private append(text: string): void {
    const all = this.half + text
    const last = all.charCodeAt(all.length - 1)
    const isHalf = last >= 0xd800 && last < 0xdc00
    this.half = isHalf ? all.slice(-1) : ""
    const ready = isHalf ? all.slice(0, -1) : all
    this.text += ready
    if (!this.isName) this.delta += ready
  }

  private flush(): void {
    if (this.delta !== "") this.events.push({ type: "delta", path: this.path, delta: this.delta })
    this.delta = ""
  }

  private openValue(unit: string): void {
    const { level } = this
    if (level !== null) {
      const last = level.kind === "object" ? escaped(level.name) : level.memberCount
      this.path = `${level.path}/${last}`
    }
    const word = words.find(([spelling]) => spelling[0] === unit)
    if (word !== undefined) {
      ;[this.rest, this.word] = [word[0].slice(1), word[1]]
      this.open(this.word === null ? "null" : "boolean")
      this.place = "word"
    } else if (unit === '"') {
      this.open("string")
      this.openString(false)
    } else if (unit === "{" || unit === "[") {
      const kind = unit === "{" ? "object" : "array"
      this.open(kind)
      this.level = { kind, path: this.path, outer: level, name: "", members: null, memberCount: 0 }
      this.place = unit === "{" ? "firstName" : "firstItem"
    } else if (unit === "-" || (unit >= "0" && unit <= "9")) {
      this.open("number")
      this.text = unit
      this.place = "number"
    } else this.refuse(unit)
  }

  private open(kind: FieldKind): void {
    this.events.push({ type: "open", path: this.path, kind })
  }

  private openString(isName: boolean): void {
    this.isName = isName
    this.text = ""
    this.place = "string"
  }

  private closeString(): void {
    // A lone surrogate stays as it is, as in JSON.parse.
    this.text += this.half
    if (!this.isName) this.delta += this.half
    this.half = ""
    if (this.isName) {
      this.level = { ...(this.level as Level), name: this.text }
      this.isName = false
      this.place = "colon"
    } else {
      this.flush()
      this.closeValue(this.text)
    }
  }

  private closeLevel(): void {
    const level = this.level as Level
    this.path = level.path
    this.level = level.outer
    this.closeValue(builtOf(level, level.members))
  }

  private closeValue(value: unknown): void {
    this.events.push({ type: "close", path: this.path, value })
    this.text = ""
    const { level } = this
    if (level === null) {
      this.whole = value
      this.place = "end"
      return
    }
    const members = { before: level.members, name: level.name, value }
    this.level = { ...level, members, memberCount: level.memberCount + 1 }
    this.place = "after"
  }

  private refuse(unit: string): never {
    const what = this.place === "end" ? "the end" : expected[this.place]
    throw new SyntaxError(`${JSON.stringify(unit)} at offset ${this.offset} of a JSON text: expected ${what}`)
  }
}

const Quote = 0x22
const Backslash = 0x5c
const Space = 0x20

const words: readonly (readonly [spelling: string, value: boolean | null])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
]

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}

/** Names of what may come next, for error messages. */
const expected: Readonly<Record<Exclude<Place, "end">, string>> = {
  value: "a value",
  firstItem: "a value",
  firstName: "a name",
  name: "a name",
  colon: "a colon",
  after: "a comma",
  string: "a character of a string",
  escape: "an escape",
  unicode: "a hexadecimal digit",
  number: "the rest of a number",
  word: "the rest of a word",
}

/**
 * Returns the value of a level that has `members`. If a name occurs twice, the last member counts,
 * as in JSON.parse.
 */
function builtOf(level: Level, members: Member | null): unknown {
  const list: Member[] = []
  for (let member = members; member !== null; member = member.before) list.push(member)
  list.reverse()
  if (level.kind === "array") return list.map(({ value }) => value)
  const object: Record<string, unknown> = {}
  for (const { name, value } of list) setMember(object, name, value)
  return object
}

/** Escapes a name for a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1")
}

function isSpace(unit: string): boolean {
  return unit === " " || unit === "\n" || unit === "\t" || unit === "\r"
}

function isNumber(text: string): boolean {
  return /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/.test(text)
}
