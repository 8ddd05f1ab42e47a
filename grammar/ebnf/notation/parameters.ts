/**
 * The number of a parametric rule: an unsigned integer of 64 bits, the functions that calls apply
 * to it, and conditions on it.
 *
 * A rule with its number is a rule of its own (`environment.ts`), so all of this is computed while
 * compiling, and frames do not know of numbers. `_` is the rule's own number; as a range of bits it
 * is all 64 of them.
 */
import { fixedBounds, limitError } from "../../errors.ts"
import type { Refuse } from "./source.ts"
import type { Call } from "./tree.ts"

const Bits = 64
const AllOnes = (1n << BigInt(Bits)) - 1n

/** The kinds of a function's arguments: a bit, a range of bits, a number, or conditions. */
type Kind = "bit" | "bits" | "number" | "condition"

/** An argument. */
interface Operand {
  /** The bit, the number, or the value of the bits. */
  readonly value: bigint
  /** The first bit of a range, and the value with all bits of the range set. */
  readonly first: bigint
  readonly ones: bigint
  readonly holds: boolean
}

interface Operation<T> {
  readonly takes: readonly Kind[]
  readonly apply: (own: bigint, first: Operand, second: Operand) => T
}

const valueFunctions: Readonly<Record<string, Operation<bigint>>> = {
  _: { takes: [], apply: (own) => own },
  set_bit: { takes: ["bit"], apply: (own, { value }) => own | (1n << value) },
  clear_bit: { takes: ["bit"], apply: (own, { value }) => own & ~(1n << value) },
  bit_and: { takes: ["number"], apply: (own, { value }) => own & value },
  bit_or: { takes: ["number"], apply: (own, { value }) => own | value },
  incr: {
    takes: ["bits"],
    apply: (own, { first, value, ones }) => (value === ones ? own : own + (1n << first)),
  },
  decr: { takes: ["bits"], apply: (own, { first, value }) => (value === 0n ? own : own - (1n << first)) },
}

const comparisons: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
}

/** Returns the functions that compare the result of `of` for a range of bits with a number. */
function compared(prefix: string, of: (bits: bigint) => bigint): Record<string, Operation<boolean>> {
  const made = Object.entries(comparisons).map(([name, holds]) => {
    const apply = (_: bigint, bits: Operand, { value }: Operand) => holds(of(bits.value), value)
    return [`${prefix}${name}`, { takes: ["bits", "number"], apply }] as const
  })
  return Object.fromEntries(made)
}

const conditionFunctions: Readonly<Record<string, Operation<boolean>>> = {
  true: { takes: [], apply: () => true },
  bit_set: { takes: ["bit"], apply: (own, { value }) => ((own >> value) & 1n) === 1n },
  bit_clear: { takes: ["bit"], apply: (own, { value }) => ((own >> value) & 1n) === 0n },
  is_ones: { takes: ["bits"], apply: (_, { value, ones }) => value === ones },
  is_zeros: { takes: ["bits"], apply: (_, { value }) => value === 0n },
  ...compared("", (bits) => bits),
  ...compared("bit_count_", (bits) => BigInt(bits.toString(2).replaceAll("0", "").length)),
  and: { takes: ["condition", "condition"], apply: (_, a, b) => a.holds && b.holds },
  or: { takes: ["condition", "condition"], apply: (_, a, b) => a.holds || b.holds },
  not: { takes: ["condition"], apply: (_, { holds }) => !holds },
}

/**
 * Returns whether the value of a call needs the number of the rule that it is in. Only plain
 * numbers do not.
 */
export function usesNumber(call: Call): boolean {
  return call.kind !== "number"
}

/** Returns whether a call passes the number on unchanged. */
export function keepsNumber(call: Call): boolean {
  return call.kind === "function" && call.name === "_"
}

/** Refuses `call` if it is not a value. */
export function checkValue(call: Call, refuse: Refuse): void {
  if (call.kind === "number") checkNumber(call.text, call.start, AllOnes, refuse)
  else if (call.kind === "bits")
    refuse("syntax", call.start, 'expected a number, "_" or a function, found a range of bits')
  else checkFunction(call, valueFunctions, "function", 0, refuse)
}

/** Refuses `call` if it is not a condition. */
export function checkCondition(call: Call, refuse: Refuse, depth = 0): void {
  if (call.kind !== "function") refuse("syntax", call.start, "expected a condition")
  else if (depth >= fixedBounds.conditionDepth) {
    const error = limitError(fixedBounds, "conditionDepth", depth + 1)
    refuse("limit", call.start, error.message)
  } else checkFunction(call, conditionFunctions, "condition", depth, refuse)
}

function checkFunction(
  call: Call & { kind: "function" },
  functions: Readonly<Record<string, Operation<unknown>>>,
  what: string,
  depth: number,
  refuse: Refuse,
): void {
  const kinds = Object.hasOwn(functions, call.name) ? functions[call.name].takes : undefined
  if (kinds === undefined) {
    refuse(
      "syntax",
      call.start,
      `unknown ${what} ${call.name}. Known are ${Object.keys(functions).join(", ")}`,
    )
  } else if (kinds.length !== call.values.length) {
    const few = kinds.length === 1 ? "one value" : kinds.length === 0 ? "no value" : `${kinds.length} values`
    refuse("syntax", call.start, `${call.name} takes ${few}, found ${call.values.length}`)
  } else {
    for (const [i, value] of call.values.entries()) {
      if (kinds[i] === "condition") checkCondition(value, refuse, depth + 1)
      else if (kinds[i] === "bits") checkBits(value, refuse)
      else if (value.kind !== "number") refuse("syntax", value.start, "expected a number")
      else checkNumber(value.text, value.start, kinds[i] === "bit" ? BigInt(Bits - 1) : AllOnes, refuse)
    }
  }
}

function checkBits(call: Call, refuse: Refuse): void {
  if (keepsNumber(call)) return
  if (call.kind !== "bits") {
    refuse("syntax", call.start, 'expected "_" or a range of bits [x:y]')
    return
  }
  const isFirst = checkNumber(call.first.text, call.first.start, BigInt(Bits - 1), refuse)
  const isLast = checkNumber(call.last.text, call.last.start, BigInt(Bits), refuse)
  if (isFirst && isLast && BigInt(call.last.text) <= BigInt(call.first.text)) {
    refuse(
      "syntax",
      call.last.start,
      `the range of bits ends at ${call.last.text}, not above its beginning ${call.first.text}`,
    )
  }
}

function checkNumber(text: string, at: number, max: bigint, refuse: Refuse): boolean {
  if (!/^(?:0[xX][0-9a-fA-F]+|[0-9]+)$/.test(text)) {
    refuse("syntax", at, `expected a whole number, found ${text}`)
    return false
  }
  if (BigInt(text) <= max) return true
  refuse("syntax", at, `the number ${text} is above ${max}`)
  return false
}

/** Returns the value of a call in a rule whose number is `own`. */
export function calledValue(call: Call, own: bigint): bigint {
  return call.kind === "number" ? BigInt(call.text) : applied(call, valueFunctions, own)
}

/** Returns whether a condition holds for the number `own`. */
export function holds(call: Call, own: bigint): boolean {
  return applied(call, conditionFunctions, own)
}

function applied<T>(call: Call, functions: Readonly<Record<string, Operation<T>>>, own: bigint): T {
  if (call.kind !== "function") throw new Error(`internal: ${call.kind} in place of a function`)
  const { takes, apply } = functions[call.name]
  const [first, second] = call.values.map((value, i) => operandOf(value, takes[i], own))
  return apply(own, first, second)
}

function operandOf(call: Call, kind: Kind, own: bigint): Operand {
  if (kind === "condition") return { value: 0n, first: 0n, ones: 0n, holds: holds(call, own) }
  if (call.kind === "number") return { value: BigInt(call.text), first: 0n, ones: 0n, holds: false }
  // `_` is all bits.
  const [first, last] =
    call.kind === "bits" ? [BigInt(call.first.text), BigInt(call.last.text)] : [0n, BigInt(Bits)]
  const ones = (1n << (last - first)) - 1n
  return { value: (own >> first) & ones, first, ones, holds: false }
}
