/**
 * Reads the fields of a JSON object one by one, with their places. A field that is missing, unknown
 * or of the wrong type is a `syntax` error at its JSON pointer.
 */
import { GrammarError } from "../errors.ts"
import { encodeToken } from "../json/refs/uri.ts"

/** Greatest length of a value in a message. */
const MaxShown = 60

/** A value and its JSON pointer. */
export interface Placed {
  readonly value: unknown
  readonly path: string
}

export class Fields {
  readonly path: string
  private readonly members: Readonly<Record<string, unknown>>

  /** Throws if `value` is not an object. */
  constructor({ value, path }: Placed, what: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new GrammarError("syntax", path, `expected ${what}, an object, found ${shown(value)}`)
    }
    this.path = path
    this.members = value as Record<string, unknown>
  }

  /** Returns whether the field is present. Null and undefined count as absent. */
  has(name: string): boolean {
    return this.members[name] !== undefined && this.members[name] !== null
  }

  at(name: string): Placed {
    return { value: this.members[name], path: `${this.path}/${name}` }
  }

  /** Refuses all fields except these. `what` is the object that has them, for the message. */
  allowOnly(names: readonly string[], what: string): void {
    for (const name of Object.keys(this.members)) {
      if (names.includes(name)) continue
      const path = `${this.path}/${encodeToken(name)}`
      throw new GrammarError(
        "syntax",
        path,
        `${what} has no field ${JSON.stringify(name)}. It has ${names.join(", ")}`,
      )
    }
  }

  /** Returns the value of a required field. */
  needed(name: string, what: string): Placed {
    if (this.members[name] === undefined) {
      throw new GrammarError("syntax", this.path, `the field ${JSON.stringify(name)} is missing: ${what}`)
    }
    return this.at(name)
  }

  text(name: string): string {
    return textOf(this.needed(name, "a string"), "a string")
  }

  isSet(name: string, byDefault: boolean): boolean {
    if (!this.has(name)) return byDefault
    const { value, path } = this.at(name)
    if (typeof value === "boolean") return value
    throw new GrammarError("syntax", path, `expected true or false, found ${shown(value)}`)
  }

  /** Returns an integer that is at least `least`; null if the field is absent. */
  count(name: string, least = 0): number | null {
    if (!this.has(name)) return null
    const { value, path } = this.at(name)
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value
    throw new GrammarError("syntax", path, `expected an integer from ${least} on, found ${shown(value)}`)
  }

  /**
   * Returns the members of a list, at least `least` of them. If `least` is 0 the field may be
   * absent.
   */
  list(name: string, what: string, least = 0): Placed[] {
    if (least === 0 && !this.has(name)) return []
    const { value, path } = this.needed(name, `a list of ${what}`)
    if (!Array.isArray(value)) {
      throw new GrammarError("syntax", path, `expected a list of ${what}, found ${shown(value)}`)
    }
    if (value.length < least)
      throw new GrammarError("syntax", path, `the list is empty. It needs ${what}, one at least`)
    return Array.from(value, (item, i) => ({ value: item, path: `${path}/${i}` }))
  }

  /** Returns the members of a list of non-empty strings. */
  texts(name: string, what: string, least = 0): { text: string; path: string }[] {
    return this.list(name, what, least).map((placed) => ({
      text: filledText(placed, what),
      path: placed.path,
    }))
  }
}

export function textOf({ value, path }: Placed, what: string): string {
  if (typeof value !== "string")
    throw new GrammarError("syntax", path, `expected ${what}, found ${shown(value)}`)
  if (!value.isWellFormed()) {
    throw new GrammarError(
      "syntax",
      path,
      `the string ${shown(value)} holds half a surrogate pair, which no text can hold`,
    )
  }
  return value
}

/** Returns a non-empty string. `what` is the plural of its kind, for the message. */
export function filledText(placed: Placed, what: string): string {
  const text = textOf(placed, "a string")
  if (text === "")
    throw new GrammarError("syntax", placed.path, `the empty string is everywhere: ${what} are not empty`)
  return text
}

/** Returns a value in the form for messages. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case "string": {
      const text = JSON.stringify(value)
      return text.length > MaxShown ? `${text.slice(0, MaxShown)}…"` : text
    }
    case "number":
    case "boolean":
      return `${value}`
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "a list" : "an object"
    case "undefined":
      return "nothing"
    default:
      return `a ${typeof value}`
  }
}

/**
 * Runs `work`. A GrammarError that it throws gets `path` in front of its place, and its message
 * names the tag that begins with `tag`, if any.
 */
export function below<T>(path: string, work: () => T, tag = ""): T {
  try {
    return work()
  } catch (error) {
    // Subclasses are passed on unchanged: the place at which a compilation ran out of time means
    // nothing.
    if (!(error instanceof GrammarError) || error.constructor !== GrammarError) throw error
    const message = error.path === "" ? error.message : error.message.slice(error.path.length + 2)
    const isPointer = error.path === "" || error.path.startsWith("/")
    const place = isPointer ? `${path}${error.path}` : `${path}, ${error.path}`
    throw new GrammarError(error.kind, place, tag === "" ? message : `in the tag ${shown(tag)}: ${message}`)
  }
}
