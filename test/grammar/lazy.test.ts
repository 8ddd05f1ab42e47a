/** Grammars that are compiled again when a text comes to them: what they read is what they would have read. */
import { expect, test } from "vitest"
import { weighed } from "../../grammar/deadline.ts"
import { compile, GrammarError } from "../../grammar/index.ts"
import { LazyGrammars } from "../../grammar/lazy.ts"
import { Matcher, TokenFsm } from "../../mask/index.ts"
import { vocabularyOf } from "../support/oracle.ts"

const encoder = new TextEncoder()
const pieces = [
  "{",
  "}",
  '"',
  ":",
  ",",
  "a",
  "b",
  "1",
  "12",
  '{"',
  '":',
  '"a"',
  "[",
  "]",
  "0",
  "7",
  "c",
  "t",
  "true",
]
const vocabulary = vocabularyOf([...pieces, ..."0123456789efilmnorsuxyz"])

const schemas = [
  { type: "object", properties: { a: { type: "integer", minimum: 7, maximum: 120 } }, required: ["a"] },
  { type: "array", items: { enum: ["a", "b", 12] }, minItems: 1, maxItems: 3 },
  { anyOf: [{ type: "string", pattern: "^[ab]{1,3}$" }, { const: { b: [true] } }] },
  { type: "object", additionalProperties: { $ref: "#" }, maxProperties: 2 },
  { type: ["boolean", "null"] },
]
const texts = [
  '{"a":12}',
  '["a",12]',
  '"ab"',
  '{"b":[true]}',
  '{"a":{}}',
  "true",
  '{"a":1}',
  "[]",
  '["a","a","b","b"]',
  "12",
]
/** The first 64 are kept whole. */
const many = 140
const letters = (i: number) => `${"xyz"[i % 3]}${Math.floor(i / 3).toString(10)}_`

function larkOf(schema: unknown): string {
  const rules = Array.from(
    { length: many },
    (_, i) => `c${i}: "${letters(i)}" %json ${JSON.stringify(schema)}`,
  )
  return `start: ${rules.map((_, i) => `c${i}`).join(" | ")}\n${rules.join("\n")}\n`
}

function tagOf(schema: unknown) {
  const elements = Array.from({ length: many }, (_, i) => ({
    type: "sequence",
    elements: [
      { type: "const_string", value: letters(i) },
      { type: "json_schema", json_schema: schema },
    ],
  }))
  return { type: "or", elements }
}

/** Each mask along `text`, its end, and the shortest way on at each place, from behind `prefix`. */
function readAll(fsm: TokenFsm, prefix: string, text: string): string[] {
  const matcher = new Matcher(fsm)
  const row = new Uint32Array(vocabulary.words)
  expect(matcher.acceptBytes(encoder.encode(prefix))).toBe(true)
  const read: string[] = []
  for (const byte of encoder.encode(text)) {
    matcher.fillMask(row)
    const expected = matcher.explain().map((one) => JSON.stringify(one))
    read.push(`${row} ${Buffer.from(matcher.shortest())} ${expected.sort()}`)
    if (!matcher.acceptBytes(Uint8Array.of(byte))) return [...read, "refused"]
  }
  return [...read, `${matcher.isAccepting()}`]
}

test.each(schemas)("%j is read behind the last prefix as behind the first", (schema) => {
  const inputs = [
    { kind: "lark", text: larkOf(schema) },
    { kind: "tag", format: tagOf(schema) },
  ] as const
  for (const input of inputs) {
    for (const text of texts) {
      // Of one grammar each time: what has been read once has been compiled.
      const fsm = new TokenFsm(compile(input).grammar, vocabulary)
      const last = readAll(fsm, letters(many - 1), text)
      expect(readAll(fsm, letters(0), text)).toEqual(last)
      expect(last.length).toBeGreaterThan(1)
    }
  }
})

test("a schema that is changed after it was compiled says what it said", () => {
  const schema = {
    type: "object",
    properties: { a: { const: -0 } },
    required: ["a"],
    additionalProperties: false,
  }
  const { grammar } = compile({ kind: "tag", format: tagOf(schema) })
  schema.required = ["b"]
  schema.additionalProperties = true
  const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
  expect(matcher.acceptBytes(encoder.encode(`${letters(many - 1)}{"`))).toBe(true)
  expect(Buffer.from(matcher.shortest()).toString()).toMatch(/^a":-?0\}$/)
})

test("documents that are changed after a grammar was compiled say what they said", () => {
  const documents: Record<string, string> = { "https://a/b": '{"const":"a"}' }
  const schema = { $ref: "https://a/b" }
  for (const input of [
    { kind: "lark", text: larkOf(schema) },
    { kind: "tag", format: tagOf(schema) },
  ] as const) {
    documents["https://a/b"] = '{"const":"a"}'
    const { grammar } = compile(input, { documents })
    documents["https://a/b"] = '{"const":"b"}'
    const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
    expect(matcher.acceptBytes(encoder.encode(`${letters(many - 1)}"a"`))).toBe(true)
  }
})

test("what is wrong in a schema is refused before the first token, wherever it stands", () => {
  const text = larkOf({ type: "string" }).replace(/(c139: .*)$/m, 'c139: "x" %json {"type":"strin"}')
  expect(() => compile({ kind: "lark", text })).toThrow(GrammarError)
})

test("a grammar is compiled again at its first use, and where that was given up at the next one", () => {
  const lazy = new LazyGrammars()
  let calls = 0
  let fails = false
  const make = (text: string) => {
    calls++
    if (fails) throw new Error("given up")
    return compile({ kind: "json", schema: text }).grammar
  }
  const all = Array.from({ length: many }, () => lazy.of<string>('{"type":"boolean"}', make, (text) => text))
  const whole = lazy.of<string>('{"type":"array","maxItems":0}', make, () => null)
  expect(calls).toBe(many + 1)
  expect(new Matcher(new TokenFsm(whole, vocabulary)).acceptBytes(encoder.encode("[]"))).toBe(true)
  expect(calls).toBe(many + 1)
  const names = Array.from({ length: 500 }, (_, i) => [`p${i}`, { type: "array", items: { type: "null" } }])
  const heavy = JSON.stringify({ properties: Object.fromEntries(names) })
  expect(weighed(() => make(heavy)).weight).toBeGreaterThan(500)
  const slow = lazy.of<string>(heavy, make, (text) => text)
  expect(new Matcher(new TokenFsm(slow, vocabulary)).acceptBytes(encoder.encode('{"p7":[]'))).toBe(true)
  expect(calls).toBe(many + 3)
  calls = many + 1
  const last = lazy.of<string>('{"type":"object","maxProperties":0}', make, (text) => text)
  const matcher = new Matcher(new TokenFsm(last, vocabulary))
  expect(calls).toBe(many + 2)
  fails = true
  expect(() => matcher.acceptBytes(encoder.encode("{}"))).toThrow("given up")
  fails = false
  expect(matcher.acceptBytes(encoder.encode("{}"))).toBe(true)
  expect(matcher.isAccepting()).toBe(true)
  expect(calls).toBe(many + 4)
  expect(last.title).toBe(whole.title)
  expect(all[many - 1].key).toBe(all[0].key)
})
