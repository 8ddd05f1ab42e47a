import { expect, test } from "vitest"
import { defaultBodyLimits } from "../../../../server/http/body.ts"
import { readConstraint } from "../../../../server/openai/request/constraint.ts"
import { readBody } from "../../../support/bodies.ts"

const headers = { "content-type": "application/json" }

async function read(fields: object | string) {
  const body = typeof fields === "string" ? fields : JSON.stringify(fields)
  return readConstraint(
    await readBody(new Request("http://localhost/", { method: "POST", body, headers }), defaultBodyLimits),
  )
}

const schema = { type: "object", properties: { a: { type: "integer" } } }
const text = JSON.stringify(schema)
const json = { kind: "json", schema: text }
const grammar = 'root ::= "a"'
const tag = { type: "json_schema", json_schema: schema }

test.each([
  [
    "response_format json_schema",
    { response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } } },
    { ...json, strict: true },
  ],
  [
    "response_format json_schema that is not strict",
    { response_format: { type: "json_schema", json_schema: { name: "x", strict: false, schema } } },
    json,
  ],
  [
    "json_schema, unwrapped and strict",
    { response_format: { type: "json_schema", strict: true, schema } },
    { ...json, strict: true },
  ],
  ["json_schema, unwrapped", { response_format: { type: "json_schema", schema } }, json],
  ["json_object with a schema", { response_format: { type: "json_object", schema } }, json],
  ["json_object with a schema's text", { response_format: { type: "json_object", schema: text } }, json],
  [
    "json_object",
    { response_format: { type: "json_object" } },
    { kind: "json", schema: '{"type":"object"}' },
  ],
  ["vLLM json", { structured_outputs: { json: schema } }, json],
  ["vLLM json as text", { structured_outputs: { json: text, regex: null } }, json],
  ["vLLM regex", { structured_outputs: { regex: "a+" } }, { kind: "regex", pattern: "a+" }],
  ["vLLM choice", { structured_outputs: { choice: ["a", "b"] } }, { kind: "choice", options: ["a", "b"] }],
  [
    "vLLM json_object",
    { structured_outputs: { json_object: true } },
    { kind: "json", schema: '{"type":"object"}' },
  ],
  ["guided_json", { guided_json: schema }, json],
  ["guided_regex", { guided_regex: "a+" }, { kind: "regex", pattern: "a+" }],
  ["guided_choice", { guided_choice: ["a"] }, { kind: "choice", options: ["a"] }],
  ["llama.cpp json_schema", { json_schema: schema }, json],
  ["SGLang regex", { regex: "a+" }, { kind: "regex", pattern: "a+" }],
  [
    "response_format regex",
    { response_format: { type: "regex", regex: "a+" } },
    { kind: "regex", pattern: "a+" },
  ],
  ["and as pattern", { response_format: { type: "regex", pattern: "a+" } }, { kind: "regex", pattern: "a+" }],
  [
    "response_format grammar",
    { response_format: { type: "grammar", grammar } },
    { kind: "grammar", text: grammar },
  ],
  ["vLLM grammar", { structured_outputs: { grammar } }, { kind: "grammar", text: grammar }],
  ["guided_grammar", { guided_grammar: grammar }, { kind: "grammar", text: grammar }],
  ["llama.cpp grammar", { grammar }, { kind: "grammar", text: grammar }],
  ["SGLang ebnf", { ebnf: grammar }, { kind: "grammar", text: grammar }],
  [
    "response_format structural_tag",
    { response_format: { type: "structural_tag", format: tag } },
    { kind: "tag", format: JSON.stringify({ type: "structural_tag", format: tag }) },
  ],
  [
    "its older dialect",
    { response_format: { type: "structural_tag", structures: [], triggers: ["<f"] } },
    { kind: "tag", format: '{"type":"structural_tag","structures":[],"triggers":["<f"]}' },
  ],
  [
    "vLLM structural_tag",
    { structured_outputs: { structural_tag: { format: tag } } },
    { kind: "tag", format: JSON.stringify({ format: tag }) },
  ],
  [
    "SGLang structural_tag as text",
    { structural_tag: JSON.stringify({ format: tag }) },
    { kind: "tag", format: JSON.stringify({ format: tag }) },
  ],
  ["a boolean schema", { json_schema: true }, { kind: "json", schema: "true" }],
])("%s is one constraint", async (_, fields, input) => {
  expect((await read(fields)).constraint?.input).toEqual(input)
})

test.each([
  ["nothing", {}],
  ["null", { response_format: null, structured_outputs: null, guided_json: null }],
  ["text", { response_format: { type: "text" } }],
  ["an empty grammar of llama.cpp", { grammar: "" }],
  ["no tools", { tools: [], tool_choice: "auto" }],
  ["tools that must not be called", { tools: [{ type: "function" }], tool_choice: "none" }],
])("%s is no constraint", async (_, fields) => {
  expect((await read(fields)).constraint).toBe(null)
})

test.each([
  [
    "two constraints",
    { response_format: { type: "json_object" }, guided_regex: "a" },
    /response_format and guided_regex/,
  ],
  ["two kinds in one", { structured_outputs: { json: schema, regex: "a" } }, /json and regex/],
  ["no kind", { structured_outputs: {} }, /no constraint/],
  [
    "no schema",
    { response_format: { type: "json_schema", json_schema: { name: "x" } } },
    /json_schema.schema is missing/,
  ],
  ["schema null", { response_format: { type: "json_schema", schema: null } }, /schema is missing/],
  ["a number as schema", { guided_json: 3 }, /must be a JSON Schema/],
  [
    "an unknown key",
    { response_format: { type: "json_schema", json_schema: { schema, pattern: "x" } } },
    /unknown key "pattern"/,
  ],
  ["an unknown type", { response_format: { type: "jsonschema" } }, /json_schema/],
  ["no type", { response_format: {} }, /missing/],
  ["a string", { response_format: "json" }, /must be an object/],
  ["an empty choice", { guided_choice: [] }, /at least one/],
  ["a grammar that is no text", { guided_grammar: { root: "a" } }, /guided_grammar must be a string/],
  ["a grammar that is missing", { response_format: { type: "grammar" } }, /grammar must be a string/],
  ["half a character in a grammar", { ebnf: 'root ::= "\ud800"' }, /ebnf/],
  [
    "a regex by two names",
    { response_format: { type: "regex", regex: "a", pattern: "a" } },
    /unknown key "regex"/,
  ],
  ["a structural tag that is a list", { structural_tag: [] }, /must be a structural tag/],
  ["a grammar and a tag", { grammar, structural_tag: tag }, /grammar and structural_tag/],
  ["an unknown policy", { tokenrail: { whitespaces: "any" } }, /whitespaces/],
  ["a policy's unknown value", { tokenrail: { order: "random" } }, /tokenrail.order/],
  ["a length's unknown rule", { tokenrail: { on_length: "stretch" } }, /on_length/],
  ["a policy of open objects", { tokenrail: { open_objects: "closed" } }, /tokenrail.open_objects/],
  ["leniency", { tokenrail: { lenient: true } }, /lenient/],
  [
    "forbidding",
    { structured_outputs: { json: schema, disable_additional_properties: true } },
    /open_objects/,
  ],
  ["an odd white space", { guided_json: schema, guided_whitespace_pattern: "x*" }, /not supported/],
  [
    "policies that differ",
    { structured_outputs: { regex: "a", order: "any" }, tokenrail: { order: "schema" } },
    /differ/,
  ],
])("%s is refused", async (_, fields, message) => {
  await expect(read(fields)).rejects.toMatchObject({
    name: "Refusal",
    message: expect.stringMatching(message),
  })
})

test.each([
  [
    "a regex twice",
    { structured_outputs: { regex: "[ab]" }, guided_regex: "[ab]" },
    "structured_outputs.regex",
  ],
  [
    "a schema and its text",
    {
      response_format: { type: "json_schema", json_schema: { schema } },
      guided_json: JSON.stringify(schema, null, 2),
    },
    "response_format.json_schema.schema",
  ],
  [
    "three times any object",
    { response_format: { type: "json_object" }, guided_json_object: true, json_schema: { type: "object" } },
    "response_format",
  ],
  [
    "choices in another order",
    { structured_outputs: { choice: ["a", "b"] }, guided_choice: ["b", "a", "b"] },
    "structured_outputs.choice",
  ],
  ["a grammar", { grammar, ebnf: grammar }, "grammar"],
  [
    "a tag and its text",
    { structural_tag: tag, structured_outputs: { structural_tag: JSON.stringify(tag) } },
    "structured_outputs.structural_tag",
  ],
])("%s is one constraint", async (_, fields, field) => {
  const { constraint } = await read(fields)
  expect(constraint?.field).toBe(field)
})

test.each([
  [
    "two patterns",
    { structured_outputs: { regex: "[ab]" }, guided_regex: "[ac]" },
    "structured_outputs.regex",
    "guided_regex",
  ],
  [
    "numbers that are spelt in two ways",
    { json_schema: { const: 1 }, guided_json: '{"const": 1.0}' },
    "guided_json",
    "json_schema",
  ],
  [
    "properties in another order",
    { guided_json: '{"properties":{"a":{},"b":{}}}', json_schema: '{"properties":{"b":{},"a":{}}}' },
    "guided_json",
    "json_schema",
  ],
  ["a pattern and a choice", { regex: "a", guided_choice: ["a"] }, "guided_choice", "regex"],
  ["a third one", { regex: "a", guided_regex: "a", grammar }, "guided_regex", "grammar"],
])("%s are refused by both names", async (_, fields, first, second) => {
  await expect(read(fields)).rejects.toMatchObject({
    message: `${first} and ${second} both constrain the text, and differ. Send one of them`,
  })
})

test("the schema is taken as it is spelt", async () => {
  const spelt = '{"properties": {"b": {"const": 1.0}, "1": {"maximum": 123456789012345678901234567890}}}'
  const { constraint } = await read(
    `{"response_format": {"type": "json_schema", "json_schema": {"schema": ${spelt}}}}`,
  )
  expect(constraint).toMatchObject({ field: "response_format.json_schema.schema", input: { schema: spelt } })
})

test("policies reach the compiler by the same words", async () => {
  const tokenrail = {
    order: "any",
    escapes: "json",
    numbers: "json",
    formats: "annotate",
    open_objects: "declared",
    whitespace: "spaced",
  }
  expect((await read({ tokenrail })).policies.compile).toEqual({
    order: "any",
    escapes: "json",
    numbers: "json",
    formats: "annotate",
    openObjects: "declared",
    whitespace: "spaced",
  })
  const vllm = { structured_outputs: { json: schema, disable_any_whitespace: true } }
  expect((await read(vllm)).policies.compile).toEqual({ whitespace: "spaced" })
  expect((await read({ guided_json: schema, guided_whitespace_pattern: "" })).policies.compile).toEqual({
    whitespace: "none",
  })
  expect(
    (await read({ guided_json: schema, guided_whitespace_pattern: "[ \\n\\t]*" })).policies.compile,
  ).toEqual({
    whitespace: "any",
  })
})
