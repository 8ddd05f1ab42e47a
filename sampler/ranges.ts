/**
 * Checks of parameter ranges. Each check returns the value or throws a SamplingError that names
 * parameter, value and bound.
 */

/** Thrown for a parameter out of range. `param` is its wire name, `value` the given value. */
export class SamplingError extends Error {
  readonly param: string
  readonly value: unknown

  constructor(param: string, value: unknown, message: string) {
    super(`${param}: ${message}`)
    this.name = "SamplingError"
    this.param = param
    this.value = value
  }
}

export function finite(param: string, value: number): number {
  if (Number.isFinite(value)) return value
  throw new SamplingError(param, value, `${value} is not a finite number`)
}

export function range(param: string, value: number, min: number, max: number): number {
  if (finite(param, value) >= min && value <= max) return value
  const bound = max === Infinity ? `below ${min}` : `outside ${min} to ${max}`
  throw new SamplingError(param, value, `${value} is ${bound}`)
}

/**
 * Checks that the value is above 0 and at most `max`; the hint tells the caller what to do instead.
 */
export function positive(param: string, value: number, max: number, hint: string): number {
  if (finite(param, value) > 0 && value <= max) return value
  const bound = max === Infinity ? "not above 0" : `not above 0 and at most ${max}`
  throw new SamplingError(param, value, `${value} is ${bound}; ${hint}`)
}

/** Checks that the value is at least 0 and below 1. */
export function below(param: string, value: number): number {
  if (finite(param, value) >= 0 && value < 1) return value
  throw new SamplingError(param, value, `${value} is not from 0 to below 1`)
}

export function integer(param: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  const bound = max === Number.MAX_SAFE_INTEGER ? `≥ ${min}` : `from ${min} to ${max}`
  throw new SamplingError(param, value, `${value} is not an integer ${bound}`)
}

export function oneOf<Value extends string>(param: string, value: string, values: readonly Value[]): Value {
  const found = values.find((one) => one === value)
  if (found) return found
  throw new SamplingError(param, value, `${shown(value)} is none of ${values.join(", ")}`)
}

/** Throws unless `count` is at most `max`. `what` names what is counted. */
export function atMost(param: string, count: number, max: number, what: string): void {
  if (count > max) throw new SamplingError(param, count, `${count}${what} are more than ${max}`)
}

/** Returns the beginning of a text, so that a message does not grow with the refused value. */
export function shown(value: string): string {
  return value.length > 80 ? `${value.slice(0, 79)}…` : value
}
