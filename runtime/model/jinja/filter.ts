/**
 * Jinja's filters, which follow `|`. Source: the Jinja documentation, "List of Builtin Filters".
 */
import { type JsonLayout, jsonText } from "./json.ts"
import { space } from "./lexer.ts"
import { itemOf, memberOf, pairsOf, pathOf } from "./member.ts"
import { isSelected } from "./test.ts"
import { capitalized, linesOf, percent, replaced, stripped, textMethod } from "./text.ts"
import {
  areEqual,
  checkItems,
  checkUnits,
  compare,
  escaped,
  Float,
  Generator,
  isTrue,
  itemsOf,
  lengthOf,
  Markup,
  type Named,
  numberOf,
  orElse,
  plain,
  TemplateError,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from "./value.ts"

type FilterFunction = (value: Value, args: readonly Value[], named: Named) => Value

/** Returns the arguments in the order of the parameter names; undefined for a missing one. */
function bound(names: readonly string[], args: readonly Value[], named: Named): (Value | undefined)[] {
  return names.map((name, at) => orElse(args[at], named.get(name)))
}

const number = (value: Value): number => {
  const found = numberOf(value)
  if (found === undefined) throw new TemplateError(`a number is needed, not ${typeName(value)}`)
  return found
}
/** Returns a number of the same kind as `value`. */
const like = (value: Value, made: number): Value => (value instanceof Float ? new Float(made) : made)
/** Lowercases a text, so that comparisons ignore case. */
const folded = (value: Value): Value => (typeof value === "string" ? value.toLowerCase() : value)

function sorted(
  items: readonly Value[],
  keys: (item: Value) => readonly Value[],
  isReverse: boolean,
): Value[] {
  const order = (a: readonly Value[], b: readonly Value[]): number => {
    for (const [at, each] of a.entries()) {
      if (!areEqual(each, b[at])) return compare(each, b[at])
    }
    return 0
  }
  // Equal items keep their order, even if the order is reversed.
  return items
    .map((item): [Value, readonly Value[]] => [item, keys(item)])
    .sort(([, a], [, b]) => (isReverse ? order(b, a) : order(a, b)))
    .map(([item]) => item)
}

function sort(value: Value, args: readonly Value[], named: Named): Value {
  const [reverse = false, sensitive = false, attribute = null] = bound(
    ["reverse", "case_sensitive", "attribute"],
    args,
    named,
  )
  const paths = typeof attribute === "string" ? attribute.split(",") : [attribute]
  const keys = (item: Value) =>
    paths.map((path) => {
      const key = path === null ? item : pathOf(item, path)
      return isTrue(sensitive) ? key : folded(key)
    })
  return sorted(itemsOf(value), keys, isTrue(reverse))
}

function dictsort(value: Value, args: readonly Value[], named: Named): Value {
  if (!(value instanceof Map)) throw new TemplateError(`dictsort needs a dict, not ${typeName(value)}`)
  const [sensitive = false, by = "key", reverse = false] = bound(
    ["case_sensitive", "by", "reverse"],
    args,
    named,
  )
  if (by !== "key" && by !== "value") throw new TemplateError('You can only sort by either "key" or "value"')
  const at = by === "key" ? 0 : 1
  const key = (pair: Value) => [isTrue(sensitive) ? itemOf(pair, at) : folded(itemOf(pair, at))]
  return sorted(pairsOf(value), key, isTrue(reverse))
}

function unique(value: Value, args: readonly Value[], named: Named): Value {
  const [sensitive = false, attribute = null] = bound(["case_sensitive", "attribute"], args, named)
  const seen: Value[] = []
  const items = itemsOf(value).filter((item) => {
    const of = attribute === null ? item : pathOf(item, attribute)
    const key = isTrue(sensitive) ? of : folded(of)
    if (seen.some((each) => areEqual(each, key))) return false
    seen.push(key)
    return true
  })
  return new Generator(() => items)
}

/** Returns a filter that finds the least or greatest item. */
function extreme(sign: number): FilterFunction {
  return (value, args, named) => {
    const [sensitive = false, attribute = null] = bound(["case_sensitive", "attribute"], args, named)
    const keyOf = (item: Value) => {
      const key = attribute === null ? item : pathOf(item, attribute)
      return isTrue(sensitive) ? key : folded(key)
    }
    const [first, ...rest] = itemsOf(value)
    if (first === undefined) return new Undefined("No aggregated item, sequence was empty.")
    return rest.reduce((best, item) => (sign * compare(keyOf(item), keyOf(best)) > 0 ? item : best), first)
  }
}

/** `map` and `select` accept None and yield no items. */
const itemsUnlessFalse = (value: Value): readonly Value[] => (isTrue(value) ? itemsOf(value) : [])

function map(value: Value, args: readonly Value[], named: Named): Value {
  const attribute = named.get("attribute")
  if (args.length === 0 && attribute !== undefined) {
    const fallback = named.get("default")
    const read = (item: Value): Value => {
      const found = pathOf(item, attribute)
      return found instanceof Undefined && fallback !== undefined ? fallback : found
    }
    return new Generator(() => itemsUnlessFalse(value).map(read))
  }
  const [name, ...rest] = args
  if (typeof name !== "string") throw new TemplateError("map requires a filter argument")
  return new Generator(() => itemsUnlessFalse(value).map((item) => applyFilter(name, item, rest, named)))
}

function selecting(isWanted: boolean, byAttribute: boolean): FilterFunction {
  return (value, args) => {
    const [path, ...test] = byAttribute ? args : [null, ...args]
    if (path === undefined) throw new TemplateError("Missing parameter for attribute name")
    const of = (item: Value) => (byAttribute ? pathOf(item, path) : item)
    return new Generator(() =>
      itemsUnlessFalse(value).filter((item) => isSelected(of(item), test) === isWanted),
    )
  }
}

function indent(value: Value, args: readonly Value[], named: Named): Value {
  const [width = 4, first = false, blank = false] = bound(["width", "first", "blank"], args, named)
  if (typeof width !== "string") checkUnits(number(width))
  const step = typeof width === "string" ? width : " ".repeat(number(width))
  const made = linesOf(`${textOf(value)}\n`, false)
    .map((line, at) => (at > 0 && (isTrue(blank) || line !== "") ? step : "") + line)
    .join("\n")
  return isTrue(first) ? step + made : made
}

function groupby(value: Value, args: readonly Value[], named: Named): Value {
  const [attribute = null, fallback, sensitive = false] = bound(
    ["attribute", "default", "case_sensitive"],
    args,
    named,
  )
  const of = (item: Value) => {
    const found = pathOf(item, attribute)
    return found instanceof Undefined && fallback !== undefined ? fallback : found
  }
  const key = (item: Value) => (isTrue(sensitive) ? of(item) : folded(of(item)))
  const groups: { key: Value; name: Value; items: Value[] }[] = []
  for (const item of sorted(itemsOf(value), (each) => [key(each)], false)) {
    const last = groups.at(-1)
    if (last && areEqual(last.key, key(item))) last.items.push(item)
    else groups.push({ key: key(item), name: of(item), items: [item] })
  }
  return groups.map(({ name, items }) => new Tuple([name, items]))
}

function batch(value: Value, args: readonly Value[], named: Named): Value {
  const [count = 1, fill = null] = bound(["linecount", "fill_with"], args, named)
  const items = itemsOf(value)
  const size = number(count)
  checkItems(size)
  const rows = Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  )
  const last = rows.at(-1)
  if (last && fill !== null)
    rows[rows.length - 1] = [...last, ...Array.from({ length: size - last.length }, () => fill)]
  return new Generator(() => rows)
}

function sum(value: Value, args: readonly Value[], named: Named): Value {
  const [attribute = null, start = 0] = bound(["attribute", "start"], args, named)
  return itemsOf(value).reduce((total, item) => {
    const each = attribute === null ? item : pathOf(item, attribute)
    const isFloat = total instanceof Float || each instanceof Float
    return isFloat ? new Float(number(total) + number(each)) : number(total) + number(each)
  }, start)
}

function round(value: Value, args: readonly Value[], named: Named): Value {
  const [precision = 0, method = "common"] = bound(["precision", "method"], args, named)
  const scale = 10 ** number(precision)
  const scaled = number(value) * scale
  if (method === "ceil" || method === "floor") return new Float(Math[method](scaled) / scale)
  // Halves are rounded to the even neighbour.
  const near = Math.round(scaled)
  const made = (Math.abs(scaled % 1) === 0.5 && near % 2 !== 0 ? near - 1 : near) / scale
  return like(value, made)
}

function int(value: Value, args: readonly Value[], named: Named): Value {
  const [fallback = 0] = bound(["default", "base"], args, named)
  if (value instanceof Undefined) value.fail()
  if (typeof value === "string") {
    const text = stripped(value, null, "both")
    return /^[+-]?(?:\d+_?)*\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/.test(text)
      ? Math.trunc(Number(text.replaceAll("_", "")))
      : fallback
  }
  const found = numberOf(value)
  return found === undefined || !Number.isFinite(found) ? fallback : Math.trunc(found)
}

function float(value: Value, args: readonly Value[], named: Named): Value {
  const [fallback = new Float(0)] = bound(["default"], args, named)
  if (value instanceof Undefined) value.fail()
  if (typeof value === "string") {
    const text = stripped(value, null, "both")
    return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? new Float(Number(text)) : fallback
  }
  const found = numberOf(value)
  return found === undefined ? fallback : new Float(found)
}

function join(value: Value, args: readonly Value[], named: Named): Value {
  const [separator = "", attribute] = bound(["d", "attribute"], args, named)
  const items = itemsOf(value).map((item) =>
    attribute === undefined || attribute === null ? item : pathOf(item, attribute),
  )
  return items.map(textOf).join(textOf(separator))
}

function tojson(value: Value, args: readonly Value[], named: Named): Value {
  const [ensureAscii, indent, separators, sortKeys] = bound(
    ["ensure_ascii", "indent", "separators", "sort_keys"],
    args,
    named,
  )
  return jsonText(value, { ensureAscii, indent, separators, sortKeys } as JsonLayout)
}

function items(value: Value): Value {
  if (value instanceof Undefined) return new Generator(() => [])
  return new Generator(() => {
    if (value instanceof Map) return pairsOf(value)
    throw new TemplateError("Can only get item pairs from a mapping.")
  })
}

function reverse(value: Value): Value {
  const items = [...itemsOf(value)].reverse()
  return typeof value === "string" ? items.join("") : new Generator(() => items)
}

function last(value: Value): Value {
  if (value instanceof Generator) throw new TemplateError("'generator' object is not reversible")
  return orElse(itemsOf(value).at(-1), new Undefined("No last item, sequence was empty."))
}

function fallback(value: Value, args: readonly Value[], named: Named): Value {
  const [instead = "", always = false] = bound(["default_value", "boolean"], args, named)
  return value instanceof Undefined || (isTrue(always) && !isTrue(value)) ? instead : value
}

/** Matches a word as the filter defines it; the method of texts takes only letters. */
const wordOf = new RegExp(`[^-${space}({\\[<]+`, "gu")
const method =
  (name: string): FilterFunction =>
  (value, args, named) =>
    textMethod(textOf(value), name)!.call(args, named)

const filters: ReadonlyMap<string, FilterFunction> = new Map<string, FilterFunction>([
  ["abs", (value) => like(value, Math.abs(number(value)))],
  ["attr", (value, [name]) => memberOf(value, textOf(name))],
  ["batch", batch],
  ["capitalize", (value) => capitalized(textOf(value))],
  [
    "center",
    (value, args, named) => method("center")(value, [bound(["width"], args, named)[0] ?? 80], named),
  ],
  ["count", lengthOf],
  ["d", fallback],
  ["default", fallback],
  ["dictsort", dictsort],
  ["e", (value) => new Markup(escaped(value))],
  ["escape", (value) => new Markup(escaped(value))],
  ["first", (value) => orElse(itemsOf(value)[0], new Undefined("No first item, sequence was empty."))],
  ["float", float],
  ["forceescape", (value) => new Markup(escaped(textOf(value)))],
  [
    "format",
    (value, args, named) => percent(textOf(value), named.size > 0 ? new Map(named) : new Tuple(args)),
  ],
  ["groupby", groupby],
  ["indent", indent],
  ["int", int],
  ["items", items],
  ["join", join],
  ["last", last],
  ["length", lengthOf],
  ["list", (value) => [...itemsOf(value)]],
  ["lower", (value) => textOf(value).toLowerCase()],
  ["map", map],
  ["max", extreme(1)],
  ["min", extreme(-1)],
  ["reject", selecting(false, false)],
  ["rejectattr", selecting(false, true)],
  [
    "replace",
    (value, args, named) => {
      const [old = "", by = "", count = null] = bound(["old", "new", "count"], args, named)
      return replaced(textOf(value), textOf(old), textOf(by), count === null ? -1 : number(count))
    },
  ],
  ["reverse", reverse],
  ["round", round],
  ["safe", (value) => new Markup(textOf(value))],
  ["select", selecting(true, false)],
  ["selectattr", selecting(true, true)],
  ["sort", sort],
  ["string", textOf],
  ["sum", sum],
  ["title", (value) => textOf(value).replace(wordOf, capitalized)],
  ["tojson", tojson],
  ["trim", (value, args, named) => stripped(textOf(value), bound(["chars"], args, named)[0] ?? null, "both")],
  ["unique", unique],
  ["upper", (value) => textOf(value).toUpperCase()],
  ["wordcount", (value) => textOf(value).match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0],
])

/** Returns the value of `value | name(args)`. Throws TemplateError for an unknown filter. */
export function applyFilter(name: string, value: Value, args: readonly Value[], named: Named): Value {
  const filter = filters.get(name)
  if (filter === undefined) throw new TemplateError(`no filter named '${name}'`)
  return filter(plain(value), args, named)
}
