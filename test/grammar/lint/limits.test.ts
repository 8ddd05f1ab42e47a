import { expect, test } from "vitest"
import { GrammarError, lint, lintTargets } from "../../../grammar/index.ts"
import { currentWorld } from "../../../grammar/tables.ts"
import { setTableBytes } from "../../../grammar/worlds.ts"

type Target = (typeof lintTargets)[number]

const rules = (schema: unknown, target: Target) => lint(schema, target).notes.map(({ rule }) => rule)

/** An object that OpenAI and Anthropic accept. */
const closed = (properties: Record<string, unknown>) => ({
  ...{ type: "object", properties },
  ...{ required: Object.keys(properties), additionalProperties: false },
})
const many = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, value]))
const nested = (depth: number): unknown =>
  depth === 1 ? closed({ a: { type: "string" } }) : closed({ a: nested(depth - 1) })
const texts = (count: number, length: number) =>
  Array.from({ length: count }, (_, i) => `${i}`.padStart(length, "x"))

test.each<[name: string, target: Target, rule: string, within: unknown, beyond: unknown]>([
  [
    "properties",
    "openai",
    "properties",
    closed(many(5_000, { type: "null" })),
    closed(many(5_001, { type: "null" })),
  ],
  ["depth", "openai", "depth", nested(10), nested(11)],
  [
    "enum values",
    "openai",
    "enumValues",
    closed({ a: { enum: texts(1_000, 4) } }),
    closed({ a: { enum: texts(1_001, 4) } }),
  ],
  [
    "a long enum",
    "openai",
    "longEnum",
    closed({ a: { enum: texts(250, 61) } }),
    closed({ a: { enum: texts(251, 60) } }),
  ],
  [
    "characters",
    "openai",
    "characters",
    closed({ a: { enum: texts(10, 11_999) } }),
    closed({ a: { enum: texts(10, 12_001) } }),
  ],
  [
    "optional properties",
    "anthropic",
    "optional",
    { ...closed(many(24, { type: "null" })), required: [] },
    { ...closed(many(25, { type: "null" })), required: [] },
  ],
  [
    "unions",
    "anthropic",
    "unions",
    closed(many(16, { type: ["string", "null"] })),
    closed(many(17, { type: ["string", "null"] })),
  ],
])("the bound of %s", (_, target, rule, within, beyond) => {
  expect(rules(within, target)).not.toContain(rule)
  expect(rules(beyond, target)).toContain(rule)
  expect(lint(beyond, target).outcome).toBe("refused")
})

test("a schema without a keyword that matters is exact everywhere but where the engine wants more", () => {
  const outcomes = lintTargets.map((target) => [
    target,
    lint(closed({ a: { type: "boolean" } }), target).outcome,
  ])
  expect(outcomes).toEqual(lintTargets.map((target) => [target, "exact"]))
})

test("definitions that nothing references, annotations and unknown keywords are not reported", () => {
  const schema = {
    ...closed({ a: { type: "boolean" } }),
    $defs: { b: { not: {} } },
    title: "a",
    "x-own": { not: 1 },
  }
  for (const target of lintTargets) expect(lint(schema, target).outcome, target).toBe("exact")
})

test("a format that the standard does not define is reported where it is refused", () => {
  const schema = { type: "string", format: "url" }
  expect(rules(schema, "xgrammar")).toEqual([])
  expect(rules(schema, "llguidance")).toEqual(["format"])
  expect(rules({ type: "string", format: "regex" }, "xgrammar")).toEqual(["beside"])
})

test("keywords that the type excludes are not reported", () => {
  expect(rules({ type: "boolean", uniqueItems: true, dependencies: { a: ["b"] } }, "llguidance")).toEqual([])
})

test("paths are JSON pointers of the keyword, through references, once for each schema", () => {
  const schema =
    '{"type": "array", "prefixItems": [{"$ref": "#/$defs/a~1b"}, {"$ref": "#/$defs/a~1b"}], "$defs": {"a/b": {"not": {"const": 1}}}}'
  expect(lint(schema, "llguidance").notes.map(({ path, keyword }) => [path, keyword])).toEqual([
    ["/$defs/a~1b/not", "not"],
  ])
})

test("a draft that ignores the keywords beside $ref decides what is read", () => {
  const beside = { $ref: "#/definitions/a", not: {}, definitions: { a: { type: "boolean" } } }
  const draft7 = { ...beside, $schema: "http://json-schema.org/draft-07/schema#" }
  expect(rules(beside, "xgrammar")).toEqual(["beside"])
  expect(rules(draft7, "xgrammar")).toEqual([])
})

test("oneOf is reported only where two branches may overlap", () => {
  const tagged = (tag: string) => ({ type: "object", properties: { tag: { const: tag } }, required: ["tag"] })
  expect(rules({ oneOf: [tagged("a"), tagged("b")] }, "xgrammar")).not.toContain("oneOf")
  expect(rules({ oneOf: [tagged("a"), tagged("a")] }, "xgrammar")).toContain("oneOf")
  expect(rules({ oneOf: [{ type: "string" }, { type: "boolean" }] }, "llguidance")).toEqual([])
  const shared = { $defs: { a: tagged("a"), b: tagged("b") } }
  const byRef = { oneOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }], ...shared }
  expect(rules(byRef, "llguidance")).toContain("oneOf")
  expect(rules(byRef, "xgrammar")).not.toContain("oneOf")
})

test("a schema that cannot be read throws, and the schemas true and false are read", () => {
  expect(() => lint("{", "openai")).toThrow(GrammarError)
  expect(() => lint({ $schema: "http://json-schema.org/draft-03/schema#" }, "openai")).toThrow(/draft-03/)
  for (const target of lintTargets) {
    for (const schema of [true, false, {}]) expect(() => lint(schema, target), target).not.toThrow()
  }
})

test("a schema that contains itself, and a wide one, end at once", () => {
  const chain = Array.from({ length: 2_000 }, (_, i) => [
    `d${i}`,
    { allOf: [{ $ref: `#/$defs/d${(i + 1) % 2_000}` }] },
  ])
  const schema = { $ref: "#/$defs/d0", $defs: Object.fromEntries(chain) }
  for (const target of lintTargets) expect(() => lint(schema, target), target).not.toThrow()
  // Followed without memory, these references would be 50⁶ branches.
  const level = (i: number) => ({ oneOf: Array.from({ length: 50 }, () => ({ $ref: `#/$defs/l${i + 1}` })) })
  const levels = Array.from({ length: 9 }, (_, i) => [`l${i}`, i < 8 ? level(i) : { type: "string" }])
  const wide = { $ref: "#/$defs/l0", $defs: Object.fromEntries(levels) }
  for (const target of lintTargets) expect(() => lint(wide, target), target).not.toThrow()
})

test("constants that are many objects deep are compared once a level", () => {
  const deep = (depth: number, inner: unknown): unknown =>
    depth === 0 ? inner : { a: deep(depth - 1, inner) }
  const both = (depth: number, one: unknown, other: unknown) => ({
    oneOf: [{ const: deep(depth, one) }, { const: deep(depth, other) }],
  })
  expect(rules(both(40, "x", "x"), "gemini")).toContain("oneOf")
  expect(rules(both(40, "x", "y"), "gemini")).not.toContain("oneOf")
  // Below the depth to which constants are compared, they count as equal.
  expect(rules(both(400, "x", "y"), "gemini")).toContain("oneOf")
})

test("comparisons of branches are bounded, and above the bound they count as overlapping", () => {
  const options = (start: number, count: number) => ({
    enum: Array.from({ length: count }, (_, i) => `${start + i}`),
  })
  const pair = (count: number) => ({ oneOf: [options(0, count), options(count, count)] })
  expect(rules(pair(256), "gemini")).not.toContain("oneOf")
  expect(rules(pair(257), "gemini")).toContain("oneOf")
  expect(rules(pair(50_000), "gemini")).toContain("oneOf")
  const constants = (count: number) => ({
    oneOf: Array.from({ length: count }, (_, i) => ({ const: `${i}` })),
  })
  expect(rules(constants(500), "gemini")).not.toContain("oneOf")
  expect(rules(constants(20_000), "gemini")).toContain("oneOf")
  expect(rules({ oneOf: Array.from({ length: 20_000 }, () => false) }, "gemini")).toContain("oneOf")
  // Compared one by one, these branches would be (100²)⁶ pairs.
  const level = (i: number) => ({
    anyOf: Array.from({ length: 100 }, () => ({
      ...{ type: "object", required: ["a"] },
      properties: { a: i < 6 ? { $ref: `#/$defs/l${i + 1}` } : { const: "x" } },
    })),
  })
  const $defs = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`l${i}`, level(i)]))
  expect(rules({ oneOf: [{ $ref: "#/$defs/l0" }, { $ref: "#/$defs/l0" }], $defs }, "gemini")).toContain(
    "oneOf",
  )
})

test("long patterns without an end are searched once", () => {
  for (const part of ["[", "[^", '[^"', "\\k<", "[\\"]) {
    const pattern = `^${part.repeat(40_000)}$`
    for (const target of lintTargets) expect(() => lint({ type: "string", pattern }, target)).not.toThrow()
  }
})

test("a process that only lints frees the patterns that it compared", () => {
  const schema = (i: number) => ({ patternProperties: { [`^a${i}`]: {}, [`^b${i}`]: {} } })
  setTableBytes(1)
  try {
    lint(schema(0), "llguidance")
    const before = currentWorld()
    lint(schema(1), "llguidance")
    expect(currentWorld()).not.toBe(before)
  } finally {
    setTableBytes()
  }
})

test("comparisons of patterns are bounded in number and in time", () => {
  const alike = (count: number) => ({
    patternProperties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`^a{${i + 1}}`, {}])),
  })
  expect(rules(alike(64), "llguidance")).toContain("patternOverlap")
  expect(rules(alike(65), "llguidance")).not.toContain("patternOverlap")
  // No text is found by both, which takes 2^30 states to see.
  const slow = { "^[ab]*a[ab]{30}$": {}, "^[ab]*b[ab]{30}$": {}, "^c": {} }
  const many = { allOf: Array.from({ length: 20 }, () => ({ patternProperties: slow })) }
  expect(rules(many, "llguidance")).not.toContain("patternOverlap")
})
