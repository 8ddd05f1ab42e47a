/**
 * The number of a parametric rule: an unsigned integer of 64 bits, what a call makes of it, and conditions on it.
 *
 * A rule with its number is a rule of its own (`environment.ts`), so all of this is computed while compiling, and frames need not
 * know of numbers. `_` is the rule's own number, and as a range of bits all of it.
 */
import { fixedBounds, limitError } from "../../errors.ts"
import type { Refuse } from "./source.ts"
import type { Call } from "./tree.ts"

const Bits = 64
const AllOnes = (1n << BigInt(Bits)) - 1n

/** What a function takes, in order: a bit, a range of bits, a number, a count, or conditions. */
type Kind = "bit" | "bits" | "number" | "condition"

const valueFunctions: ReadonlyMap<string, readonly Kind[]> = new Map<string, Kind[]>([
  ["_", []],
  ["set_bit", ["bit"]],
  ["clear_bit", ["bit"]],
  ["bit_and", ["number"]],
  ["bit_or", ["number"]],
  ["incr", ["bits"]],
  ["decr", ["bits"]],
])

const comparisons = ["eq", "ne", "lt", "le", "gt", "ge"] as const
type Comparison = (typeof comparisons)[number]

const conditionFunctions: ReadonlyMap<string, readonly Kind[]> = new Map<string, Kind[]>([
  ["true", []],
  ["bit_set", ["bit"]],
  ["bit_clear", ["bit"]],
  ["is_ones", ["bits"]],
  ["is_zeros", ["bits"]],
  ...comparisons.map((name): [string, Kind[]] => [name, ["bits", "number"]]),
  ...comparisons.map((name): [string, Kind[]] => [`bit_count_${name}`, ["bits", "number"]]),
  ["and", ["condition", "condition"]],
  ["or", ["condition", "condition"]],
  ["not", ["condition"]],
])

/** Whether the value of a call needs the number of the rule that it stands in: all but plain numbers do. */
export function usesNumber(call: Call): boolean {
  return call.kind !== "number"
}

/** Whether a call hands on the number as it is. */
export function keepsNumber(call: Call): boolean {
  return call.kind === "function" && call.name === "_"
}

/** Refuses what is no value of a call. */
export function checkValue(call: Call, refuse: Refuse): void {
  if (call.kind === "number") checkNumber(call.text, call.start, AllOnes, refuse)
  else if (call.kind === "bits")
    refuse("syntax", call.start, 'expected a number, "_" or a function, found a range of bits')
  else checkFunction(call, valueFunctions, "function", 0, refuse)
}

/** Refuses what is no condition. */
export function checkCondition(call: Call, refuse: Refuse, depth = 0): void {
  if (call.kind !== "function") refuse("syntax", call.start, "expected a condition")
  else if (depth >= fixedBounds.conditionDepth) {
    const error = limitError(fixedBounds, "conditionDepth", depth + 1)
    refuse("limit", call.start, error.message)
  } else checkFunction(call, conditionFunctions, "condition", depth, refuse)
}

function checkFunction(
  call: Call & { kind: "function" },
  functions: ReadonlyMap<string, readonly Kind[]>,
  what: string,
  depth: number,
  refuse: Refuse,
): void {
  const kinds = functions.get(call.name)
  if (kinds === undefined) {
    refuse(
      "syntax",
      call.start,
      `unknown ${what} ${call.name}. Known are ${[...functions.keys()].join(", ")}`,
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

/** The value of a call in a rule whose number is `own`. */
export function calledValue(call: Call, own: bigint): bigint {
  if (call.kind === "number") return BigInt(call.text)
  if (call.kind === "bits") throw new Error("internal: a range of bits is no value")
  switch (call.name) {
    case "set_bit":
      return own | (1n << numberOf(call.values[0]))
    case "clear_bit":
      return own & ~(1n << numberOf(call.values[0]))
    case "bit_and":
      return own & numberOf(call.values[0])
    case "bit_or":
      return own | numberOf(call.values[0])
    case "incr": {
      const { first, ones, bits } = bitsOf(call.values[0], own)
      return bits === ones ? own : own + (1n << first)
    }
    case "decr": {
      const { first, bits } = bitsOf(call.values[0], own)
      return bits === 0n ? own : own - (1n << first)
    }
    default:
      return own
  }
}

/** Whether a condition holds for the number `own`. */
export function holds(call: Call, own: bigint): boolean {
  if (call.kind !== "function") throw new Error("internal: no condition")
  const { name, values } = call
  switch (name) {
    case "true":
      return true
    case "and":
      return holds(values[0], own) && holds(values[1], own)
    case "or":
      return holds(values[0], own) || holds(values[1], own)
    case "not":
      return !holds(values[0], own)
    case "bit_set":
    case "bit_clear":
      return ((own >> numberOf(values[0])) & 1n) === (name === "bit_set" ? 1n : 0n)
    default: {
      const { ones, bits } = bitsOf(values[0], own)
      if (name === "is_ones") return bits === ones
      if (name === "is_zeros") return bits === 0n
      const counts = name.startsWith("bit_count_")
      const comparison = (counts ? name.slice(10) : name) as Comparison
      return compares(comparison, counts ? BigInt(onesOf(bits)) : bits, numberOf(values[1]))
    }
  }
}

function compares(comparison: Comparison, a: bigint, b: bigint): boolean {
  switch (comparison) {
    case "eq":
      return a === b
    case "ne":
      return a !== b
    case "lt":
      return a < b
    case "le":
      return a <= b
    case "gt":
      return a > b
    case "ge":
      return a >= b
  }
}

function numberOf(call: Call): bigint {
  if (call.kind !== "number") throw new Error("internal: no number")
  return BigInt(call.text)
}

/** A range of bits of `own`: its first one, its value, and the value with all of them set. */
function bitsOf(call: Call, own: bigint): { first: bigint; bits: bigint; ones: bigint } {
  const first = call.kind === "bits" ? BigInt(call.first.text) : 0n
  const last = call.kind === "bits" ? BigInt(call.last.text) : BigInt(Bits)
  const ones = (1n << (last - first)) - 1n
  return { first, bits: (own >> first) & ones, ones }
}

function onesOf(bits: bigint): number {
  return bits.toString(2).replaceAll("0", "").length
}
