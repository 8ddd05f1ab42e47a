/**
 * Schemas made to explode, one generator a kind: each is compiled exactly or refused with a `limit`, in bounded time.
 * The first mask's state is part of it. Times are generous for loaded machines; a quiet one needs a fifth.
 */
import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { States } from "../../../grammar/state.ts"

const n = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const o = (count: number, make: (i: number) => [string, unknown]) => Object.fromEntries(n(count, make))
function nest(depth: number, around: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: "integer" }
  for (let i = 0; i < depth; i++) schema = around(schema)
  return schema
}
const periods = [2, 3, 5, 7, 11, 13]
const primes = n(113, (i) => i + 1).filter(
  (i) => i > 1 && n(i - 2, (j) => i % (j + 2)).every((rest) => rest > 0),
)

const bombs: Record<string, () => unknown> = {
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
}

describe("schema bombs", () => {
  test.each(Object.keys(bombs))("%s ends exactly or in a limit", { timeout: 30_000 }, (name) => {
    const text = JSON.stringify(bombs[name]())
    const start = performance.now()
    let states: States | null = null
    try {
      states = new States(compile({ kind: "json", schema: text }, { surface: "conform" }).grammar)
    } catch (error) {
      expect(error).toBeInstanceOf(GrammarError)
      expect((error as GrammarError).message).not.toMatch(/internal/)
      expect((error as GrammarError).kind).toBe("limit")
    }
    expect(performance.now() - start).toBeLessThan(10_000)
    if (states !== null) expect(states.start).not.toBe(0)
  })
})
