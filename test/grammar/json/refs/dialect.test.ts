import { describe, expect, test } from "vitest"
import { readJson } from "../../../../grammar/json/read/reader.ts"
import {
  defaultDialect,
  dialectOf,
  draftDialectOf,
  isKeywordSomewhere,
} from "../../../../grammar/json/refs/dialect.ts"

const nowhere = () => null

test.each([
  ["http://json-schema.org/draft-04/schema#", "draft-04"],
  ["http://json-schema.org/draft-04/schema", "draft-04"],
  ["https://json-schema.org/draft-06/schema", "draft-06"],
  ["https://json-schema.org/draft-07/schema#", "draft-07"],
  ["https://json-schema.org/draft/2019-09/schema", "2019-09"],
  ["http://json-schema.org/draft/2020-12/schema#", "2020-12"],
  ["https://spec.openapis.org/oas/3.1/dialect/base", "2020-12"],
  ["http://json-schema.org/schema", "none"],
  ["draft-07", "draft-07"],
  ["07", "draft-07"],
  ["draft4", "draft-04"],
  ["2019-09", "2019-09"],
])("%s is %s", (uri, name) => {
  expect(dialectOf(uri, "/$schema", nowhere).name).toBe(name)
})

test("draft-03 and unknown metaschemas are refused with their pointer", () => {
  expect(() => dialectOf("http://json-schema.org/draft-03/schema#", "/$schema", nowhere)).toThrow(
    "/$schema: draft-03 is not read",
  )
  expect(() => dialectOf("http://example.com/meta", "/a/$schema", nowhere)).toThrow(
    "/a/$schema: cannot resolve http://example.com/meta. Pass its text in documents",
  )
})

// keyword: 04, 06, 07, 2019-09, 2020-12, none
test.each([
  ["id", "x....."],
  ["$id", ".xxxxx"],
  ["const", ".xxxxx"],
  ["propertyNames", ".xxxxx"],
  ["if", "..xxxx"],
  ["$defs", "...xxx"],
  ["$anchor", "...xxx"],
  ["dependentRequired", "...xxx"],
  ["unevaluatedItems", "...xxx"],
  ["minContains", "...xxx"],
  ["$recursiveRef", "...x.."],
  ["$dynamicRef", "....xx"],
  ["prefixItems", "....xx"],
  ["additionalItems", "xxxx.x"],
  ["dependencies", "xxxxxx"],
  ["format", "xxxxxx"],
  ["nullable", "......"],
])("%s exists in %s", (keyword, row) => {
  const names = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12", "none"]
  const found = names.map((name) => (draftDialectOf(name)?.keywords.has(keyword) ? "x" : ".")).join("")
  expect(found).toBe(row)
  expect(isKeywordSomewhere(keyword)).toBe(row.includes("x"))
})

describe("metaschemas with vocabularies", () => {
  const metaschema = (vocabulary: Record<string, boolean>, draft = "2020-12") =>
    readJson(
      JSON.stringify({
        $schema: `https://json-schema.org/draft/${draft}/schema`,
        $vocabulary: Object.fromEntries(
          Object.entries(vocabulary).map(([name, required]) => [
            name.includes(":") ? name : `https://json-schema.org/draft/${draft}/vocab/${name}`,
            required,
          ]),
        ),
      }),
    )

  test("a vocabulary that is not listed takes its keywords with it", () => {
    const dialect = dialectOf("http://m", "", () => metaschema({ core: true, applicator: true }))
    expect(dialect.keywords.has("properties")).toBe(true)
    expect(dialect.keywords.has("minimum")).toBe(false)
    expect(dialect.keywords.has("unevaluatedItems")).toBe(false)
    expect(dialect.name).toBe("2020-12")
  })

  test("unevaluated belongs to the applicators of 2019-09", () => {
    const dialect = dialectOf("http://m", "", () => metaschema({ core: true, applicator: true }, "2019-09"))
    expect(dialect.keywords.has("unevaluatedItems")).toBe(true)
    expect(dialect.keywords.has("prefixItems")).toBe(false)
  })

  test.each([true, false])("format-assertion %s asserts formats", (required) => {
    const dialect = dialectOf("http://m", "", () => metaschema({ core: true, "format-assertion": required }))
    expect(dialect.formatAssertion).toBe(true)
    expect(dialect.keywords.has("format")).toBe(true)
  })

  test("an unknown vocabulary is refused when required, else ignored", () => {
    expect(() => dialectOf("http://m", "/$schema", () => metaschema({ "urn:mine": true }))).toThrow(
      "/$schema: the metaschema requires the unknown vocabulary urn:mine",
    )
    expect(dialectOf("http://m", "", () => metaschema({ core: true, "urn:mine": false })).name).toBe(
      "2020-12",
    )
  })

  test("a metaschema without vocabularies means what its own metaschema means", () => {
    const text = '{"$schema": "http://json-schema.org/draft-07/schema#"}'
    expect(dialectOf("http://m", "", () => readJson(text)).name).toBe("draft-07")
    expect(() => dialectOf("http://m", "", () => readJson('{"$schema": "http://m"}'))).toThrow(
      "cannot resolve",
    )
  })
})

test("what is read without $schema is 2020-12 and the older spellings", () => {
  expect(defaultDialect).toMatchObject({
    name: "none",
    idKeyword: "$id",
    refOverrides: false,
    booleanExclusive: true,
    numericExclusive: true,
    lexicalIntegers: false,
    containsEvaluates: true,
  })
  expect(draftDialectOf("draft-04")).toMatchObject({
    refOverrides: true,
    lexicalIntegers: true,
    booleanSchemas: false,
  })
  expect(draftDialectOf("2019-09")).toMatchObject({ refOverrides: false, containsEvaluates: false })
})
