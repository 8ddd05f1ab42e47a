/** Threads over unions of stacks against the same threads one by one. */

import { expect, test } from "vitest"
import { Completions } from "../../grammar/completions.ts"
import { defaultLimits } from "../../grammar/errors.ts"
import { explain, nextBytes } from "../../grammar/explain.ts"
import { Frame } from "../../grammar/frame.ts"
import { compile } from "../../grammar/index.ts"
import { Readings } from "../../grammar/readings.ts"
import { EmptyStack, StackTable } from "../../grammar/stack.ts"
import { DeadState, States } from "../../grammar/state.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const grammarOf = (schema: unknown) => compile({ kind: "json", schema }, { surface: "conform" }).grammar

/** One of these names, and no other of them. */
const oneName = (...names: string[]) => ({ oneOf: names.map((name) => ({ required: [name] })) })

/** An object in an array for each of `depth` levels, with three alternatives that are told apart at its end. */
function nested(depth: number, array: object): object {
  if (depth === 0) return { type: ["number", "string"] }
  const items = { type: "object", properties: { next: nested(depth - 1, array) }, ...oneName("a", "b", "c") }
  return { type: "array", items, ...array }
}

const schemas: Record<string, object> = {
  "arrays in objects": nested(3, {}),
  "unique items": nested(3, { uniqueItems: true }),
  "unique items that hold unique items": { uniqueItems: true, items: nested(2, { uniqueItems: true }) },
  twins: { not: { uniqueItems: true }, type: "array", items: nested(2, { minItems: 1 }) },
  "twins of twins": { ...nested(2, { not: { uniqueItems: true } }) },
  "contains beside alternatives": nested(2, {
    contains: { required: ["a"] },
    minContains: 1,
    maxContains: 2,
  }),
  "names that come once": {
    $defs: { lists: { type: "array", items: { type: "object", additionalProperties: { type: "integer" } } } },
    type: "array",
    items: {
      anyOf: Array.from({ length: 4 }, (_, i) => ({
        type: "object",
        minProperties: i,
        additionalProperties: { $ref: "#/$defs/lists" },
      })),
    },
  },
}

/** `count` alternatives that read the same under frames of their own, until a key or the end tells them apart. */
const alike = (count: number, more: (i: number) => object) =>
  Array.from({ length: count }, (_, i) => ({ type: "object", ...more(i) }))

Object.assign(schemas, {
  "open objects with keys of their own": {
    oneOf: alike(12, (i) => ({ required: [`${"abcnext"[i % 7]}${i}`] })),
  },
  "closed objects that a constant tells apart": {
    type: "array",
    items: {
      anyOf: alike(12, (i) => ({
        properties: { a: { type: ["string", "number"] }, b: { const: i }, c: { maxLength: i } },
        required: ["a"],
        additionalProperties: false,
      })),
    },
  },
  "objects with room for more and more keys, as unique items": {
    type: "array",
    uniqueItems: true,
    items: { anyOf: alike(12, (i) => ({ minProperties: i % 3, maxProperties: i })) },
  },
})

/** Numbers below n, the same ones for the same seed. */
function* dice(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    yield (state >>> 8) / 2 ** 24
  }
}

/** A text that goes on at random, closers more often than they come. */
const liked = [...encoder.encode('{}[]",:abcnext01')]

/** Where walks begin that would seldom come so far. */
const beginnings: Record<string, string> = { "names that come once": '[{"x":[{' }

test.each(Object.entries(schemas))(
  "%s: united readings accept what they accept one by one",
  (name, schema) => {
    const grammar = grammarOf(schema)
    const united = new States(grammar, 1)
    const apart = new States(grammar, Number.POSITIVE_INFINITY)
    let unions = 0
    for (let seed = 1; seed <= 6; seed++) {
      const next = dice(seed)
      const read = [...encoder.encode(beginnings[name] ?? "")]
      let one = united.advance(united.start, Uint8Array.from(read))
      let other = apart.advance(apart.start, Uint8Array.from(read))
      for (let n = 0; n < 60; n++) {
        const bytes = nextBytes(united, one)
        expect({ text: decoder.decode(Uint8Array.from(read)), bytes }).toEqual({
          text: decoder.decode(Uint8Array.from(read)),
          bytes: nextBytes(apart, other),
        })
        expect(united.isAccepting(one)).toBe(apart.isAccepting(other))
        if (united.threadCount(one) < apart.threadCount(other)) unions++
        const completion = new Completions(united).shortest(one)
        expect(united.isAccepting(united.advance(one, completion))).toBe(true)
        expect(apart.isAccepting(apart.advance(other, completion))).toBe(true)
        expect(new Completions(united).least(one)).toBeLessThanOrEqual(completion.length)
        const choices = bytes.filter((byte) => liked.includes(byte))
        const from = choices.length > 0 ? choices : bytes
        if (from.length === 0) break
        const byte = from[Math.floor((next.next().value as number) * from.length)]
        read.push(byte)
        one = united.advance(one, Uint8Array.of(byte))
        other = apart.advance(other, Uint8Array.of(byte))
      }
    }
    expect(unions).toBeGreaterThan(0)
  },
)

test("alternatives of nested levels add up", () => {
  const counts = [2, 4, 6].map((depth) => {
    const states = new States(grammarOf(nested(depth, { uniqueItems: true })))
    let most = 0
    let state = states.start
    for (const byte of encoder.encode('[{"next":'.repeat(depth) + '[{"next":1'.slice(9))) {
      state = states.advance(state, Uint8Array.of(byte))
      most = Math.max(most, states.threadCount(state))
    }
    expect(state).not.toBe(DeadState)
    return most
  })
  // One by one there would be 3^6 at the deepest level.
  expect(Math.max(...counts)).toBeLessThan(40)
})

test("a value that is the same in hundreds of alternatives is read once", () => {
  const alternatives = alike(300, (i) => ({
    properties: { [`k${i}`]: { const: i } },
    minProperties: 1 + (i % 2),
  }))
  const states = new States(grammarOf({ anyOf: alternatives }))
  const counts = [...'{"x":"abc","y":-17'].map((_, i, text) => {
    const state = states.advance(states.start, encoder.encode(text.slice(0, i + 1).join("")))
    expect(
      JSON.parse(text.slice(0, i + 1).join("") + decoder.decode(new Completions(states).shortest(state))),
    ).toBeTypeOf("object")
    return states.threadCount(state)
  })
  // Inside "abc" and before a value; a key is read for each of them.
  expect(Math.min(...counts)).toBeLessThan(4)
  expect(counts[4]).toBeLessThan(16)
  expect(explain(states, states.advance(states.start, encoder.encode('{"x":"abc'))).length).toBeGreaterThan(0)
})

test("alternatives count once each, in whatever ways their values begin", () => {
  const read = (anyOf: object[], text: string) => {
    const limits = { threads: 64 }
    const schema = { type: "array", items: { anyOf } }
    const { grammar } = compile({ kind: "json", schema }, { surface: "conform", limits })
    const states = new States(grammar, 1)
    return states.advance(states.start, encoder.encode(text))
  }
  const open = (count: number) => alike(count, (i) => ({ properties: { [`k${i}`]: { const: i } } }))
  expect(read(open(60), '[{"x":')).not.toBe(DeadState)
  const closed = (count: number) =>
    open(count).map((each) => ({ ...each, additionalProperties: { const: 1 } }))
  expect(read(closed(60), '[{"x":1')).not.toBe(DeadState)
  expect(() => read(open(80), '[{"x":')).toThrow(
    /readings of one key in all alternatives of an object: 65 is above the bound of 64/,
  )
})

test("a definition that is used by reference in many alternatives is one schema in all of them", () => {
  const node = {
    anyOf: [
      { type: ["string", "number"] },
      ...alike(40, (i) => ({
        additionalProperties: { $ref: "#/$defs/alias", title: `${i}` },
        maxProperties: 3 + i,
      })),
    ],
  }
  const grammar = grammarOf({
    $ref: "#/$defs/node",
    $defs: { node, alias: { allOf: [{ $ref: "#/$defs/node" }], description: "" } },
  })
  const counts = [2, 10, 40].map((depth) => {
    const states = new States(grammar)
    let most = 0
    let state = states.start
    for (const byte of encoder.encode('{"a":'.repeat(depth))) {
      state = states.advance(state, Uint8Array.of(byte))
      most = Math.max(most, states.threadCount(state))
    }
    expect(
      JSON.parse('{"a":'.repeat(depth) + decoder.decode(new Completions(states).shortest(state))),
    ).toBeTypeOf("object")
    return most
  })
  // Two levels of forty had 1,600 one by one.
  expect(Math.max(...counts)).toBeLessThan(60)
})

test("threads that wait for different texts stay apart", () => {
  const grammar = grammarOf({
    anyOf: [
      { type: "array", uniqueItems: true, items: { type: "array", items: { type: "integer" } } },
      { type: "array", items: { type: "array", uniqueItems: true, items: { type: "integer" } } },
      { type: "array", items: { type: "array", items: { type: "integer", multipleOf: 3 } } },
    ],
  })
  const states = new States(grammar, 1)
  const read = (text: string) => states.advance(states.start, encoder.encode(text))
  expect(states.isAccepting(read("[[1,1],[2]]"))).toBe(true)
  expect(states.isAccepting(read("[[1,2],[1,2]]"))).toBe(true)
  expect(states.isAccepting(read("[[3,3],[3,3]]"))).toBe(true)
  expect(read("[[1,1],[1,1]")).toBe(DeadState)
})

test("the end of the text and lexemes without a frame are left alone", () => {
  const readings = new Readings(new StackTable(), true)
  const added = [1, 5, 5].map((lexemeState) => readings.add(lexemeState, EmptyStack, 0))
  expect(added).toEqual([true, true, false])
  readings.join(defaultLimits)
  expect([...readings.threads.subarray(0, readings.used)]).toEqual([1, EmptyStack, 0, 5, EmptyStack, 0])
})

class TestFrame extends Frame {
  follow() {
    return []
  }
  finish() {
    return ""
  }
}

test.each([3, 40])(
  "of %i frames, each twice over one of two others, threads are united, then joined",
  (count) => {
    const stacks = new StackTable()
    const frames = Array.from({ length: count }, () => new TestFrame())
    const below = [new TestFrame(), new TestFrame()].map((frame) => stacks.push(EmptyStack, frame))
    const collect = (unites: boolean) => {
      const readings = new Readings(stacks, unites)
      for (const stack of [...below, ...below])
        for (const frame of frames) readings.add(7, stacks.push(stack, frame), 0)
      return readings
    }
    const apart = collect(false)
    expect(apart.used).toBe(3 * 2 * count)
    apart.join(defaultLimits)
    expect(apart.used).toBe(3 * 2 * count)
    const united = collect(true)
    expect(united.used).toBe(3 * count)
    for (const [i, frame] of frames.entries())
      expect(united.threads[3 * i + 1]).toBe(stacks.push(stacks.unite(below[0], below[1]), frame))
    united.join(defaultLimits)
    expect(united.used).toBe(3)
    expect(stacks.members(united.threads[1])).toHaveLength(count)
    expect(() => {
      const many = collect(true)
      many.join({ ...defaultLimits, threads: count - 1 })
    }).toThrow(/is above the bound/)
  },
)
