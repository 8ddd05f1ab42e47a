/**
 * `x-copied`: the strings of a schema that quote a source are exactly the JSON spellings of its
 * substrings.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { chunksOf } from "../../../../grammar/ebnf/substring.ts"
import { type CompileOptions, compile, GrammarError, type GrammarInput } from "../../../../grammar/index.ts"
import { DeadState, States } from "../../../../grammar/state.ts"
import { randomText } from "../../../support/randomtext.ts"

const encoder = new TextEncoder()

let seed = 1
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

type Json = Extract<GrammarInput, { kind: "json" }>

function statesOf(schema: unknown, source: string | undefined, options: CompileOptions = {}): States {
  const input: Json = { kind: "json", schema, ...(source !== undefined && { source }) }
  return new States(compile(input, options).grammar)
}

function accepts(states: States, text: string): boolean {
  const state = states.advance(states.start, encoder.encode(text))
  return state !== DeadState && states.isAccepting(state)
}

const refusal = (schema: unknown, source?: string) => {
  try {
    statesOf(schema, source)
  } catch (error) {
    if (error instanceof GrammarError) return { kind: error.kind, path: error.path, message: error.message }
    throw error
  }
  return null
}

const odd = [
  '"',
  "\\",
  "/",
  "\n",
  "\r\n",
  "\t",
  "\u0000",
  "\u001f",
  "\u007f",
  "\u2028",
  "é",
  "e\u0301",
  "👩‍👧",
  "𝒳",
  "\ufeff",
]
const text = fc
  .array(
    fc.oneof(fc.constantFrom(...odd, "a", "b", " ", "ab"), fc.string({ unit: "grapheme", maxLength: 3 })),
    {
      maxLength: 14,
    },
  )
  .map((parts) => parts.join(""))
  .filter((joined) => joined.isWellFormed())

describe("a copied string", () => {
  test("is any substring of whole characters, in every spelling that the policy allows, and nothing else", () => {
    const property = fc.property(text, fc.nat(), fc.nat(), text, (source, from, to, other) => {
      const points = [...source]
      const [start, end] = [from % (points.length + 1), to % (points.length + 1)].sort((a, b) => a - b)
      const quoted = points.slice(start, end).join("")
      const strict = statesOf({ type: "string" }, source)
      const loose = statesOf({ "x-copied": true, type: "string", pattern: "" }, source, {
        surface: "conform",
      })
      const escaped = (value: string) =>
        `"${value.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`
      for (const value of [quoted, other]) {
        const isQuoted = source.includes(value)
        expect(accepts(strict, JSON.stringify(value))).toBe(isQuoted)
        expect(accepts(loose, JSON.stringify(value))).toBe(isQuoted)
        expect(accepts(loose, escaped(value))).toBe(isQuoted)
      }
      // Half a pair is never a substring.
      expect(accepts(loose, '"\\ud835"')).toBe(false)
    })
    fc.assert(property, { numRuns: 80, seed: 5 })
  })

  test("has the length, the pattern, the format and the values that the schema asks for", () => {
    const source = "Order 4711 by ann@example.com on 2024-05-06, 47 pieces"
    const rows: [object, string[], string[]][] = [
      [{ pattern: "^[0-9]+$", maxLength: 2 }, ["47", "4", "71"], ["4711", "", "12"]],
      [{ minLength: 4, maxLength: 5 }, ["Order", "4711", "7 pi"], ["Ord", "Order ", "order"]],
      [{ format: "date" }, ["2024-05-06"], ["2024-05-07", "2024-05-0"]],
      [{ format: "email" }, ["ann@example.com", "n@example.co"], ["bob@example.com"]],
      [{ enum: ["Order", "Invoice", "47"] }, ["Order", "47"], ["Invoice", "4"]],
      [{ not: { enum: ["47"] } }, ["4711", "7"], ["47", "z"]],
    ]
    for (const [more, accepted, rejected] of rows) {
      const states = statesOf({ type: "string", "x-copied": true, ...more }, source)
      for (const value of accepted)
        expect([more, value, accepts(states, JSON.stringify(value))]).toEqual([more, value, true])
      for (const value of rejected)
        expect([more, value, accepts(states, JSON.stringify(value))]).toEqual([more, value, false])
    }
  })

  test("quotes whole words on request, and leaves other types alone", () => {
    const states = statesOf({ type: ["string", "null", "integer"], "x-copied": "words" }, "foo barfoo, baz")
    for (const value of ["foo", "barfoo, baz", ", ", "", null, 7])
      expect(accepts(states, JSON.stringify(value))).toBe(true)
    for (const value of ["bar", "oo", "fo"]) expect(accepts(states, JSON.stringify(value))).toBe(false)
  })

  test("is bounded in length, by characters and by words", () => {
    const property = fc.property(
      text,
      fc.nat(6),
      fc.nat(8),
      fc.constantFrom("chars", "words"),
      (source, min, more, unit) => {
        const schema = { type: "string", "x-copied": unit, minLength: min, maxLength: min + more }
        const chunks = chunksOf(source, unit)
        const runs = new Set(
          chunks.flatMap((_, i) => chunks.slice(i).map((_, n) => chunks.slice(i, i + n + 1).join(""))),
        )
        const fitting = ["", ...runs].filter((run) => [...run].length >= min && [...run].length <= min + more)
        const refused = refusal(schema, source)
        expect(refused?.kind ?? null).toBe(fitting.length > 0 ? null : "unsatisfiable")
        if (refused !== null) return
        const states = statesOf(schema, source)
        for (const run of runs)
          expect([run, accepts(states, JSON.stringify(run))]).toEqual([run, fitting.includes(run)])
        // Whatever has been written can be finished.
        for (let i = 0; i < 3; i++) expect(fitting).toContain(JSON.parse(randomText(states, random, 20)))
      },
    )
    fc.assert(property, { numRuns: 60, seed: 6 })
  })

  test("of a long source takes no search for its lengths", () => {
    const source = Array.from({ length: 8_000 }, (_, i) => `w${(i * 7919) % 5_003}`).join(" ")
    for (const unit of ["chars", "words"]) {
      const states = statesOf({ type: "string", "x-copied": unit, minLength: 5, maxLength: 40 }, source)
      for (let i = 0; i < 20; i++) {
        const value = JSON.parse(randomText(states, random, 60))
        expect([source.includes(value), value.length >= 5, value.length <= 40]).toEqual([true, true, true])
      }
    }
  })

  test("may come from an empty source, and a reference beside it keeps it", () => {
    expect(accepts(statesOf({ type: "string" }, ""), '""')).toBe(true)
    expect(accepts(statesOf({ type: "string" }, ""), '"a"')).toBe(false)
    const schema = {
      $defs: { s: { type: "string", "x-copied": false } },
      properties: { a: { $ref: "#/$defs/s", "x-copied": true }, b: { $ref: "#/$defs/s" } },
    }
    const states = statesOf(schema, "abc")
    expect(accepts(states, '{"a":"bc","b":"x"}')).toBe(true)
    expect(accepts(states, '{"a":"x"}')).toBe(false)
  })
})

describe("strings that do not say", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1 },
      kind: { enum: ["a", "b"] },
      day: { type: "string", format: "date" },
      own: { type: "string", "x-copied": false },
      any: {},
      items: { type: "array", items: { type: "object", properties: { sku: { type: ["string", "null"] } } } },
    },
  }
  test.each([
    ['{"name":"ann"}', true],
    ['{"name":"bob"}', false],
    ['{"name":""}', false],
    ['{"kind":"b","day":"2024-01-01","own":"bob","any":"bob"}', true],
    ['{"items":[{"sku":"nn"},{"sku":null}]}', true],
    ['{"items":[{"sku":"x"}]}', false],
  ])("%s", (text, isAccepted) => {
    expect(accepts(statesOf(schema, "ann"), text)).toBe(isAccepted)
    expect(accepts(statesOf(JSON.stringify(schema), "ann"), text)).toBe(isAccepted)
  })

  test("must say where a narrower schema allows more", () => {
    const plain = { type: "string" }
    const rows: [object, string][] = [
      [{ not: { properties: { a: plain }, required: ["a"] } }, "/not/properties/a"],
      [{ oneOf: [plain, { type: "string", minLength: 2 }] }, "/oneOf/0"],
      [{ if: plain, then: { minLength: 2 } }, "/if"],
      [{ contains: plain }, "/contains"],
      [{ propertyNames: plain }, "/propertyNames"],
      [
        {
          $defs: { s: plain },
          properties: { a: { $ref: "#/$defs/s" } },
          propertyNames: { $ref: "#/$defs/s" },
        },
        "/$defs/s",
      ],
    ]
    for (const [each, path] of rows)
      expect([each, refusal(each, "abc")]).toEqual([
        each,
        { kind: "unsupported", path, message: expect.stringContaining('Add "x-copied"') },
      ])
    const kinds = ["a", "b"].map((kind) => ({
      type: "object",
      properties: { kind: { const: kind }, s: plain },
      required: ["kind"],
    }))
    for (const fine of [
      { oneOf: kinds },
      { oneOf: [plain, { type: "null" }] },
      { anyOf: [plain, { type: "null" }] },
      { if: { type: "string", "x-copied": false }, else: { properties: { a: plain } } },
    ])
      expect([fine, refusal(fine, "abc")]).toEqual([fine, null])
  })

  test("whatever is accepted satisfies the schema without the keyword", () => {
    const ajv = new Ajv2020({ strict: false })
    const source = 'Ann said: "no\\yes"\r\nBob 👩‍👧 47'
    const union = {
      type: "object",
      properties: {
        whole: {
          oneOf: [
            {
              type: "object",
              properties: { kind: { const: "a" }, s: { type: "string" } },
              required: ["kind", "s"],
            },
            {
              type: "object",
              properties: {
                kind: { const: "b" },
                list: { type: "array", items: { type: "string", maxLength: 4 }, maxItems: 3 },
              },
              required: ["kind"],
            },
          ],
        },
        more: { anyOf: [{ type: "string", minLength: 3 }, { type: "null" }] },
      },
      required: ["whole", "more"],
      additionalProperties: false,
    }
    const validate = ajv.compile(union)
    const states = statesOf(union, source)
    let copied = 0
    for (let i = 0; i < 60; i++) {
      const value = JSON.parse(randomText(states, random, 120))
      expect([value, validate(value)]).toEqual([value, true])
      for (const each of [value.more, value.whole.s, ...(value.whole.list ?? [])]) {
        if (typeof each !== "string") continue
        expect(source).toContain(each)
        copied++
      }
    }
    expect(copied).toBeGreaterThan(30)
  })
})

test.each<[schema: object, source: string | undefined, kind: string, path: string]>([
  [{ properties: { a: { "x-copied": true } } }, undefined, "unsupported", "/properties/a/x-copied"],
  [{ "x-copied": "lines" }, "abc", "syntax", "/x-copied"],
  [{ "x-copied": 1 }, undefined, "syntax", "/x-copied"],
  [{ type: "string" }, "a\ud800", "syntax", ""],
  [
    {
      type: "object",
      properties: { a: { type: "string", "x-copied": true, pattern: "[0-9]" } },
      required: ["a"],
    },
    "abc",
    "unsatisfiable",
    "/required",
  ],
  [{ type: "string", minLength: 4 }, "abc", "unsatisfiable", ""],
])("%j from %j is refused", (schema, source, kind, path) => {
  expect(refusal(schema, source)).toMatchObject({ kind, path })
})

test("a text longer than the bound of chunks is refused, and the report names the keyword", () => {
  expect(() => statesOf({ type: "string" }, "ab".repeat(6), { limits: { chunks: 10 } })).toThrow(
    "limits.chunks",
  )
  const { report } = compile(
    { kind: "json", schema: { type: "string", "x-copied": true }, source: "a" },
    { unknownKeywords: "error" },
  )
  expect(report.keywords).toContainEqual({ path: "/x-copied", keyword: "x-copied", status: "exact" })
})
