/** Masks by definition: every bit of every reachable prefix, over small vocabularies, against brute force. */
import { describe, expect, test } from "vitest"
import { compile, GrammarError } from "../../grammar/index.ts"
import { TokenFsm } from "../../mask/index.ts"
import { choices, regexes } from "../support/oracle/languages.ts"
import { stringsOver } from "../support/oracle/texts.ts"
import {
  acceptsText,
  choiceCase,
  compareMasks,
  type JsonCaseOptions,
  jsonCase,
  jsonVocabulary,
  type OracleCase,
  regexCase,
  vocabularyOf,
} from "../support/oracle.ts"

const closed = { additionalProperties: false }
const escapes: JsonCaseOptions = { alphabet: { characters: ["a", "\\u0061", "\\n"] }, bound: 8, depth: 4 }
const exponents: JsonCaseOptions = { alphabet: { exponents: true, digits: "012" }, bound: 6 }
const longer: JsonCaseOptions = {
  bound: 9,
  alphabet: { digits: "1", fractions: false, names: ["a", "b"] },
  depth: 8,
}
const longest: JsonCaseOptions = {
  bound: 13,
  alphabet: { ...longer.alphabet, characters: [] },
  depth: 11,
}

const schemas: [name: string, schema: unknown, more?: JsonCaseOptions][] = [
  ["anything", true, { bound: 6 }],
  ["nothing but null", { type: "null" }],
  ["booleans", { type: "boolean" }],
  ["numbers", { type: "number" }],
  ["integers, also as 1.0", { type: "integer" }],
  ["integers of draft-04, lexical", { $schema: "http://json-schema.org/draft-04/schema#", type: "integer" }],
  ["integers with exponents", { type: "integer" }, exponents],
  ["bounds", { type: "number", minimum: 0.5, exclusiveMaximum: 12 }],
  ["bounds with exponents", { type: "number", exclusiveMinimum: -2, maximum: 10 }, exponents],
  ["bounds modified as in draft-04", { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 20 }],
  ["multiples", { type: "number", multipleOf: 0.5 }],
  ["multiples within bounds", { type: "integer", multipleOf: 7, minimum: 8, maximum: 21 }],
  ["two moduli", { allOf: [{ multipleOf: 2 }, { multipleOf: 3 }], type: "integer" }],
  ["no multiple", { type: "integer", not: { multipleOf: 2 } }],
  ["non-integers", { type: "number", not: { type: "integer" } }],
  ["strings", { type: "string" }, escapes],
  ["lengths", { type: "string", minLength: 1, maxLength: 3 }, escapes],
  ["patterns", { type: "string", pattern: "^a*b$" }],
  ["patterns are searched for", { type: "string", pattern: "ab" }],
  ["patterns and lengths", { type: "string", pattern: "^(ab)*$", minLength: 3 }],
  ["patterns that must not match", { type: "string", not: { pattern: "b" } }],
  ["two patterns", { type: "string", allOf: [{ pattern: "^a" }, { pattern: "b$" }] }],
  ["lookahead", { type: "string", pattern: "^(?!ab)" }],
  ["enum of scalars", { enum: ["a", "ab", 1, 12, -1, true, null] }],
  ["enum of numbers by value", { enum: [1, 0.5, 10] }, exponents],
  ["enum of containers", { enum: [[1], [1, 2], { a: 1 }, {}] }],
  ["const object in any order", { const: { a: 1, b: 1 } }, longest],
  ["enum beside type", { enum: [1, "a", null], type: ["string", "null"] }],
  ["required", { type: "object", required: ["a"] }, longer],
  ["required without type", { required: ["a"] }, longer],
  ["required of two", { type: "object", required: ["a", "b"] }, longest],
  ["a closed object", { type: "object", properties: { a: { type: "integer" }, b: {} }, ...closed }, longer],
  [
    "a closed object, all required",
    { type: "object", properties: { a: { type: "integer" }, ab: {} }, required: ["a"], ...closed },
    longer,
  ],
  ["an impossible property", { type: "object", properties: { a: false } }, longer],
  ["a property that only null satisfies", { properties: { a: { type: "null" } }, type: "object" }, longest],
  ["a map", { type: "object", additionalProperties: { type: "integer" } }, longer],
  [
    "patternProperties",
    { type: "object", patternProperties: { "^a": { type: "integer" }, b: { minimum: 1 } } },
    longer,
  ],
  ["patternProperties, closed", { type: "object", patternProperties: { "^a": true }, ...closed }, longer],
  ["propertyNames", { type: "object", propertyNames: { maxLength: 1 } }, longer],
  ["propertyNames by pattern", { type: "object", propertyNames: { pattern: "^b" } }, longer],
  ["minProperties", { type: "object", minProperties: 1 }, longer],
  ["maxProperties", { type: "object", maxProperties: 1 }, longer],
  [
    "minProperties of finite classes",
    { type: "object", minProperties: 2, patternProperties: { "^[ab]$": { type: "integer" } }, ...closed },
    longest,
  ],
  ["dependentRequired", { type: "object", dependentRequired: { a: ["b"] } }, longest],
  ["dependentSchemas", { type: "object", dependentSchemas: { a: { maxProperties: 1 } } }, longest],
  [
    "dependencies, both forms",
    { type: "object", dependencies: { a: ["b"], b: { minProperties: 2 } } },
    longest,
  ],
  ["items", { type: "array", items: { type: "integer" } }],
  ["counts of items", { type: "array", minItems: 1, maxItems: 2 }],
  [
    "tuples",
    { type: "array", prefixItems: [{ type: "integer" }, { type: "boolean" }], items: false },
    { bound: 8 },
  ],
  ["tuples with a rest", { type: "array", prefixItems: [{ const: 1 }], items: { const: 2 } }],
  ["an impossible item caps the length", { type: "array", prefixItems: [true, false] }],
  ["contains", { type: "array", contains: { const: 1 } }],
  ["contains at most once", { type: "array", contains: { const: 1 }, maxContains: 1 }],
  ["contains twice", { type: "array", contains: { minimum: 1 }, minContains: 2 }],
  ["contains never", { type: "array", contains: { type: "integer" }, minContains: 0, maxContains: 0 }],
  ["contains within a length", { type: "array", contains: { const: 1 }, maxItems: 2, minContains: 2 }],
  ["contains beside items", { type: "array", items: { multipleOf: 2 }, contains: { multipleOf: 3 } }],
  ["unique items", { type: "array", uniqueItems: true, items: { enum: [0, 1, 2] } }, { bound: 8, depth: 7 }],
  ["unique items by value", { type: "array", uniqueItems: true }, { bound: 6 }],
  [
    "unique items that run out",
    { type: "array", uniqueItems: true, minItems: 2, items: { type: "boolean" } },
    { bound: 12, depth: 6, alphabet: { digits: "", characters: [] } },
  ],
  ["unique items, at least two", { type: "array", uniqueItems: true, minItems: 2 }, { bound: 6 }],
  [
    "unique items, one of them given",
    { type: "array", uniqueItems: true, contains: { enum: [1] } },
    { bound: 6 },
  ],
  ["duplicates wanted", { type: "array", not: { uniqueItems: true } }],
  ["duplicates within a length", { type: "array", not: { uniqueItems: true }, maxItems: 3 }],
  [
    "duplicates of some positions",
    {
      not: { uniqueItems: true },
      prefixItems: [{ enum: [1, 11] }, { const: 12 }, { enum: [11, 2] }],
      items: false,
      type: "array",
    },
    { bound: 10 },
  ],
  [
    "duplicates beside contains",
    {
      type: "array",
      not: { uniqueItems: true },
      items: { enum: [1, 12] },
      contains: { const: 1 },
      maxContains: 1,
      maxItems: 3,
    },
    { bound: 10 },
  ],
  ["allOf", { allOf: [{ minimum: 1 }, { type: ["integer", "string"] }] }],
  ["anyOf", { anyOf: [{ type: "integer" }, { type: "string", maxLength: 1 }] }],
  ["oneOf, overlapping", { oneOf: [{ type: "integer" }, { minimum: 2 }] }],
  ["oneOf over presence", { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] }, longest],
  ["oneOf of three", { oneOf: [{ type: "integer" }, { minimum: 1 }, { maximum: 10 }] }],
  ["not", { not: { type: ["object", "array", "number"] } }],
  ["not an object that requires", { not: { type: "object", required: ["a"] } }, longer],
  ["not both", { type: "object", not: { required: ["a", "b"] } }, longest],
  ["not a property's value", { type: "object", not: { properties: { a: { type: "integer" } } } }, longer],
  ["not items", { type: "array", not: { items: { type: "integer" } } }],
  ["not contains", { type: "array", not: { contains: { type: "integer" } } }],
  ["not closed", { type: "object", not: { properties: { a: true }, ...closed } }, longer],
  ["not a map", { type: "object", not: { additionalProperties: { type: "integer" } } }, longer],
  ["not propertyNames", { type: "object", not: { propertyNames: { pattern: "^a" } } }, longer],
  ["not a range of sizes", { type: "object", not: { minProperties: 1, maxProperties: 1 } }, longer],
  ["not dependentRequired", { type: "object", not: { dependentRequired: { a: ["b"] } } }, longer],
  ["not enum", { not: { enum: [1, "a", [], {}] } }, { bound: 5 }],
  ["not a const array", { type: "array", not: { const: [1, 2] } }],
  ["not a const object", { type: "object", not: { const: { a: 1 } } }, longer],
  ["if, then, else", '{"if":{"type":"integer"},"then":{"minimum":2},"else":{"type":"string"}}'],
  [
    "if on a property",
    '{"type":"object","if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"]}}',
    longest,
  ],
  ["if without then", { if: { type: "integer" }, else: { type: "null" } }],
  ["recursion", { $defs: { n: { type: "array", items: { $ref: "#/$defs/n" } } }, $ref: "#/$defs/n" }],
  [
    "recursion through objects",
    { type: ["object", "null"], properties: { a: { $ref: "#" } }, ...closed },
    longest,
  ],
  ["negated recursion", { not: { type: "array", items: { $ref: "#" } } }, { bound: 6 }],
  [
    "unevaluatedProperties",
    { type: "object", allOf: [{ properties: { a: { type: "integer" } } }], unevaluatedProperties: false },
    longer,
  ],
  [
    "unevaluatedProperties beside branches",
    {
      type: "object",
      anyOf: [{ properties: { a: { const: 1 } }, required: ["a"] }, { properties: { b: true } }],
      unevaluatedProperties: false,
    },
    longest,
  ],
  ["unevaluatedItems", { type: "array", prefixItems: [true], unevaluatedItems: { type: "integer" } }],
  [
    "unevaluatedItems with contains",
    { type: "array", contains: { const: 1 }, unevaluatedItems: { const: 2 } },
  ],
]

const policies: [name: string, schema: unknown, more: JsonCaseOptions][] = [
  [
    "generate: minimal escapes and plain numbers",
    { type: ["string", "number"] },
    {
      options: { surface: "generate", whitespace: "compact" },
      alphabet: { characters: ["a", "\\u0061", "\\n"], exponents: true },
      keep: (text) => !/\\u0061|e|^-0(\.0*)?$/.test(text),
      bound: 6,
    },
  ],
  [
    "generate: schema order",
    { type: "object", properties: { b: { type: "integer" }, a: { type: "integer" } }, ...closed },
    {
      ...longest,
      options: { surface: "generate", whitespace: "compact" },
      alphabet: { digits: "1", fractions: false, names: ["a", "b"], characters: [] },
      keep: (text) => !/a.*b/.test(text),
      bound: 13,
    },
  ],
]

/** White space in each gap of a JSON text without strings that hold any, by the marks around it. */
function gapsOf(text: string): { before: string; space: string; after: string }[] {
  const lexemes = [...text.matchAll(/[ \t\n\r]+|"[^"]*"|[^ \t\n\r"[\]{}:,]+|[[\]{}:,]/g)].map(
    ([lexeme]) => lexeme,
  )
  return lexemes.flatMap((lexeme, i) =>
    lexeme.trim() === ""
      ? [{ before: lexemes[i - 1] ?? "", space: lexeme, after: lexemes[i + 1] ?? "" }]
      : [],
  )
}

const spacings: [
  whitespace: "tight" | "flexible" | "any",
  isGap: (gap: ReturnType<typeof gapsOf>[0]) => boolean,
][] = [
  ["tight", ({ before, space }) => space === " " && (before === ":" || before === ",")],
  [
    "flexible",
    ({ before, space, after }) =>
      before === ":"
        ? space === " "
        : /^( |\n[ \t]{0,32})$/.test(space) && (/[[{,]$/.test(before) || /^[\]}]/.test(after)),
  ],
  ["any", () => true],
]

function spacedCase(whitespace: (typeof spacings)[0][0], isGap: (typeof spacings)[0][1]): OracleCase {
  const schema = {
    type: ["array", "object", "null"],
    items: { const: 1 },
    additionalProperties: { const: 1 },
  }
  const row = jsonCase(`white space: ${whitespace}`, schema, {
    options: { whitespace },
    keep: (text) => gapsOf(text).every(isGap),
  })
  const lexemes = ["[", "]", "{", "}", ":", ",", "1", '"a"', "null", " ", "\n", "\t"]
  const texts = stringsOver(lexemes, 5).filter((text) => row.accepts(text))
  return {
    ...row,
    texts,
    vocabulary: vocabularyOf([...lexemes, '"', "a", "[1", ", ", "  ", "\n ", '{"', " }"]),
    depth: 5,
  }
}

function check(make: () => OracleCase): void {
  const row = make()
  let result: ReturnType<typeof compareMasks>
  try {
    result = compareMasks(row)
  } catch (error) {
    if (error instanceof GrammarError && error.kind === "unsupported") {
      console.warn(`skipped: ${expect.getState().currentTestName}: ${error.message}`)
      return
    }
    throw error
  }
  expect(result.disagreements).toEqual([])
  expect(result.prefixCount).toBeGreaterThan(row.texts.join("") === "" ? 0 : 1)
  expect(row.texts.length).toBeGreaterThan(0)
}

describe("masks are exact", () => {
  test.each(schemas)("schema: %s", (name, schema, more) => check(() => jsonCase(name, schema, more)))
  test.each(policies)("%s", (name, schema, more) => check(() => jsonCase(name, schema, more)))
  test.each(spacings)("white space: %s", (whitespace, isGap) => check(() => spacedCase(whitespace, isGap)))
  test.each(regexes)("/%s/ over %j", (pattern, alphabet, flags) =>
    check(() => regexCase(pattern, { alphabet, flags })),
  )
  test.each(choices.map((options) => [options]))("choice %j", (options) => check(() => choiceCase(options)))
})

// Patterns that no other test has: the automaton of such names is met here for the first time.
describe("declared names over names never met before", () => {
  const declared = { q1: { type: "integer" } }
  test.each([
    ["patternProperties", { type: "object", properties: declared, patternProperties: { "^z7": true } }],
    ["propertyNames", { type: "object", properties: declared, propertyNames: { pattern: "q|w9" } }],
    ["the empty name", { properties: { "": { type: "integer" } }, patternProperties: { "^y5": true } }],
  ])("%s", (_, schema) => {
    for (const surface of ["generate", "conform"] as const) {
      const { grammar } = compile({ kind: "json", schema }, { surface })
      const fsm = new TokenFsm(grammar, jsonVocabulary)
      const name = Object.keys(schema.properties)[0]
      for (const value of ["1", "true"]) {
        const text = `{${JSON.stringify(name)}: ${value}}`
        expect([surface, text, acceptsText(fsm, text)]).toEqual([surface, text, value === "1"])
      }
    }
  })
})

describe("the oracle can fail", () => {
  test("it sees a text that is missing", () => {
    const row = jsonCase("integers", { type: "integer" })
    expect(compareMasks({ ...row, texts: [...row.texts, "true"] }).disagreements).not.toEqual([])
  })
  test("it sees a text that is too much", () => {
    const row = jsonCase("integers", { type: "integer" })
    const accepts = (text: string) => row.accepts(text) && !text.startsWith("2")
    expect(compareMasks({ ...row, accepts, texts: row.texts.filter(accepts) }).disagreements).not.toEqual([])
  })
})
