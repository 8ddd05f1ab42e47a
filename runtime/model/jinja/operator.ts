/** Python's operators on the values of a template. */
import { percent, repeated } from "./text.ts"
import {
  areEqual,
  compare,
  contains,
  escaped,
  Float,
  Markup,
  numberOf,
  plain,
  TemplateError,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from "./value.ts"

/** Returns `a operator b` for numbers, texts and lists. */
export function calculated(operator: string, a: Value, b: Value): Value {
  for (const each of [a, b]) if (each instanceof Undefined) each.fail()
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined)
    return arithmetic(operator, x, y, a instanceof Float || b instanceof Float)
  if (operator === "%" && typeof plain(a) === "string") return percent(textOf(a), b)
  if (operator === "+" && (a instanceof Markup || b instanceof Markup)) {
    const isText = (value: Value) => value instanceof Markup || typeof value === "string"
    if (isText(a) && isText(b)) return new Markup(escaped(a) + escaped(b))
  }
  if (operator === "+") {
    if (typeof a === "string" && typeof b === "string") return a + b
    if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b]
    if (a instanceof Tuple && b instanceof Tuple) return new Tuple([...a.items, ...b.items])
    if (typeof a === "string") {
      throw new TemplateError(`can only concatenate str (not "${typeName(b)}") to str`)
    }
  }
  if (operator === "*") {
    const made = x === undefined ? (y === undefined ? undefined : repeated(a, y)) : repeated(b, x)
    if (made !== undefined) return made
  }
  throw new TemplateError(
    `unsupported operand type(s) for ${operator}: '${typeName(a)}' and '${typeName(b)}'`,
  )
}

function arithmetic(operator: string, a: number, b: number, isFloat: boolean): Value {
  const made = (value: number): Value => (isFloat ? new Float(value) : value)
  if (b === 0 && "/%".includes(operator[0])) throw new TemplateError("division by zero")
  switch (operator) {
    case "+":
      return made(a + b)
    case "-":
      return made(a - b)
    case "*":
      return made(a * b)
    case "/":
      return new Float(a / b)
    case "//":
      return made(Math.floor(a / b))
    case "%":
      return made(((a % b) + b) % b)
    default:
      return b < 0 ? new Float(a ** b) : made(a ** b)
  }
}

/** Returns `-value` or `+value`. */
export function signed(sign: "+" | "-", value: Value): Value {
  if (value instanceof Undefined) value.fail()
  const number = numberOf(value)
  if (number === undefined)
    throw new TemplateError(`bad operand type for unary ${sign}: '${typeName(value)}'`)
  const made = sign === "-" ? 0 - number : number
  return value instanceof Float ? new Float(sign === "-" ? -number : number) : made
}

/** Returns the result of the comparison `a operator b`. */
export function holds(operator: string, a: Value, b: Value): boolean {
  switch (operator) {
    case "==":
      return areEqual(a, b)
    case "!=":
      return !areEqual(a, b)
    case "in":
      return contains(b, a)
    case "not in":
      return !contains(b, a)
    case "<":
      return compare(a, b) < 0
    case "<=":
      return compare(a, b) <= 0
    case ">":
      return compare(a, b) > 0
    default:
      return compare(a, b) >= 0
  }
}
