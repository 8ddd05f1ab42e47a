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

const rates = [
  50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19200, 38400, 57600, 115200,
]

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
    "lists of integers, of which one object may have none",
    {
      type: "object",
      properties: { rate: { type: "number" } },
      allOf: [1, 2, 3, 4].map((i) => ({
        not: {
          required: ["rate"],
          properties: { rate: { type: "integer", enum: rates.map((rate) => rate * i) } },
        },
      })),
    },
    [{ rate: 51 }, { rate: 50.5 }, {}, { rate: 576000 }],
    [{ rate: 50 }, { rate: 576000 / 10 }, { rate: 460800 }, { rate: 345600 }],
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
  test("thirty items that differ in one of two members, or in having more", () => {
    const item = { type: "object", properties: { name: { enum: sixty }, value: { type: "string" } } }
    const schema = { type: "array", uniqueItems: true, items: item }
    const items = sixty.slice(0, 30).map((name) => ({ name, value: "x" }))
    expect(accepts(schema, items)).toBe(true)
    for (const [other, isRead] of [
      [{ name: "k3", value: "x" }, false],
      [{ value: "x", name: "k29" }, false],
      [{ name: "k3", value: "y" }, true],
      [{ name: "k3", value: "x", more: 1 }, true],
      [{ name: "k3" }, true],
    ] as const)
      expect([other, accepts(schema, [...items, other])]).toEqual([other, isRead])
  })

  test.each(table)("%s", (_, schema, accept, reject) => {
    for (const value of accept) expect([value, accepts(schema, value)]).toEqual([value, true])
    for (const value of reject) expect([value, accepts(schema, value)]).toEqual([value, false])
  })
})
