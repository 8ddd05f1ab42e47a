/**
 * Unions of objects that are told apart by names, by values, or by nothing: exactly one of hundreds holds where the reference
 * validator finds so, whatever the order of the keys, and to know it takes work that is linear in the union.
 */
import { describe, expect, test } from "vitest"
import { Completions } from "../../../../grammar/completions.ts"
import { compile } from "../../../../grammar/index.ts"
import { commonOrder } from "../../../../grammar/json/facts/verdicts.ts"
import { DeadState, States } from "../../../../grammar/state.ts"
import { randomOf } from "../../../support/oracle.ts"
import { Validator } from "../../../support/validate.ts"

type Random = () => number
type Schema = Record<string, unknown>

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const names = ["a", "b", "c", "d"]
const kinds = ["k0", "k1", "k2"]
const below = (random: Random, bound: number) => Math.floor(random() * bound)
const pick = <T>(random: Random, values: readonly T[]): T => values[below(random, values.length)]
const some = <T>(random: Random, values: readonly T[]): T[] => {
  const chosen = values.filter(() => random() < 0.4)
  return chosen.length === 0 ? [pick(random, values)] : chosen
}

/** What a branch says of one property. */
function value(random: Random): Schema {
  switch (below(random, 6)) {
    case 0:
      return { const: pick(random, [1, 2, "x", null]) }
    case 1:
      return { enum: some(random, [1, 2, "x", true]) }
    case 2:
      return { type: "object", required: [pick(random, names)] }
    case 3:
      return { not: { const: pick(random, [1, "x"]) } }
    case 4:
      return {}
    default:
      return { type: pick(random, ["integer", "string"]) }
  }
}

/** What a branch says of an object. */
function part(random: Random): Schema {
  if (random() < 0.2) return { required: some(random, names) }
  const isKind = random() < 0.3
  const asked = some(random, names)
  return {
    properties: {
      ...(isKind ? { kind: { const: pick(random, kinds) } } : {}),
      ...Object.fromEntries(asked.map((name) => [name, value(random)])),
    },
    ...(random() < 0.6 ? { required: some(random, isKind ? ["kind", ...names] : names) } : {}),
    ...(random() < 0.2 ? { additionalProperties: false } : {}),
  }
}

function branch(random: Random, depth: number): Schema {
  if (depth > 0 && random() < 0.2)
    return { ...(random() < 0.3 ? part(random) : {}), ...union(random, depth - 1) }
  if (random() < 0.1) return { not: { anyOf: [part(random), part(random)] } }
  if (random() < 0.05) return { if: part(random), then: part(random), else: part(random) }
  return part(random)
}

function union(random: Random, depth: number): Schema {
  const list = Array.from({ length: 3 + below(random, 3) }, () => branch(random, depth))
  return random() < 0.8 ? { oneOf: list } : { not: { oneOf: list } }
}

/** Several unions about one object: choosing in each would multiply. */
function unions(random: Random): Schema {
  return {
    type: "object",
    allOf: [union(random, 1), union(random, 0), union(random, 0)],
    ...(random() < 0.3 ? { properties: { a: value(random), kind: { type: "string" } } } : {}),
    ...(random() < 0.15 ? { additionalProperties: false } : {}),
    ...(random() < 0.2 ? { minProperties: below(random, 3) } : {}),
    ...(random() < 0.2 ? { maxProperties: 1 + below(random, 3) } : {}),
    ...(random() < 0.2 ? { dependentRequired: { [pick(random, names)]: [pick(random, names)] } } : {}),
  }
}

function members(random: Random): Record<string, unknown> {
  const chosen = [...names, "kind", "e"].filter(() => random() < 0.45).sort(() => random() - 0.5)
  const member = (name: string) =>
    name === "kind" ? pick(random, [...kinds, "k9"]) : pick(random, [1, 2, 3, "x", null, true, { a: 1 }, {}])
  return Object.fromEntries(chosen.map((name) => [name, member(name)]))
}

function reader(schema: Schema, order: "any" | "schema", limits = {}) {
  const options = { surface: "conform", unsatisfiable: "empty", order, limits } as const
  const states = new States(compile({ kind: "json", schema }, options).grammar)
  const reads = (text: string) => {
    const end = states.advance(states.start, encoder.encode(text))
    return end !== DeadState && states.isAccepting(end)
  }
  return { states, reads }
}

/** How `text` can be completed at each seventh byte that can be read. */
function* completionsOf(states: States, text: string): Generator<string> {
  const bytes = encoder.encode(text)
  let state = states.start
  for (let at = 0; at < bytes.length && state !== DeadState; at++) {
    if (at % 7 === 0) {
      const rest = decoder.decode(new Completions(states).shortest(state))
      yield decoder.decode(bytes.subarray(0, at)) + rest
    }
    state = states.advance(state, bytes, at, at + 1)
  }
}

describe("unions of all kinds", () => {
  test("are read as the reference validator reads them, and what completes a text is valid", () => {
    let [valid, completed] = [0, 0]
    for (let seed = 2; seed <= 12; seed++) {
      const random = randomOf(seed)
      const schema = unions(random)
      const validator = new Validator(JSON.stringify(schema))
      const { states, reads } = reader(schema, "any")
      if (states.start === DeadState) continue
      for (let i = 0; i < 10; i++) {
        const text = JSON.stringify(members(random))
        const isValid = validator.accepts(text)
        expect({ seed, text, isRead: reads(text) }).toEqual({ seed, text, isRead: isValid })
        for (const whole of completionsOf(states, text)) {
          expect({ seed, whole, isValid: validator.accepts(whole) }).toEqual({ seed, whole, isValid: true })
          completed++
        }
        if (isValid) valid++
      }
    }
    expect(valid).toBeGreaterThan(2)
    expect(completed).toBeGreaterThan(100)
  }, 240_000)

  test("in schema order nothing is read that is not valid, and no beginning is a dead end", () => {
    for (let seed = 101; seed <= 112; seed++) {
      const random = randomOf(seed)
      const schema = unions(random)
      const validator = new Validator(JSON.stringify(schema))
      const { states, reads } = reader(schema, "schema")
      if (states.start === DeadState) continue
      for (let i = 0; i < 6; i++) {
        const text = JSON.stringify(members(random))
        if (reads(text))
          expect({ seed, text, isValid: validator.accepts(text) }).toMatchObject({ isValid: true })
        for (const whole of completionsOf(states, text))
          expect({ seed, whole, isValid: validator.accepts(whole) }).toMatchObject({ isValid: true })
      }
    }
  }, 240_000)
})

const integer = { type: "integer" }
const numbered = (count: number) => Array.from({ length: count }, (_, i) => i)
const object = (i: number, more = {}) => ({
  ...{ type: "object", properties: { [`p${i}`]: integer }, required: [`p${i}`] },
  ...more,
})
const requires = (i: number) => ({ required: [`p${i}`] })
const integers = (count: number) => Object.fromEntries(numbered(count).map((i) => [`p${i}`, integer]))
const kindOf = (i: number, more = {}) => ({
  ...{ type: "object", properties: { kind: { const: `k${i}` }, v: integer } },
  ...more,
})
const caseOf = (i: number, rest: string) => ({
  if: { properties: { kind: { const: `k${i}` } }, required: ["kind"] },
  then: { properties: { [`v${i}`]: integer }, required: [`v${i}`] },
  else: { $ref: rest },
})

type Family = [
  name: string,
  schema: (count: number) => Schema,
  accept: (last: number) => unknown[],
  reject: (last: number) => unknown[],
]
const families: Family[] = [
  [
    "objects that require a name of their own",
    (count) => ({ oneOf: numbered(count).map((i) => object(i)) }),
    (last) => [{ p0: 1 }, { [`p${last}`]: 2, x: 1 }, { x: "y", p1: 3 }, { p0: 1, [`p${last}`]: "x" }],
    (last) => [{}, { x: 1 }, { p0: 1, [`p${last}`]: 1 }, { p0: "x" }],
  ],
  [
    "the same, closed",
    (count) => ({ oneOf: numbered(count).map((i) => object(i, { additionalProperties: false })) }),
    (last) => [{ p0: 1 }, { [`p${last}`]: 2 }],
    (last) => [{}, { x: 1 }, { p0: 1, [`p${last}`]: "x" }, { p0: 1, x: 1 }],
  ],
  [
    "the same below an optional property",
    (count) => ({ properties: { spec: { oneOf: numbered(count).map((i) => object(i)) } } }),
    (last) => [{}, { spec: { [`p${last}`]: 1 } }],
    () => [{ spec: {} }, { spec: { p0: 1, p1: 1 } }],
  ],
  [
    "the same in arrays",
    (count) => ({ type: "array", items: { oneOf: numbered(count).map((i) => object(i)) } }),
    (last) => [[], [{ p0: 1 }, { [`p${last}`]: 1 }]],
    () => [[{}], [{ p0: 1 }, { p0: 1, p1: 1 }]],
  ],
  [
    "exactly one of the declared names",
    (count) => ({
      ...{ type: "object", properties: integers(count), additionalProperties: false },
      oneOf: numbered(count).map(requires),
    }),
    (last) => [{ p7: 1 }, { [`p${last}`]: 1 }],
    (last) => [{}, { p1: 1, [`p${last}`]: 2 }, { x: 1 }],
  ],
  [
    "at most one of the declared names",
    (count) => ({
      ...{ type: "object", properties: integers(count) },
      oneOf: [...numbered(count).map(requires), { not: { anyOf: numbered(count).map(requires) } }],
    }),
    (last) => [{}, { x: 1 }, { [`p${last}`]: 1, x: 1 }],
    (last) => [{ p1: 1, [`p${last}`]: 2 }, { p1: "x" }],
  ],
  [
    "exactly one name, beside what each asks for and at most two members",
    (count) => ({
      ...{ type: "object", properties: integers(count), maxProperties: 2 },
      dependentRequired: Object.fromEntries(numbered(count).map((i) => [`p${i}`, [`r${i}`]])),
      oneOf: numbered(count).map(requires),
    }),
    (last) => [
      { p0: 1, r0: 1 },
      { [`r${last}`]: 2, [`p${last}`]: 1 },
    ],
    () => [{}, { p0: 1 }, { p0: 1, r1: 1 }, { r0: 1, r1: 2 }],
  ],
  [
    "two names each, some of them shared",
    (count) => ({
      oneOf: numbered(count).map((i) => ({
        required: [`p${i}`, `p${(i + 1) % count}`, "id"],
        type: "object",
      })),
    }),
    () => [
      { p0: 1, id: 1, p1: 1 },
      { p3: 1, p2: 1, id: 1, p5: 1 },
    ],
    () => [{}, { p0: 1, p1: 1 }, { id: 1, p0: 1, p2: 1 }, { p0: 1, p1: 1, p2: 1, id: 1 }],
  ],
  [
    "unions of unions",
    (count) => ({
      oneOf: numbered(count / 10).map((k) => ({ oneOf: numbered(10).map((i) => object(10 * k + i)) })),
    }),
    // Two of one inner union: it does not hold, and another may.
    (last) => [{ p0: 1 }, { [`p${last}`]: 1, p1: 1, p2: 1 }],
    (last) => [{}, { p0: 1, p1: 1 }, { p0: 1, [`p${last}`]: 1 }],
  ],
  [
    "a discriminator that is not required",
    (count) => ({ oneOf: numbered(count).map((i) => kindOf(i)) }),
    (last) => [
      { kind: "k3", v: 1 },
      { v: 1, kind: `k${last}` },
      { kind: "k1", x: 1 },
    ],
    () => [{}, { kind: "zz" }, { v: 1 }, { kind: "k1", v: "x" }],
  ],
  [
    "the same, closed, with members of their own",
    (count) => ({
      oneOf: numbered(count).map((i) => ({
        ...{ type: "object", properties: { kind: { const: `k${i}` }, [`v${i}`]: integer } },
        additionalProperties: false,
      })),
    }),
    (last) => [{ kind: "k3", v3: 1 }, { [`v${last}`]: 1 }, { [`v${last}`]: 1, kind: `k${last}` }],
    () => [{}, { kind: "k1", v2: 1 }, { v1: "x" }, { v1: 1, v2: 1 }],
  ],
  [
    "conditions on one discriminator",
    (count) => ({
      ...{ type: "object", properties: { kind: { type: "string" } }, required: ["kind"] },
      allOf: numbered(count).map((i) => ({
        if: { properties: { kind: { const: `k${i}` } } },
        then: { required: [`v${i}`], properties: { [`v${i}`]: integer } },
      })),
    }),
    (last) => [{ kind: "zz" }, { kind: "k1", v1: 1, v2: "x" }, { [`v${last}`]: 1, kind: `k${last}` }],
    () => [{}, { kind: "k0" }, { v1: "x", kind: "k1" }],
  ],
  [
    "a discriminator that is required",
    (count) => ({ oneOf: numbered(count).map((i) => kindOf(i, { required: ["kind"] })) }),
    (last) => [
      { kind: "k3", v: 1 },
      { v: 1, x: 2, kind: `k${last}` },
    ],
    () => [{}, { kind: "zz" }, { v: 1 }, { kind: "k1", v: "x" }],
  ],
  [
    "the same through references, closed, with members of their own",
    (count) => ({
      oneOf: numbered(count).map((i) => ({ $ref: `#/$defs/d${i}` })),
      $defs: Object.fromEntries(
        numbered(count).map((i) => [
          `d${i}`,
          {
            ...{ type: "object", properties: { kind: { const: `k${i}` }, [`v${i}`]: integer } },
            ...{ required: ["kind"], additionalProperties: false },
          },
        ]),
      ),
    }),
    (last) => [{ kind: "k3", v3: 1 }, { kind: `k${last}` }, { [`v${last}`]: 1, kind: `k${last}` }],
    () => [{}, { v1: 1 }, { kind: "k1", v2: 1 }, { kind: "k1", v1: "x" }],
  ],
  [
    "conditions with both sides on one discriminator",
    (count) => ({
      ...{ type: "object", properties: { kind: { type: "string" } }, required: ["kind"] },
      allOf: numbered(count).map((i) => ({
        if: { properties: { kind: { const: `k${i}` } } },
        then: { required: [`v${i}`] },
        else: { properties: { [`v${i}`]: integer } },
      })),
    }),
    (last) => [{ kind: "zz" }, { kind: "k1", v1: "x", v2: 1 }, { [`v${last}`]: "x", kind: `k${last}` }],
    () => [{}, { kind: "k0" }, { kind: "k0", v0: 1, v1: "x" }, { v1: "x", kind: "zz" }],
  ],
  [
    "a chain of else, two fifths as long",
    (count) => ({
      ...{ type: "object", $ref: "#/$defs/c0" },
      $defs: Object.fromEntries([
        ...numbered(0.4 * count).map((i) => [`c${i}`, caseOf(i, `#/$defs/c${i + 1}`)]),
        [`c${0.4 * count}`, { required: ["other"] }],
      ]),
    }),
    () => [
      { other: 1 },
      { kind: "zz", other: 1, v1: "x" },
      { kind: "k1", v1: 1, v2: "x" },
      { v15: 1, kind: "k15" },
    ],
    () => [{}, { kind: "zz" }, { kind: "k0", other: 1 }, { kind: "k15", v15: "x" }, { kind: "k3", v2: 1 }],
  ],
  [
    "conditions on names of their own",
    (count) => ({
      ...{ type: "object", properties: integers(count) },
      allOf: numbered(count).map((i) => ({ if: requires(i), then: { required: [`v${i}`] } })),
    }),
    (last) => [{}, { p0: 1, v0: 1 }, { [`v${last}`]: 1, [`p${last}`]: 2, v2: 1 }],
    () => [{ p0: 1 }, { p0: 1, v1: 1 }],
  ],
]

describe("unions of any size", () => {
  for (const [name, schema, accept, reject] of families) {
    test(name, () => {
      for (const count of [40, 100]) {
        const validator = new Validator(JSON.stringify(schema(count)))
        const { reads } = reader(schema(count), "any", { satSteps: 200 * count, objectSteps: 20 * count })
        for (const value of [...accept(count - 1), ...reject(count - 1)]) {
          const text = JSON.stringify(value)
          const isValid = accept(count - 1).some((one) => JSON.stringify(one) === text)
          expect({ count, text, isValid: validator.accepts(text) }).toEqual({ count, text, isValid })
          expect({ count, text, isRead: reads(text) }).toEqual({ count, text, isRead: isValid })
        }
      }
    })

    test(`${name}, a thousand`, () => {
      const { states, reads } = reader(schema(1_000), "any")
      for (const value of accept(999)) expect([value, reads(JSON.stringify(value))]).toEqual([value, true])
      for (const value of reject(999)) expect([value, reads(JSON.stringify(value))]).toEqual([value, false])
      expect(reads(decoder.decode(new Completions(states).shortest(states.start)))).toBe(true)
    })
  }
})

describe("cases told apart by the values of one or two names", () => {
  const asked = ["v0", "v1", "v2", "v3"]
  const side = (random: Random): Schema | boolean => {
    switch (below(random, 7)) {
      case 0:
        return { required: [pick(random, asked)] }
      case 1:
        return { properties: { [pick(random, asked)]: value(random) } }
      case 2:
        return { not: { required: [pick(random, asked)] } }
      case 3:
        return { properties: { kind: { not: { const: `k${below(random, 40)}` } } } }
      case 4:
        return { anyOf: [{ required: [pick(random, asked)] }, { required: [pick(random, asked)] }] }
      default:
        return random() < 0.1 ? false : {}
    }
  }
  const caseTest = (random: Random, i: number, discriminators: readonly string[]): Schema => {
    const name = pick(random, discriminators)
    const told = random() < 0.8 ? { const: `k${i}` } : { enum: [`k${i}`, `k${below(random, 40)}`, i] }
    return { properties: { [name]: told }, ...(random() < 0.6 ? { required: [name] } : {}) }
  }

  test("are read as the reference validator reads them, side by side and in chains of else", () => {
    let [valid, completed] = [0, 0]
    for (let seed = 1; seed <= 12; seed++) {
      const random = randomOf(seed)
      const discriminators = random() < 0.6 ? ["kind"] : ["kind", "mode"]
      const chain = (i: number): Schema | boolean =>
        i === 0
          ? side(random)
          : { if: caseTest(random, i, discriminators), then: side(random), else: chain(i - 1) }
      const sideBySide = () =>
        numbered(40).map((i) => ({
          if: caseTest(random, i, discriminators),
          then: side(random),
          ...(random() < 0.8 ? { else: side(random) } : {}),
        }))
      const schema = { type: "object", allOf: seed % 2 === 0 ? sideBySide() : [chain(40)] }
      const validator = new Validator(JSON.stringify(schema))
      const { states, reads } = reader(schema, "any")
      if (states.start === DeadState) continue
      for (let i = 0; i < 30; i++) {
        const names = [...asked, "kind", "mode"].filter(() => random() < 0.5).sort(() => random() - 0.5)
        const member = (name: string) =>
          asked.includes(name) ? pick(random, [1, 2, "x", null, {}]) : `k${below(random, 44)}`
        const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, member(name)])))
        const isValid = validator.accepts(text)
        expect({ seed, text, isRead: reads(text) }).toEqual({ seed, text, isRead: isValid })
        if (isValid) valid++
        if (i % 10 > 0) continue
        for (const whole of completionsOf(states, text)) {
          expect({ seed, whole, isValid: validator.accepts(whole) }).toEqual({ seed, whole, isValid: true })
          completed++
        }
      }
    }
    expect(valid).toBeGreaterThan(20)
    expect(completed).toBeGreaterThan(50)
  }, 240_000)

  test("are a limit, and a quick one, where dozens of names tell two cases each", () => {
    const schema = {
      type: "object",
      allOf: numbered(40).map((i) => ({
        if: { properties: { [`a${i}`]: { const: 1 } } },
        then: { required: [`b${i}`] },
        else: { required: [`c${i}`] },
      })),
    }
    expect(() => reader(schema, "any")).toThrow(/satSteps/)
  })
})

test("an order of all names suits each list, or there is none", () => {
  expect(commonOrder([["a", "b"], ["c"], ["b", "c"]])).toEqual(["a", "b", "c"])
  expect(
    commonOrder([
      ["type", "a"],
      ["type", "b", "name"],
      ["a", "name"],
    ]),
  ).toEqual(["type", "a", "b", "name"])
  expect(
    commonOrder([
      ["a", "b"],
      ["b", "a"],
    ]),
  ).toBeNull()
})
