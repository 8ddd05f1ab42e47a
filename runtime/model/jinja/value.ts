/**
 * The values of templates: Python's, as Jinja has them.
 *
 * Templates of models are written for Python and print what Python prints: `None`, `True`, `['a']`,
 * `1.0`. None, booleans, whole numbers, texts, lists and dictionaries are represented by
 * JavaScript's null, booleans, numbers, strings, arrays and maps; all other values have a class
 * here. Texts are counted in code points. Source: the Python Language Reference, 3.1 and 6;
 * json.dumps; str.__repr__.
 */

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Value[]
  | ReadonlyMap<Value, Value>
  | Float
  | Tuple
  | Markup
  | Generator
  | View
  | Namespace
  | Callable
  | Undefined

/** An error that a template raises, or that Python would raise in it. */
export class TemplateError extends Error {
  override readonly name = "TemplateError"
}

/**
 * Maximum units of one text, and items of one list. A prompt has far fewer, and more may end the
 * process.
 */
const MaxUnits = 2 ** 24
const MaxItems = 2 ** 20

/** Throws if a text of this many units may not be made. */
export function checkUnits(count: number): void {
  if (count > MaxUnits) throw new TemplateError(`a text of more than ${MaxUnits} characters`)
}

/** Throws if a list of this many items may not be made. */
export function checkItems(count: number): void {
  if (count > MaxItems) throw new TemplateError(`a list of more than ${MaxItems} items`)
}

/** Returns the value. Throws if it is larger than the maximum. */
export function checked(value: Value): Value {
  if (typeof value === "string") checkUnits(value.length)
  else if (Array.isArray(value)) checkItems(value.length)
  else if (value instanceof Tuple) checkItems(value.items.length)
  else if (value instanceof Map) checkItems(value.size)
  else if (value instanceof Markup) checkUnits(value.text.length)
  return value
}

/** A number that is a float in Python, even if it is whole. */
export class Float {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class Tuple {
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    this.items = items
  }
}

/**
 * A text that `safe` has marked: texts that `+` appends to it are escaped as HTML, as in Python.
 */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/**
 * Values that are computed when they are first read, and can be read only once: the result of `map`
 * and `select`.
 */
export class Generator {
  private make: () => readonly Value[]
  constructor(make: () => readonly Value[]) {
    this.make = make
  }

  take(): readonly Value[] {
    const { make } = this
    this.make = () => []
    return make()
  }
}

/** The result of `range(…)`, or the keys, values or items of a dictionary. */
export class View {
  readonly kind: "range" | "dict_keys" | "dict_values" | "dict_items"
  readonly items: readonly Value[]
  constructor(kind: View["kind"], items: readonly Value[]) {
    this.kind = kind
    this.items = items
  }
}

/** The only kind of object whose members a template may set. */
export class Namespace {
  readonly values: Map<Value, Value>
  constructor(values: Map<Value, Value>) {
    this.values = values
  }
}

export type Named = ReadonlyMap<string, Value>

export class Callable {
  readonly call: (args: readonly Value[], named: Named) => Value
  constructor(call: Callable["call"]) {
    this.call = call
  }
}

/**
 * The value of a missing name or member. It is an empty text, false and an empty list; all other
 * uses throw.
 */
export class Undefined {
  readonly what: string
  constructor(what: string) {
    this.what = what
  }

  fail(): never {
    throw new TemplateError(this.what)
  }
}

/**
 * Converts parsed JSON into a value, without members that are undefined. A value is returned
 * unchanged.
 */
export function fromJson(json: unknown): Value {
  if (json === null || json === undefined) return null
  if (typeof json === "number") return Number.isInteger(json) ? json : new Float(json)
  if (typeof json !== "object") return json as string | boolean | bigint
  if (json instanceof Map || json instanceof Float) return json
  if (Array.isArray(json)) return json.map(fromJson)
  const entries = Object.entries(json as object).filter(([, each]) => each !== undefined)
  return new Map(entries.map(([key, each]) => [key, fromJson(each)]))
}

/** Returns the kind of value as Python names it in errors. */
export function typeName(value: Value): string {
  if (value === null) return "NoneType"
  if (typeof value === "boolean") return "bool"
  if (typeof value === "number" || typeof value === "bigint") return "int"
  if (typeof value === "string") return "str"
  if (Array.isArray(value)) return "list"
  if (value instanceof Map) return "dict"
  if (value instanceof Float) return "float"
  if (value instanceof Tuple) return "tuple"
  if (value instanceof Markup) return "Markup"
  if (value instanceof View) return value.kind
  if (value instanceof Generator) return "generator"
  if (value instanceof Namespace) return "Namespace"
  return value instanceof Callable ? "function" : "Undefined"
}

export function isTrue(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false
  if (typeof value !== "object") return Boolean(value)
  if (value instanceof Float) return value.value !== 0
  if (value instanceof Tuple || value instanceof View) return value.items.length > 0
  if (value instanceof Map) return value.size > 0
  if (value instanceof Markup) return value.text !== ""
  return !Array.isArray(value) || value.length > 0
}

/** Returns `value`, or `other` if it is undefined. None is a value. */
export function orElse<T extends Value | undefined>(value: Value | undefined, other: T): Value | T {
  return value === undefined ? other : value
}

/** Returns a number as JavaScript's, and booleans as 0 and 1; undefined for all other values. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === "number") return value
  if (typeof value === "boolean" || typeof value === "bigint") return Number(value)
  return value instanceof Float ? value.value : undefined
}

/**
 * Returns the items of a list, the code points of a text, or the keys of a dictionary. Throws for
 * other values.
 */
export function itemsOf(value: Value): readonly Value[] {
  if (typeof value === "string") return [...value]
  if (Array.isArray(value)) return value
  if (value instanceof Map) return [...value.keys()]
  if (value instanceof Tuple || value instanceof View) return value.items
  if (value instanceof Generator) return value.take()
  if (value instanceof Undefined) return []
  throw new TemplateError(`'${typeName(value)}' object is not iterable`)
}

export function lengthOf(value: Value): number {
  if (typeof value === "string") return isFlat(value) ? value.length : [...value].length
  if (value instanceof Map) return value.size
  if (Array.isArray(value) || value instanceof Tuple || value instanceof View || value instanceof Undefined) {
    return itemsOf(value).length
  }
  throw new TemplateError(`object of type '${typeName(value)}' has no len()`)
}

/** Returns whether every code point is one unit. */
export function isFlat(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text)
}

export function areEqual(a: Value, b: Value): boolean {
  if (a === b) return true
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined || y !== undefined) return x === y
  if (a instanceof Undefined) return b instanceof Undefined
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, each]) => b.has(key) && areEqual(each, b.get(key)!))
  }
  const bothLists = Array.isArray(a) && Array.isArray(b)
  if (!bothLists && !(a instanceof Tuple && b instanceof Tuple)) return false
  const [left, right] = [itemsOf(a), itemsOf(b)]
  return left.length === right.length && left.every((each, at) => areEqual(each, right[at]))
}

/**
 * Returns a number below 0, 0 or above 0 as `a` is less than, equal to or greater than `b`. Throws
 * if they have no order.
 */
export function compare(a: Value, b: Value): number {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : 0
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b)
  if ((Array.isArray(a) && Array.isArray(b)) || (a instanceof Tuple && b instanceof Tuple)) {
    const [left, right] = [itemsOf(a), itemsOf(b)]
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
      if (!areEqual(left[at], right[at])) return compare(left[at], right[at])
    }
    return left.length - right.length
  }
  for (const each of [a, b]) if (each instanceof Undefined) each.fail()
  throw new TemplateError(`instances of '${typeName(a)}' and '${typeName(b)}' have no order`)
}

/** Compares by code points, since a comparison by units orders surrogates wrongly. */
export function compareTexts(a: string, b: string): number {
  if (isFlat(a) && isFlat(b)) return a < b ? -1 : a > b ? 1 : 0
  const [left, right] = [[...a], [...b]].map((text) => text.map((each) => each.codePointAt(0)!))
  const at = left.findIndex((each, index) => each !== right[index])
  return at < 0 ? left.length - right.length : at >= right.length ? 1 : left[at] - right[at]
}

/**
 * Returns whether `each` is in `all`: a part of a text, an item of a list, or a key of a
 * dictionary.
 */
export function contains(all: Value, each: Value): boolean {
  if (typeof all === "string") {
    if (typeof each === "string") return all.includes(each)
    throw new TemplateError(`'in <string>' requires string as left operand, not ${typeName(each)}`)
  }
  if (all instanceof Map) return all.has(each)
  return itemsOf(all).some((item) => areEqual(item, each))
}

/** Returns the text that `{{ value }}` writes. */
export function textOf(value: Value): string {
  if (typeof value === "string") return value
  if (value instanceof Markup) return value.text
  return value instanceof Undefined ? "" : reprOf(value)
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
}

/** Returns the text of a value with HTML's special characters escaped. */
export function escaped(value: Value): string {
  return value instanceof Markup ? value.text : textOf(value).replace(/[&<>"']/g, (each) => entities[each])
}

/** Converts a value to one that most operations accept: a marked text becomes a text. */
export function plain(value: Value): Value {
  return value instanceof Markup ? value.text : value
}

/** Returns Python's `repr` of a value: texts in quotes. */
export function reprOf(value: Value): string {
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (typeof value === "number" || typeof value === "bigint") return String(value)
  if (typeof value === "string") return quoted(value)
  if (value instanceof Float) return floatText(value.value, "inf", "nan")
  if (Array.isArray(value)) return `[${value.map(reprOf).join(", ")}]`
  if (value instanceof Map)
    return `{${[...value].map(([key, each]) => `${reprOf(key)}: ${reprOf(each)}`).join(", ")}}`
  if (value instanceof Tuple)
    return `(${value.items.map(reprOf).join(", ")}${value.items.length === 1 ? "," : ""})`
  if (value instanceof View) {
    if (value.kind !== "range") return `${value.kind}([${value.items.map(reprOf).join(", ")}])`
    const { length, 0: first = 0, [length - 1]: last = -1 } = value.items as readonly number[]
    return `range(${first}, ${last + 1})`
  }
  if (value instanceof Namespace) return `<Namespace ${reprOf(value.values)}>`
  return value instanceof Undefined ? "Undefined" : `<${typeName(value)}>`
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const body = text.replace(/[\\'"]|(?! )[\p{C}\p{Z}]/gu, (each) => {
    if (each === "\\" || each === quote) return `\\${each}`
    if (each === "'" || each === '"') return each
    const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[each]
    if (short !== undefined) return short
    const hex = each.codePointAt(0)!.toString(16)
    if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`
    return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`
  })
  return quote + body + quote
}

/**
 * Returns the shortest digits that read back as the same number, in Python's format: with an
 * exponent below 1e-4 and from 1e16 on.
 */
export function floatText(value: number, infinity: string, notANumber: string): string {
  if (Number.isNaN(value)) return notANumber
  if (!Number.isFinite(value)) return value < 0 ? `-${infinity}` : infinity
  if (Object.is(value, -0)) return "-0.0"
  const [digits, power] = value.toExponential().split("e")
  const exponent = Number(power)
  if (value === 0 || (exponent >= -4 && exponent < 16)) {
    const text = String(value)
    return text.includes(".") ? text : `${text}.0`
  }
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`
}
