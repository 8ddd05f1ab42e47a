/** Numbers as unions of cells: complements and lists against the reference, value by value. */
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { TokenFsm } from "../../../mask/index.ts"
import { acceptsText, jsonVocabulary } from "../../oracle.ts"
import { Validator } from "../../validate.ts"

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
