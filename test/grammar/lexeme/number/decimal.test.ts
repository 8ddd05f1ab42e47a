import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  adjusted,
  ceil,
  compare,
  type Decimal,
  equals,
  floor,
  isInteger,
  makeDecimal,
  negate,
  parseDecimal,
  subtract,
  toExponentText,
  toPlainText,
  toText,
  zero,
} from "../../../../grammar/lexeme/number/decimal.ts"
import {
  firstMember,
  hasMember,
  isMember,
  isMultipleOf,
  lcm,
  modulusOf,
} from "../../../../grammar/lexeme/number/modulus.ts"

const p = parseDecimal

/** The value times 10^12, for the small exponents of the generators below. */
const scaled = ({ sign, digits, exponent }: Decimal): bigint =>
  BigInt(sign) * digits * 10n ** BigInt(exponent + 12)

const decimal = fc
  .tuple(fc.bigInt({ min: -2000n, max: 2000n }), fc.integer({ min: -6, max: 6 }))
  .map(([digits, exponent]) => makeDecimal(digits, exponent))
const positive = decimal.map((value) =>
  value.sign === 0 ? makeDecimal(7n, -1) : value.sign < 0 ? negate(value) : value,
)

test.each([
  ["0", 0, 0n, 0],
  ["-0.000e5", 0, 0n, 0],
  ["1500", 1, 15n, 2],
  ["-0.0150", -1, 15n, -3],
  ["1.50e3", 1, 15n, 2],
  ["1E+2", 1, 1n, 2],
  ["12e-999999999", 1, 12n, -999999999],
  ["18446744073709551615", 1, 18446744073709551615n, 0],
])("%s is %d · %d · 10^%d", (text, sign, digits, exponent) => {
  expect(parseDecimal(text)).toEqual({ sign, digits, exponent })
})

test("texts that are no JSON numbers are refused", () => {
  for (const text of ["", "01", "+1", ".5", "1.", "1e", "0x1", "Infinity", " 1"]) {
    expect(() => p(text), text).toThrow("is not a JSON number")
  }
  expect(() => p("1e99999999999999999999")).toThrow("beyond ±2^50")
})

test("astronomic exponents compare without being expanded", () => {
  const huge = p("1e999999999")
  expect(compare(huge, p("9e999999998"))).toBeGreaterThan(0)
  expect(compare(negate(huge), p("1"))).toBeLessThan(0)
  expect(compare(p("1e-999999999"), zero)).toBeGreaterThan(0)
  expect(equals(huge, p("10e999999998"))).toBe(true)
  expect(isInteger(huge)).toBe(true)
  expect(isMultipleOf(huge, modulusOf(p("0.0001")))).toBe(true)
  expect(isMultipleOf(huge, modulusOf(p("3")))).toBe(false)
  expect(isMultipleOf(p("3e999999999"), modulusOf(p("7.5")))).toBe(true)
  expect(toText(huge)).toBe("1e999999999")
  expect(adjusted(huge)).toBe(1000000000)
})

describe("laws", () => {
  test("compare, subtract, floor and ceil are those of fractions", () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(Math.sign(compare(a, b))).toBe(scaled(a) < scaled(b) ? -1 : scaled(a) > scaled(b) ? 1 : 0)
        expect(equals(a, b)).toBe(scaled(a) === scaled(b))
        expect(scaled(subtract(a, b))).toBe(scaled(a) - scaled(b))
        const unit = 10n ** 12n
        const low = floor(a) * unit
        expect(low <= scaled(a) && scaled(a) < low + unit).toBe(true)
        expect(ceil(a)).toBe(scaled(a) % unit === 0n ? floor(a) : floor(a) + 1n)
      }),
      { seed: 1, numRuns: 2000 },
    )
  })

  test("texts read back to the value", () => {
    fc.assert(
      fc.property(decimal, (value) => {
        for (const text of [toText(value), toPlainText(value), toExponentText(value)]) {
          expect(p(text)).toEqual(value)
        }
        expect(toPlainText(value)).not.toContain("e")
      }),
      { seed: 2, numRuns: 500 },
    )
  })

  test("multiples and least common multiples are those of fractions", () => {
    fc.assert(
      fc.property(decimal, positive, positive, (value, a, b) => {
        const [m, n] = [modulusOf(a), modulusOf(b)]
        expect(scaled(m.value)).toBe(scaled(a))
        expect(isMultipleOf(value, m)).toBe(scaled(value) % scaled(a) === 0n)
        const both = lcm(m, n)
        expect(isMultipleOf(both.value, m) && isMultipleOf(both.value, n)).toBe(true)
        const product = scaled(a) * scaled(b)
        let [x, y] = [scaled(a), scaled(b)]
        while (y !== 0n) [x, y] = [y, x % y]
        expect(scaled(both.value)).toBe(product / x)
      }),
      { seed: 3, numRuns: 1000 },
    )
  })

  test("an interval has a member iff one of the multiples in it is not excluded", () => {
    const small = fc.integer({ min: 1, max: 12 }).map((n) => makeDecimal(BigInt(n), 0))
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.nat(40),
        fc.boolean(),
        fc.boolean(),
        small,
        fc.array(fc.integer({ min: 2, max: 7 }), { maxLength: 4 }),
        (from, length, loOpen, hiOpen, step, factors) => {
          const multiple = modulusOf(step)
          const excluded = factors.map((f) => modulusOf(makeDecimal(step.digits * BigInt(f), step.exponent)))
          const lo = makeDecimal(BigInt(from), 0)
          const hi = makeDecimal(BigInt(from + length), 0)
          let first: number | null = null
          for (let n = from + length; n >= from; n--) {
            const value = makeDecimal(BigInt(n), 0)
            if ((n === from && loOpen) || (n === from + length && hiOpen)) continue
            if (isMember(value, multiple, excluded)) first = n
          }
          const range = { lo, loOpen, hi, hiOpen }
          expect(hasMember(range, multiple, excluded)).toBe(first !== null)
          if (length > 0) {
            const found = firstMember(range, multiple, excluded, false)
            expect(found === null ? null : Number(floor(found))).toBe(first)
          }
        },
      ),
      { seed: 4, numRuns: 2000 },
    )
  })
})
