/**
 * A set of numbers as a union of cells: an interval, multiples, excluded multiples, a lexical form.
 *
 * `integral` means "multiple of one" and `fractional` means "not a multiple of one". A cell thus
 * reduces to an interval, one modulus M (the lcm), excluded moduli (each lifted to a proper
 * multiple of M), and whether the text must or must not consist of digits only. The sign is written
 * first, so a cell is split into two halves over magnitudes. Both halves hold zero if the cell
 * does.
 */
import { compare, type Decimal, equals, negate, zero } from "./decimal.ts"
import {
  firstMember,
  hasManyMembers,
  hasMember,
  type Interval,
  isMember,
  lcm,
  type Modulus,
  modulusOf,
  powerOfTen,
} from "./modulus.ts"

type NumberForm = "any" | "integral" | "fractional" | "lexicalInteger" | "lexicalNonInteger"

/**
 * Values between the bounds that are multiples of all `multipleOf` and of no `notMultipleOf` (all >
 * 0).
 */
export interface NumberCell {
  readonly min: Decimal | null
  readonly minExclusive: boolean
  readonly max: Decimal | null
  readonly maxExclusive: boolean
  readonly multipleOf: readonly Decimal[]
  readonly notMultipleOf: readonly Decimal[]
  /**
   * `integral` and `fractional` are forms of the value. A `lexicalInteger` is written with digits
   * only, a `lexicalNonInteger` is not.
   */
  readonly form: NumberForm
  /** Spelling of a constant in the schema, which policy `plain` admits too. */
  readonly spelling?: string
}

/** Every number. */
export const anyNumber: NumberCell = {
  min: null,
  minExclusive: false,
  max: null,
  maxExclusive: false,
  multipleOf: [],
  notMultipleOf: [],
  form: "any",
}

/** Returns a key; equal cells have equal keys. */
export function cellKey(cell: NumberCell): string {
  const { min, minExclusive, max, maxExclusive, multipleOf, notMultipleOf, form, spelling } = cell
  const text = (value: Decimal) => `${value.sign < 0 ? "-" : ""}${decimalKey(value)}`
  const low = min === null ? "" : text(min) + minExclusive
  const high = max === null ? "" : text(max) + maxExclusive
  return `${low},${high},${multipleOf.map(text)}/${notMultipleOf.map(text)}/${form}/${spelling ?? ""}`
}

/** Returns the cell of one value. `spelling` is its text in the schema. */
export function pointCell(value: Decimal, spelling?: string): NumberCell {
  return { ...anyNumber, min: value, max: value, spelling }
}

/** Returns the bounds of the intersection of both cells. */
export function meetBounds(
  a: NumberCell,
  b: NumberCell,
): Pick<NumberCell, "min" | "minExclusive" | "max" | "maxExclusive"> {
  const low = a.min === null ? 1 : b.min === null ? -1 : compare(b.min, a.min)
  const high = a.max === null ? -1 : b.max === null ? 1 : compare(b.max, a.max)
  return {
    min: low > 0 ? b.min : a.min,
    minExclusive: (low >= 0 && b.minExclusive) || (low <= 0 && a.minExclusive),
    max: high < 0 ? b.max : a.max,
    maxExclusive: (high <= 0 && b.maxExclusive) || (high >= 0 && a.maxExclusive),
  }
}

/** The magnitudes of one sign. Equal halves have equal keys. */
export interface Half {
  readonly range: Interval
  readonly multiple: Modulus | null
  readonly excluded: readonly Modulus[]
  readonly text: "any" | "digits" | "notDigits"
  readonly key: string
}

/**
 * Both halves of a cell. A half is null if the cell has no number of that sign; zero has both
 * signs.
 */
export interface Halves {
  readonly positive: Half | null
  readonly negative: Half | null
}

const one = powerOfTen(0)
const nothing: Halves = { positive: null, negative: null }

export function halvesOf(cell: NumberCell): Halves {
  const multiples = cell.multipleOf.map(modulusOf)
  const exclusions = cell.notMultipleOf.map(modulusOf)
  if (cell.form === "integral" || cell.form === "lexicalInteger") multiples.push(one)
  if (cell.form === "fractional") exclusions.push(one)
  const multiple = multiples.length === 0 ? null : multiples.reduce(lcm)
  const lifted = multiple === null ? exclusions : exclusions.map((modulus) => lcm(modulus, multiple))
  if (lifted.some((modulus) => modulus === multiple)) return nothing
  const excluded = minimal(lifted)
  const text =
    cell.form === "lexicalInteger" ? "digits" : cell.form === "lexicalNonInteger" ? "notDigits" : "any"
  const { min, max } = cell
  const half = (lo: Decimal | null, loOpen: boolean, hi: Decimal | null, hiOpen: boolean): Half | null => {
    if (hi !== null && hi.sign < 0) return null
    const below = lo === null || lo.sign < 0
    return makeHalf(
      { lo: below ? zero : lo, loOpen: !below && loOpen, hi, hiOpen: hi !== null && hiOpen },
      multiple,
      excluded,
      text,
    )
  }
  return {
    positive: half(min, cell.minExclusive, max, cell.maxExclusive),
    negative: half(max && negate(max), cell.maxExclusive, min && negate(min), cell.minExclusive),
  }
}

/** Returns null if the half holds no value. */
export function makeHalf(
  range: Interval,
  multiple: Modulus | null,
  excluded: readonly Modulus[],
  text: Half["text"],
): Half | null {
  if (!hasMember(range, multiple, excluded)) return null
  const key = `${rangeKey(range)} ${multiple?.key ?? ""} ${excluded.map((n) => n.key).join()} ${text}`
  return { range, multiple, excluded, text, key }
}

function rangeKey({ lo, loOpen, hi, hiOpen }: Interval): string {
  return `${loOpen ? "(" : "["}${decimalKey(lo)},${hi === null ? "" : decimalKey(hi)}${hiOpen ? ")" : "]"}`
}

export function decimalKey(value: Decimal): string {
  return value.exponent === 0 ? `${value.digits}` : `${value.digits}e${value.exponent}`
}

// Drops a modulus if another one divides it: excluding the divisor excludes its multiples.
function minimal(moduli: readonly Modulus[]): Modulus[] {
  const distinct = [...new Set(moduli)]
  return distinct
    .filter((m) => !distinct.some((other) => other !== m && isMember(m.value, other, [])))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

/**
 * Returns the only value of a cell whose bounds meet; null for other cells, or if it is excluded.
 */
export function pointOf(cell: NumberCell): Decimal | null {
  const { min, max } = cell
  if (min === null || max === null || !equals(min, max)) return null
  const { positive, negative } = halvesOf(cell)
  return (min.sign < 0 ? negative : positive) === null ? null : min
}

export function isEmptyCell(cell: NumberCell): boolean {
  const { positive, negative } = halvesOf(cell)
  return positive === null && negative === null
}

/**
 * Returns the distinct values of the union in ascending order, or null if there are infinitely many
 * or more than `cap`. Costs the number of values times the digits.
 */
export function valuesOf(cells: readonly NumberCell[], cap: number): Decimal[] | null {
  const values: Decimal[] = []
  for (const cell of cells) {
    const { positive, negative } = halvesOf(cell)
    const bound = values.length + 2 * cap + 2
    if (negative !== null && !collect(negative, bound, (value) => values.push(negate(value)))) return null
    if (positive !== null && !collect(positive, bound, (value) => values.push(value))) return null
    if (values.length > 4 * cap + 4) {
      distinct(values)
      if (values.length > cap) return null
    }
  }
  distinct(values)
  return values.length > cap ? null : values
}

/**
 * Returns up to `count` multiples from each cell, from zero up. Cells without a divisor are
 * skipped.
 */
export function firstMultiples(cells: readonly NumberCell[], count: number): Decimal[] {
  const values: Decimal[] = []
  for (const cell of cells) {
    const half = halvesOf(cell).positive
    if (half === null || half.multiple === null) continue
    let { range } = half
    for (let i = 0; i < count && (range.hi === null || compare(range.lo, range.hi) < 0); i++) {
      const value = firstMember(range, half.multiple, half.excluded, false)
      if (value === null) break
      values.push(value)
      range = { ...range, lo: value, loOpen: true }
    }
  }
  return values
}

function distinct(values: Decimal[]): void {
  values.sort(compare)
  let kept = 0
  for (const value of values) {
    if (kept === 0 || !equals(values[kept - 1], value)) values[kept++] = value
  }
  values.length = kept
}

/** Returns false if the half has infinitely many values or `push` returns `bound`. */
function collect(half: Half, bound: number, push: (value: Decimal) => number): boolean {
  const { multiple, excluded } = half
  const { lo, hi } = half.range
  if (hi === null) return false
  if (compare(lo, hi) === 0) {
    push(lo)
    return true
  }
  if (multiple === null || hasManyMembers(half.range, multiple, excluded, bound)) return false
  let range = half.range
  for (;;) {
    const value = compare(range.lo, hi) < 0 ? firstMember(range, multiple, excluded, false) : null
    if (value === null) {
      const last = compare(range.lo, hi) === 0 && !range.loOpen && !range.hiOpen
      if (last && isMember(hi, multiple, excluded)) push(hi)
      return true
    }
    if (push(value) >= bound) return false
    range = { ...range, lo: value, loOpen: true }
  }
}
