/**
 * Members and items: `a.b`, `a[b]`, `a[b:c]`.
 *
 * The order of lookups is Python's: `a.b` is first a method and then a key of a dictionary,
 * `a["b"]` is first a key and then a method, and a missing member is undefined. Methods that change
 * a value are refused, as in Jinja's sandbox.
 */
import { textMethod } from "./text.ts"
import {
  areEqual,
  Callable,
  Float,
  isFlat,
  itemsOf,
  Namespace,
  numberOf,
  orElse,
  reprOf,
  TemplateError,
  Tuple,
  typeName,
  Undefined,
  type Value,
  View,
} from "./value.ts"

const changing: Readonly<Record<string, readonly string[]>> = {
  list: ["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"],
  dict: ["clear", "pop", "popitem", "setdefault", "update"],
}

/** Returns `value.name`. */
export function memberOf(value: Value, name: string): Value {
  const found = orElse(methodOf(value, name), keyOf(value, name))
  return found === undefined ? missing(value, name) : found
}

/** Returns `value[index]`. */
export function itemOf(value: Value, index: Value): Value {
  const found = keyOf(value, index)
  if (found !== undefined) return found
  const method = typeof index === "string" ? methodOf(value, index) : undefined
  return method === undefined ? missing(value, index) : method
}

/** Returns the value of a path such as `a.b.0`, which filters take as an argument. */
export function pathOf(value: Value, path: Value): Value {
  if (typeof path === "number") return itemOf(value, path)
  if (typeof path !== "string") throw new TemplateError(`an attribute is a str or int, not ${typeName(path)}`)
  return path
    .split(".")
    .reduce((at: Value, part) => itemOf(at, /^\d+$/.test(part) ? Number(part) : part), value)
}

/** Returns `value[start:stop:step]`. */
export function sliceOf(value: Value, bounds: readonly Value[]): Value {
  if (value instanceof Undefined) value.fail()
  if (
    typeof value !== "string" &&
    !Array.isArray(value) &&
    !(value instanceof Tuple) &&
    !(value instanceof View)
  ) {
    return new Undefined(`'${typeName(value)}' object cannot be sliced`)
  }
  const items = itemsOf(value)
  const [start, stop, step] = [0, 1, 2].map((at) => {
    const bound = bounds[at] ?? null
    if (bound !== null && (numberOf(bound) === undefined || bound instanceof Float))
      throw new TemplateError("slice indices must be integers or None")
    return bound === null ? undefined : numberOf(bound)
  })
  const by = step ?? 1
  if (by === 0) throw new TemplateError("slice step cannot be zero")
  const { length } = items
  const [low, high] = by > 0 ? [0, length] : [-1, length - 1]
  const clamp = (at: number) => Math.min(Math.max(at < 0 ? at + length : at, low), high)
  const from = start === undefined ? (by > 0 ? low : high) : clamp(start)
  const to = stop === undefined ? (by > 0 ? high : low) : clamp(stop)
  const taken: Value[] = []
  for (let at = from; by > 0 ? at < to : at > to; at += by) taken.push(items[at])
  if (typeof value === "string") return taken.join("")
  return value instanceof Tuple ? new Tuple(taken) : taken
}

function missing(value: Value, name: Value): Undefined {
  if (value instanceof Undefined) value.fail()
  const kind = typeName(value)
  return new Undefined(
    typeof name === "string"
      ? `'${kind} object' has no attribute '${name}'`
      : `${kind} object has no element ${reprOf(name)}`,
  )
}

function keyOf(value: Value, key: Value): Value | undefined {
  if (value instanceof Map)
    return value.get(key instanceof Float && Number.isInteger(key.value) ? key.value : key)
  if (value instanceof Namespace) return value.values.get(key)
  if (typeof key !== "number" && typeof key !== "boolean") return undefined
  const at = Number(key)
  if (typeof value === "string") return isFlat(value) ? value.at(at) : [...value].at(at)
  const isSequence =
    Array.isArray(value) || value instanceof Tuple || (value instanceof View && value.kind === "range")
  return isSequence ? itemsOf(value).at(at) : undefined
}

function methodOf(value: Value, name: string): Value | undefined {
  if (typeof value === "string") return textMethod(value, name)
  const kind = typeName(value)
  if (changing[kind]?.includes(name)) {
    return new Undefined(`access to attribute '${name}' of '${kind}' object is unsafe`)
  }
  if (value instanceof Map) return dictMethod(value, name)
  if (!Array.isArray(value) && !(value instanceof Tuple)) return undefined
  if (name === "count")
    return new Callable(([each]) => itemsOf(value).filter((item) => areEqual(item, each)).length)
  if (name === "index") {
    return new Callable(([each]) => {
      const at = itemsOf(value).findIndex((item) => areEqual(item, each))
      if (at < 0) throw new TemplateError(`${reprOf(each)} is not in list`)
      return at
    })
  }
  return name === "copy" && Array.isArray(value) ? new Callable(() => [...value]) : undefined
}

function dictMethod(dict: ReadonlyMap<Value, Value>, name: string): Value | undefined {
  switch (name) {
    case "get":
      return new Callable(([key, fallback = null]) => orElse(dict.get(key), fallback))
    case "items":
      return new Callable(() => new View("dict_items", pairsOf(dict)))
    case "keys":
      return new Callable(() => new View("dict_keys", [...dict.keys()]))
    case "values":
      return new Callable(() => new View("dict_values", [...dict.values()]))
    case "copy":
      return new Callable(() => new Map(dict))
    default:
      return undefined
  }
}

/** Returns the members of a dictionary as tuples. */
export function pairsOf(dict: ReadonlyMap<Value, Value>): Tuple[] {
  return [...dict].map((pair) => new Tuple(pair))
}

/** Unpacks a value into `count` values, for a tuple of names. */
export function unpacked(value: Value, count: number): readonly Value[] {
  const items = itemsOf(value)
  if (items.length === count) return items
  const problem =
    items.length < count
      ? `not enough values to unpack (expected ${count}, got ${items.length})`
      : `too many values to unpack (expected ${count})`
  throw new TemplateError(problem)
}
