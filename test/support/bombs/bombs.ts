/**
 * Schemas made to explode, one generator a kind: deep, wide and exponential in each keyword and in patterns.
 *
 * `bombText` gives the JSON text: a string "RAW…" in a schema stands for that number, digit by digit.
 */
import { chain, n, nest, o } from "./bombshapes.ts"
import { keywordBombs } from "./keywordbombs.ts"
import { puzzleBombs } from "./puzzlebombs.ts"

const periods = [2, 3, 5, 7, 11, 13]
const primes = n(113, (i) => i + 1).filter(
  (i) => i > 1 && n(i - 2, (j) => i % (j + 2)).every((rest) => rest > 0),
)

const formats = [
  ...[
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
  ],
  ...["uri-template", "json-pointer", "relative-json-pointer", "uuid", "regex", "idn-email", "iri-reference"],
]

const word = { type: "string", pattern: "^[a-z]{1,40}$" }

export const bombs: Record<string, () => unknown> = {
  ...keywordBombs,
  ...puzzleBombs,
  deepProperties: () => nest(400, (x) => ({ type: "object", properties: { a: x }, required: ["a"] })),
  deepItems: () => nest(400, (x) => ({ items: x })),
  deepNot: () => nest(400, (x) => ({ not: x })),
  deepAllOf: () => nest(150, (x) => ({ allOf: [x, { minimum: 1 }] })),
  deepAnyOf: () => nest(150, (x) => ({ anyOf: [x, { type: "string" }] })),
  wideObject: () => ({
    properties: o(20000, (i) => [`p${i}`, { type: "integer" }]),
    required: n(5000, (i) => `p${i}`),
    additionalProperties: false,
  }),
  wideEnum: () => ({ enum: n(50000, (i) => `value ${i}`) }),
  wideEnumObjects: () => ({ enum: n(2000, (i) => ({ a: i, b: [i] })) }),
  wideOneOf: () => ({
    oneOf: n(300, (i) => ({ properties: { [`k${i}`]: { type: "integer" } }, required: [`k${i}`] })),
  }),
  oneOfOverlap: () => ({
    type: "object",
    oneOf: n(60, (i) => ({ properties: { [`k${i}`]: { type: "integer" }, a: { type: "string" } } })),
  }),
  expAllOfAnyOf: () => ({
    type: "object",
    allOf: n(30, (i) => ({ anyOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }] })),
  }),
  expAllOfAnyOf2: () => ({
    type: "object",
    allOf: n(30, (i) => ({
      anyOf: [
        { properties: { [`a${i}`]: { type: "string" } }, required: [`x${i}`, "z"] },
        { properties: { [`b${i}`]: { type: "string" } }, required: [`y${i}`] },
      ],
    })),
  }),
  expOneOf: () => ({
    type: "object",
    allOf: n(12, (i) => ({
      oneOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }, { properties: { [`c${i}`]: false } }],
    })),
  }),
  expIf: () => ({
    type: "object",
    allOf: n(40, (i) => ({
      if: { properties: { [`a${i}`]: { const: 1 } } },
      then: { required: [`b${i}`] },
      else: { required: [`c${i}`] },
    })),
  }),
  expIfSame: () => ({
    type: "object",
    allOf: n(125, (i) => ({
      if: { properties: { type: { const: `t${i}` } } },
      then: { required: [`b${i}`] },
    })),
  }),
  expNot: () => ({
    type: "object",
    allOf: n(40, (i) => ({
      not: { properties: { [`a${i}`]: { const: 1 }, [`b${i}`]: { const: 2 } }, required: [`a${i}`, `b${i}`] },
    })),
  }),
  expDependentRequired: () => ({
    dependentRequired: o(300, (i) => [`a${i}`, [`a${i + 1}`, `a${i + 2}`]]),
  }),
  expDependentSchemas: () => ({
    dependentSchemas: o(30, (i) => [`a${i}`, { required: [`b${i}`], maxProperties: 40 }]),
  }),
  expPatternProperties: () => ({
    patternProperties: o(14, (i) => [`[a-f]{${i}}${String.fromCharCode(97 + i)}`, { multipleOf: i + 1 }]),
  }),
  expPatternProperties2: () => ({ patternProperties: o(40, (i) => [`k${i}`, { multipleOf: i + 1 }]) }),
  expContains: () => ({ allOf: n(12, (i) => ({ contains: { multipleOf: i + 2 }, maxContains: 3 })) }),
  bigContains: () => ({ contains: { type: "integer" }, minContains: 100000, maxContains: 1000000 }),
  bigUnique: () => ({
    uniqueItems: true,
    minItems: 5000,
    items: { type: "integer", minimum: 0, maximum: 4999 },
  }),
  bigUniqueTuple: () => ({
    uniqueItems: true,
    prefixItems: n(300, (_i) => ({ enum: n(300, (j) => j) })),
    minItems: 300,
  }),
  uniqueObjects: () => ({
    uniqueItems: true,
    minItems: 50,
    items: {
      type: "object",
      properties: o(8, (i) => [`a${i}`, { type: "boolean" }]),
      additionalProperties: false,
    },
  }),
  refFan: () => ({
    $ref: "#/$defs/d0",
    $defs: o(40, (i) => [
      `d${i}`,
      i === 39
        ? { type: "integer" }
        : {
            type: "object",
            properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } },
            required: ["a", "b"],
          },
    ]),
  }),
  refAllOfFan: () => ({
    $ref: "#/$defs/d0",
    $defs: o(30, (i) => [
      `d${i}`,
      i === 29
        ? { type: "integer" }
        : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  }),
  refAnyOfFan: () => ({
    $ref: "#/$defs/d0",
    $defs: o(30, (i) => [
      `d${i}`,
      i === 29
        ? { type: "object" }
        : { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  }),
  refOneOfFan: () => ({
    $ref: "#/$defs/d0",
    $defs: o(30, (i) => [
      `d${i}`,
      i === 29
        ? { type: "object" }
        : { oneOf: [{ $ref: `#/$defs/d${i + 1}` }, { required: [`k${i}`], $ref: `#/$defs/d${i + 1}` }] },
    ]),
  }),
  refNotFan: () => ({
    $ref: "#/$defs/d0",
    $defs: o(30, (i) => [
      `d${i}`,
      i === 29
        ? { type: "object" }
        : {
            not: {
              anyOf: [
                { $ref: `#/$defs/d${i + 1}` },
                { required: [`k${i}`], not: { $ref: `#/$defs/d${i + 1}` } },
              ],
            },
          },
    ]),
  }),
  inPlaceCycle: () => ({
    $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }, { type: "string" }] }, b: { not: { $ref: "#/$defs/a" } } },
    $ref: "#/$defs/a",
  }),
  inPlaceCycleRef: () => ({
    $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } },
    $ref: "#/$defs/a",
  }),
  bigCounts: () => ({ type: "array", minItems: 1000000, items: { type: "string", minLength: 1000000 } }),
  bigTuple: () => ({ prefixItems: n(10000, (_i) => ({ type: "integer" })), minItems: 10000 }),
  hugeMaxLength: () => ({ type: "string", minLength: 5e8, maxLength: 1e9, pattern: "^([a-z][0-9])+$" }),
  patternRepeat: () => ({ type: "string", pattern: "^((a{1,50}){1,50}){1,50}$" }),
  patternBomb: () => ({ type: "string", pattern: "(a|b)*a(a|b){25}$" }),
  patternAnd: () => ({
    allOf: n(12, (i) => ({ pattern: `^(..)*${String.fromCharCode(97 + i)}(.{${i + 3}})*$` })),
  }),
  patternNot: () => ({
    type: "string",
    allOf: n(10, (i) => ({ not: { pattern: `(a|b)*${"ab"[i % 2]}(a|b){${i + 4}}$` } })),
  }),
  lookahead: () => ({
    type: "string",
    pattern: `^${n(12, (i) => `(?=.*${String.fromCharCode(97 + i)})`).join("")}.{12}$`,
  }),
  multipleOfs: () => ({ allOf: primes.map((q) => ({ not: { multipleOf: q } })) }),
  numberAnyOf: () => ({
    allOf: n(10, (i) => ({
      anyOf: [{ minimum: i * 10 }, { maximum: i }, { multipleOf: i + 2 }, { type: "integer" }],
    })),
    type: "number",
  }),
  unevaluated: () => ({
    anyOf: n(20, (i) => ({ required: [`a${i}`], properties: { [`a${i}`]: {} } })),
    unevaluatedProperties: false,
  }),
  notUnevaluated: () => ({
    type: "object",
    not: {
      anyOf: n(20, (i) => ({ required: [`a${i}`], properties: { [`a${i}`]: {} } })),
      unevaluatedProperties: false,
    },
  }),
  enumNot: () => ({ type: "object", not: { enum: n(300, (i) => ({ a: i, b: i + 1, c: { d: i } })) } }),
  propertyNames: () => ({ propertyNames: { pattern: "(a|b)*a(a|b){18}$" }, minProperties: 3 }),
  minMaxProps: () => ({ minProperties: 1000000, additionalProperties: { type: "integer" } }),
  recursionPeriods: () => ({
    allOf: periods.map((p) => ({ $ref: `#/$defs/p${p}_0` })),
    $defs: Object.fromEntries(
      periods.flatMap((p) =>
        n(p, (i) => [
          `p${p}_${i}`,
          {
            type: "object",
            properties: { n: { $ref: `#/$defs/p${p}_${(i + 1) % p}` } },
            required: i === p - 1 ? [] : ["n"],
          },
        ]),
      ),
    ),
  }),
  // Deep: every keyword that holds a schema.
  deepPrefixItems: () => nest(400, (x) => ({ prefixItems: [x], minItems: 1 })),
  deepContains: () => nest(400, (x) => ({ type: "array", contains: x })),
  deepAdditional: () => nest(400, (x) => ({ additionalProperties: x, minProperties: 1 })),
  deepPatternProperties: () => nest(400, (x) => ({ patternProperties: { "^a": x } })),
  deepIf: () => nest(200, (x) => ({ if: x, then: { minimum: 1 }, else: { maximum: 5 } })),
  deepThen: () => nest(200, (x) => ({ if: { minimum: 1 }, then: x })),
  deepElse: () => nest(200, (x) => ({ if: { type: "string" }, else: x })),
  deepOneOf: () => nest(150, (x) => ({ oneOf: [x, { type: "string" }] })),
  deepOneOfObjects: () =>
    nest(60, (x) => ({ oneOf: [{ required: ["a"], properties: { a: x } }, { required: ["b"] }] })),
  deepDependentSchemas: () => nest(200, (x) => ({ dependentSchemas: { a: { properties: { b: x } } } })),
  deepPropertyNames: () => nest(400, (x) => ({ propertyNames: x })),
  deepUnevaluated: () => nest(200, (x) => ({ properties: { a: x }, unevaluatedProperties: false })),
  deepUnevaluatedItems: () => nest(200, (x) => ({ prefixItems: [x], unevaluatedItems: false })),
  deepNotAllOf: () => nest(100, (x) => ({ not: { allOf: [x, { type: "integer" }] } })),
  deepNotProperties: () => nest(100, (x) => ({ not: { properties: { a: x }, required: ["a"] } })),
  deepNotItems: () => nest(100, (x) => ({ not: { items: x } })),
  deepConst: () => ({ const: nest(400, (x) => [x]) }),
  deepConstObject: () => ({ not: { const: nest(300, (x) => ({ a: x, b: 1 })) } }),
  deepUniqueItems: () => nest(100, (x) => ({ type: "array", items: x, uniqueItems: true, minItems: 2 })),
  // Wide: many members under one keyword.
  wideAnyOf: () => ({ anyOf: n(3000, (i) => ({ properties: { [`k${i}`]: { type: "integer" } } })) }),
  wideAnyOfRequired: () => ({ type: "object", anyOf: n(1000, (i) => ({ required: [`k${i}`] })) }),
  wideAnyOfClosed: () => ({
    anyOf: n(300, (i) => ({
      type: "object",
      properties: { kind: { const: `k${i}` }, [`p${i}`]: { type: "integer" } },
      required: ["kind"],
      additionalProperties: false,
    })),
  }),
  wideAnyOfScalars: () => ({ anyOf: n(3000, (i) => ({ const: `text ${i}` })) }),
  wideAnyOfPatterns: () => ({ anyOf: n(500, (i) => ({ type: "string", pattern: `^a{${i}}b` })) }),
  wideAnyOfNumbers: () => ({
    anyOf: n(500, (i) => ({ type: "number", minimum: 3 * i, maximum: 3 * i + 1 })),
  }),
  wideAllOf: () => ({ allOf: n(3000, (i) => ({ properties: { [`k${i}`]: { type: "integer" } } })) }),
  wideAllOfSame: () => ({ allOf: n(1000, (i) => ({ properties: { a: { maxLength: i + 5 } } })) }),
  wideOneOfConst: () => ({ oneOf: n(2000, (i) => ({ const: i })) }),
  wideOneOfTypes: () => ({ oneOf: n(60, (i) => ({ type: "number", multipleOf: i + 1 })) }),
  wideOneOfRanges: () => ({
    oneOf: n(300, (i) => ({ type: "integer", minimum: 2 * i, maximum: 2 * i + 2 })),
  }),
  wideOneOfPatterns: () => ({ oneOf: n(40, (i) => ({ type: "string", pattern: `^[a-m]{${i}}` })) }),
  wideOneOfDiscriminated: () => ({
    oneOf: n(200, (i) => ({
      properties: { kind: { const: `k${i}` }, [`p${i}`]: { type: "integer" } },
      required: ["kind"],
    })),
  }),
  wideNot: () => ({ not: { anyOf: n(1000, (i) => ({ required: [`k${i}`] })) } }),
  wideNotEnum: () => ({ not: { enum: n(20000, (i) => `value ${i}`) } }),
  wideNumbers: () => ({ enum: n(20000, (i) => i * 1.5) }),
  wideNotNumbers: () => ({ type: "number", not: { enum: n(5000, (i) => i * 1.5) } }),
  widePatternProperties: () => ({
    patternProperties: o(300, (i) => [`^p${i}_`, { type: "integer", minimum: i }]),
    additionalProperties: false,
  }),
  widePatternOverlap: () => ({
    patternProperties: o(24, (i) => [`[${String.fromCharCode(97 + i)}-z]`, { minimum: i }]),
    type: "object",
  }),
  wideDependentRequired: () => ({
    dependentRequired: o(2000, (i) => [`a${i}`, n(5, (j) => `a${(i * 7 + j) % 2000}`)]),
  }),
  wideDependentSchemas: () => ({ dependentSchemas: o(200, (i) => [`a${i}`, { maxProperties: 300 - i }]) }),
  wideIf: () => ({
    allOf: n(300, (i) => ({
      if: { required: [`a${i}`] },
      then: { properties: { [`b${i}`]: { type: "null" } } },
    })),
  }),
  wideIfDiscriminated: () => ({
    type: "object",
    properties: { type: { enum: n(60, (i) => `t${i}`) } },
    allOf: n(60, (i) => ({
      if: { properties: { type: { enum: [`t${i}`] } } },
      then: { properties: { [`b${i}`]: { type: "integer" } }, required: [`b${i}`] },
    })),
  }),
  wideRequired: () => ({ required: n(20000, (i) => `r${i}`), additionalProperties: { type: "integer" } }),
  wideMinProperties: () => ({
    properties: o(500, (i) => [`p${i}`, { type: "integer" }]),
    additionalProperties: false,
    minProperties: 250,
    maxProperties: 251,
  }),
  wideFiniteNames: () => ({
    propertyNames: { pattern: "^[ab]{9}$" },
    minProperties: 500,
    type: "object",
  }),
  wideConstObject: () => ({ const: o(3000, (i) => [`p${i}`, i]) }),
  wideConstArray: () => ({ const: n(20000, (i) => i) }),
  wideEnumArrays: () => ({ enum: n(3000, (i) => [i % 7, i % 11, i]) }),
  wideDefs: () => ({
    $ref: "#/$defs/d0",
    $defs: o(5000, (i) => [`d${i}`, { anyOf: [{ $ref: `#/$defs/d${(i + 1) % 5000}` }, { const: i }] }]),
  }),
  wideRefChain: () => ({
    $ref: "#/$defs/d0",
    $defs: o(5000, (i) => [`d${i}`, i === 4999 ? { type: "integer" } : { $ref: `#/$defs/d${i + 1}` }]),
  }),
  wideTuples: () => ({
    anyOf: n(200, (i) => ({ prefixItems: n(30, (j) => ({ const: i ^ j })), items: false })),
  }),
  wideContains: () => ({ type: "array", allOf: n(40, (i) => ({ contains: { const: i } })) }),
  wideUnevaluated: () => ({
    allOf: n(100, (i) => ({
      anyOf: [{ properties: { [`a${i}`]: true } }, { properties: { [`b${i}`]: true } }],
    })),
    unevaluatedProperties: false,
  }),
  wideUnevaluatedItems: () => ({
    anyOf: n(60, (i) => ({ prefixItems: n(i + 1, () => ({ type: "integer" })) })),
    unevaluatedItems: false,
  }),
  // Exponential: clauses and counts that multiply.
  expNotNested: () => chain(24, (next) => ({ not: { anyOf: [next, { not: next }] } })),
  expNotNestedObjects: () =>
    chain(24, (next) => ({ not: { properties: { a: next, b: { not: next } }, required: ["a", "b"] } })),
  expAnyOfNested: () =>
    chain(24, (next) => ({ anyOf: [{ properties: { a: next } }, { properties: { b: next } }] })),
  expOneOfNested: () => nest(10, (x) => ({ oneOf: [x, { properties: { a: x } }] })),
  expAllOfAnyOfTypes: () => ({
    allOf: n(20, (i) => ({
      anyOf: [
        { type: "integer", minimum: i },
        { type: "string", minLength: i },
      ],
    })),
  }),
  expAllOfAnyOfStrings: () => ({
    type: "string",
    allOf: n(16, (i) => ({ anyOf: [{ pattern: `a.{${i}}b` }, { pattern: `c.{${i}}d` }] })),
  }),
  expAllOfOneOfStrings: () => ({
    type: "string",
    allOf: n(10, (i) => ({ oneOf: [{ minLength: i }, { pattern: `^${"ab"[i % 2]}` }] })),
  }),
  expAllOfAnyOfItems: () => ({
    type: "array",
    allOf: n(14, (i) => ({ anyOf: [{ items: { minimum: i } }, { contains: { const: -i } }] })),
  }),
  expAnyOfSameKeys: () => ({
    type: "object",
    allOf: n(12, (i) => ({
      anyOf: [{ properties: { a: { minimum: i } } }, { properties: { b: { maximum: i } } }],
    })),
  }),
  expDependentClauses: () => ({
    dependentSchemas: o(20, (i) => [`a${i}`, { anyOf: [{ required: [`b${i}`] }, { required: [`c${i}`] }] }]),
    required: n(20, (i) => `a${i}`),
  }),
  expNotRequired: () => ({
    type: "object",
    allOf: n(40, (i) => ({ not: { required: [`a${i}`, `a${i + 1}`] } })),
  }),
  expXor: () => ({
    type: "object",
    allOf: n(30, (i) => ({ oneOf: [{ required: [`a${i}`] }, { required: [`a${i + 1}`] }] })),
  }),
  pigeonhole: () => ({
    type: "object",
    allOf: [
      ...n(8, (i) => ({ anyOf: n(7, (j) => ({ required: [`p${i}h${j}`] })) })),
      ...n(7, (j) =>
        n(8, (i) => n(i, (k) => ({ not: { required: [`p${i}h${j}`, `p${k}h${j}`] } }))).flat(),
      ).flat(),
    ],
  }),
  uniqueContains: () => ({
    uniqueItems: true,
    type: "array",
    items: { enum: n(40, (i) => i) },
    allOf: n(10, (i) => ({ contains: { multipleOf: i + 2, minimum: 1 }, minContains: 2, maxContains: 5 })),
  }),
  uniqueStrings: () => ({
    type: "array",
    uniqueItems: true,
    minItems: 200,
    items: { type: "string", pattern: "^[01]{8}$" },
  }),
  uniqueDeepFinite: () => ({
    type: "array",
    uniqueItems: true,
    minItems: 100,
    items: {
      type: "array",
      uniqueItems: true,
      items: { type: "array", items: { type: "boolean" }, maxItems: 3 },
      maxItems: 2,
    },
  }),
  containsItems: () => ({
    type: "array",
    items: { type: "integer", minimum: 0, maximum: 100 },
    allOf: n(14, (i) => ({ contains: { multipleOf: i + 2 }, minContains: i + 1, maxContains: 2 * i + 2 })),
    maxItems: 40,
  }),
  dynamicRefs: () => ({
    $id: "urn:bomb",
    $ref: "#/$defs/r0",
    $defs: o(40, (i) => [
      `r${i}`,
      {
        $id: `urn:bomb:${i}`,
        $dynamicAnchor: `a${i}`,
        properties: o(10, (j) => [`p${j}`, { $dynamicRef: `urn:bomb:${(i + j) % 40}#a${(i + j) % 40}` }]),
      },
    ]),
  }),
  unevaluatedNested: () =>
    nest(10, (x) => ({
      anyOf: [x, { properties: { a: x }, unevaluatedProperties: false }, { required: ["b"] }],
      unevaluatedProperties: { type: "integer" },
    })),
  // Numbers.
  hugeDigits: () => ({ type: "integer", minimum: "RAW9".concat("0".repeat(20000)) }),
  hugeExponent: () => ({ type: "number", minimum: "RAW1e999999999", maximum: "RAW2e999999999" }),
  hugeMultipleOf: () => ({ type: "number", multipleOf: "RAW1e-999999", minimum: 1, maximum: 2 }),
  primorial: () => ({ type: "integer", minimum: 1, allOf: primes.map((q) => ({ multipleOf: q })) }),
  primorialFraction: () => ({
    type: "number",
    exclusiveMinimum: 0,
    maximum: 1e30,
    allOf: primes.map((q) => ({ multipleOf: q / 1000 })),
  }),
  multipleOfBounded: () => ({ type: "integer", multipleOf: 999999937, minimum: 1, maximum: 1e15 }),
  notMultiples: () => ({
    type: "integer",
    minimum: 2,
    maximum: 1e6,
    allOf: primes.map((q) => ({ not: { multipleOf: q } })),
  }),
  // Patterns.
  patternNested: () => ({ pattern: "^(((a+)+)+)+$" }),
  patternOptional: () => ({ pattern: `^${"a?".repeat(500)}${"a".repeat(500)}$` }),
  patternStars: () => ({ pattern: `^${"(.*a)".repeat(40)}$` }),
  patternSuffix: () => ({ pattern: "a.{400}$" }),
  patternSuffixCounted: () => ({ pattern: "(a|b)*a(a|b){15,400}c" }),
  patternCounted: () => ({ pattern: "^((a{1,9}b){1,1000}c){1,1000}$" }),
  patternHuge: () => ({ pattern: "^(ab?){1000000}$" }),
  patternWords: () => ({ pattern: `^(${n(4000, (i) => `word${i * 7919}`).join("|")})$` }),
  patternSearchWords: () => ({ pattern: n(1500, (i) => `word${i * 7919}`).join("|") }),
  patternUnicode: () => ({ pattern: `^${"\\p{L}\\p{N}*".repeat(50)}$` }),
  patternNegatedSets: () => ({
    pattern: `^(${n(100, (i) => `[^${String.fromCharCode(97 + (i % 26))}]{${i}}`).join("|")})$`,
  }),
  patternDeepGroups: () => ({ pattern: `${"(".repeat(5000)}a${")".repeat(5000)}` }),
  patternDeepOptional: () => ({ pattern: `^${"(a".repeat(2000)}${")?".repeat(2000)}$` }),
  patternLiteral: () => ({ pattern: `^${"abc".repeat(20000)}$` }),
  patternBoundaries: () => ({ pattern: `^${"(\\b\\w+\\b.?)".repeat(12)}$` }),
  patternLookbehind: () => ({
    pattern: `${n(12, (i) => `(?<=${String.fromCharCode(97 + i)}.*)`).join("")}x$`,
  }),
  patternNegativeLookaheads: () => ({
    pattern: `^${n(25, (i) => `(?!.*${String.fromCharCode(97 + i)}.{3})`).join("")}.*$`,
  }),
  patternLookaheadLoop: () => ({ pattern: "^((?=.*a.{5})(?!.*b.{7}).)*$" }),
  patternLookaheadNested: () => ({ pattern: `^${"(?=.*(?!b".repeat(10)}a${"))".repeat(10)}.*$` }),
  patternFqdn: () => ({ pattern: "^(?!.*://)(?=.{1,255}$)((.{1,63}\\.){1,127}(?![0-9]*$)[a-z0-9-]+\\.?)$" }),
  patternPassword: () => ({
    pattern: "^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d)(?=.*[^\\w])(?!.*(.)(?=.*x)).{8,64}$",
  }),
  patternLength: () => ({ pattern: "^(a{1,100}b{1,100}){1,100}$", minLength: 777, maxLength: 7777 }),
  patternAndNot: () => ({
    allOf: n(6, (i) => ({ pattern: `(a|b){${i + 6}}$`, not: { pattern: `^(a|b)*a(a|b){${i + 6}}$` } })),
  }),
  patternAndLengths: () => ({
    type: "string",
    allOf: n(8, (i) => ({ pattern: `^(.{${primes[i]}})*$` })),
    minLength: 1,
  }),
  formatsAll: () => ({ type: "string", allOf: formats.map((format) => ({ format })) }),
  formatsAny: () => ({ type: "string", anyOf: formats.map((format) => ({ format })) }),
  formatsNot: () => ({ type: "string", allOf: formats.map((format) => ({ not: { format } })) }),
  formatsOne: () => ({ type: "string", oneOf: formats.slice(0, 8).map((format) => ({ format })) }),
  formatPatternLength: () => ({
    type: "string",
    format: "uri",
    pattern: "^https://[a-z]+\\.example/.*\\?q=",
    minLength: 40,
    maxLength: 80,
  }),
  formatEmailLength: () => ({ type: "string", format: "email", minLength: 100, maxLength: 250 }),
  formatHostnameSearch: () => ({ type: "string", format: "hostname", pattern: "(a.*){9}" }),
  propertyNamesFormat: () => ({ propertyNames: { format: "email" }, minProperties: 5 }),
  patternPropertiesFormat: () => ({
    patternProperties: o(8, (i) => [`(a|b)*a(a|b){${i + 4}}$`, { minimum: i }]),
    propertyNames: { format: "hostname" },
    minProperties: 1,
    additionalProperties: false,
  }),
  // Thousands of unique items, long runs of optional parts, complements of long texts.
  uniqueWords: () => ({ type: "array", uniqueItems: true, minItems: 3_000, items: word }),
  uniqueWordsRead: () => ({ type: "array", uniqueItems: true, minItems: 600, items: word }),
  uniqueEmails: () => ({
    type: "array",
    uniqueItems: true,
    minItems: 1_000,
    items: { type: "string", format: "email" },
  }),
  uniqueLookaheads: () => ({
    type: "array",
    uniqueItems: true,
    minItems: 500,
    items: { type: "string", pattern: "^(?=.*[a-z])(?=.*\\d)[a-z0-9]{3,8}$" },
  }),
  uniqueAnything: () => ({ type: "array", uniqueItems: true, minItems: 1_000 }),
  uniqueIntegersRead: () => ({
    type: "array",
    uniqueItems: true,
    minItems: 1_000,
    items: { type: "integer" },
  }),
  uniqueSixths: () => ({
    type: "array",
    uniqueItems: true,
    minItems: 800,
    items: { type: "number", multipleOf: 0.06, minimum: -7, not: { multipleOf: 0.9 } },
  }),
  uniqueMultiples: () => ({
    type: "array",
    uniqueItems: true,
    minItems: 2_000,
    items: { type: "integer", multipleOf: "RAW123456789.987654321" },
  }),
  stringOptionalLetters: () => ({
    type: "string",
    pattern: `^${"a?b?c?".repeat(250)}${"abc".repeat(250)}$`,
  }),
  stringOptionalWords: () => ({ type: "string", pattern: `^${n(300, (i) => `(?:a${i}b)?`).join("")}x$` }),
  stringOptionalRuns: () => ({ type: "string", pattern: `^${"a*b?".repeat(400)}c{300}$` }),
  stringNotAccents: () => ({
    type: "string",
    not: { enum: n(40, (i) => "é".repeat(500 * i)) },
    minLength: 10_000,
    maxLength: 30_000,
  }),
  keysLookaheads: () => ({
    type: "object",
    propertyNames: { pattern: "^(?=.*x)(?=.*\\d)(?!.*--)[a-z0-9-]{12,40}$" },
    minProperties: 40,
    additionalProperties: { type: "null" },
  }),
  stringNotFew: () => ({ type: "string", not: { pattern: "^[ab]{0,2000}$" }, minLength: 5_000 }),
}

/** The JSON text of the bomb `name`. */
export function bombText(name: string): string {
  return JSON.stringify(bombs[name]()).replace(/"RAW([^"]*)"/g, "$1")
}
