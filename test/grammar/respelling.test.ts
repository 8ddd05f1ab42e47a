/** Grammars in another spelling: JSON as Python writes it. */

import { expect, test } from "vitest"
import { Completions } from "../../grammar/completions.ts"
import { defaultLimits } from "../../grammar/errors.ts"
import { nextBytes } from "../../grammar/explain.ts"
import { formats } from "../../grammar/frontends/formats.ts"
import { regex } from "../../grammar/frontends/regex.ts"
import { compileJsonSchema } from "../../grammar/json/compile.ts"
import { respelledGrammar } from "../../grammar/respelling.ts"
import { DeadState, States } from "../../grammar/state.ts"
import { jsonOfPython, pythonSpelling } from "../../grammar/tags/styles/python.ts"

function statesOf(schema: unknown): States {
  const { grammar } = compileJsonSchema(schema, {
    policy: { order: "any", whitespace: "bounded", escapes: "canonical", numbers: "plain" },
    limits: defaultLimits,
    parts: { ...regex, ...formats },
    formats: "assert",
    unknownKeywords: "ignore",
    unsatisfiable: "error",
    key: () => "",
  })
  return new States(respelledGrammar(grammar, pythonSpelling))
}

const utf8 = new TextEncoder()
const string = { type: "string" }

const table: [name: string, schema: unknown, accept: [text: string, json: string][], reject: string[]][] = [
  [
    "words",
    { enum: [true, null] },
    [
      ["True", "true"],
      ["true", "true"],
      ["None", "null"],
    ],
    ["False", "TRUE", "Null", "Nul", "none"],
  ],
  [
    "strings",
    string,
    [
      ["'it\\'s'", '"it\'s"'],
      ["'say \"x\"'", '"say \\"x\\""'],
      ['"it\'s"', '"it\'s"'],
      ["'a\\nb\\\\\\x1b'", '"a\\nb\\\\\\u001b"'],
      ["'é🎉'", '"é🎉"'],
    ],
    ["'a\"", "'a\nb'", "'\\q'", "'\\x41'", "'a'b"],
  ],
  [
    "a pattern",
    { pattern: "^a'b$", type: "string" },
    [
      ["'a\\'b'", '"a\'b"'],
      ['"a\'b"', '"a\'b"'],
    ],
    ["'a\"b'", "'ab'"],
  ],
  [
    "containers",
    {
      type: "object",
      properties: { a: { type: "array", items: { type: "boolean" } } },
      additionalProperties: false,
    },
    [["{'a': [True, false]}", '{"a": [true, false]}']],
    ["{'b': 1}", "{'a': ['x']}"],
  ],
  [
    "keys, each once",
    { type: "object" },
    [["{'a': 1, \"b\": None}", '{"a": 1, "b": null}']],
    ["{'a': 1, \"a\": 2}", "{'a': 1, 'a': 2}"],
  ],
  [
    "items that differ",
    { type: "array", uniqueItems: true },
    [["['a', True, 'b']", '["a", true, "b"]']],
    ["['a', \"a\"]", "[True, true]"],
  ],
]

test.each(table)("%s", (_, schema, accept, reject) => {
  const states = statesOf(schema)
  for (const [text, json] of accept) {
    const state = states.advance(states.start, utf8.encode(text))
    expect([text, state !== DeadState && states.isAccepting(state)]).toEqual([text, true])
    expect(JSON.parse(jsonOfPython(text))).toEqual(JSON.parse(json))
  }
  for (const text of reject) {
    const state = states.advance(states.start, utf8.encode(text))
    expect([text, state !== DeadState && states.isAccepting(state)]).toEqual([text, false])
  }
})

test("every beginning can be finished", () => {
  for (const [, schema, accept] of table) {
    const states = statesOf(schema)
    for (const [text] of accept) {
      const bytes = utf8.encode(text)
      for (let end = 0; end < bytes.length; end++) {
        const state = states.advance(states.start, bytes, 0, end)
        const done = states.advance(state, new Completions(states).shortest(state))
        expect([text, end, states.isAccepting(done)]).toEqual([text, end, true])
      }
    }
  }
})

test("an escape is offered only where it leads on", () => {
  const states = statesOf({ enum: ["ab", "c'd"] })
  const after = (text: string) =>
    nextBytes(states, states.advance(states.start, utf8.encode(text))).map((byte) =>
      String.fromCharCode(byte),
    )
  expect(after("'a")).toEqual(["b"])
  expect(after("'c")).toEqual(["\\"])
  expect(after("'c\\")).toEqual(["'"])
  expect(after('"c')).toEqual(["'"])
})
