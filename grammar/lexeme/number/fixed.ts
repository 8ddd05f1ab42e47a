/**
 * Numbers without exponents: one half of a cell as a finite automaton over digits and a point.
 *
 * Of the digits so far a part keeps what the bounds leave (`rest.ts`) and the residue modulo the least integer that all
 * moduli divide. A prefix strictly inside its bounds has forgotten them: it is "any k digits", the same part in every
 * schema. In the fraction the unit is divided by ten at each digit, and once the modulus is an integer only zeros follow.
 *
 * Numbers have at most `places` digits after the point (0: no point) and values below 10^digits: both are part of the
 * language, the first as the grid 10^-places, the second as an upper end.
 */
import type { Half } from "./cell.ts"
import { isInRange, rangeKey } from "./cell.ts"
import { adjusted, ceil, compare, digitCount, floor, isInteger, makeDecimal, zero } from "./decimal.ts"
import {
  divides,
  firstRest,
  hasMember,
  type Interval,
  isIntegral,
  lcm,
  type Modulus,
  powerOfTen,
  shiftModulus,
  snap,
} from "./modulus.ts"
import { noSpans, type Part, Point, type Span, shortestDigits } from "./part.ts"
import { firstPieces, mergePieces, nextFraction, nextPieces, offset, type Piece } from "./rest.ts"

/** The value is a multiple of `multiple` and of none of `excluded`. */
interface Moduli {
  readonly multiple: Modulus
  readonly excluded: readonly Modulus[]
}

interface Congruence extends Moduli {
  /** The least integer that every modulus divides: residues are taken modulo this. */
  readonly period: bigint
  /** From so many free digits on every residue can be completed. */
  readonly freeDigits: number
  readonly key: string
}

const one = powerOfTen(0)
const congruences = new Map<string, Congruence>()

/**
 * The digits of a half, or null when no such text exists. `digits` (may be Infinity) bounds the integer part; without a
 * bound `places` must be 0. `pointNeeded`: texts without a point do not count.
 */
export function fixedPart(half: Half, digits: number, places: number, pointNeeded: boolean): Part | null {
  const grid = powerOfTen(-places)
  const multiple = half.multiple === null ? grid : lcm(half.multiple, grid)
  const excluded = half.excluded.map((modulus) => lcm(modulus, multiple))
  if (excluded.includes(multiple)) return null
  let range = half.range
  const limit = digits === Number.POSITIVE_INFINITY ? null : makeDecimal(1n, digits)
  if (limit !== null && (range.hi === null || compare(range.hi, limit) >= 0)) {
    range = { ...range, hi: limit, hiOpen: true }
  }
  if (range.hi !== null && compare(range.lo, range.hi) > 0) return null
  if (!hasMember(range, multiple, excluded)) return null
  range = snap(range, multiple.value.exponent)
  if (places === 0) range = integerEnds(range)
  return new Start(range, congruence(multiple, excluded), places, pointNeeded)
}

/** Between integers, the same integers with closed ends: `x > 5` and `x ≥ 6` become one part. */
function integerEnds({ lo, loOpen, hi, hiOpen }: Interval): Interval {
  let low = ceil(lo)
  if (loOpen && isInteger(lo)) low += 1n
  if (hi === null) return { lo: makeDecimal(low, 0), loOpen: false, hi, hiOpen }
  // 10^digits stays an open end: it says "any `digits` digits" with one digit.
  if (hiOpen && hi.digits === 1n) return { lo: makeDecimal(low, 0), loOpen: false, hi, hiOpen }
  let high = floor(hi)
  if (hiOpen && isInteger(hi)) high -= 1n
  return { lo: makeDecimal(low, 0), loOpen: false, hi: makeDecimal(high, 0), hiOpen: false }
}

function congruence(multiple: Modulus, excluded: readonly Modulus[]): Congruence {
  const key = `${multiple.key}/${excluded.map((modulus) => modulus.key).join()}`
  let known = congruences.get(key)
  if (known === undefined) {
    const period = [multiple, ...excluded].reduce(lcm, one).value
    known = {
      multiple,
      excluded,
      period: period.digits * 10n ** BigInt(period.exponent),
      // The interval of those digits is longer than 2^t + 1 multiples (see `hasMember`).
      freeDigits: adjusted(multiple.value) + digitCount(2n ** BigInt(excluded.length) + 1n),
      key,
    }
    congruences.set(key, known)
  }
  return known
}

class Start implements Part {
  readonly key: string
  readonly accepting = false
  readonly range: Interval
  readonly congruence: Congruence
  readonly places: number
  readonly pointNeeded: boolean

  constructor(range: Interval, congruence: Congruence, places: number, pointNeeded: boolean) {
    this.range = range
    this.congruence = congruence
    this.places = places
    this.pointNeeded = pointNeeded
    this.key = `F^${rangeKey(range)}|${congruence.key}|${places}${pointNeeded ? "." : ""}`
  }

  next(symbol: number): Part | null {
    if (symbol > 9) return null
    return makeInteger(
      firstPieces(this.range, symbol),
      BigInt(symbol) % this.congruence.period,
      this.congruence,
      this.places,
      this.pointNeeded,
    )
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    return shortestDigits(this, limit)
  }
}

function makeInteger(
  pieces: readonly Piece[],
  residue: bigint,
  congruence: Congruence,
  places: number,
  pointNeeded: boolean,
): Part | null {
  if (pieces.length === 0) return null
  const { multiple, excluded } = congruence
  const fewest = fewestDigits(residue, congruence)
  const alive = ({ from, to, range }: Piece): boolean => {
    if (range === null && to >= congruence.freeDigits) return true
    const least = Math.max(from, fewest)
    for (let j = to; j >= least; j--) {
      if (hasMember(offset(range, residue, j), multiple, excluded)) return true
    }
    return false
  }
  // A piece without a member is dropped, so that equal languages meet in one key.
  const kept = pieces.filter(alive)
  if (kept.length === 0) return null
  return new Integer(mergePieces(kept), residue, congruence, places, pointNeeded)
}

/** With fewer digits a number of that residue is not zero and stays below the least multiple. */
function fewestDigits(residue: bigint, { multiple }: Moduli): number {
  return residue === 0n ? 0 : adjusted(multiple.value) - digitCount(residue + 1n)
}

/** After some integer digits. */
class Integer implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly pieces: readonly Piece[]
  readonly residue: bigint
  readonly congruence: Congruence
  readonly places: number
  readonly pointNeeded: boolean

  constructor(
    pieces: readonly Piece[],
    residue: bigint,
    congruence: Congruence,
    places: number,
    pointNeeded: boolean,
  ) {
    this.pieces = pieces
    this.residue = residue
    this.congruence = congruence
    this.places = places
    this.pointNeeded = pointNeeded
    const now = pieces[0].from === 0 ? pieces[0] : null
    this.accepting = now !== null && !pointNeeded && contains(now.range, residue, congruence)
    const shape = pieces.map(({ from, to, range }) =>
      range === null ? `${from}-${to}` : from + rangeKey(range),
    )
    this.key = `FI${shape.join(" ")}|${residue}|${congruence.key}|${places}${pointNeeded ? "." : ""}`
  }

  next(symbol: number): Part | null {
    const { congruence, places } = this
    if (symbol === Point) {
      const now = this.pieces[0]
      if (places === 0 || now.from !== 0) return null
      return makeFraction(now.range, this.residue, congruence, places, true)
    }
    if (symbol > 9) return null
    const pieces = nextPieces(this.pieces, symbol)
    const residue = (this.residue * 10n + BigInt(symbol)) % congruence.period
    return makeInteger(pieces, residue, congruence, places, this.pointNeeded)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    if (this.accepting) return limit > 0 ? "" : null
    const { pieces, residue, congruence, places, pointNeeded } = this
    const fewest = fewestDigits(residue, congruence)
    for (let length = 1; length < limit; length++) {
      for (const { from, to, range } of pieces) {
        const most = Math.min(to, length)
        for (let j = Math.max(from, fewest, length - 1 - places); j <= most; j++) {
          // j digits alone, or j digits, the point and the rest of the length.
          const behind = Math.max(0, length - j - 1)
          if (behind > places || (j === length ? pointNeeded : behind === 0)) continue
          const rest = firstRest(
            offset(range, residue, j),
            congruence.multiple,
            congruence.excluded,
            residue,
            j + behind,
            -behind,
          )
          if (rest === null) continue
          const text = rest.toString().padStart(j + behind, "0")
          return behind === 0 ? text : `${text.slice(0, j)}.${text.slice(j)}`
        }
      }
    }
    return null
  }
}

/** Whether the number may end here: the rest zero is allowed and the residue has the right divisors. */
function contains(range: Interval | null, residue: bigint, { multiple, excluded }: Moduli): boolean {
  if (range !== null && !isInRange(range, zero)) return false
  return divides(multiple, residue, 0) && !excluded.some((modulus) => divides(modulus, residue, 0))
}

/** Rests r in [0, 1), in units of the last digit written. `fresh`: just after the point, a digit must follow. */
function makeFraction(
  range: Interval | null,
  residue: bigint,
  { multiple, excluded }: Moduli,
  places: number,
  fresh: boolean,
): Part | null {
  if (isIntegral(multiple)) {
    // Only zeros may follow, if anything: the rest no longer asks where the number came from.
    if (!contains(range, residue, { multiple, excluded })) return null
    return new Fraction(null, 0n, congruence(one, []), places, fresh)
  }
  const left: Modulus[] = []
  for (const modulus of excluded) {
    // r = 0 is the only chance to meet an integer modulus, and only if the digits so far do.
    if (!isIntegral(modulus)) left.push(modulus)
    else if (divides(modulus, residue, 0)) left.push(lcm(one, multiple))
  }
  const rest = congruence(multiple, [...new Set(left)])
  const reduced = residue % rest.period
  if (!hasMember(offset(range, reduced, 0), multiple, rest.excluded)) return null
  return new Fraction(range, reduced, rest, places, fresh)
}

/** After the point. */
class Fraction implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly range: Interval | null
  readonly residue: bigint
  readonly congruence: Congruence
  readonly places: number

  constructor(
    range: Interval | null,
    residue: bigint,
    congruence: Congruence,
    places: number,
    fresh: boolean,
  ) {
    this.range = range
    this.residue = residue
    this.congruence = congruence
    this.places = places
    this.accepting = !fresh && contains(range, residue, congruence)
    this.key = `FF${range === null ? "" : rangeKey(range)}|${residue}|${congruence.key}|${places}${fresh ? "." : ""}`
  }

  next(symbol: number): Part | null {
    if (symbol > 9 || this.places === 0) return null
    const { range, congruence: now } = this
    const rest = nextFraction(range, symbol)
    if (rest === undefined) return null
    const next = {
      multiple: shiftModulus(now.multiple, 1),
      excluded: now.excluded.map((modulus) => shiftModulus(modulus, 1)),
    }
    return makeFraction(rest, this.residue * 10n + BigInt(symbol), next, this.places - 1, false)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    if (this.accepting) return limit > 0 ? "" : null
    const { range, residue, congruence } = this
    for (let length = 1; length < limit; length++) {
      const { multiple, excluded } = congruence
      const rest = firstRest(offset(range, residue, 0), multiple, excluded, residue, length, -length)
      if (rest !== null) return rest.toString().padStart(length, "0")
    }
    return null
  }
}
