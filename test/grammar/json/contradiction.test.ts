/** Refusals of unsatisfiable schemas name both keywords, with their values and places. */
import { expect, test } from "vitest"
import { compile } from "../../../grammar/compile.ts"

const a = (schema: string) => `{"type":"object","properties":{"a":${schema}},"required":["a"]}`

test.each<[schema: string, sentence: string]>([
  [
    a('{"type":"integer","minimum":5,"maximum":3}'),
    '/required: "a" is required but /properties/a allows no value: minimum 5 at /properties/a/minimum contradicts maximum 3 at /properties/a/maximum',
  ],
  ['{"type":"number","minimum":5,"maximum":3}', "minimum 5 at /minimum contradicts maximum 3 at /maximum"],
  [
    '{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1,"multipleOf":1}',
    "its keywords contradict each other: no value satisfies all of them",
  ],
  [
    '{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":1}',
    'exclusiveMinimum 0 at /exclusiveMinimum contradicts exclusiveMaximum 1 at /exclusiveMaximum for type "integer" at /type',
  ],
  [
    '{"type":"integer","allOf":[{"minimum":5},{"maximum":3}]}',
    "minimum 5 at /allOf/0/minimum contradicts maximum 3 at /allOf/1/maximum",
  ],
  [
    '{"type":"string","minLength":5,"maxLength":3}',
    "minLength 5 at /minLength contradicts maxLength 3 at /maxLength",
  ],
  [
    '{"type":"string","pattern":"^a{4}$","maxLength":3}',
    'pattern "^a{4}$" at /pattern contradicts maxLength 3 at /maxLength',
  ],
  [
    '{"type":"string","pattern":"^a$","enum":["b"]}',
    'pattern "^a$" at /pattern contradicts enum ["b"] at /enum',
  ],
  [
    '{"type":"string","format":"date","maxLength":3}',
    'format "date" at /format contradicts maxLength 3 at /maxLength',
  ],
  ['{"type":"string","const":5}', 'const 5 at /const contradicts type "string" at /type'],
  [
    '{"type":"string","allOf":[{"type":"number"}]}',
    '/allOf/0/type: type "string" at /type contradicts type "number" at /allOf/0/type',
  ],
  ['{"enum":[1,2],"const":3}', "enum [1,2] at /enum contradicts const 3 at /const"],
  [
    '{"type":"array","minItems":3,"maxItems":2}',
    "minItems 3 at /minItems contradicts maxItems 2 at /maxItems",
  ],
  [
    '{"type":"object","minProperties":3,"maxProperties":2}',
    "minProperties 3 at /minProperties contradicts maxProperties 2 at /maxProperties",
  ],
  [
    '{"type":"object","required":["a","b"],"maxProperties":1}',
    'required ["a","b"] at /required contradicts maxProperties 1 at /maxProperties',
  ],
  [
    '{"type":"array","items":{"type":"integer","minimum":2,"maximum":1},"minItems":1}',
    "/minItems: an item is required but /items allows no value: minimum 2 at /items/minimum contradicts maximum 1 at /items/maximum",
  ],
  [
    a(a('{"type":"boolean","const":3}')),
    '/required: "a" is required but /properties/a allows no value: "a" is required but /properties/a/properties/a allows no value: const 3 at /properties/a/properties/a/const contradicts type "boolean" at /properties/a/properties/a/type',
  ],
  [
    '{"$schema":"http://json-schema.org/draft-04/schema#","type":"number","minimum":3,"exclusiveMinimum":true,"maximum":3}',
    "minimum 3 (exclusive) at /minimum contradicts maximum 3 at /maximum",
  ],
  [
    '{"type":"object","properties":{"a":{"minimum":3,"type":"integer"}},"allOf":[{"properties":{"a":{"maximum":1}}}],"required":["a"]}',
    '/required: "a" is required but /properties/a and /allOf/0/properties/a allow no value together: minimum 3 at /properties/a/minimum contradicts maximum 1 at /allOf/0/properties/a/maximum',
  ],
  [
    '{"$ref":"#/$defs/x","$defs":{"x":{"type":"object","properties":{"x":{"$ref":"#/$defs/x"}},"required":["x"]}}}',
    '/$defs/x/required: "x" is required but /$defs/x/properties/x allows no value: "x" is required but /$defs/x/properties/x allows no value',
  ],
  ["false", "false allows no value"],
])("%s", (schema, sentence) => {
  let message = "satisfiable"
  try {
    compile({ kind: "json", schema })
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toBe(sentence && `${sentence}. Remove the keywords that contradict each other`)
})
