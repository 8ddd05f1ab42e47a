/** Numbers as unions of cells: complements and lists against the reference, value by value. */
import { expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { numberAlgebra } from "../../../../grammar/json/scalar/numberalgebra.ts"
import { parseDecimal, toPlainText } from "../../../../grammar/lexeme/number/decimal.ts"
import { anyNumber, type NumberCell, pointCell } from "../../../../grammar/lexeme/number/number.ts"
import { TokenFsm } from "../../../../mask/index.ts"
import { acceptsText, jsonVocabulary, randomOf } from "../../../support/oracle.ts"
import { Validator } from "../../../support/validate.ts"

const values = [
  "-2",
  "-1.5",
  "-0",
  "0",
  "0.0",
  "1",
  "1.0",
  "10e-1",
  "1.5",
  "2",
  "2.5",
  "3",
  "12",
  "1e2",
  '"a"',
  "null",
]

test.each([
  [{ not: { enum: [1, 2, 1.5, -2, 1.0] } }],
  [{ not: { anyOf: [{ const: 1 }, { minimum: 2 }, { const: 0 }] } }],
  [{ type: "number", not: { enum: [0] }, minimum: -1.5, maximum: 2 }],
  [{ type: "integer", not: { enum: [1, 2, 3] } }],
  [{ oneOf: [{ enum: [1, 2, 3] }, { enum: [2, 3, 12] }, { const: 3 }] }],
  [{ allOf: [{ enum: [1, 1.5, 2] }, { enum: [1.5, 2, 3] }], not: { const: 2 } }],
  [{ if: { const: 1 }, then: false, else: { not: { enum: [2, 12] } } }],
])("%j", (schema) => {
  const { grammar } = compile({ kind: "json", schema }, { surface: "conform" })
  const fsm = new TokenFsm(grammar, jsonVocabulary)
  const validator = new Validator(JSON.stringify(schema))
  for (const text of values) expect([text, acceptsText(fsm, text)]).toEqual([text, validator.accepts(text)])
})

test("many intervals and points, joined, cut and taken away: by definition", () => {
  const random = randomOf(41)
  const below = (n: number) => Math.floor(random() * n)
  const decimal = (value: number) => parseDecimal(`${value}`)
  const cell = (): NumberCell => {
    if (random() < 0.3) return pointCell(decimal(below(12)))
    const min = below(12)
    return {
      ...anyNumber,
      min: random() < 0.1 ? null : decimal(min),
      minExclusive: random() < 0.5,
      max: random() < 0.1 ? null : decimal(min + below(4)),
      maxExclusive: random() < 0.5,
    }
  }
  const has = (cells: readonly NumberCell[], value: number) => cells.some((one) => holds(one, value))
  /** Membership, told from the bounds alone. */
  const holds = ({ min, max, minExclusive, maxExclusive }: NumberCell, value: number) => {
    const low = min === null ? 1 : value - Number(toPlainText(min))
    const high = max === null ? 1 : Number(toPlainText(max)) - value
    return (low > 0 || (low === 0 && !minExclusive)) && (high > 0 || (high === 0 && !maxExclusive))
  }
  for (let round = 0; round < 200; round++) {
    let cells: readonly NumberCell[] = [anyNumber]
    let test = (_: number) => true
    for (let step = 0; step < 12; step++) {
      const others = Array.from({ length: 1 + below(3) }, cell)
      const before = test
      const isIn = (value: number) => others.some((one) => holds(one, value))
      if (random() < 0.7) {
        cells = numberAlgebra.and(cells, numberAlgebra.not(others))
        test = (value) => before(value) && !isIn(value)
      } else {
        cells = numberAlgebra.or([cells, others])
        test = (value) => before(value) || isIn(value)
      }
      for (let value = -1; value < 17; value += 0.5) expect(has(cells, value)).toBe(test(value))
    }
  }
})
