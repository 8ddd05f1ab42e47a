import { describe, expect, test } from "vitest"
import {
  drafts,
  hasMaskBench,
  hasSuite,
  maskBenchLines,
  suiteDocuments,
  suiteGroups,
} from "./validate/corpora.ts"
import type { FormatMode } from "./validate/evaluate.ts"
import { Validator, validate } from "./validate.ts"

/** Wrong verdicts, as "file: group: test". */
function wrongVerdicts(
  draft: string,
  dialect: string,
  part: "required" | "optional" | "format",
  formats: FormatMode,
) {
  const documents = suiteDocuments()
  const wrong: string[] = []
  let count = 0
  for (const group of suiteGroups(draft, part)) {
    for (const { description, data, valid } of group.tests) {
      count++
      const name = `${group.file}: ${group.description}: ${description}`
      try {
        const validator = new Validator(group.schema, { dialect, documents, formats })
        if (validator.validate(data).valid !== valid)
          wrong.push(`${name} (should be ${valid ? "valid" : "invalid"})`)
      } catch (error) {
        wrong.push(`${name}: ${error}`)
      }
    }
  }
  return { wrong, count }
}

describe.skipIf(!hasSuite)("JSON-Schema-Test-Suite (skipped without ../shared)", () => {
  const counts = { draft4: 618, draft6: 839, draft7: 927, "draft2019-09": 1259, "draft2020-12": 1299 }
  for (const [draft, dialect] of drafts) {
    test(`${draft}: required`, () => {
      const { wrong, count } = wrongVerdicts(draft, dialect, "required", "annotate")
      expect(wrong).toEqual([])
      expect(count).toBe(counts[draft])
    })
    test(`${draft}: optional/format`, () => {
      expect(wrongVerdicts(draft, dialect, "format", "assert").wrong).toEqual([])
    })
    test(`${draft}: optional`, () => {
      const { wrong } = wrongVerdicts(draft, dialect, "optional", "vocabulary")
      // contentEncoding and contentMediaType are annotations in every draft.
      expect(wrong.filter((name) => !name.startsWith("optional/content.json"))).toEqual([])
      expect(wrong.length).toBe(draft === "draft7" ? 4 : 0)
    })
  }
})

test.skipIf(!hasMaskBench)("MaskBench: all labels (skipped without ../shared)", () => {
  const wrong: string[] = []
  let count = 0
  for (const { id, schema, tests } of maskBenchLines()) {
    if (tests.length === 0) continue
    const validator = new Validator(schema)
    for (const { valid, text } of tests) {
      count++
      if (validator.validate(text).valid !== valid) wrong.push(`${id}: ${text.slice(0, 200)}`)
    }
  }
  expect(wrong).toEqual([])
  expect(count).toBe(4959)
})

describe("verdicts and errors", () => {
  test.each<[name: string, schema: string, accept: string[], reject: string[]]>([
    [
      "numbers are exact",
      '{"maximum":9007199254740992}',
      ["9007199254740992", "9007199254740992.0"],
      ["9007199254740993"],
    ],
    [
      "huge exponents cost nothing",
      '{"multipleOf":0.5,"minimum":1}',
      ["1e999999999"],
      ["-1e999999999", "1e-999999999"],
    ],
    ["equality is by value", '{"enum":[[1,{"a":2,"b":3}]]}', ['[1.0,{"b":3e0,"a":20e-1}]'], ["[true,{}]"]],
    ["lengths count code points", '{"maxLength":1}', ['"\\ud83d\\udca9"', '"💩"'], ['"ab"']],
    ["names like __proto__ are names", '{"required":["__proto__"]}', ['{"__proto__":1}'], ["{}"]],
    [
      "cycles through $ref add nothing",
      '{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#"}],"type":"null"}}}',
      ["null"],
      ["1"],
    ],
    ["patterns fall back to Annex B", '{"pattern":"^[\\\\_a]{$"}', ['"_{"'], ['"b{"']],
  ])("%s", (_, schema, accept, reject) => {
    const validator = new Validator(schema)
    for (const text of accept) expect([text, validator.validate(text).valid]).toEqual([text, true])
    for (const text of reject) expect([text, validator.validate(text).valid]).toEqual([text, false])
  })

  test("an error names place, keyword and reason", () => {
    const schema = '{"properties":{"a":{"items":{"type":"integer"}}},"required":["b"]}'
    expect(validate(schema, '{"a":[1,"x"]}').errors).toEqual([
      { path: "", keyword: "required", message: '"b" is missing' },
      { path: "/a/1", keyword: "type", message: "string is not of the type" },
    ])
  })

  test("a cycle through anyOf is refused", () => {
    expect(() => validate('{"anyOf":[{"$ref":"#"}]}', "1")).toThrow("without descending")
  })

  test("texts that no grammar may write are not accepted", () => {
    const validator = new Validator("true")
    for (const text of ['{"a":1,"\\u0061":2}', '"\\ud800"', "01", "[1,]", ""])
      expect(validator.accepts(text)).toBe(false)
    expect(validator.accepts(' {"a":[1]}\n')).toBe(true)
  })
})
