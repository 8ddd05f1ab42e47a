/** The machine over tokens against the one over bytes, with caches of every size. */
import { describe, expect, test } from "vitest"
import { compile, type GrammarError, type GrammarInput } from "../../grammar/index.ts"
import { DeadState, States } from "../../grammar/state.ts"
import { type FsmOptions, isAllowed, Matcher, TokenFsm, Vocabulary, wordCount } from "../../mask/index.ts"
import { randomOf } from "../support/oracle.ts"

const encoder = new TextEncoder()
const pieces = [
  '{"',
  '":',
  '"}',
  "tr",
  "true",
  "fal",
  "12",
  ",",
  "a",
  "ab",
  " ",
  "[[",
  "]]",
  "\u00e9",
  "null",
  "}",
  "e1",
]
const tokens: (Uint8Array | null)[] = Array.from({ length: 128 }, (_, byte) => Uint8Array.of(byte))
for (const piece of pieces) tokens.push(encoder.encode(piece))
// A hole, a control token, two ends, padding.
const [hole, control] = [tokens.length, tokens.length + 1]
const endIds = [tokens.length + 2, tokens.length + 3]
const width = tokens.length + 9
const vocabulary = Vocabulary.fromBytes(tokens, { width, endIds, specials: { "<tool>": control } })

const inputs: [name: string, input: GrammarInput][] = [
  ["a schema", { kind: "json", schema: { properties: { a: { type: "boolean" } }, maxProperties: 2 } }],
  [
    "keys that must differ",
    { kind: "json", schema: { additionalProperties: { type: "null" }, type: "object" } },
  ],
  [
    "unique items",
    { kind: "json", schema: { type: "array", uniqueItems: true, items: { enum: [1, 12, true] } } },
  ],
  ["a regular expression", { kind: "regex", pattern: "(ab|12)*[^a]?" }],
  ["choices", { kind: "choice", options: ["true", "tr", "12", ""] }],
]
const caches: [name: string, options: FsmOptions][] = [
  ["defaults", {}],
  ["no masks kept", { maskBytes: 0 }],
  ["one transition kept", { transitionCount: 1 }],
]

describe.each(inputs)("%s", (_, input) => {
  test.each(caches)("%s: a token is its bytes, a mask is what may come next", (_name, options) => {
    const { grammar } = compile(input)
    const fsm = new TokenFsm(grammar, vocabulary, options)
    const states = new States(grammar)
    const row = new Uint32Array(wordCount(width))
    for (let seed = 1; seed <= 6; seed++) {
      const random = randomOf(seed)
      let state = fsm.start
      let bytes: number[] = []
      for (let step = 0; step < 12; step++) {
        const here = states.advance(states.start, Uint8Array.from(bytes))
        expect(fsm.isAccepting(state)).toBe(states.isAccepting(here))
        fsm.fillMask(state, row)
        const allowed: number[] = []
        for (let token = 0; token < width; token++) {
          const own = vocabulary.bytes(token)
          const isAlive = own.length > 0 && states.advance(here, own) !== DeadState
          expect([token, fsm.next(state, token) !== DeadState]).toEqual([token, isAlive])
          const isEnd = endIds.includes(token) && states.isAccepting(here)
          expect([token, isAllowed(row, token)]).toEqual([token, isAlive || isEnd])
          if (isAlive) allowed.push(token)
        }
        if (allowed.length === 0) break
        const token = allowed[Math.floor(random() * allowed.length)]
        state = fsm.next(state, token)
        bytes = [...bytes, ...vocabulary.bytes(token)]
      }
    }
  })
})

/** Compiled for the sake of x; what else may be read is more than can be followed: the length multiplies the states. */
const hard = { pattern: "^(x|(?=(..)*$).*a.{40}b)", minLength: 50, maxLength: 50 }
const easy = { type: "string", maxLength: 20 }
const places: [name: string, schema: object, text: string, path: string][] = [
  ["the value itself", hard, '"', ""],
  ["a property", { properties: { a: hard } }, '{"a":"', "/properties/a"],
  ["a property that begins", { properties: { a: hard } }, '{"a":', "/properties/a"],
  [
    "a property after others",
    { properties: { b: easy, a: hard, c: easy } },
    '{"b":"x","a":"',
    "/properties/a",
  ],
  [
    "a property of no name",
    { properties: { b: easy }, additionalProperties: hard },
    '{"b":"x","q":"',
    "/additionalProperties",
  ],
  ["an item", { prefixItems: [easy, hard] }, '["a","', "/prefixItems/1"],
  [
    "a property of an item, by reference",
    { $defs: { h: { properties: { h: hard } } }, items: { $ref: "#/$defs/h" } },
    '[{"h":"',
    "/$defs/h/properties/h",
  ],
  [
    "a property of nested objects in the order of the schema",
    { type: "object", properties: { o: { type: "object", properties: { a: easy, i: hard } } } },
    '{"o":{"a":"","i":"',
    "/properties/o/properties/i",
  ],
]

test.each(places)("what meets a bound of the tables names the place: %s", (_, schema, text, path) => {
  const { grammar } = compile({ kind: "json", schema })
  const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
  let error: unknown
  try {
    expect(matcher.acceptBytes(encoder.encode(text))).toBe(true)
    matcher.fillMask(new Uint32Array(wordCount(width)))
  } catch (thrown) {
    error = thrown
  }
  const says = "the search for a text that a pattern accepts visited more than 40000 automaton states"
  expect(error).toMatchObject({ kind: "limit", message: expect.stringContaining(says) })
  expect((error as GrammarError).path).toBe(path)
})

test("holes, control tokens, ends and ids past the width lead nowhere", () => {
  const fsm = new TokenFsm(compile({ kind: "json", schema: true }).grammar, vocabulary)
  for (const token of [hole, control, ...endIds, width - 1, width, 1e6])
    expect(fsm.next(fsm.start, token)).toBe(DeadState)
})

test("what was met is counted, and kept masks stay in their bound", () => {
  const { grammar } = compile({ kind: "json", schema: { type: "array", items: { enum: [1, 2, 12] } } })
  const fsm = new TokenFsm(grammar, vocabulary, { maskBytes: 2_000 })
  const row = new Uint32Array(wordCount(width))
  let state = fsm.start
  for (const text of '[[12,1,2,2,1 , 12 ,1,"'.slice(1)) {
    fsm.fillMask(state, row)
    fsm.fillMask(state, row)
    expect(fsm.stats().maskBytes).toBeLessThanOrEqual(2_000 + 4 * row.length + 96)
    const next = fsm.next(state, text.charCodeAt(0))
    if (next === DeadState) break
    state = next
  }
  expect(fsm.stats().states).toBeGreaterThan(5)
  expect(fsm.stats().transitions).toBeGreaterThan(5)
})
