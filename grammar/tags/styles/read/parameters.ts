/**
 * Reads arguments that were written one by one into one JSON object.
 */
import { Types } from "../../../json/facts/conjunction.ts"
import type { Parameter } from "../style.ts"
import { firstText, splitParameter, type Wire } from "../wire.ts"
import type { ArgumentTypes } from "./argumenttypes.ts"
import type { Feed, Parse } from "./feed.ts"
import { jsonContainer, pythonValue } from "./jsonvalue.ts"

/** At most this many ambiguous arguments are combined, in up to 2^8 ways. */
const MaxOpen = 8

/**
 * If arguments have no tag of their own, any character that is neither white space nor a bracket
 * begins the next one.
 */
const keyStart = /^[^\s()[\]]/

/** An argument whose value is known only after all arguments have been read. */
interface OpenArgument {
  readonly key: string
  /** JSON texts, the likelier first. */
  readonly readings: readonly string[]
}

export class ParameterReader {
  private readonly feed: Feed
  private readonly parameter: Parameter
  private readonly types: ArgumentTypes
  private readonly emit: (text: string) => void
  private readonly literals: (form: Wire) => Parse
  /** The text that was emitted, and the arguments that wait for an ambiguous one. */
  private text = "{"
  private readonly open: OpenArgument[] = []
  private count = 0

  /** `literals` reads a form without slots. */
  constructor(
    feed: Feed,
    parameter: Parameter,
    types: ArgumentTypes,
    literals: (form: Wire) => Parse,
    emit: (text: string) => void,
  ) {
    this.feed = feed
    this.parameter = parameter
    this.types = types
    this.literals = literals
    this.emit = emit
  }

  /** Reads all arguments and passes their JSON to `emit`. */
  *read(): Parse {
    const { forms, none, between = "", notation } = this.parameter
    const split = forms.map(({ wire, types }) => ({ ...splitParameter(wire), types }))
    const [{ open }] = split
    this.emit("{")
    if (none !== undefined && (yield* this.feed.startsWith(none))) yield* this.feed.literal(none)
    while (yield* this.hasMore(open)) {
      yield* this.literals(open)
      const end = firstText(split[0].between)[0]
      let key = ""
      yield* this.feed.until([end], 0, (text) => {
        key += text
      })
      // Forms with the same beginning are distinguished by what precedes the value.
      const begun = yield* this.feed.choose(split.map((form) => firstText(form.between)))
      const alike = split.filter((form) => firstText(form.between) === begun)
      if (alike.length === 0) this.feed.fail("what follows a key")
      const types = alike.reduce((bits, form) => form.types.reduce((all, type) => all | Types[type], bits), 0)
      yield* this.literals(alike[0].between)
      if (notation === "python") {
        this.begin(key)
        this.add(yield* pythonValue(this.feed))
      } else yield* this.value(key, types & this.types.typesOf(key), firstText(alike[0].close).trimEnd())
      yield* this.literals(alike[0].close)
      if (between !== "" && (yield* this.feed.startsWith(between))) yield* this.feed.literal(between)
    }
    this.settle()
    this.emit("}")
  }

  /** Returns whether an argument begins here. */
  private *hasMore(open: Wire): Parse<boolean> {
    if (open.length > 0) return yield* this.feed.startsWith(firstText(open))
    while (this.feed.rest === "") yield* this.feed.more()
    return keyStart.test(this.feed.rest)
  }

  private *value(key: string, types: number, end: string): Parse {
    const isString = types === Types.string
    const isOpen = this.open.length > 0 || ((types & Types.string) !== 0 && !isString)
    if (!isOpen && !(isString && this.parameter.padding !== undefined && !this.types.isAnyString(key))) {
      this.begin(key)
      if (isString) yield* this.string(end)
      else yield* this.json(end)
      return
    }
    let text = ""
    yield* this.feed.until([end], 0, (more) => {
      text += more
    })
    this.addOpen(key, text, types)
  }

  private begin(key: string): void {
    this.add(`${this.count++ === 0 ? "" : ","}${JSON.stringify(key)}:`)
  }

  private *string(end: string): Parse {
    const { padding } = this.parameter
    if (padding !== undefined && (yield* this.feed.startsWith(padding))) yield* this.feed.literal(padding)
    this.add('"')
    yield* this.feed.until([end], padding === undefined ? 0 : 1, (text) =>
      this.add(JSON.stringify(text).slice(1, -1)),
    )
    this.add('"')
  }

  private *json(end: string): Parse {
    yield* this.feed.run(/\s/)
    if (/^[[{]/.test(this.feed.rest)) {
      yield* jsonContainer(this.feed, (text) => this.add(text))
      yield* this.feed.run(/\s/)
      return
    }
    let text = ""
    yield* this.feed.until([end], 0, (more) => {
      text += more
    })
    this.add(text.trim())
  }

  private addOpen(key: string, text: string, types: number): void {
    const readings: string[] = []
    const json = text.trim()
    if ((types & ~Types.string) !== 0 && isJson(json)) readings.push(json)
    if ((types & Types.string) !== 0 || readings.length === 0) readings.push(this.stringOf(key, text))
    if (this.open.length === 0 && readings.length === 1) {
      this.begin(key)
      this.add(readings[0])
    } else this.open.push({ key: JSON.stringify(key), readings })
  }

  /**
   * Returns the string with the spelling `text`, as JSON: without padding, if the schema accepts
   * that.
   */
  private stringOf(key: string, text: string): string {
    const readings = unpadded(text, this.parameter.padding)
    return JSON.stringify(readings.find((each) => this.types.takesString(key, each)) ?? readings[0])
  }

  /** Decides the ambiguous arguments. */
  private settle(): void {
    const settled = (choice: number): string => {
      let bit = 0
      return this.open
        .map(({ key, readings }, i) => {
          const reading = readings.length > 1 && bit < MaxOpen ? readings[(choice >> bit++) & 1] : readings[0]
          return `${this.count + i === 0 ? "" : ","}${key}:${reading}`
        })
        .join("")
    }
    if (this.open.length === 0) return
    const count = Math.min(MaxOpen, this.open.filter(({ readings }) => readings.length > 1).length)
    for (let choice = 0; choice < 2 ** count; choice++) {
      const text = settled(choice)
      if (!this.types.accepts(`${this.text}${text}}`)) continue
      this.add(text)
      return
    }
    this.add(settled(0))
  }

  private add(text: string): void {
    if (text === "") return
    this.text += text
    this.emit(text)
  }
}

/** Returns whether `text` is a JSON value other than a string. */
function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) !== "string"
  } catch {
    return false
  }
}

/** Returns the possible values of `text` without padding, the one with the least padding first. */
function unpadded(text: string, padding = ""): string[] {
  if (padding === "") return [text]
  const begun = text.startsWith(padding) ? [text.slice(padding.length), text] : [text]
  return begun.flatMap((each) => (each.endsWith(padding) ? [each.slice(0, -padding.length), each] : [each]))
}
