import { expect, test } from "vitest"
import { compile } from "../../../runtime/index.ts"
import { byteMachine, TextChecker } from "../../../server/suite/checker.ts"

const person =
  '{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name","age"],"additionalProperties":false}'

function checker(schema: string): TextChecker {
  return new TextChecker(byteMachine(compile({ kind: "json", schema }, { surface: "conform" }).grammar))
}

test.each<[string, string, number, number, number, boolean]>([
  ["a negative age", '{"name": "Ada", "age": -1}', 24, 1, 25, false],
  ["a missing name", '{"age": 3}', 9, 1, 10, false],
  ["an unknown name", '{"name": "Ada",\n  "email": ""}', 19, 2, 4, false],
  ["half a text", '{"name": "Ad', 12, 1, 13, true],
  ["nothing", "", 0, 1, 1, true],
  ["characters of several bytes", '{"name": "日本", "age": x}', 26, 1, 23, false],
])("%s: offset, line and column", (_, text, offset, line, column, prefix) => {
  const verdict = checker(person).check(text)
  expect(verdict).toMatchObject({ accepted: false, offset, line, column, prefix })
  expect(verdict.expected.length).toBeGreaterThan(0)
})

test("every spelling of JSON is checked, not only those that are generated", () => {
  const check = checker(person)
  for (const text of ['{"age":3,"name":"\\u0041"}', ' {\n"name" : "a" , "age" : 1e2 } ']) {
    expect(check.check(text), text).toMatchObject({ accepted: true, expected: [] })
  }
})

test("what was expected is said in words", () => {
  const { expected } = checker('{"enum": ["left", "right"]}').check('"lost"')
  expect(expected.map(({ what, example }) => `${what} ${example}`).join(" ")).toMatch(/e|left/)
})
