/** Refusals: kind, place and text; bounds name the value, the bound and the way out. */
import { describe, expect, test } from "vitest"
import { Completions } from "../../grammar/completions.ts"
import { TimeError } from "../../grammar/deadline.ts"
import { checkLimit, placed } from "../../grammar/errors.ts"
import {
  type CompileOptions,
  compile,
  defaultLimits,
  GrammarError,
  type GrammarErrorKind,
  type GrammarInput,
  type Limits,
} from "../../grammar/index.ts"
import { States } from "../../grammar/state.ts"

function refusal(input: GrammarInput, options?: CompileOptions): GrammarError {
  try {
    compile(input, options)
  } catch (error) {
    if (error instanceof GrammarError) return error
    throw error
  }
  throw new Error(`compiled: ${JSON.stringify(input)}`)
}

const json = (schema: unknown): GrammarInput => ({ kind: "json", schema })
let deep: unknown = {}
for (let i = 0; i < 40; i++) deep = { not: deep }

test("an error carries its kind, and its path in front of the message", () => {
  const error = new GrammarError("syntax", "/a", "no")
  expect([error.name, error.kind, error.path, error.message]).toEqual([
    "GrammarError",
    "syntax",
    "/a",
    "/a: no",
  ])
  expect(new GrammarError("limit", "", "no").message).toBe("no")
  expect(error).toBeInstanceOf(Error)
})

test("a limit holds at the bound and is broken above it", () => {
  const limits = { ...defaultLimits, threads: 3 }
  expect(() => checkLimit(limits, "threads.open", 3)).not.toThrow()
  expect(() => checkLimit(limits, "threads.open", 4, "/p")).toThrow(
    "/p: readings of the text so far that are still open: 4 is above the bound of 3. Raise limits.threads or make the input smaller",
  )
})

/** Not plain to see: whether it has a value depends on whether its parts have. */
const inner = { type: "object", properties: { b: { pattern: "^a", not: { const: "a" } } }, required: ["b"] }
const nested = { type: "object", properties: { a: inner }, required: ["a"], not: { required: ["c"] } }
const names = Array.from({ length: 500 }, (_, i) => `n${i}`)
const few = (...values: number[][]) => values.map((each) => ({ enum: each }))
const pairs = { type: "array", items: { type: "array", items: { enum: [1, 2, 3] }, maxItems: 2 } }
const unique = { uniqueItems: true }
const overlapping = (...patterns: string[]) => ({
  type: "object",
  patternProperties: Object.fromEntries(patterns.map((pattern, i) => [pattern, { maximum: i }])),
})
const counted = {
  type: "array",
  allOf: [
    { contains: { const: 1 }, maxContains: 2 },
    { contains: { maximum: 2 }, minContains: 2, maxContains: 2 },
    { contains: { multipleOf: 2 } },
  ],
  minItems: 3,
}
const bounded: [limit: keyof Limits, bound: number, input: GrammarInput][] = [
  ["schemaBytes", 10, json('{"type": "string"}')],
  ["schemaDepth", 16, json(JSON.stringify(deep))],
  ["nodes", 2, json({ properties: { a: { type: "null" }, b: { type: "null" }, c: { type: "string" } } })],
  ["satSteps", 1, json(nested)],
  [
    "dynamicScopes",
    1,
    json({
      $ref: "b",
      $defs: {
        b: { $id: "http://x/b", $dynamicAnchor: "n", properties: { c: { $ref: "d" } } },
        d: { $id: "http://x/d", $dynamicAnchor: "m" },
      },
      $id: "http://x/a",
    }),
  ],
  ["valueSteps", 2, json({ ...pairs, uniqueItems: true, minItems: 2, maxItems: 3 })],
  ["oneOfSteps", 1, json({ type: "number", oneOf: [{ maximum: 1 }, { minimum: 5 }, { minimum: 9 }] })],
  [
    "objectSteps",
    1,
    json({
      type: "object",
      not: { properties: { a: { const: 1 }, b: { const: 1 } } },
    }),
  ],
  ["nameClasses", 2, json(overlapping("^a", "b", "c$"))],
  ["nameStates", 1, json(overlapping("^d", "e", "f$"))],
  ["containsItems", 2, json({ type: "array", contains: { const: 1 }, minItems: 3 })],
  ["containsWays", 2, json(counted)],
  ["containsTries", 2, json(counted)],
  ["containsSteps", 2, json({ ...counted, items: { enum: [1, 2, 3, 4] }, uniqueItems: true })],
  [
    "uniqueSteps",
    2,
    json({
      type: "array",
      prefixItems: few([1, 2], [2, 1], [1, 2, 3]),
      contains: { const: 1 },
      minItems: 3,
      ...unique,
    }),
  ],
  [
    "equalItems",
    2,
    json({ type: "array", items: { enum: [1, 2] }, contains: { const: 1 }, minContains: 3, not: unique }),
  ],
  ["choices", 2, { kind: "choice", options: ["a", "b", "c"] }],
  ["regexBytes", 4, { kind: "regex", pattern: "aaaaa" }],
  ["lookarounds", 2, { kind: "regex", pattern: "(?=a)(?=.)(?=[ab])a" }],
  ["lookarounds", 1, json({ pattern: "(?=a)(?!ab)" })],
  ["maxRepeat", 5, { kind: "regex", pattern: "a{6}" }],
  ["maxRepeat", 5, json({ pattern: "^a{6}$" })],
  ["suffixStates", 2, { kind: "lark", text: 'start: a\na[capture, suffix="xyz"]: /[a-c]+/' }],
  ["compileMs", 0, json({ properties: Object.fromEntries(names.map((name) => [name, { type: "null" }])) })],
]

describe("limits", () => {
  test("compileMs: a search for texts is stopped, and leaves nothing behind", () => {
    const hard: GrammarInput = { kind: "regex", pattern: "(?=(?:.{37})*$)(?=(?:.{41})+$).+" }
    expect(refusal(hard, { limits: { compileMs: 0 } }).message).toContain("limits.compileMs")
    expect(() => compile(hard)).not.toThrow()
  })

  test("what was compiled with usual limits is refused with stricter ones", () => {
    const input = json({ pattern: "^b{7}$" })
    const cut: GrammarInput = { kind: "lark", text: 'start: a\na[capture, suffix="yz"]: /[a-c]+/' }
    expect(() => [input, cut].map((each) => compile(each))).not.toThrow()
    expect(refusal(input, { limits: { maxRepeat: 5 } }).path).toBe("/pattern")
    expect(refusal(cut, { limits: { suffixStates: 2 } }).kind).toBe("limit")
  })

  test.each(bounded)("%s: %i", (limit, bound, input) => {
    const error = refusal(input, { limits: { [limit]: bound } })
    expect(error.kind).toBe("limit")
    expect(error.message).toContain(`limits.${limit}`)
    expect(error.message).toContain(String(bound))
    expect(() => compile(input)).not.toThrow()
  })
})

test("an error without a place gets one where it is known, and keeps the first that it got", () => {
  const bare = placed(new GrammarError("limit", "", "no"), "/a") as GrammarError
  expect([bare.kind, bare.path, bare.message]).toEqual(["limit", "/a", "/a: no"])
  expect(placed(bare, "/b")).toBe(bare)
  for (const other of [new TimeError("limit", "", "no"), new RangeError("no"), null])
    expect(placed(other, "/a")).toBe(other)
})

const list = <T>(count: number, each: (i: number) => T) => Array.from({ length: count }, (_, i) => each(i))
const choices = { allOf: list(9, (i) => ({ anyOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }] })) }
const object = { type: "object" }
/** Each at `/properties/a`, with a bound of its own that is met in compiling or in the shortest text. */
const nestedBounds: [what: string, schema: object, limits?: Partial<Limits>][] = [
  [
    "alternatives of one value",
    {
      ...object,
      allOf: list(6, (i) => ({
        anyOf: [{ patternProperties: { [`^p${i}`]: false } }, { propertyNames: { maxLength: i + 1 } }],
      })),
    },
    { threads: 16 },
  ],
  ["work to combine alternatives", { ...object, ...choices }, { satSteps: 40 }],
  [
    "ways in which one property meets obligations",
    {
      ...object,
      allOf: list(12, (i) => ({
        not: { additionalProperties: { not: { type: "array", contains: { const: i } } } },
      })),
    },
  ],
  [
    "obligations of one object",
    { ...object, not: { anyOf: list(8_193, (i) => ({ additionalProperties: { const: i } })) } },
  ],
  [
    "refer to each other in place",
    { allOf: list(1_100, (i) => ({ allOf: [{ $ref: `#/properties/a/allOf/${Math.min(i + 1, 1_099)}` }] })) },
  ],
  [
    "of number constraints",
    { type: "integer", oneOf: list(300, (i) => ({ minimum: 2 * i, maximum: 2 * i + 2 })) },
  ],
  ["counted: above", { type: "array", minItems: 2_000, contains: { const: 1 }, maxContains: 5 }],
  ["the exponent of", { const: "1e9999999999999999" }],
  ["a string of at least 500000000 characters", { type: "string", minLength: 500_000_000 }],
  ["an array of at least 500000000 items", { type: "array", items: object, minItems: 500_000_000 }],
  ["lookaround that may match without reading", { type: "string", pattern: "^(?:b|(?=a)){100}a" }],
  [
    "a pattern accepts visited",
    { type: "string", pattern: "^(?=(.{211})*$)(?=(.{223})*$)(?=(.{227})*$).+$" },
  ],
]

test.each(nestedBounds)("a bound below the root names the place: %s", (what, schema, limits) => {
  const nested = JSON.stringify({ ...object, properties: { a: schema }, required: ["a"] })
  const text = nested.replace(/"(1e9+)"/, "$1")
  let error: unknown
  try {
    const { grammar } = compile({ kind: "json", schema: text }, { surface: "conform", limits })
    const states = new States(grammar)
    new Completions(states).shortest(states.start)
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({ kind: "limit", message: expect.stringContaining(what) })
  expect((error as GrammarError).path).toMatch(/^\/properties\/a\b/)
})

const refused: [name: string, input: GrammarInput, kind: GrammarErrorKind, path: string][] = [
  ["a schema that is no JSON", json('{"type": '), "syntax", "line 1, column 10"],
  ["a schema that is a number", json(1), "syntax", ""],
  [
    "a keyword of the wrong type",
    json({ properties: { a: { minLength: "1" } } }),
    "syntax",
    "/properties/a/minLength",
  ],
  ["an unknown type", json({ items: { type: "strin" } }), "syntax", "/items/type"],
  [
    "a pattern that is none",
    json({ properties: { a: { pattern: "(" } } }),
    "syntax",
    "/properties/a/pattern",
  ],
  ["a reference to nothing", json({ items: { $ref: "#/$defs/x" } }), "unsupported", "/items/$ref"],
  ["nothing satisfies it", json({ type: "string", minLength: 2, maxLength: 1 }), "unsatisfiable", ""],
  ["false", json(false), "unsatisfiable", ""],
  ["a regular expression that is none", { kind: "regex", pattern: "a(" }, "syntax", ""],
  ["a regular expression without a match", { kind: "regex", pattern: "a(?!.*)" }, "unsatisfiable", ""],
  ["a choice of nothing", { kind: "choice", options: [] }, "syntax", ""],
  ["half a character", { kind: "choice", options: ["\ud800"] }, "syntax", ""],
]

describe("refusals", () => {
  test.each(refused)("%s", (_, input, kind, path) => {
    const error = refusal(input)
    expect([error.kind, error.message.startsWith(path)]).toEqual([kind, true])
    if (path !== "") expect(error.path.startsWith(path)).toBe(true)
    expect(error.message.length).toBeGreaterThan(path.length + 10)
  })
})
