/**
 * The numbers of a schema: unions of cells, closed under and, or and not.
 *
 * Intersections are pairwise, so the lists are kept small: equal cells occur once, cells inside
 * others are dropped, ascending lists meet by binary search, and single values are excluded all at
 * once.
 */
import { fixedBounds, limitError } from "../../errors.ts"
import { meetBounds } from "../../lexeme/number/cell.ts"
import { compare as compareDecimals, type Decimal } from "../../lexeme/number/decimal.ts"
import { isMultipleOf, lcm, type Modulus, modulusOf } from "../../lexeme/number/modulus.ts"
import { anyNumber, type NumberCell, numbers, pointCell } from "../../lexeme/number/number.ts"
import { Types } from "../facts/conjunction.ts"
import { decimalOfNode } from "../read/value.ts"
import type { Algebra } from "./scalar.ts"

/** Up to this many cells in one list, the other list is searched for each. */
const FewCells = 4

/** The greatest number of divisors that one cell keeps separate. */
const FewDivisors = 16

const one: Decimal = { sign: 1, digits: 1n, exponent: 0 }

/** Numbers as unions of cells. */
export const numberAlgebra: Algebra<readonly NumberCell[]> = {
  type: Types.number,
  all: [anyNumber],
  none: [],
  and(a, b) {
    if (isAll(a)) return b
    if (isAll(b)) return a
    if (a.length * b.length > fixedBounds.numberParts) {
      throw limitError(fixedBounds, "numberParts", a.length * b.length)
    }
    if (b.length <= FewCells && areAscending(a) && areAscending(b)) return meetAscending(a, b)
    const cells: NumberCell[] = []
    for (const x of a) for (const y of b) pushMeet(x, y, cells)
    return cells
  },
  or: (parts) => (parts.some(isAll) ? [anyNumber] : parts.flat()),
  not(cells) {
    const values = cells.map(pointOf)
    let result = withoutPoints(values.filter((cell) => cell !== null))
    for (const [i, cell] of cells.entries())
      if (values[i] === null) result = numberAlgebra.and(result, complement(cell))
    return result
  },
  without(cells, values) {
    const rest = cells.filter((cell) => !isPoint(cell))
    const excluded = rest.length === 0 ? [] : numberAlgebra.not(numberAlgebra.or(values))
    if (rest.length === cells.length) return numberAlgebra.and(cells, excluded)
    const keys = new Set(values.map(numberAlgebra.keyOf))
    const points = cells.filter((cell) => isPoint(cell) && !keys.has(numberAlgebra.keyOf([cell])))
    return [...points, ...(rest.length === 0 ? [] : numberAlgebra.and(rest, excluded))]
  },
  own: (keywords) => (keywords.number === null ? [anyNumber] : prune([keywords.number])),
  value: (value) => (value.kind === "number" ? [pointCell(decimalOfNode(value))] : []),
  keyOf(cells) {
    if (cells.length !== 1 || !isPoint(cells[0])) return null
    const { sign, digits, exponent } = cells[0].min as Decimal
    return `${sign} ${digits} ${exponent}`
  },
  size: (cells) => cells.length,
}

function isAll(cells: readonly NumberCell[]): boolean {
  return cells.length === 1 && cells[0] === anyNumber
}

function prune(cells: readonly NumberCell[]): readonly NumberCell[] {
  return cells.filter((cell) => cell === anyNumber || !numbers.isEmpty([cell]))
}

/** Whether `cell` is one value, in any spelling. */
function isPoint({
  min,
  max,
  minExclusive,
  maxExclusive,
  form,
  multipleOf,
  notMultipleOf,
}: NumberCell): boolean {
  const isPlain = form === "any" && multipleOf.length === 0 && notMultipleOf.length === 0
  return isPlain && min !== null && min === max && !minExclusive && !maxExclusive
}

/**
 * Returns the one value of `cell`, in any spelling. Returns null if the cell has more values, or
 * distinguishes spellings. A cell that also requires an integer is one value if that value is an
 * integer, so an enumeration of integers is a list of values.
 */
function pointOf(cell: NumberCell): NumberCell | null {
  if (isPoint(cell)) return cell
  const { min, max, minExclusive, maxExclusive, form, multipleOf, notMultipleOf } = cell
  const isOne =
    form === "integral" &&
    multipleOf.length + notMultipleOf.length === 0 &&
    min !== null &&
    max !== null &&
    !minExclusive &&
    !maxExclusive &&
    compareDecimals(min, max) === 0 &&
    isMultipleOf(min, divisorOf(one))
  return isOne ? { ...anyNumber, min, max: min } : null
}

/**
 * Returns the intervals between the values of `points`, in one pass, since every other way is
 * quadratic.
 */
function withoutPoints(points: readonly NumberCell[]): readonly NumberCell[] {
  if (points.length === 0) return [anyNumber]
  const values = points.map(({ min }) => min as Decimal).sort(compareDecimals)
  const cells: NumberCell[] = [{ ...anyNumber, max: values[0], maxExclusive: true }]
  for (const [i, min] of values.entries()) {
    const max = values[i + 1] ?? null
    if (max !== null && compareDecimals(min, max) === 0) continue
    cells.push({ ...anyNumber, min, minExclusive: true, max, maxExclusive: max !== null })
  }
  return cells
}

/**
 * Returns the intersection of two cells, or null if their bounds or their lexical forms exclude
 * each other.
 */
function meet(a: NumberCell, b: NumberCell): NumberCell | null {
  if (isBelow(a, b) || isBelow(b, a)) return null
  const forms = new Set([a.form, b.form])
  forms.delete("any")
  if (forms.has("integral") && forms.has("fractional")) return null
  if (forms.has("lexicalInteger") && (forms.has("fractional") || forms.has("lexicalNonInteger"))) return null
  if (forms.has("lexicalInteger")) forms.delete("integral")
  if (forms.has("fractional")) forms.delete("lexicalNonInteger")
  // For integral values in a non-integer spelling, the form constrains the spelling, and a divisor
  // of one constrains the value.
  const both = forms.has("integral") && forms.has("lexicalNonInteger")
  return {
    ...meetBounds(a, b),
    multipleOf: common([...a.multipleOf, ...b.multipleOf, ...(both ? [one] : [])]),
    notMultipleOf: [...a.notMultipleOf, ...b.notMultipleOf],
    form: both ? "lexicalNonInteger" : ([...forms][0] ?? "any"),
  }
}

/** Returns few divisors unchanged, and many as their least common multiple. */
function common(divisors: readonly Decimal[]): readonly Decimal[] {
  if (divisors.length <= FewDivisors) return divisors
  const { value } = divisors.map(modulusOf).reduce(lcm)
  const count = value.digits.toString().length
  if (count <= fixedBounds.digits) return [value]
  throw limitError(fixedBounds, "digits.multiple", count, "", { divisors: divisors.length })
}

/** Adds the intersection of `x` and `y` to `cells`. */
function pushMeet(x: NumberCell, y: NumberCell, cells: NumberCell[]): void {
  if (isBelow(x, y) || isBelow(y, x)) return
  if (covers(y, x)) {
    cells.push(x.spelling === undefined ? x : { ...x, spelling: undefined })
    return
  }
  const cell = meet(x, y)
  if (cell !== null && !numbers.isEmpty([cell])) cells.push(cell)
}

/** Lists that are known to ascend: each cell is below the next, and no value is in two cells. */
const ascending = new WeakSet<readonly NumberCell[]>()

function areAscending(cells: readonly NumberCell[]): boolean {
  return cells.length <= 1 || ascending.has(cells) || (cells.length <= FewCells && isAscending(cells))
}

function isAscending(cells: readonly NumberCell[]): boolean {
  for (let i = 1; i < cells.length; i++) {
    const { max, maxExclusive } = cells[i - 1]
    const { min, minExclusive } = cells[i]
    if (max === null || min === null) return false
    const order = compareDecimals(max, min)
    if (order > 0 || (order === 0 && !maxExclusive && !minExclusive)) return false
  }
  return true
}

/**
 * Returns the intersection of many cells with few, both ascending. Cells far from the ends of the
 * few are taken unchanged.
 */
function meetAscending(a: readonly NumberCell[], b: readonly NumberCell[]): readonly NumberCell[] {
  const cells: NumberCell[] = []
  for (const y of b) {
    const start = firstNot(a, (x) => isBelow(x, y))
    const end = Math.max(
      start,
      firstNot(a, (x) => !isBelow(y, x)),
    )
    const isInterval = y.form === "any" && y.multipleOf.length + y.notMultipleOf.length === 0
    for (let i = start; i < end; i++) {
      // A cell with others on both sides that overlap y lies between its ends.
      const isInside = isInterval && i - start >= 2 && end - i >= 3 && a[i].spelling === undefined
      if (isInside) cells.push(a[i])
      else pushMeet(a[i], y, cells)
    }
  }
  ascending.add(cells)
  return cells
}

/** Returns the first index from which on `test` is false. */
function firstNot(cells: readonly NumberCell[], test: (cell: NumberCell) => boolean): number {
  let [low, high] = [0, cells.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (test(cells[middle])) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Whether `a` contains all of `b`. Decided only if `a` is an interval or `b` is one value; else
 * false.
 */
function covers(a: NumberCell, b: NumberCell): boolean {
  if (a.form !== "any") return false
  const { multipleOf, notMultipleOf } = a
  if (multipleOf.length + notMultipleOf.length > 0) {
    if (!isPoint(b)) return false
    const value = b.min as Decimal
    if (!multipleOf.every((q) => isMultipleOf(value, divisorOf(q)))) return false
    if (notMultipleOf.some((q) => isMultipleOf(value, divisorOf(q)))) return false
  }
  return (
    isWithin(a.min, a.minExclusive, b.min, b.minExclusive, 1) &&
    isWithin(a.max, a.maxExclusive, b.max, b.maxExclusive, -1)
  )
}

/**
 * Whether the wide bound admits everything that the narrow one admits. `sign` is 1 for lower
 * bounds, −1 for upper ones.
 */
function isWithin(
  wide: Decimal | null,
  wideExclusive: boolean,
  narrow: Decimal | null,
  narrowExclusive: boolean,
  sign: 1 | -1,
): boolean {
  if (wide === null) return true
  if (narrow === null) return false
  const order = sign * compareDecimals(narrow, wide)
  return order > 0 || (order === 0 && (narrowExclusive || !wideExclusive))
}

const divisors = new WeakMap<Decimal, Modulus>()

function divisorOf(value: Decimal): Modulus {
  let modulus = divisors.get(value)
  if (modulus === undefined) {
    modulus = modulusOf(value)
    divisors.set(value, modulus)
  }
  return modulus
}

/** Whether all of `a` is less than all of `b`. */
function isBelow({ max }: NumberCell, { min }: NumberCell): boolean {
  return max !== null && min !== null && max !== min && compareDecimals(max, min) < 0
}

function complement(cell: NumberCell): NumberCell[] {
  const parts: NumberCell[] = []
  if (cell.min !== null) parts.push({ ...anyNumber, max: cell.min, maxExclusive: !cell.minExclusive })
  if (cell.max !== null) parts.push({ ...anyNumber, min: cell.max, minExclusive: !cell.maxExclusive })
  for (const q of cell.multipleOf) parts.push({ ...anyNumber, notMultipleOf: [q] })
  for (const q of cell.notMultipleOf) parts.push({ ...anyNumber, multipleOf: [q] })
  if (cell.form !== "any") {
    const dual = {
      integral: "fractional",
      fractional: "integral",
      lexicalInteger: "lexicalNonInteger",
      lexicalNonInteger: "lexicalInteger",
    } as const
    parts.push({ ...anyNumber, form: dual[cell.form] })
  }
  return parts
}
