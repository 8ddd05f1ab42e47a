/** Patterns of names that overlap in more ways than can be told apart: what a name matches is asked when it has been read. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { Matcher, TokenFsm } from "../../../../mask/index.ts"
import { acceptsText, vocabularyOf } from "../../../support/oracle.ts"
import { Validator } from "../../../support/validate.ts"

const letters = "abcdefghijk"
const spread = (value: (i: number) => unknown, more: object = {}) => ({
  type: "object",
  patternProperties: Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [`${letters[i]}.*${letters[i + 1]}`, value(i)]),
  ),
  ...more,
})

const schemas: [name: string, schema: object][] = [
  ["of one type", spread(() => ({ type: ["integer", "string"] }))],
  [
    "and nothing beside them",
    spread(() => ({ type: ["integer", "string"] }), { additionalProperties: false }),
  ],
  ["with bounds of their own", spread((i) => ({ type: "integer", minimum: i, maximum: 100 + i }))],
  [
    "beside declared names and others",
    spread((i) => ({ type: "string", maxLength: 3 + i }), {
      properties: { axb: { const: "q" } },
      additionalProperties: { type: "string" },
    }),
  ],
  [
    "within a language of names",
    spread((i) => ({ minLength: i }), { propertyNames: { pattern: "^[a-k]+$" } }),
  ],
]

const tokens = ['{"', '":', '":1', '":"x', "ab", '":"', '"}', '"ab', 'bc"', '","', "1}"]
const vocabulary = vocabularyOf([...Array.from({ length: 256 }, (_, byte) => byte), ...tokens])

describe.each(schemas)("ten patterns that overlap, %s", (_, schema) => {
  const fsm = new TokenFsm(compile({ kind: "json", schema }, { surface: "conform" }).grammar, vocabulary)
  const validator = new Validator(JSON.stringify(schema))

  test("take what the definition takes", () => {
    const name = fc.string({ unit: fc.constantFrom(...letters, "x"), maxLength: 6 })
    const value = fc.oneof(fc.integer({ min: -5, max: 120 }), fc.constantFrom("", "xx", "xxxxxxxx", "q"))
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true }), (object) => {
        const text = JSON.stringify(object)
        expect(acceptsText(fsm, text), text).toBe(validator.accepts(text))
      }),
      { numRuns: 150 },
    )
  })

  test("have the masks of their tokens, and an end from everywhere", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 12 }), (choices) => {
        const matcher = new Matcher(fsm)
        const row = new Uint32Array(vocabulary.words)
        for (const choice of choices) {
          matcher.fillMask(row)
          const allowed: number[] = []
          for (let id = 0; id < 256 + tokens.length; id++) {
            const isAllowed = ((row[id >>> 5] >>> (id & 31)) & 1) === 1
            expect(isAllowed, `token ${id}`).toBe(matcher.fork().accept(id))
            if (isAllowed && (id > 255 || (id >= 0x20 && id < 0x7f))) allowed.push(id)
          }
          if (allowed.length === 0) return
          matcher.accept(allowed[choice % allowed.length])
        }
        expect(matcher.acceptBytes(matcher.shortest())).toBe(true)
        expect(matcher.isAccepting()).toBe(true)
      }),
      { numRuns: 25 },
    )
  })
})
