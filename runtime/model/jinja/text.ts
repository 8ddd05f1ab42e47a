/** Python's methods of texts, and its operators `%` and `format`. */
import { space } from "./lexer.ts"
import {
  Callable,
  checkItems,
  checkUnits,
  Float,
  itemsOf,
  lengthOf,
  type Named,
  numberOf,
  reprOf,
  TemplateError,
  Tuple,
  textOf,
  typeName,
  type Value,
} from "./value.ts"

const atStart = new RegExp(`^[${space}]+`)
const atEnd = new RegExp(`[${space}]+$`)
const runs = new RegExp(`[${space}]+`)
/** Matches the line ends at which `splitlines` splits. */
const lineEnd = "\\r\\n|[\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029]"

type Side = "start" | "end" | "both"

/** Returns the text without white space, or without any of `chars`, at its sides. */
export function stripped(text: string, chars: Value, side: Side): string {
  if (chars === null || chars === undefined) {
    const left = side === "end" ? text : text.replace(atStart, "")
    return side === "start" ? left : left.replace(atEnd, "")
  }
  const all = [...text]
  const set = new Set(string(chars))
  let [from, to] = [0, all.length]
  if (side !== "end") while (from < to && set.has(all[from])) from++
  if (side !== "start") while (to > from && set.has(all[to - 1])) to--
  return all.slice(from, to).join("")
}

export function replaced(text: string, old: string, by: string, count: number): string {
  if (count < 0)
    return old === "" ? [...text, ""].map((each) => by + each).join("") : text.replaceAll(old, () => by)
  if (old === "") return [...text].map((each, at) => (at < count ? by : "") + each).join("")
  const parts = text.split(old)
  const head = parts.slice(0, count + 1).join(by)
  return parts.length <= count + 1 ? head : [head, ...parts.slice(count + 1)].join(old)
}

export function capitalized(text: string): string {
  const [first = "", ...rest] = text
  return first.toUpperCase() + rest.join("").toLowerCase()
}

function titled(text: string): string {
  return text.replace(/\p{L}[\p{L}\p{M}]*/gu, capitalized)
}

function string(value: Value): string {
  if (typeof value === "string") return value
  throw new TemplateError(`a str is needed, not ${typeName(value)}`)
}

function split(text: string, args: readonly Value[], isReverse: boolean): string[] {
  const [separator = null, most = -1] = args
  const limit = numberOf(most) ?? -1
  if (separator === "") throw new TemplateError("empty separator")
  const parts = separator === null ? stripped(text, null, "both").split(runs) : text.split(string(separator))
  if (separator === null && parts.length === 1 && parts[0] === "") return []
  if (limit < 0 || parts.length <= limit + 1) return parts
  if (separator !== null) {
    const rest = parts.splice(isReverse ? 0 : limit, parts.length - limit).join(string(separator))
    return isReverse ? [rest, ...parts] : [...parts, rest]
  }
  // Inside the rest, white space is kept.
  let rest = stripped(text, null, isReverse ? "end" : "start")
  const taken: string[] = []
  const [edge, side] = isReverse
    ? ([new RegExp(`(?<=^|[${space}])[^${space}]+$`), "end"] as const)
    : ([new RegExp(`^[^${space}]+`), "start"] as const)
  while (taken.length < limit) {
    taken.push(edge.exec(rest)![0])
    rest = stripped(rest.replace(edge, ""), null, side)
  }
  return isReverse ? [rest, ...taken.reverse()] : [...taken, rest]
}

function parted(text: string, separator: string, isReverse: boolean): Tuple {
  const at = isReverse ? text.lastIndexOf(separator) : text.indexOf(separator)
  if (at < 0) return new Tuple(isReverse ? ["", "", text] : [text, "", ""])
  return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)])
}

/** Returns the number of code points before a unit. */
const pointsTo = (text: string, unit: number): number => (unit < 0 ? -1 : lengthOf(text.slice(0, unit)))

function find(text: string, args: readonly Value[], isReverse: boolean): number {
  const part = string(args[0])
  if (args.length > 1) throw new TemplateError("find with bounds is not supported")
  return pointsTo(text, isReverse ? text.lastIndexOf(part) : text.indexOf(part))
}

function within(
  text: string,
  [parts, from, to]: readonly Value[],
  has: (text: string, part: string) => boolean,
): boolean {
  const part = [...text].slice(numberOf(from ?? 0), numberOf(to ?? Number.MAX_SAFE_INTEGER)).join("")
  return (parts instanceof Tuple ? parts.items : [parts]).some((each) => has(part, string(each)))
}

function padded(text: string, [width, fill = " "]: readonly Value[], side: Side): string {
  const missing = Math.max(0, (numberOf(width) ?? 0) - lengthOf(text))
  checkUnits(missing)
  const left =
    side === "both" ? (missing >> 1) + (missing & (numberOf(width)! & 1)) : side === "start" ? missing : 0
  return string(fill).repeat(left) + text + string(fill).repeat(missing - left)
}

/** Returns the lines of a text as `splitlines` does. */
export function linesOf(text: string, keepsEnds: boolean): string[] {
  const found: string[] = []
  for (let rest = text; rest !== ""; ) {
    const end = new RegExp(lineEnd).exec(rest)
    const length = end === null ? rest.length : end.index
    const whole = length + (end?.[0].length ?? 0)
    found.push(rest.slice(0, keepsEnds ? whole : length))
    rest = rest.slice(whole)
  }
  return found
}

const all = (pattern: RegExp) => (text: string) => pattern.test(text)
const hasCase = (text: string) => text.toLowerCase() !== text.toUpperCase()

const methods: Readonly<Record<string, (text: string, args: readonly Value[], named: Named) => Value>> = {
  capitalize: capitalized,
  casefold: (text) => text.toLowerCase().replaceAll("ß", "ss"),
  center: (text, args) => padded(text, args, "both"),
  count: (text, [part]) => (part === "" ? lengthOf(text) + 1 : text.split(string(part)).length - 1),
  endswith: (text, args) => within(text, args, (whole, part) => whole.endsWith(part)),
  find: (text, args) => find(text, args, false),
  format: (text, args, named) => formatted(text, args, named),
  index(text, args) {
    const at = find(text, args, false)
    if (at < 0) throw new TemplateError("substring not found")
    return at
  },
  isalnum: all(/^[\p{L}\p{N}]+$/u),
  isalpha: all(/^\p{L}+$/u),
  isascii: (text) => !/[^\p{ASCII}]/u.test(text),
  isdecimal: all(/^\p{Nd}+$/u),
  isdigit: all(/^[\p{Nd}²³¹⁰⁴-⁹₀-₉]+$/u),
  islower: (text) => hasCase(text) && text === text.toLowerCase(),
  isnumeric: all(/^\p{N}+$/u),
  isspace: all(new RegExp(`^[${space}]+$`)),
  isupper: (text) => hasCase(text) && text === text.toUpperCase(),
  join: (text, [parts]) => itemsOf(parts).map(string).join(text),
  ljust: (text, args) => padded(text, args, "end"),
  lower: (text) => text.toLowerCase(),
  lstrip: (text, [chars]) => stripped(text, chars, "start"),
  partition: (text, [separator]) => parted(text, string(separator), false),
  removeprefix: (text, [part]) => (text.startsWith(string(part)) ? text.slice(string(part).length) : text),
  removesuffix: (text, [part]) =>
    part !== "" && text.endsWith(string(part)) ? text.slice(0, -string(part).length) : text,
  replace: (text, [old, by, count], named) =>
    replaced(text, string(old), string(by), numberOf(count ?? named.get("count") ?? -1) ?? -1),
  rfind: (text, args) => find(text, args, true),
  rjust: (text, args) => padded(text, args, "start"),
  rpartition: (text, [separator]) => parted(text, string(separator), true),
  rsplit: (text, args, named) => split(text, splitArgs(args, named), true),
  rstrip: (text, [chars]) => stripped(text, chars, "end"),
  split: (text, args, named) => split(text, splitArgs(args, named), false),
  splitlines: (text, [keeps], named) => linesOf(text, (keeps ?? named.get("keepends")) === true),
  startswith: (text, args) => within(text, args, (whole, part) => whole.startsWith(part)),
  strip: (text, [chars]) => stripped(text, chars, "both"),
  swapcase: (text) =>
    [...text].map((each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase())).join(""),
  title: titled,
  upper: (text) => text.toUpperCase(),
  zfill(text, [width]) {
    const sign = /^[+-]/.exec(text)?.[0] ?? ""
    checkUnits(numberOf(width) ?? 0)
    return sign + text.slice(sign.length).padStart((numberOf(width) ?? 0) - sign.length, "0")
  },
}

function splitArgs(args: readonly Value[], named: Named): readonly Value[] {
  return [args[0] ?? named.get("sep") ?? null, args[1] ?? named.get("maxsplit") ?? -1]
}

/** Returns the method of a text; undefined if Python or this module has none. */
export function textMethod(text: string, name: string): Callable | undefined {
  if (!Object.hasOwn(methods, name)) return undefined
  return new Callable((args, named) => methods[name](text, args, named))
}

/** Returns Python's `text % args`: `%s`, `%r`, `%d`, `%f`, `%x` with flags, width and precision. */
export function percent(text: string, args: Value): string {
  const list = args instanceof Tuple ? args.items : [args]
  let used = 0
  const made = text.replace(
    /%(?:\((\w+)\))?([-+ 0#]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g,
    (whole, ...groups: (string | undefined)[]) => {
      const [key, flags = "", width = "", precision, kind = ""] = groups
      if (kind === "%") return "%"
      if (key === undefined && used >= list.length)
        throw new TemplateError("not enough arguments for format string")
      checkUnits(Number(width))
      const value = key === undefined ? list[used++] : (args as ReadonlyMap<Value, Value>).get(key)!
      const part = converted(value, kind, precision === undefined ? undefined : Number(precision))
      if (part === undefined) throw new TemplateError(`the format ${whole} is not supported`)
      const signed = flags.includes("+") && !part.startsWith("-") && "dif".includes(kind) ? `+${part}` : part
      if (flags.includes("-")) return signed.padEnd(Number(width))
      if (!flags.includes("0") || kind === "s") return signed.padStart(Number(width))
      const sign = /^[+-]/.exec(signed)?.[0] ?? ""
      return sign + signed.slice(sign.length).padStart(Number(width) - sign.length, "0")
    },
  )
  // Items of lists and dictionaries need not all be used.
  if (used < list.length && !(args instanceof Map || Array.isArray(args)))
    throw new TemplateError("not all arguments converted during string formatting")
  return made
}

function converted(value: Value, kind: string, precision: number | undefined): string | undefined {
  if (kind === "s" || kind === "r") return (kind === "s" ? textOf(value) : reprOf(value)).slice(0, precision)
  const number = numberOf(value)
  if (number === undefined)
    throw new TemplateError(`%${kind} format: a real number is required, not ${typeName(value)}`)
  if (kind === "d" || kind === "i") return String(Math.trunc(number))
  if (kind === "f" || kind === "F") return number.toFixed(precision ?? 6)
  if (kind === "x" || kind === "X")
    return kind === "x" ? number.toString(16) : number.toString(16).toUpperCase()
  return undefined
}

/** Returns Python's `text.format(…)` with simple fields: `{}`, `{0}`, `{name}`, and `{:.2f}`. */
function formatted(text: string, args: readonly Value[], named: Named): string {
  let used = 0
  return text.replace(
    /\{\{|\}\}|\{(\w*)(?::(?:\.(\d+)f)?)?\}|[{}]/g,
    (whole, field: string | undefined, digits) => {
      if (whole === "{{" || whole === "}}") return whole[0]
      if (field === undefined) throw new TemplateError(`a field of ${JSON.stringify(text)} is not supported`)
      const value = field === "" ? args[used++] : /^\d+$/.test(field) ? args[Number(field)] : named.get(field)
      if (value === undefined) throw new TemplateError(`no value for the field {${field}}`)
      if (digits === undefined) return textOf(value)
      return (numberOf(value) ?? Number.NaN).toFixed(Number(digits))
    },
  )
}

/** Returns a text or list times a number; undefined if the operands are of other kinds. */
export function repeated(value: Value, count: number): Value | undefined {
  const times = Math.max(0, count)
  if (typeof value === "string") {
    checkUnits(value.length * times)
    return value.repeat(times)
  }
  if (Array.isArray(value) || value instanceof Tuple) {
    const { length } = itemsOf(value)
    if (length === 0) return value
    checkItems(length * times)
  }
  if (Array.isArray(value)) return Array.from({ length: times }, () => value as Value[]).flat()
  return value instanceof Float
    ? undefined
    : value instanceof Tuple
      ? new Tuple(Array.from({ length: times }, () => value.items).flat())
      : undefined
}
