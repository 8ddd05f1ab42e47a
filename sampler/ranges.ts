/**
 * Ranges of parameters: each check returns the value or throws a SamplingError that names
 * parameter, value and bound.
 */

/** A parameter out of range. `param` is its wire name, `value` what was given. */
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

/** Above 0, up to `max`; the hint is the way out. */
export function positive(param: string, value: number, max: number, hint: string): number {
  if (finite(param, value) > 0 && value <= max) return value
  const bound = max === Infinity ? "not above 0" : `not above 0 and at most ${max}`
  throw new SamplingError(param, value, `${value} is ${bound}; ${hint}`)
}

/** From 0 to below 1. */
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

/** Throws unless there are at most `max`. `what` names what is counted. */
export function atMost(param: string, count: number, max: number, what: string): void {
  if (count > max) throw new SamplingError(param, count, `${count}${what} are more than ${max}`)
}

/** The beginning of a text: a message must not grow with what it refuses. */
export function shown(value: string): string {
  return value.length > 80 ? `${value.slice(0, 79)}…` : value
}
