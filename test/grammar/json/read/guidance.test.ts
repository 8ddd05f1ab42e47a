import { describe, expect, test } from "vitest"
import { Completions } from "../../../../grammar/completions.ts"
import { type CompileOptions, compile, GrammarError } from "../../../../grammar/index.ts"
import { DeadState, States } from "../../../../grammar/state.ts"

const encoder = new TextEncoder()
const base = {
  type: "object",
  properties: { a: { type: "array", items: { type: "integer" } }, b: { type: "string" } },
  required: ["a", "b"],
  additionalProperties: false,
}
const statesOf = (guidance: object, schema: object = base, options: CompileOptions = {}) =>
  new States(compile({ kind: "json", schema: { ...schema, "x-guidance": guidance } }, options).grammar)

function accepts(states: States, text: string): boolean {
  const state = states.advance(states.start, encoder.encode(text))
  return state !== DeadState && states.isAccepting(state)
}

/** [keys, accepted, rejected] */
const rows: [object, string[], string[]][] = [
  [{}, ['{"a":[1,2],"b":""}', '{"a": [1, 2], "b": ""}'], ['{"a":[1;2],"b":""}']],
  [{ whitespace_flexible: false }, ['{"a":[1,2],"b":""}'], ['{ "a":[1,2],"b":""}', '{"a": [1],"b":""}']],
  [{ whitespace_flexible: true }, ['{\t\n\r"a"  :[ ] ,"b":""}'], [' {"a":[],"b":""}', '{"a":[],"b":""} ']],
  [{ whitespace_pattern: " {2}" }, ['{  "a":[],"b":""}'], ['{ "a":[],"b":""}', '{    "a":[],"b":""}']],
  [
    { item_separator: ", ", key_separator: ": ", whitespace_flexible: false },
    ['{"a": [1, 2], "b": ",:"}'],
    ['{"a":[1, 2], "b": ""}', '{"a": [1,2], "b": ""}'],
  ],
  [{ key_separator: "_ ", whitespace_flexible: false }, ['{"a"_ [],"b"_ ""}'], ['{"a":[],"b":""}']],
  [
    { item_separator: "-|;+", whitespace_flexible: false },
    ['{"a":[1--2;;3];"b":""}'],
    ['{"a":[1,2],"b":""}'],
  ],
  [{ json_allowed_escapes: 'nrbtf"u\\' }, ['{"a":[],"b":"\\n\\u0001"}'], ['{"a":[],"b":"\\/"}']],
  [
    { json_allowed_escapes: 'rbtf"\\' },
    ['{"a":[],"b":"\\t"}'],
    ['{"a":[],"b":"\\n"}', '{"a":[],"b":"\\u0001"}'],
  ],
  [{ json_allow_general_unicode_escapes: true }, ['{"a":[],"b":"\\u0041"}'], ['{"a":[],"b":"\\x"}']],
  [{ coerce_one_of: true, lenient: true, json_allowed_escapes: null }, ['{"a":[],"b":""}'], ["{}"]],
]

describe("keys", () => {
  test.each(rows)("%j", (guidance, accepted, rejected) => {
    const states = statesOf(guidance)
    for (const text of accepted) expect([text, accepts(states, text)]).toEqual([text, true])
    for (const text of rejected) expect([text, accepts(states, text)]).toEqual([text, false])
    // Whatever has been written can be finished.
    const completions = new Completions(states)
    for (const text of ["", ...accepted]) {
      for (let end = 0; end <= text.length; end++) {
        const begun = text.slice(0, end)
        const rest = completions.shortest(states.advance(states.start, encoder.encode(begun)))
        const whole = begun + new TextDecoder().decode(rest)
        expect([whole, accepts(states, whole)]).toEqual([whole, true])
      }
    }
  })
})

test.each<[object, string, string]>([
  [{ indent: 2 }, "/x-guidance", 'has no key "indent". It has item_separator'],
  [{ item_separator: "" }, "/x-guidance/item_separator", "separates nothing"],
  [{ item_separator: 1 }, "/x-guidance/item_separator", "expected a string, found"],
  [{ lenient: "yes" }, "/x-guidance/lenient", "expected true or false"],
  [{ json_allowed_escapes: "x" }, "/x-guidance/json_allowed_escapes", "is not an escape letter"],
  [{ whitespace_pattern: "\\y" }, "/x-guidance/whitespace_pattern", "write \\b"],
])("%j is refused", (guidance, path, message) => {
  const run = () => statesOf(guidance)
  expect(run).toThrow(GrammarError)
  expect(run).toThrow(expect.objectContaining({ path, message: expect.stringContaining(message) }))
})

test("items that are compared, and arguments, are JSON", () => {
  const schema = { type: "array", uniqueItems: true }
  expect(() => statesOf({ item_separator: ";" }, schema)).toThrow("/uniqueItems")
  expect(() => statesOf({ item_separator: ";|," }, schema)).toThrow("/uniqueItems")
  expect(accepts(statesOf({ item_separator: " ,|, " }, schema), "[[1, 2] ,[2]]")).toBe(true)
  const tools = [
    {
      type: "function",
      function: { name: "f", parameters: { ...base, "x-guidance": { key_separator: "=" } } },
    },
  ]
  expect(() => compile({ kind: "tools", style: "hermes", tools })).toThrow("arguments are read as JSON")
})

test("it is the root's, and the report tells what it does not change", () => {
  const { report } = compile(
    {
      kind: "json",
      schema: {
        ...base,
        "x-guidance": { lenient: true },
        properties: { ...base.properties, b: { "x-guidance": { item_separator: 1 } } },
      },
    },
    { unknownKeywords: "ignore" },
  )
  const notes = report.keywords.filter(({ keyword }) => keyword === "x-guidance")
  expect(notes).toEqual([
    {
      path: "/x-guidance",
      keyword: "x-guidance",
      status: "exact",
      note: "lenient: nothing is coerced, every keyword is exact",
    },
    {
      path: "/properties/b/x-guidance",
      keyword: "x-guidance",
      status: "annotation",
      note: "unknown keyword",
    },
  ])
  expect(
    accepts(statesOf({ whitespace_flexible: false }, base, { unknownKeywords: "error" }), '{"a":[],"b":""}'),
  ).toBe(true)
})
