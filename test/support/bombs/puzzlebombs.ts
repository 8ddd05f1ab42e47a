/**
 * Schemas that are puzzles: satisfiability, colourings, exact covers, and schemas that hold each other, beside the ones
 * that `bombs.ts` and `keywordbombs.ts` make keyword by keyword.
 */
import { chain, n, nest, o } from "./bombshapes.ts"

const obj = (rest: object) => ({ type: "object", ...rest })
const arr = (rest: object) => ({ type: "array", ...rest })

export const puzzleBombs: Record<string, () => unknown> = {
  twinsLong: () => arr({ not: { uniqueItems: true }, minItems: 5_000, maxItems: 100_000 }),
  twinsWide: () =>
    arr({ not: { uniqueItems: true }, prefixItems: n(300, (i) => ({ enum: [i, i + 150] })), items: false }),
  twinsNone: () =>
    arr({ not: { uniqueItems: true }, prefixItems: n(300, (i) => ({ const: i })), items: false }),
  twinsCounted: () =>
    arr({
      not: { uniqueItems: true },
      allOf: n(5, (i) => ({ contains: { multipleOf: i + 2 }, minContains: 3, maxContains: 9 })),
      items: { type: "integer" },
    }),
  twinsNested: () => nest(60, (x) => arr({ not: { uniqueItems: true }, items: x, maxItems: 2 })),
  twinsDoubled: () => chain(40, (x) => arr({ not: { uniqueItems: true }, prefixItems: [x, x], minItems: 2 })),
  twinsOfOneOf: () => arr({ oneOf: n(12, (i) => ({ uniqueItems: true, items: { maximum: i } })) }),
  uniqueManyObjects: () => arr({ minItems: 300, uniqueItems: true, items: { type: "object" } }),
  uniqueManyArrays: () => arr({ minItems: 300, uniqueItems: true, items: { type: "array" } }),
  uniqueManyObjectsReq: () =>
    arr({
      minItems: 200,
      uniqueItems: true,
      items: {
        type: "object",
        required: ["a", "b"],
        properties: { a: { type: "integer" }, b: { type: "string" } },
      },
    }),
  refMutualAllReq: () => ({
    $ref: "#/$defs/d0",
    $defs: o(40, (i) => [
      `d${i}`,
      obj({
        properties: o(40, (j) => [`p${j}`, { $ref: `#/$defs/d${j}` }]),
        required: n(40, (j) => `p${j}`),
      }),
    ]),
  }),
  refMutualAllReq100: () => ({
    $ref: "#/$defs/d0",
    $defs: o(100, (i) => [
      `d${i}`,
      obj({
        properties: o(100, (j) => [`p${j}`, { $ref: `#/$defs/d${j}` }]),
        required: n(100, (j) => `p${j}`),
      }),
    ]),
  }),
  refMutualSomeReq: () => ({
    $ref: "#/$defs/d0",
    $defs: o(60, (i) => [
      `d${i}`,
      obj({
        properties: o(60, (j) => [`p${j}`, { $ref: `#/$defs/d${j}` }]),
        required: i < 59 ? [`p${i + 1}`] : [],
      }),
    ]),
  }),
  refMutualItems: () => ({
    $ref: "#/$defs/d0",
    $defs: o(60, (i) => [
      `d${i}`,
      arr({ prefixItems: n(20, (j) => ({ $ref: `#/$defs/d${(i * 7 + j) % 60}` })), minItems: 10 }),
    ]),
  }),
  refMutualAnyOf: () => ({
    $ref: "#/$defs/d0",
    $defs: o(60, (i) => [
      `d${i}`,
      obj({
        required: ["a"],
        properties: { a: { anyOf: n(10, (j) => ({ $ref: `#/$defs/d${(i * 7 + j) % 60}` })) } },
      }),
    ]),
  }),
  refMutualAllOf: () => ({
    $ref: "#/$defs/d0",
    $defs: o(40, (i) => [
      `d${i}`,
      obj({
        properties: {
          a: { allOf: n(6, (j) => ({ $ref: `#/$defs/d${(i * 5 + j) % 40}` })) },
          [`b${i}`]: { $ref: `#/$defs/d${(i + 1) % 40}` },
        },
      }),
    ]),
  }),
  refMutualAllOfReq: () => ({
    $ref: "#/$defs/d0",
    $defs: o(24, (i) => [
      `d${i}`,
      obj({
        required: ["a"],
        properties: { a: { allOf: n(2, (j) => ({ $ref: `#/$defs/d${(i * 2 + j) % 24}` })) } },
      }),
    ]),
  }),
  sixAnyOfs: () => ({
    allOf: n(6, (i) => ({
      anyOf: n(3, (j) =>
        obj({
          properties: { [`p${i}`]: { $ref: "#" }, [`q${j}`]: { type: j ? "string" : "object" } },
          required: [`p${i}`],
        }),
      ),
    })),
  }),
  sixAnyOfs2: () => ({
    allOf: n(6, (i) => ({
      anyOf: n(3, (j) =>
        obj({ properties: { p: { $ref: "#" }, [`q${i}${j}`]: { $ref: "#" } }, required: ["p", `q${i}${j}`] }),
      ),
    })),
  }),
  eightAnyOfs: () => ({
    allOf: n(8, (i) => ({
      anyOf: n(4, (j) =>
        obj({ properties: { [`k${(i + j) % 5}`]: { $ref: "#" } }, required: [`k${(i * j) % 5}`] }),
      ),
    })),
  }),
  ifChain: () =>
    obj({
      allOf: n(60, (i) => ({
        if: { properties: { [`a${i}`]: { const: i } }, required: [`a${i}`] },
        then: {
          properties: { [`a${(i + 1) % 60}`]: { const: (i + 1) % 60 } },
          required: [`a${(i + 1) % 60}`],
        },
        else: { properties: { [`a${i}`]: { type: "string" } } },
      })),
    }),
  depReqCycle: () =>
    obj({
      dependentRequired: o(500, (i) => [`a${i}`, n(5, (j) => `a${(i * 3 + j) % 500}`)]),
      required: ["a0"],
    }),
  depSchemas: () =>
    obj({
      dependentSchemas: o(40, (i) => [
        `a${i}`,
        { anyOf: [{ required: [`b${i}`] }, { required: [`a${(i + 1) % 40}`] }] },
      ]),
      minProperties: 10,
    }),
  maxPropsClauses: () =>
    obj({
      allOf: n(30, (i) => ({
        anyOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }, { required: [`c${i}`] }],
      })),
      maxProperties: 29,
    }),
  maxPropsClauses2: () =>
    obj({
      allOf: n(40, (i) => ({
        anyOf: [
          { required: [`a${i % 7}`] },
          { required: [`a${(i * 3) % 11}`] },
          { required: [`a${(i * 5) % 13}`] },
        ],
      })),
      maxProperties: 4,
    }),
  oneOfRequired3: () =>
    obj({
      allOf: n(20, (i) => ({
        oneOf: [
          { required: [`a${i}`] },
          { required: [`a${(i + 1) % 20}`] },
          { required: [`a${(i + 7) % 20}`] },
        ],
      })),
    }),
  oneOfRequired3sat: () =>
    obj({
      allOf: n(60, (i) => ({
        oneOf: [
          { required: [`a${(i * 7) % 31}`] },
          { required: [`a${(i * 11 + 3) % 31}`] },
          { required: [`a${(i * 13 + 5) % 31}`] },
        ],
      })),
    }),
  sat3: () =>
    obj({
      allOf: n(200, (i) => ({
        anyOf: n(3, (j) => {
          const v = (i * 37 + j * 101 + i * i * 7) % 50
          return (i * 31 + j * 17) % 2 ? { required: [`v${v}`] } : { not: { required: [`v${v}`] } }
        }),
      })),
    }),
  sat3enum: () =>
    obj({
      required: n(30, (i) => `v${i}`),
      properties: o(30, (i) => [`v${i}`, { type: "boolean" }]),
      allOf: n(128, (i) => ({
        anyOf: n(3, (j) => ({
          properties: { [`v${(i * 37 + j * 11 + i * i * 7) % 30}`]: { const: (i * 31 + j * 17) % 2 === 0 } },
        })),
      })),
    }),
  coloring: () =>
    obj({
      required: n(20, (i) => `v${i}`),
      properties: o(20, (i) => [`v${i}`, { enum: ["r", "g", "b"] }]),
      allOf: n(46, (i) => ({
        not: {
          anyOf: ["r", "g", "b"].map((c) => ({
            properties: {
              [`v${(i * 7) % 20}`]: { const: c },
              [`v${(i * 7 + 1 + (i % 5)) % 20}`]: { const: c },
            },
          })),
        },
      })),
    }),
  latin: () =>
    arr({
      minItems: 6,
      maxItems: 6,
      uniqueItems: true,
      items: arr({ minItems: 6, maxItems: 6, uniqueItems: true, items: { enum: [1, 2, 3, 4, 5, 6] } }),
    }),
  containsMany: () =>
    arr({
      allOf: n(40, (i) => ({ contains: { required: [`a${i}`] } })),
      maxItems: 39,
      items: { type: "object" },
    }),
  containsMany2: () =>
    arr({
      allOf: n(30, (i) => ({ contains: obj({ properties: { a: { multipleOf: i + 2 } }, required: ["a"] }) })),
      maxItems: 3,
    }),
  notNest: () => chain(60, (x) => ({ not: { allOf: [x, { not: x }, { required: ["a"] }] } })),
  oneOfChain: () =>
    chain(30, (x) => ({ oneOf: [x, { properties: { a: x }, required: ["a"] }, { type: "string" }] })),
  unevalChain: () => chain(30, (x) => ({ allOf: [x], properties: { a: x }, unevaluatedProperties: false })),
  unevalOneOf: () =>
    obj({
      oneOf: n(40, (i) => ({
        properties: { kind: { const: i }, [`x${i}`]: true },
        patternProperties: { [`^p${i}`]: true },
      })),
      unevaluatedProperties: false,
    }),
  propNamesPatterns: () =>
    obj({ propertyNames: { allOf: n(40, (i) => ({ pattern: `.{${i}}[a-z]` })) }, minProperties: 2000 }),
  patPropsOverlap: () =>
    obj({
      patternProperties: o(26, (i) => [String.fromCharCode(97 + i), { minimum: i }]),
      minProperties: 300,
      additionalProperties: false,
    }),
  patPropsReq: () =>
    obj({
      patternProperties: o(60, (i) => [`a.{${i}}b`, { type: i % 2 ? "integer" : ["integer", "string"] }]),
      required: n(60, (i) => `a${"x".repeat(i)}b`),
    }),
  deepRequiredItems: () => nest(400, (x) => arr({ items: x, minItems: 1 })),
  deepProps: () => nest(400, (x) => obj({ properties: { a: x }, required: ["a"] })),
  deepAny: () => nest(400, (x) => ({ anyOf: [x, { type: "null" }] })),
  doubling: () => chain(60, (x) => arr({ prefixItems: [x, x], minItems: 2 })),
  doublingObj: () => chain(60, (x) => obj({ properties: { a: x, b: x }, required: ["a", "b"] })),
  enumBig: () => ({ enum: n(5000, (i) => o(10, (j) => [`k${j}`, i * j])) }),
  enumObjectsClosed: () => ({
    allOf: [
      { enum: n(3000, (i) => ({ a: i, b: [i, { c: i }] })) },
      { not: { enum: n(2999, (i) => ({ a: i, b: [i, { c: i }] })) } },
    ],
  }),
  enumTimesSchema: () => ({
    allOf: [
      { enum: n(2000, (i) => ({ a: i })) },
      { properties: { a: { multipleOf: 7 } } },
      { not: { properties: { a: { multipleOf: 5 } } } },
      { anyOf: n(50, (i) => ({ properties: { a: { maximum: i * 3 } } })) },
    ],
  }),
  tupleTypes: () =>
    arr({
      prefixItems: n(3000, (i) => ({
        anyOf: [
          { type: "integer", minimum: i },
          { type: "string", maxLength: i },
        ],
      })),
      minItems: 3000,
    }),
  minItemsObjs: () =>
    arr({ minItems: 20000, items: obj({ required: ["a"], properties: { a: arr({ minItems: 3 }) } }) }),
  manyDefs: () => ({
    $ref: "#/$defs/d0",
    $defs: o(20000, (i) => [
      `d${i}`,
      obj({ properties: { n: { $ref: `#/$defs/d${(i + 1) % 20000}` } }, required: ["n"] }),
    ]),
  }),
  manyProps: () =>
    obj({
      properties: o(30000, (i) => [`p${i}`, { type: "string", maxLength: i }]),
      required: n(300, (i) => `p${i * 100}`),
    }),
  formatsLengths: () =>
    obj({
      properties: o(200, (i) => [
        `f${i}`,
        {
          type: "string",
          format: [
            "uri",
            "email",
            "idn-email",
            "iri",
            "date-time",
            "hostname",
            "idn-hostname",
            "ipv6",
            "uuid",
            "duration",
            "json-pointer",
            "uri-template",
          ][i % 12],
          minLength: i,
          maxLength: i + 20,
        },
      ]),
      required: n(200, (i) => `f${i}`),
    }),
  depTypes: () =>
    obj({
      anyOf: n(300, (i) => ({
        properties: { type: { enum: [`t${i}`, `t${i + 1}`] }, [`v${i}`]: { type: "integer" } },
        required: ["type", `v${i}`],
      })),
    }),
  nestedAnyOfObj: () =>
    nest(8, (x) => ({
      anyOf: [
        obj({ properties: { a: x } }),
        obj({ properties: { b: x } }),
        obj({ properties: { a: x, b: x } }),
      ],
    })),
  recursiveAnyAll: () => ({
    $ref: "#/$defs/t",
    $defs: {
      t: {
        allOf: [
          {
            anyOf: [obj({ properties: { l: { $ref: "#/$defs/t" } } }), arr({ items: { $ref: "#/$defs/t" } })],
          },
          {
            anyOf: [
              obj({ properties: { r: { $ref: "#/$defs/t" }, l: { not: { $ref: "#/$defs/t" } } } }),
              arr({ contains: { $ref: "#/$defs/t" } }),
            ],
          },
        ],
      },
    },
  }),
  recursiveNot: () => ({
    $id: "x:y",
    properties: { a: { not: { $ref: "#" } }, b: { $ref: "#" } },
    required: ["a"],
  }),
}
