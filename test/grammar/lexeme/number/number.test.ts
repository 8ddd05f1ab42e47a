/**
 * The number automaton against the definition: a text is accepted iff it is a JSON number, its spelling suits the
 * policy and its value, as a fraction of BigInts, lies in some cell. All short texts over small alphabets are tried; a
 * state is alive iff some text goes on from it, and its shortest completion is accepted.
 */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseDecimal } from "../../../../grammar/lexeme/number/decimal.ts"
import {
  anyNumber,
  type NumberCell,
  type NumberPolicy,
  numbers,
  pointCell,
} from "../../../../grammar/lexeme/number/number.ts"

const decoder = new TextDecoder()

interface CellText {
  min?: string
  above?: string
  max?: string
  below?: string
  of?: string[]
  notOf?: string[]
  form?: NumberCell["form"]
}

function cell(text: CellText): NumberCell {
  const min = text.min ?? text.above
  const max = text.max ?? text.below
  return {
    min: min === undefined ? null : parseDecimal(min),
    minExclusive: text.above !== undefined,
    max: max === undefined ? null : parseDecimal(max),
    maxExclusive: text.below !== undefined,
    multipleOf: (text.of ?? []).map(parseDecimal),
    notMultipleOf: (text.notOf ?? []).map(parseDecimal),
    form: text.form ?? "any",
  }
}

function run(state: number, text: string): number {
  let at = state
  for (let i = 0; i < text.length && at !== 0; i++) at = numbers.next(at, text.charCodeAt(i))
  return at
}

function accepts(state: number, text: string): boolean {
  return numbers.isAccepting(run(state, text))
}

/** Numerator over ten to the `places`. */
interface Fraction {
  top: bigint
  places: number
}

const shape = /^(-?)(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

function fraction(text: string): Fraction {
  const match = shape.exec(text)!
  const digits = (match[3] ?? ".").slice(1)
  const exponent = Number((match[4] ?? "e0").slice(1)) - digits.length
  const top = BigInt(match[1] + match[2] + digits)
  return exponent >= 0 ? { top: top * 10n ** BigInt(exponent), places: 0 } : { top, places: -exponent }
}

function difference(a: Fraction, b: Fraction): bigint {
  return a.top * 10n ** BigInt(b.places) - b.top * 10n ** BigInt(a.places)
}

function isMultiple(a: Fraction, b: Fraction): boolean {
  return (a.top * 10n ** BigInt(b.places)) % (b.top * 10n ** BigInt(a.places)) === 0n
}

function inCell(text: string, rule: CellText, policy: NumberPolicy): boolean {
  const match = shape.exec(text)
  if (match === null) return false
  const value = fraction(text)
  const bound = (limit: string | undefined, holds: (order: bigint) => boolean) =>
    limit === undefined || holds(difference(value, fraction(limit)))
  const digitsOnly = match[3] === undefined && match[4] === undefined
  const integral = isMultiple(value, fraction("1"))
  const inside =
    bound(rule.min, (order) => order >= 0n) &&
    bound(rule.above, (order) => order > 0n) &&
    bound(rule.max, (order) => order <= 0n) &&
    bound(rule.below, (order) => order < 0n) &&
    (rule.of ?? []).every((q) => isMultiple(value, fraction(q))) &&
    !(rule.notOf ?? []).some((q) => isMultiple(value, fraction(q))) &&
    (rule.form !== "integral" || integral) &&
    (rule.form !== "fractional" || !integral) &&
    (rule.form !== "lexicalInteger" || digitsOnly) &&
    (rule.form !== "lexicalNonInteger" || !digitsOnly)
  if (!inside || policy === "json") return inside
  if (match[4] !== undefined || (match[1] === "-" && value.top === 0n)) return false
  const point =
    rule.min !== undefined &&
    rule.max !== undefined &&
    difference(fraction(rule.min), fraction(rule.max)) === 0n
  if (point) return text === plain(value) + (rule.form === "lexicalNonInteger" && integral ? ".0" : "")
  const integersOnly =
    rule.form === "integral" || (rule.of ?? []).some((q) => isMultiple(fraction(q), fraction("1")))
  return digitsOnly || !integersOnly || rule.form === "lexicalNonInteger"
}

function plain({ top, places }: Fraction): string {
  const digits = (top < 0n ? -top : top).toString().padStart(places + 1, "0")
  const integer = digits.slice(0, digits.length - places)
  const rest = digits.slice(digits.length - places).replace(/0+$/, "")
  return (top < 0n ? "-" : "") + integer + (rest === "" ? "" : `.${rest}`)
}

function show(rules: readonly CellText[], policy: string, text: string): string {
  return `${JSON.stringify(rules)} ${policy} ${JSON.stringify(text)}`
}

/** Walks all texts over the alphabet up to a length, dead branches included once. */
function compareAll(
  rules: readonly CellText[],
  policy: NumberPolicy,
  alphabet: string,
  length: number,
): void {
  const start = numbers.start(rules.map(cell), policy)
  const expected = (text: string) => rules.some((rule) => inCell(text, rule, policy))
  /** Length of the shortest rest found below, for comparison with the automaton's own. */
  const visit = (state: number, text: string): number => {
    const accepted = expected(text)
    if (numbers.isAccepting(state) !== accepted) {
      throw new Error(`${show(rules, policy, text)}: expected ${accepted}`)
    }
    let found = accepted ? 0 : Number.POSITIVE_INFINITY
    if (text.length < length) {
      for (const character of alphabet) {
        const next = numbers.next(state, character.charCodeAt(0))
        found = Math.min(found, 1 + visit(next, text + character))
      }
    }
    if (state !== 0) {
      const rest = decoder.decode(numbers.shortest(state))
      if (!expected(text + rest)) throw new Error(`${show(rules, policy, text)}: completed as ${rest}`)
      if (rest.length > found) throw new Error(`${show(rules, policy, text)}: ${rest} is not the shortest`)
    }
    return found
  }
  visit(start, "")
}

const someCells: [string, CellText[]][] = [
  ["every number", [{}]],
  ["integers", [{ form: "integral" }]],
  ["lexical integers", [{ form: "lexicalInteger" }]],
  ["other spellings than integers", [{ form: "lexicalNonInteger" }]],
  ["fractions", [{ form: "fractional" }]],
  ["at least 1", [{ min: "1" }]],
  ["more than 1", [{ above: "1" }]],
  ["positive", [{ above: "0" }]],
  ["negative", [{ below: "0" }]],
  ["zero", [{ min: "0", max: "0" }]],
  ["zero or less, integers", [{ max: "0", form: "integral" }]],
  ["a closed interval", [{ min: "-1.1", max: "10.01" }]],
  ["an open interval", [{ above: "-1.1", below: "10.01" }]],
  ["a narrow interval", [{ above: "10", below: "11" }]],
  ["an interval of nothing", [{ above: "10", below: "11", form: "integral" }]],
  ["multiples of 3", [{ of: ["3"] }]],
  ["multiples of 11 above 100", [{ of: ["11"], above: "100" }]],
  ["multiples of 0.01", [{ of: ["0.01"] }]],
  ["multiples of 0.75", [{ of: ["0.75"] }]],
  ["multiples of 1.1 and 0.5", [{ of: ["1.1", "0.5"] }]],
  ["not multiples of 11", [{ notOf: ["11"] }]],
  ["tenths that are no halves", [{ of: ["0.1"], notOf: ["0.5"] }]],
  ["multiples of 11 but not of 1.1", [{ of: ["11"], notOf: ["1.1"] }]],
  ["even multiples of nothing small", [{ of: ["100"], notOf: ["1000"] }]],
  [
    "integers below 2 or fractions from 2 on",
    [
      { below: "2", form: "integral" },
      { min: "2", form: "fractional" },
    ],
  ],
  ["three constants", ["1", "10", "1.1"].map((v) => ({ min: v, max: v }))],
  ["five constants", ["-1", "0", "11", "110", "0.01"].map((v) => ({ min: v, max: v }))],
  ["one constant, not an integer's text", [{ min: "10", max: "10", form: "lexicalNonInteger" }]],
  ["a tiny bound", [{ above: "0", max: "0.001" }]],
  ["a draft-04 integer in bounds", [{ min: "-1", max: "111", form: "lexicalInteger" }]],
]

describe.each(["plain", "json"] as const)("policy %s", (policy) => {
  test.each(someCells)("all short texts: %s", (_, rules) => {
    compareAll(rules, policy, "-01.", 6)
    compareAll(rules, policy, "-015.eE+", 5)
  })

  test("random cells", () => {
    const decimal = fc
      .tuple(fc.integer({ min: -120, max: 120 }), fc.integer({ min: -3, max: 1 }))
      .map(([digits, exponent]) => `${digits}e${exponent}`)
    const modulus = fc
      .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: -2, max: 1 }))
      .map(([digits, exponent]) => `${digits}e${exponent}`)
    const form = fc.constantFrom<NumberCell["form"][]>(
      "any",
      "integral",
      "fractional",
      "lexicalInteger",
      "lexicalNonInteger",
    )
    const rule = fc.record<CellText>(
      {
        min: decimal,
        above: decimal,
        max: decimal,
        below: decimal,
        of: fc.array(modulus, { maxLength: 2 }),
        notOf: fc.array(modulus, { maxLength: 2 }),
        form,
      },
      { requiredKeys: [] },
    )
    const single = rule.map((r) => {
      const one: CellText = { ...r }
      if (one.min !== undefined) delete one.above
      if (one.max !== undefined) delete one.below
      return one
    })
    fc.assert(
      fc.property(fc.array(single, { minLength: 1, maxLength: 3 }), (rules) => {
        compareAll(rules, policy, "-0125.e", 4)
      }),
      { seed: 20, numRuns: 150 },
    )
  })
})

const spelled: [string, CellText[], NumberPolicy, string[], string[]][] = [
  [
    "64-bit bounds",
    [{ min: "-9223372036854775808", max: "9223372036854775807", form: "integral" }],
    "plain",
    ["9223372036854775807", "-9223372036854775808", "922337203685477580", "0"],
    ["9223372036854775808", "-9223372036854775809", "10000000000000000000", "1.0", "-0"],
  ],
  [
    "past doubles",
    [{ above: "9223372036854776000" }],
    "json",
    ["9223372036854776001", "1e19"],
    ["9223372036854776000", "9223372036854775999"],
  ],
  [
    "largest double",
    [{ min: "-1.79769e308", max: "1.79769e308" }],
    "json",
    ["1.79769e308", "1e308", "17976.9e304"],
    ["1.7977e308", "1e309", "-1e309"],
  ],
  [
    "largest double, plain",
    [{ min: "-1.79769e308", max: "1.79769e308" }],
    "plain",
    ["1".repeat(309)],
    ["2".repeat(309), "1".repeat(310)],
  ],
  ["cents", [{ of: ["0.01"] }], "json", ["4.20", "4.2", "420e-2", "1e300"], ["0.005", "1e-3", "4.201"]],
  ["1e-8", [{ of: ["1e-8"] }], "json", ["0.00000001", "1e-8", "12391239123"], ["1e-9", "0.000000015"]],
  [
    "0.123456789",
    [{ of: ["0.123456789"] }],
    "json",
    ["0", "0.123456789", "1.23456789", "0.246913578", "1e308"].slice(0, 4),
    ["0.1234567890001", "1"],
  ],
  ["huge, of 0.123456789", [{ of: ["0.123456789"] }], "json", ["123456789e299"], ["1e308"]],
  ["halves", [{ of: ["0.5"] }], "json", ["1e308", "5e-1", "0.50", "25e-1"], ["25e-2", "0.05"]],
  [
    "zero in any dress",
    [{ min: "0", max: "0" }],
    "json",
    ["-0", "0.00", "0e999999999", "-0.0E-3"],
    ["1e-999999999"],
  ],
  [
    "integral values",
    [{ form: "integral" }],
    "json",
    ["1.0", "10e-1", "1e2", "-0", "1.50e1", "1e999999999"],
    ["1e-1", "1.50e0", "15e-1"],
  ],
  [
    "draft-04 integers",
    [{ form: "lexicalInteger" }],
    "json",
    ["-0", "12", "9".repeat(50)],
    ["1.0", "1e2", "12345.0", "01"],
  ],
  [
    "astronomic constant",
    [{ min: "1e999999999", max: "1e999999999" }],
    "json",
    ["1e999999999", "10.0e999999998"],
    ["1e999999998", "11e999999998"],
  ],
  [
    "astronomic constant, plain",
    [{ min: "1e999999999", max: "1e999999999" }],
    "plain",
    ["1e999999999"],
    ["1", "1e99999999"],
  ],
  [
    "astronomic modulus",
    [{ of: ["1e999999999"] }],
    "json",
    ["0", "3e999999999", "1e9999999999"],
    ["1", "1e999999998"],
  ],
  [
    "everything, plain",
    [{}],
    "plain",
    ["-0.5", "1.0", "9".repeat(32), `0.${"0".repeat(32)}`],
    ["-0", "-0.0", "1e5", "9".repeat(33), `0.${"0".repeat(33)}`],
  ],
]

test.each(spelled)("spellings: %s", (_, rules, policy, accept, reject) => {
  const start = numbers.start(rules.map(cell), policy)
  for (const text of accept) expect(accepts(start, text), text).toBe(true)
  for (const text of reject) expect(accepts(start, text), text).toBe(false)
})

/** A JSON number of the value digits · 10^exponent whose point and exponent are where `shift` and `zeros` put them. */
function spell(digits: bigint, exponent: number, shift: number, zeros: number, padded: boolean): string {
  const text = (digits < 0n ? -digits : digits).toString() + "0".repeat(zeros)
  const places = Math.max(0, shift)
  const whole = text.padStart(places + 1, "0")
  const point = whole.length - places
  const significand = places === 0 ? whole : `${whole.slice(0, point)}.${whole.slice(point)}`
  const power = exponent - zeros + places
  const written = power === 0 && !padded ? "" : `e${power < 0 ? "-" : padded ? "+0" : ""}${Math.abs(power)}`
  return (digits < 0n ? "-" : "") + significand + written
}

test("long texts: every spelling of a value in a cell or beside it", () => {
  const digits = fc.bigInt({ min: -99_999_999n, max: 99_999_999n })
  const exponent = fc.integer({ min: -9, max: 4 })
  const ulp = fc.integer({ min: -2, max: 2 })
  const rule = fc.record({
    low: fc.option(fc.tuple(ulp, fc.boolean())),
    high: fc.option(fc.tuple(ulp, fc.boolean())),
    of: fc.constantFrom(null, "1", "2", "0.01", "0.25", "3", "7e-3", "1e-8", "12"),
    notOf: fc.constantFrom(null, "1", "10", "0.5", "1.1"),
    form: fc.constantFrom<NumberCell["form"][]>("any", "any", "integral", "fractional", "lexicalNonInteger"),
  })
  fc.assert(
    fc.property(
      digits,
      exponent,
      fc.array(rule, { minLength: 1, maxLength: 2 }),
      fc.array(fc.tuple(fc.nat(14), fc.nat(4), fc.boolean()), { minLength: 3, maxLength: 3 }),
      (value, power, shapes, spellings) => {
        const rules = shapes.map(({ low, high, of, notOf, form }) => {
          const text: CellText = { form }
          const bound = (step: number) => `${value + BigInt(step)}e${power}`
          if (low !== null) text[low[1] ? "above" : "min"] = bound(low[0])
          if (high !== null) text[high[1] ? "below" : "max"] = bound(high[0])
          if (of !== null) text.of = [of]
          if (notOf !== null) text.notOf = [notOf]
          return text
        })
        for (const policy of ["plain", "json"] as const) {
          const start = numbers.start(rules.map(cell), policy)
          for (const [shift, zeros, padded] of spellings) {
            const text = spell(value, power, shift, zeros, padded)
            const wanted = rules.some((one) => inCell(text, one, policy))
            if (accepts(start, text) !== wanted) throw new Error(`${show(rules, policy, text)}: ${wanted}`)
            for (let end = 0; end < text.length; end++) {
              const state = run(start, text.slice(0, end))
              if (state === 0) break
              const completed = text.slice(0, end) + decoder.decode(numbers.shortest(state))
              if (!rules.some((one) => inCell(completed, one, policy))) {
                throw new Error(`${show(rules, policy, text.slice(0, end))}: completed as ${completed}`)
              }
            }
          }
        }
      },
    ),
    { seed: 21, numRuns: 400 },
  )
})

test("constants may be written as the schema writes them", () => {
  const constant = (text: string, form: NumberCell["form"] = "any"): NumberCell => ({
    ...pointCell(parseDecimal(text), text),
    form,
  })
  const start = numbers.start(
    ["1.0", "1E3", "-0", "2.50"].map((text) => constant(text)),
    "plain",
  )
  for (const text of ["1", "1.0", "1e3", "1E3", "1000", "0", "-0", "2.5", "2.50"]) {
    expect(accepts(start, text), text).toBe(true)
  }
  for (const text of ["1.00", "10e2", "1000.0", "-1", "2.500", "1e+3", "0.0"]) {
    expect(accepts(start, text), text).toBe(false)
  }
  const integer = numbers.start([constant("1.0", "lexicalInteger")], "plain")
  expect(accepts(integer, "1")).toBe(true)
  expect(accepts(integer, "1.0")).toBe(false)
  const other = numbers.start([constant("1.00", "lexicalNonInteger")], "plain")
  expect(["1", "1.0", "1.00"].map((text) => accepts(other, text))).toEqual([false, true, true])
})

describe("sharing and cost", () => {
  const count = (make: () => number, text: string): number => {
    const before = numbers.stateCount
    run(make(), text)
    return numbers.stateCount - before
  }

  test("unbounded numbers read in a dozen states under policy all", () => {
    const start = numbers.start([anyNumber], "json")
    for (const text of ["-123456", "0.5e+10", "12.5E-07"]) run(start, text)
    const before = numbers.stateCount
    for (const text of ["999999999999999999", "-0.000000001e99999", "1e5", "7.25E+1"]) run(start, text)
    expect(numbers.stateCount).toBe(before)
  })

  test("a prefix inside its bounds forgets them", () => {
    const a = numbers.start([cell({ min: "-7", max: "8999", form: "integral" })], "plain")
    const b = numbers.start([cell({ min: "13", max: "7777", form: "integral" })], "plain")
    expect(run(a, "23")).toBe(run(b, "23"))
    expect(run(a, "230")).toBe(run(b, "563"))
  })

  test("non-negative numbers are plain numbers after the first digit", () => {
    const a = numbers.start([cell({ min: "0" })], "json")
    const b = numbers.start([anyNumber], "json")
    expect(run(a, "5")).toBe(run(b, "5"))
    expect(run(a, "0.")).toBe(run(b, "0."))
  })

  test("five thousand constants cost their texts", () => {
    const cells = Array.from({ length: 5000 }, (_, i) => pointCell(parseDecimal(`${i * 37}`)))
    const start = numbers.start(cells, "plain")
    expect(accepts(start, `${4999 * 37}`)).toBe(true)
    expect(accepts(start, `${4999 * 37 + 1}`)).toBe(false)
    expect(count(() => numbers.start(cells, "plain"), "184963")).toBe(0)
  })
})

test("values and emptiness", () => {
  const texts = (rules: CellText[], cap: number) =>
    numbers.values(rules.map(cell), cap)?.map((v) => Number(v.sign) * Number(v.digits) * 10 ** v.exponent) ??
    null
  expect(texts([{ min: "-2", max: "3", form: "integral" }], 10)).toEqual([-2, -1, 0, 1, 2, 3])
  expect(texts([{ min: "-2", max: "3", form: "integral" }], 5)).toBeNull()
  expect(
    texts(
      [
        { above: "0", max: "3", of: ["0.5"], notOf: ["1"] },
        { min: "1", max: "1" },
      ],
      9,
    ),
  ).toEqual([0.5, 1, 1.5, 2.5])
  expect(texts([{ min: "0", max: "1" }], 1000)).toBeNull()
  expect(texts([{ min: "-1e300", max: "1e300", of: ["3"] }], 65536)).toBeNull()
  expect(texts([{ above: "1e-300", max: "2", form: "integral" }], 65536)).toEqual([1, 2])
  expect(texts([{ min: "0", max: "100", form: "integral" }], 101)?.length).toBe(101)
  expect(texts([{ min: "0", form: "integral" }], 1000)).toBeNull()
  expect(texts([{ above: "0", below: "1", form: "integral" }], 3)).toEqual([])
  expect(numbers.isEmpty([cell({ above: "0", below: "1", form: "integral" })])).toBe(true)
  expect(numbers.isEmpty([cell({ of: ["2"], notOf: ["1"] })])).toBe(true)
  expect(numbers.isEmpty([cell({ of: ["1"], notOf: ["2"] })])).toBe(false)
  expect(numbers.start([], "json")).toBe(0)
  expect(numbers.start([cell({ min: "2", max: "1" })], "plain")).toBe(0)
})
