/**
 * The fields of an object that came as JSON, read one by one with their places: what is missing, of another type or unknown is a
 * `syntax` error at its JSON pointer.
 */
import { GrammarError } from "../errors.ts"
import { encodeToken } from "../json/refs/uri.ts"

/** Longest value that a message shows. */
const MaxShown = 60

/** A value and its JSON pointer. */
export interface Placed {
  readonly value: unknown
  readonly path: string
}

export class Fields {
  readonly path: string
  private readonly members: Readonly<Record<string, unknown>>

  /** `value` must be an object. */
  constructor({ value, path }: Placed, what: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new GrammarError("syntax", path, `expected ${what}, an object, found ${shown(value)}`)
    }
    this.path = path
    this.members = value as Record<string, unknown>
  }

  /** Whether the field is there. One that is null or undefined is not. */
  has(name: string): boolean {
    return this.members[name] !== undefined && this.members[name] !== null
  }

  at(name: string): Placed {
    return { value: this.members[name], path: `${this.path}/${name}` }
  }

  /** Refuses all fields but these. `what` they are fields of. */
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

  /** The value of a field that must be there. */
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

  /** An integer from `least` on; null where the field is not there. */
  count(name: string, least = 0): number | null {
    if (!this.has(name)) return null
    const { value, path } = this.at(name)
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value
    throw new GrammarError("syntax", path, `expected an integer from ${least} on, found ${shown(value)}`)
  }

  /** The members of a list. `least`: so many at least. A list that need not have any need not be there. */
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

  /** The members of a list of strings, none of them empty. */
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

/** A string that is not empty; one of `what`, in the plural. */
export function filledText(placed: Placed, what: string): string {
  const text = textOf(placed, "a string")
  if (text === "")
    throw new GrammarError("syntax", placed.path, `the empty string is everywhere: ${what} are not empty`)
  return text
}

/** A value as messages show it. */
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

/** What `work` refuses, with `path` in front of its place, and the tag that begins with `tag` named, if it is in one. */
export function below<T>(path: string, work: () => T, tag = ""): T {
  try {
    return work()
  } catch (error) {
    // Other classes stay what they are: where a compilation was when its time was over says nothing.
    if (!(error instanceof GrammarError) || error.constructor !== GrammarError) throw error
    const message = error.path === "" ? error.message : error.message.slice(error.path.length + 2)
    const isPointer = error.path === "" || error.path.startsWith("/")
    const place = isPointer ? `${path}${error.path}` : `${path}, ${error.path}`
    throw new GrammarError(error.kind, place, tag === "" ? message : `in the tag ${shown(tag)}: ${message}`)
  }
}
