/**
 * Jinja's tests, which follow `is`.
 */
import {
  areEqual,
  Callable,
  compare,
  contains,
  Float,
  Generator,
  isTrue,
  numberOf,
  TemplateError,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
  View,
} from "./value.ts"

type Test = (value: Value, args: readonly Value[]) => boolean

const isSequence = (value: Value): boolean =>
  typeof value === "string" ||
  Array.isArray(value) ||
  value instanceof Map ||
  value instanceof Tuple ||
  value instanceof View ||
  value instanceof Undefined
const isNumber = (value: Value): boolean => numberOf(value) !== undefined
const whole = (value: Value): number => {
  const number = numberOf(value)
  if (number === undefined) throw new TemplateError(`a number is needed, not ${typeName(value)}`)
  return number
}
const modulo = (a: number, b: number): number => ((a % b) + b) % b

const equal: Test = (value, [other]) => areEqual(value, other)
const unequal: Test = (value, [other]) => !areEqual(value, other)
const less: Test = (value, [other]) => compare(value, other) < 0
const most: Test = (value, [other]) => compare(value, other) <= 0
const greater: Test = (value, [other]) => compare(value, other) > 0
const least: Test = (value, [other]) => compare(value, other) >= 0

const tests: ReadonlyMap<string, Test> = new Map<string, Test>([
  ["boolean", (value) => typeof value === "boolean"],
  ["callable", (value) => value instanceof Callable],
  ["defined", (value) => !(value instanceof Undefined)],
  ["divisibleby", (value, [by]) => modulo(whole(value), whole(by)) === 0],
  ["escaped", () => false],
  ["even", (value) => modulo(whole(value), 2) === 0],
  ["false", (value) => value === false],
  ["float", (value) => value instanceof Float],
  ["in", (value, [all]) => contains(all, value)],
  ["integer", (value) => typeof value === "number" || typeof value === "bigint"],
  ["iterable", (value) => isSequence(value) || value instanceof Generator],
  ["lower", (value) => isCased(textOf(value)) && textOf(value) === textOf(value).toLowerCase()],
  ["mapping", (value) => value instanceof Map],
  ["none", (value) => value === null],
  ["number", isNumber],
  ["odd", (value) => modulo(whole(value), 2) === 1],
  ["sameas", (value, [other]) => value === other],
  ["sequence", isSequence],
  ["string", (value) => typeof value === "string"],
  ["true", (value) => value === true],
  ["undefined", (value) => value instanceof Undefined],
  ["upper", (value) => isCased(textOf(value)) && textOf(value) === textOf(value).toUpperCase()],
  ...["eq", "equalto", "=="].map((name): [string, Test] => [name, equal]),
  ...["ne", "!="].map((name): [string, Test] => [name, unequal]),
  ...["lt", "lessthan", "<"].map((name): [string, Test] => [name, less]),
  ...["le", "<="].map((name): [string, Test] => [name, most]),
  ...["gt", "greaterthan", ">"].map((name): [string, Test] => [name, greater]),
  ...["ge", ">="].map((name): [string, Test] => [name, least]),
])

function isCased(text: string): boolean {
  return text.toLowerCase() !== text.toUpperCase()
}

/** Returns whether `value is name(args)`. Throws TemplateError for an unknown test. */
export function passes(value: Value, name: string, args: readonly Value[]): boolean {
  const test = tests.get(name)
  if (test === undefined) throw new TemplateError(`no test named '${name}'`)
  return test(value, args)
}

/** Returns whether a value passes a named test; without a name, whether it is true. */
export function isSelected(value: Value, args: readonly Value[]): boolean {
  const [name, ...rest] = args
  return name === undefined ? isTrue(value) : passes(value, textOf(name), rest)
}
