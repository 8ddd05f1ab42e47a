/** Texts that no string of a JSON value may hold, whatever its schema says: exactly, together with length, pattern and enum. */
import { expect, test } from "vitest"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { formats } from "../../../../grammar/frontends/formats.ts"
import { regex } from "../../../../grammar/frontends/regex.ts"
import { compileJsonSchema } from "../../../../grammar/json/compile.ts"
import { DeadState, States } from "../../../../grammar/state.ts"

const options = {
  policy: { order: "any", whitespace: "bounded", escapes: "canonical", numbers: "plain" },
  limits: defaultLimits,
  parts: { ...regex, ...formats },
  formats: "assert",
  unknownKeywords: "ignore",
  unsatisfiable: "error",
  excludes: ["</call>", "<|end|>"],
  key: () => "",
} as const

const table: [name: string, schema: unknown, accept: string[], reject: string[]][] = [
  [
    "any value",
    true,
    ['"</cal>"', '["a<","<|end|"]', "5"],
    ['"x</call>"', '[["<|end|>"]]', '{"</call>":1}', '{"a":"</call>"}'],
  ],
  ["a length", { type: "string", maxLength: 8 }, ['"<</call"', '"12345678"'], ['"</call>"', '"123456789"']],
  ["a least length", { type: "string", minLength: 7 }, ['"1234567"'], ['"</call>"', '"123456"']],
  ["a pattern", { type: "string", pattern: "^<" }, ['"<"', '"</call"'], ['"</call>"', '"<</call>"', '"a"']],
  ["a list", { enum: ["a", "</call>", 5, ["<|end|>"]] }, ['"a"', "5"], ['"</call>"', '["<|end|>"]']],
  ["a name", { properties: { "</call>": true, b: true } }, ['{"b":1}', '{"c":1}'], ['{"</call>":1}']],
  [
    "names by pattern",
    { patternProperties: { "^<": true }, additionalProperties: false },
    ['{"<a":1}'],
    ['{"</call>":1}'],
  ],
  [
    "items that differ",
    { items: { enum: ["a", "b", "</call>"] }, uniqueItems: true },
    ['["a","b"]'],
    ['["a","</call>"]', '["a","a"]'],
  ],
]

test.each(table)("%s", (_, schema, accept, reject) => {
  const states = new States(compileJsonSchema(schema, options).grammar)
  const isAccepted = (text: string) => {
    const state = states.advance(states.start, new TextEncoder().encode(text))
    return state !== DeadState && states.isAccepting(state)
  }
  expect(accept.filter((text) => !isAccepted(text))).toEqual([])
  expect(reject.filter(isAccepted)).toEqual([])
})

test.each([
  ["a list of nothing else", { enum: ["</call>"] }],
  ["a value", { const: { a: "x</call>" } }],
  ["a required name", { type: "object", required: ["</call>"] }],
  ["items that have to be there", { type: "array", items: { const: "<|end|>" }, minItems: 1 }],
  ["a pattern", { type: "string", pattern: "<\\|end\\|>" }],
])("nothing satisfies %s", (_, schema) => {
  expect(() => compileJsonSchema(schema, options)).toThrow()
})
