import { describe, expect, test } from "vitest"
import { compactJson, showSchema } from "../../../runtime/prompt/shownschema.ts"

const input = { kind: "json", schema: { type: "object", properties: { b: { const: 1 } } } } as const
const shown = 'JSON schema: {"type":"object","properties":{"b":{"const":1}}}'
const user = { role: "user", content: "Hi" }

describe("the system message", () => {
  test.each([
    ["is made where there is none", [user], [{ role: "system", content: shown }, user]],
    [
      "keeps its text before a blank line",
      [{ role: "system", content: "Be brief." }, user],
      [{ role: "system", content: `Be brief.\n\n${shown}` }, user],
    ],
    [
      "of a developer is one too",
      [{ role: "developer", content: "Be brief." }],
      [{ role: "developer", content: `Be brief.\n\n${shown}` }],
    ],
    [
      "without text holds the schema alone",
      [{ role: "system", content: "" }],
      [{ role: "system", content: shown }],
    ],
    [
      "of parts gets another part",
      [{ role: "system", content: [{ type: "text", text: "Be brief." }] }],
      [
        {
          role: "system",
          content: [
            { type: "text", text: "Be brief." },
            { type: "text", text: `\n\n${shown}` },
          ],
        },
      ],
    ],
  ])("%s", (_, messages, expected) => {
    expect(showSchema(messages, input)).toEqual(expected)
  })
})

test("a schema's text keeps numbers, order and strings, and loses white space", () => {
  const text = '{ "b" : 1.0,\n\t"1": 123456789012345678901234567890, "say \\" : {" : "a  b" }'
  expect(compactJson(text)).toBe('{"b":1.0,"1":123456789012345678901234567890,"say \\" : {":"a  b"}')
})

test.each([
  ["nothing", null, /there is no constraint/],
  ["a regular expression", { kind: "regex", pattern: "a" } as const, /not a JSON Schema/],
])("%s has no schema to show", (_, constraint, message) => {
  expect(() => showSchema([user], constraint)).toThrow(message)
})
