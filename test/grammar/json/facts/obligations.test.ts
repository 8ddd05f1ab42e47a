/** Negations that an object meets key by key, exactly and without multiplying out. */
import { describe, expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { States } from "../../../../grammar/state.ts"

function accepts(schema: unknown, value: unknown): boolean {
  const states = new States(compile({ kind: "json", schema }, { surface: "conform" }).grammar)
  const state = states.advance(states.start, new TextEncoder().encode(JSON.stringify(value)))
  return state !== 0 && states.isAccepting(state)
}

const names = Array.from({ length: 20 }, (_, i) => `p${i}`)
const sixty = Array.from({ length: 60 }, (_, i) => `k${i}`)
const kinds = names.slice(0, 12).map((name) => ({
  properties: { kind: { enum: [name] }, value: { type: name === "p0" ? "string" : "integer" } },
  additionalProperties: false,
}))

const table: [name: string, schema: unknown, accept: unknown[], reject: unknown[]][] = [
  [
    "not over twenty typed properties",
    {
      type: "object",
      not: { properties: Object.fromEntries(names.map((name) => [name, { type: "integer" }])) },
    },
    [{ p3: "x" }, { p0: 1, p19: null }],
    [{}, { p3: 1 }, { q: "x" }],
  ],
  [
    "an if for each of sixty values of one property",
    {
      type: "object",
      properties: { kind: { enum: sixty } },
      required: ["kind"],
      allOf: sixty.map((kind) => ({
        if: { properties: { kind: { enum: [kind] } } },
        then: { required: [`of ${kind}`], properties: { [`of ${kind}`]: { type: "integer" } } },
      })),
    },
    [
      { kind: "k7", "of k7": 1 },
      { "of k59": 2, kind: "k59", "of k3": "x" },
    ],
    [
      { kind: "k7" },
      { kind: "k7", "of k8": 1 },
      { kind: "k3", "of k3": "x" },
      { "of k3": 1 },
      { kind: "k60" },
    ],
  ],
  [
    "not over twenty required properties",
    { type: "object", not: { required: names } },
    [{}, Object.fromEntries(names.slice(1).map((name) => [name, 1]))],
    [Object.fromEntries(names.map((name) => [name, 1]))],
  ],
  [
    "a name that must be absent or wrong, after which another must go",
    { type: "object", properties: { a: { type: "integer" } }, not: { required: ["a", "b"] } },
    [{ a: 1 }, { b: 1 }, {}],
    [
      { a: 1, b: 1 },
      { b: 1, a: 1 },
    ],
  ],
  [
    "oneOf over objects that overlap where nothing is required",
    { type: "object", oneOf: kinds },
    [{ kind: "p3" }, { kind: "p0", value: "x" }, { value: "x" }, { value: 1, kind: "p5" }],
    [{}, { value: 1 }, { kind: "p0", value: 1 }, { kind: "q" }],
  ],
  [
    "chains of dependencies",
    { dependentRequired: Object.fromEntries(names.slice(1).map((name, i) => [names[i], [name]])) },
    [{}, { p19: 1 }, { p18: 1, p19: 1 }, { p19: 1, p18: 1 }],
    [{ p18: 1 }, { p0: 1, p19: 1 }],
  ],
  [
    "within the bound on keys one key serves several obligations",
    {
      type: "object",
      maxProperties: 1,
      allOf: [
        { not: { additionalProperties: { type: "integer" } } },
        { not: { additionalProperties: { maximum: 3 } } },
      ],
    },
    [{ a: 3.5 }, { b: 10.5 }],
    [{}, { a: 5 }, { a: 2.5 }, { a: "x" }],
  ],
]

describe("obligations", () => {
  test.each(table)("%s", (_, schema, accept, reject) => {
    for (const value of accept) expect([value, accepts(schema, value)]).toEqual([value, true])
    for (const value of reject) expect([value, accepts(schema, value)]).toEqual([value, false])
  })
})
