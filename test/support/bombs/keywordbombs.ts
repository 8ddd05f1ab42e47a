/**
 * Schemas made to explode, by keyword: what `bombs.ts` does to the common ones, done to all others, to references, to
 * patterns and to plain size. The types are fixed, so that no number is a way out.
 */
import { chain, n, nest, o } from "./bombshapes.ts"

const kind = (type: string, rest: object) => ({ type, ...rest })
const letters = (count: number, make: (letter: string, i: number) => string) =>
  n(count, (i) => make(String.fromCharCode(97 + (i % 26)), i)).join("")

export const keywordBombs: Record<string, () => unknown> = {
  // Completions that are long, or have to be searched.
  objectMinProperties: () =>
    kind("object", { minProperties: 100_000, additionalProperties: { type: "integer" } }),
  objectMinPropertiesHuge: () => kind("object", { minProperties: 1e9 }),
  objectPatternMinProperties: () =>
    kind("object", {
      minProperties: 20_000,
      patternProperties: { "^[a-z]+_[0-9]$": { type: "integer" } },
      additionalProperties: false,
    }),
  objectRequired: () =>
    kind("object", { required: n(20_000, (i) => `r${i}`), additionalProperties: { type: "integer" } }),
  objectClosedMany: () =>
    kind("object", {
      properties: o(20_000, (i) => [`p${i}`, { type: "integer" }]),
      additionalProperties: false,
      minProperties: 15_000,
    }),
  objectFiniteNames: () =>
    kind("object", {
      propertyNames: { pattern: "^[a-d]{6}$" },
      minProperties: 3_000,
      additionalProperties: { type: "null" },
    }),
  arrayMinItems: () => kind("array", { minItems: 500_000, items: { type: "integer" } }),
  arrayTuple: () =>
    kind("array", { prefixItems: n(20_000, (i) => ({ const: `${i}` })), items: false, minItems: 20_000 }),
  arrayUniqueIntegers: () =>
    kind("array", { uniqueItems: true, minItems: 2_000, items: { type: "integer" } }),
  arrayUniqueEnum: () =>
    kind("array", { uniqueItems: true, minItems: 300, items: { enum: n(20_000, (i) => `v${i}`) } }),
  arrayUniqueEnumAll: () =>
    kind("array", { uniqueItems: true, minItems: 20_000, items: { enum: n(20_000, (i) => i) } }),
  arrayUniqueStrings: () =>
    kind("array", { uniqueItems: true, minItems: 500, items: { type: "string", minLength: 200 } }),
  stringMinLength: () => kind("string", { minLength: 1_000_000 }),
  stringPatternMinLength: () => kind("string", { minLength: 500_000, pattern: "^[a-z]+(-[a-z]+)*$" }),
  stringPatternsMinLength: () =>
    kind("string", { minLength: 50_000, allOf: [{ pattern: "^([a-c][0-9])+$" }, { pattern: "1.*2" }] }),
  stringCounts: () => kind("string", { pattern: "^(ab?){300000}$" }),
  stringCountsNested: () => kind("string", { pattern: `^${"(".repeat(9)}a${"{3}b?)".repeat(9)}$` }),
  stringOptional: () => kind("string", { pattern: `^${"a?".repeat(800)}${"a".repeat(800)}$` }),
  stringBoundaries: () => kind("string", { pattern: `^${"(\\b\\w+\\b.?)".repeat(12)}$` }),
  stringBoundaryTower: () =>
    kind("string", { pattern: "(\\b(\\b(\\b(\\b(\\b(\\b.)+(?:\\B|a))+)+(?:\\B|b))+\\b)+)+x{50}" }),
  stringLookbehinds: () => kind("string", { pattern: `${letters(11, (letter) => `(?<=${letter}.*)`)}x$` }),
  stringLookaheadTower: () =>
    kind("string", { pattern: `^${"(?=.*a(?!b(?=c".repeat(8)}x${")))".repeat(8)}.*$` }),
  stringLookaheadCounts: () => kind("string", { pattern: "^((?=.{3,90}a)(?!.{5,70}b).{1,9}c){20,400}$" }),
  stringLookbehindLoop: () => kind("string", { pattern: "^((?<=a.{0,8})b|(?<!b.{4})a|c){40}$" }),
  stringClasses: () => kind("string", { pattern: `^${"(\\p{Lu}\\p{Ll}+\\P{L}{0,9}){1,40}".repeat(6)}$` }),
  stringScripts: () =>
    kind("string", {
      allOf: ["Han", "Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Thai", "Hangul"].map((script) => ({
        pattern: `\\p{Script=${script}}`,
      })),
    }),
  stringNotScripts: () =>
    kind("string", {
      allOf: ["Han", "Latin", "Greek", "Cyrillic"].map((script) => ({
        not: { pattern: `\\p{Script=${script}}{3,40}x` },
      })),
    }),
  stringAlternatives: () =>
    kind("string", { pattern: `^(${n(2_500, (i) => `[a-${"bcdefgh"[i % 7]}]{${i % 19}}${i}`).join("|")})$` }),
  stringDeepOptional: () => kind("string", { pattern: `^${"(a".repeat(12_000)}${")?".repeat(12_000)}$` }),
  stringDeepGroups: () => kind("string", { pattern: `${"(".repeat(30_000)}a${")".repeat(30_000)}` }),
  stringDeepStars: () => kind("string", { pattern: `^${"(a".repeat(3_000)}${"b*)*".repeat(3_000)}$` }),
  stringCase: () =>
    kind("string", { pattern: `^${"[^a-zA-Z\\u0000-\\u001f\\ud800-\\udfff]*\\S\\D\\W".repeat(120)}$` }),
  // References.
  refChain: () => chain(10_000, (next) => next as object),
  refChainAllOf: () => chain(10_000, (next) => ({ allOf: [next, { minimum: 1 }] })),
  refChainAnyOf: () => chain(10_000, (next) => ({ anyOf: [next, { type: "null" }] })),
  refChainNot: () => chain(10_000, (next) => ({ not: next })),
  refChainItems: () => chain(10_000, (next) => kind("array", { items: next, minItems: 1 })),
  refChainProperties: () =>
    chain(10_000, (next) => kind("object", { properties: { a: next }, required: ["a"] })),
  refCycle: () => ({
    $ref: "#/$defs/d0",
    $defs: o(10_000, (i) => [`d${i}`, { $ref: `#/$defs/d${(i + 1) % 10_000}` }]),
  }),
  refCycleItems: () => ({
    $ref: "#/$defs/d0",
    $defs: o(10_000, (i) => [
      `d${i}`,
      kind("array", { minItems: 1, items: { $ref: `#/$defs/d${(i + 1) % 10_000}` } }),
    ]),
  }),
  refCycleEscapes: () => ({
    $ref: "#/$defs/d0",
    $defs: o(3_000, (i) => [
      `d${i}`,
      kind("object", {
        required: ["a"],
        properties: { a: i === 2_999 ? { type: "null" } : { $ref: `#/$defs/d${(i * 7 + 1) % 3_000}` } },
      }),
    ]),
  }),
  dynamicTower: () => ({
    $id: "urn:tower",
    $dynamicAnchor: "top",
    $ref: "urn:tower:0",
    $defs: o(60, (i) => [
      `r${i}`,
      {
        $id: `urn:tower:${i}`,
        $dynamicAnchor: "top",
        type: "object",
        properties: { a: { $dynamicRef: "#top" }, b: { $ref: `urn:tower:${(i + 1) % 60}` } },
      },
    ]),
  }),
  recursiveAnchors: () => ({
    $schema: "https://json-schema.org/draft/2019-09/schema",
    $recursiveAnchor: true,
    anyOf: n(40, (i) => ({ properties: { [`a${i}`]: { $recursiveRef: "#" } }, required: [`a${i}`] })),
    type: "object",
  }),
  // Keywords, deep.
  deepPatternDependent: () =>
    nest(120, (x) =>
      kind("object", { dependentSchemas: { a: { patternProperties: { "^b": x } } }, required: ["a"] }),
    ),
  deepDependentSchemas: () =>
    nest(400, (x) => kind("object", { dependentSchemas: { a: x }, required: ["a"] })),
  deepNotNot: () => nest(250, (x) => ({ not: { not: x } })),
  deepNotOneOf: () => nest(40, (x) => ({ not: { oneOf: [x, { type: "string" }, { minimum: 3 }] } })),
  deepNotIf: () => nest(60, (x) => ({ not: { if: x, then: { minimum: 2 }, else: { type: "string" } } })),
  deepNotContains: () => nest(80, (x) => ({ not: kind("array", { contains: x, maxContains: 2 }) })),
  deepNotUnevaluated: () =>
    nest(12, (x) => ({
      not: { properties: { a: x }, anyOf: [{ required: ["b"] }, x], unevaluatedProperties: false },
    })),
  deepContainsCounts: () => nest(60, (x) => kind("array", { contains: x, minContains: 2, maxContains: 3 })),
  deepUniqueTuple: () =>
    chain(40, (x) => kind("array", { prefixItems: [x, x], items: false, uniqueItems: true, minItems: 2 })),
  deepPropertyNamesNot: () => nest(200, (x) => ({ propertyNames: { not: { propertyNames: x } } })),
  deepIfThenElse: () => chain(40, (x) => ({ if: x, then: x, else: x })),
  // Keywords, wide.
  wideAnyOf10000: () => kind("object", { anyOf: n(10_000, (i) => ({ required: [`k${i}`] })) }),
  wideAnyOfConsts: () => ({ anyOf: n(10_000, (i) => ({ const: { a: i } })) }),
  wideOneOf10000: () => ({ oneOf: n(10_000, (i) => ({ const: `text ${i}` })) }),
  wideOneOfNumbers: () => kind("number", { oneOf: n(5_000, (i) => ({ minimum: i, maximum: i + 1 })) }),
  wideAllOf10000: () => kind("object", { allOf: n(10_000, (i) => ({ required: [`k${i % 100}`] })) }),
  wideAllOfPatterns: () => kind("string", { allOf: n(60, (i) => ({ pattern: `${i}` })) }),
  wideAllOfNotConst: () => kind("string", { allOf: n(12_000, (i) => ({ not: { const: `text ${i}` } })) }),
  wideAllOfMultipleOf: () => kind("integer", { allOf: n(2_000, (i) => ({ multipleOf: i + 1 })) }),
  wideIfNested: () =>
    kind("object", {
      allOf: n(100, (i) => ({
        if: { required: [`a${i}`] },
        then: { if: { required: [`b${i}`] }, then: { required: [`c${i}`] }, else: { maxProperties: 50 } },
      })),
    }),
  widePatternNames: () =>
    kind("object", {
      patternProperties: o(400, (i) => [`${i}$`, { minimum: i }]),
      propertyNames: { maxLength: 20 },
    }),
  wideUnevaluatedAnyOf: () =>
    kind("object", {
      anyOf: n(200, (i) => ({ properties: { [`a${i}`]: { type: "integer" } }, required: [`a${i}`] })),
      unevaluatedProperties: { type: "string" },
    }),
  wideUnevaluatedItemsContains: () =>
    kind("array", { allOf: n(12, (i) => ({ contains: { const: i } })), unevaluatedItems: false }),
  wideContainsCounts: () =>
    kind("array", {
      allOf: n(8, (i) => ({ contains: { multipleOf: i + 2 }, minContains: 100, maxContains: 200 })),
      minItems: 300,
    }),
  wideUniqueObjects: () =>
    kind("array", {
      uniqueItems: true,
      minItems: 500,
      items: kind("object", {
        required: ["a", "b"],
        properties: { a: { enum: n(30, (i) => i) }, b: { enum: n(30, (i) => i) } },
        additionalProperties: false,
      }),
    }),
  wideDependencies: () =>
    kind("object", {
      dependencies: o(400, (i) => [`a${i}`, { anyOf: [{ required: [`b${i}`] }, { minProperties: 3 }] }]),
    }),
  wideFormatsNames: () =>
    kind("object", {
      propertyNames: {
        anyOf: ["email", "hostname", "uri", "date-time", "ipv6", "uuid"].map((format) => ({ format })),
      },
      minProperties: 20,
      additionalProperties: { type: "null" },
    }),
  wideFormatsPatterns: () =>
    kind("object", {
      propertyNames: { format: "uri-reference" },
      patternProperties: { "^https?:": { type: "null" }, "\\?": { type: "null" }, "#$": {}, "[0-9]{4}": {} },
      additionalProperties: false,
    }),
  idnHostnames: () => kind("string", { format: "idn-hostname", minLength: 100, pattern: "(ß|ü|é).*\\..*x" }),
  idnEmails: () => kind("string", { format: "idn-email", not: { pattern: "^[a-z0-9.]+@" }, minLength: 60 }),
  // Numbers.
  numbersTiny: () =>
    kind("number", { multipleOf: "RAW1e-400000", exclusiveMinimum: 0, maximum: "RAW1e-399990" }),
  numbersFar: () =>
    kind("number", { minimum: "RAW1e400000", multipleOf: "RAW3e399990", not: { multipleOf: "RAW7e399990" } }),
  numbersExponent: () => kind("integer", { multipleOf: "RAW1e2000000", minimum: 1 }),
  numbersDigits: () => kind("number", { multipleOf: `RAW${"7".repeat(5_000)}`, minimum: 1 }),
  numbersFraction: () =>
    kind("number", { multipleOf: `RAW0.${"3".repeat(3_000)}`, minimum: 1, not: { multipleOf: 3 } }),
  numbersNarrow: () =>
    kind("number", {
      exclusiveMinimum: "RAW1.0".concat("0".repeat(20_000), "1"),
      exclusiveMaximum: "RAW1.0".concat("0".repeat(20_000), "2"),
    }),
  numbersResidues: () =>
    kind("integer", {
      minimum: 1,
      allOf: n(400, (i) => ({ not: { multipleOf: 1_000_003 + 2 * i } })),
      multipleOf: 1_000_000_007,
    }),
  numbersAnyOf: () =>
    kind("number", {
      allOf: n(6, (i) => ({ anyOf: n(30, (j) => ({ minimum: 100 * j + i, maximum: 100 * j + 50 + i })) })),
    }),
  // Sheer size.
  sizeString: () => ({ const: "x".repeat(1_000_000) }),
  sizeKey: () =>
    kind("object", {
      properties: { ["k".repeat(1_000_000)]: { type: "integer" } },
      required: ["k".repeat(1_000_000)],
    }),
  sizeEnum: () => ({ enum: n(20, (i) => `${i}${"y".repeat(100_000)}`) }),
  sizeDescriptions: () =>
    kind("object", { properties: o(2_000, (i) => [`p${i}`, { description: "d".repeat(2_500) }]) }),
  sizeProperties: () =>
    kind("object", { properties: o(60_000, (i) => [`property ${i}`, { type: "string", maxLength: i }]) }),
  sizeEnumNumbers: () => ({ enum: n(200_000, (i) => i * 7) }),
  sizeNested: () => kind("array", { items: { const: n(1_000, (i) => n(50, (j) => i * j)) } }),
  sizeNotConst: () => kind("array", { not: { const: n(3_000, (i) => i) } }),
  // Counts, differences and references that meet in one array or object.
  permutation: () =>
    kind("array", {
      prefixItems: n(9, () => ({ enum: n(9, (i) => i + 1) })),
      items: false,
      minItems: 9,
      uniqueItems: true,
      allOf: n(9, (i) => ({ contains: { const: i + 1 } })),
    }),
  containsUnique: () =>
    kind("array", { contains: { type: "integer" }, minContains: 1_000, uniqueItems: true }),
  containsUniqueEnum: () =>
    kind("array", {
      items: { enum: n(3_000, (i) => 10_000 + i) },
      contains: { minimum: 11_000 },
      minContains: 1_000,
      maxContains: 1_500,
      uniqueItems: true,
    }),
  containsPigeons: () =>
    kind("array", {
      items: { enum: n(6, (i) => i) },
      allOf: n(6, (i) => ({ contains: { const: i }, minContains: 5, maxContains: 6 })),
      minItems: 37,
    }),
  containsUnevaluated: () =>
    kind("array", {
      allOf: n(8, (i) => ({ contains: { multipleOf: [2, 3, 5, 7, 11, 13, 17, 19][i] } })),
      unevaluatedItems: { type: "string" },
      minItems: 20,
    }),
  uniqueLevels: () =>
    kind("array", {
      uniqueItems: true,
      minItems: 2,
      items: n(12, (i) => i).reduce<object>((items) => kind("array", { items, minItems: 1, maxItems: 1 }), {
        type: "boolean",
      }),
    }),
  uniquePairs: () =>
    kind("array", {
      uniqueItems: true,
      minItems: 6,
      items: kind("array", { uniqueItems: true, minItems: 2, maxItems: 2, items: { enum: [1, 2, 3] } }),
    }),
  uniqueChain: () =>
    kind("array", {
      uniqueItems: true,
      minItems: 401,
      prefixItems: [...n(400, (i) => ({ enum: [i, i + 1] })), { enum: [0] }],
      items: false,
    }),
  uniqueRange: () =>
    kind("array", {
      uniqueItems: true,
      minItems: 1_000,
      items: { type: "integer", minimum: 1, maximum: 1_000 },
    }),
  uniquePattern: () =>
    kind("array", { uniqueItems: true, minItems: 1_000, items: { type: "string", pattern: "^[a-z]+$" } }),
  refMutual: () => ({
    $ref: "#/$defs/d1",
    $defs: o(20, (i) => [
      `d${i}`,
      kind("object", {
        properties: o(20, (j) => [
          `p${j}`,
          { allOf: [{ $ref: `#/$defs/d${j}` }, { $ref: `#/$defs/d${(i + j) % 20}` }] },
        ]),
        required: i % 3 ? [] : [`p${(i * 7) % 20}`],
      }),
    ]),
  }),
  numbersHoles: () =>
    kind("number", {
      allOf: n(2_000, (i) => ({ not: { exclusiveMinimum: i * 0.37, maximum: i * 0.37 + 0.1 } })),
    }),
  numbersEnumNot: () => ({
    enum: n(20_000, (i) => i / 8),
    allOf: n(20, (i) => ({ not: { multipleOf: i + 3 } })),
  }),
  numbersSkewed: () =>
    kind("integer", {
      minimum: `RAW${"1".repeat(300)}`,
      maximum: `RAW${"1".repeat(299)}2`,
      multipleOf: 2,
    }),
  numbersCoprime: () =>
    kind("integer", { allOf: n(60, (i) => ({ multipleOf: 2 * i * i + 2 * i + 41 })), minimum: 1 }),
  stringLettersLong: () =>
    kind("string", {
      pattern: "^\\p{L}[\\p{L}\\p{M}\\p{N} ]*\\p{Lu}$",
      minLength: 500_000,
      maxLength: 1_000_000,
    }),
  stringNotLong: () => kind("string", { not: { const: "ab".repeat(500_000) }, minLength: 1_000_000 }),
  stringKeysInAnyOrder: () =>
    kind("string", { pattern: `^${n(9, (i) => `(?=(.*,)?k${i}=)`).join("")}[^,]*(,[^,]*){8}$` }),
}
