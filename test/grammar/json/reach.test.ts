/** What a text may come to is made when the schema is compiled: no answer ends in a limit behind the name of a property. */
import { describe, expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { TokenFsm } from "../../../mask/index.ts"
import { bombText } from "../../support/bombs/bombs.ts"
import { acceptsText, vocabularyOf } from "../../support/oracle.ts"

const bytes = vocabularyOf(Array.from({ length: 256 }, (_, byte) => byte))

/** Ways to say that a value may be there, with the place of its schema. */
const places: [name: string, path: string, around: (schema: string) => string][] = [
  ["an optional property", "/properties/a", (schema) => `{"properties":{"a":${schema}}}`],
  ["an item", "/items", (schema) => `{"items":${schema}}`],
  ["any other property", "/additionalProperties", (schema) => `{"additionalProperties":${schema}}`],
  [
    "one branch of two",
    "/anyOf/1/properties/b/items",
    (schema) => `{"anyOf":[{"type":"null"},{"properties":{"b":{"items":${schema}}}}]}`,
  ],
]

const counted = '{"contains":{"const":1},"minItems":5000}'
const few = '{"contains":{"const":1},"minItems":3}'

describe.each(places)("%s", (_, path, around) => {
  test("is refused with its place where it cannot be made", () => {
    expect(() => compile({ kind: "json", schema: around(counted) })).toThrow(
      expect.objectContaining({
        kind: "limit",
        path,
        message: expect.stringMatching(/contains needs 5000 items.*Raise limits\.containsItems/),
      }),
    )
  })

  test("is left alone where it can", () => {
    expect(() => compile({ kind: "json", schema: around(few) })).not.toThrow()
  })
})

test.each([
  ...["wideDependencies", "containsMany", "enumBig", "wideAllOfPatterns", "notUnevaluated"],
  ...["wideDependentRequired", "expContains"],
])("the bomb %s is refused behind a name as it is alone", (name) => {
  const schema = bombText(name)
  const refused = expect.objectContaining({ kind: "limit" })
  expect(() => compile({ kind: "json", schema })).toThrow(refused)
  expect(() => compile({ kind: "json", schema: `{"properties":{"a":${schema}}}` })).toThrow(refused)
})

test("what has no value is not asked for", () => {
  const schema = `{"type":"null","items":${counted}}`
  expect(acceptsText(new TokenFsm(compile({ kind: "json", schema }).grammar, bytes), "null")).toBe(true)
})
