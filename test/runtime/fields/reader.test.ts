/**
 * Field events against JSON.parse: folded they are the value, whatever the cuts of the text, and what was closed stays.
 *
 * Over tables, over random texts in random spellings, and over all valid instances of MaskBench.
 */
import fc from "fast-check"
import { describe, expect, expectTypeOf, test } from "vitest"
import { readJson } from "../../../grammar/json/read/reader.ts"
import { foldFields } from "../../../runtime/fields/fold.ts"
import { type FieldEvent, FieldReader } from "../../../runtime/fields/reader.ts"
import type { DeepPartial } from "../../../runtime/fields/value.ts"
import { spellAtRandom } from "../../support/oracle/spell.ts"
import { randomOf } from "../../support/oracle.ts"
import { hasMaskBench, maskBenchLines } from "../../support/validate/corpora.ts"

type Random = () => number
const utf8 = new TextEncoder()

/** One line an event: `<` opens, `+` goes on, `>` closes. */
const print = (event: FieldEvent) => {
  switch (event.type) {
    case "open":
      return `< ${event.path} ${event.kind}`
    case "delta":
      return `+ ${event.path} ${JSON.stringify(event.delta)}`
    case "close":
      return `> ${event.path} ${JSON.stringify(event.value)}`
  }
}

/** Each piece with its events. */
function read(pieces: readonly (string | Uint8Array)[]): string[][] {
  const reader = new FieldReader()
  return [...pieces.map((piece) => reader.push(piece).map(print)), reader.finish().map(print)]
}

/** Events of a text that was cut anywhere, as they are without cuts: deltas of one string are one. */
function merged(events: readonly FieldEvent[]): FieldEvent[] {
  const all: FieldEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    if (event.type === "delta" && last?.type === "delta" && event.path === last.path) {
      all[all.length - 1] = { ...last, delta: last.delta + event.delta }
    } else all.push(event)
  }
  return all
}

/** A text in pieces of 1 to `most` bytes. */
function* cut(text: string, random: Random, most: number): Generator<Uint8Array> {
  const bytes = utf8.encode(text)
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + Math.floor(random() * most))
    yield bytes.subarray(at, end)
    at = end
  }
}

function at(value: unknown, path: string): unknown {
  let found = value
  for (const part of path.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~")
    found = (found as Record<string, unknown>)[name]
  }
  return found
}

/** How many arrays of one item lie around a value, and the value. */
function depthOf(value: unknown): [depth: number, inner: unknown] {
  let [depth, inner] = [0, value]
  for (; Array.isArray(inner) && inner.length === 1; depth++) inner = inner[0]
  return [depth, inner]
}

/** All laws, for a JSON text without names that come twice. */
function expectLaws(text: string, random: Random): void {
  const value = JSON.parse(text)
  const whole = new FieldReader()
  const uncut = [...whole.push(text), ...whole.finish()]
  expect(merged(uncut)).toEqual(uncut)
  for (const most of [1, 2, 9]) {
    let reader = new FieldReader()
    const events: FieldEvent[] = []
    const closed: string[] = []
    const take = (more: readonly FieldEvent[]) => {
      for (const event of more) {
        events.push(event)
        if (event.type !== "close") continue
        closed.push(JSON.stringify(event.value))
        expect(event.value).toStrictEqual(at(value, event.path))
      }
    }
    for (const piece of cut(text, random, most)) {
      // A fork that goes another way leaves the reader as it is; one that goes the same way is as good.
      const fork = reader.fork()
      const before = reader.snapshot()
      take(fork.push(piece))
      expect(reader.snapshot()).toEqual(before)
      reader = fork
      if (random() < 0.1) expect(foldFields(events)).toStrictEqual(reader.snapshot())
    }
    take(reader.finish())
    expect(merged(events)).toStrictEqual(uncut)
    for (const result of [foldFields(events), reader.snapshot()]) {
      expect(result).toStrictEqual(value)
      expect(JSON.stringify(result)).toBe(JSON.stringify(value))
    }
    const last = events.flatMap((event) => (event.type === "close" ? [JSON.stringify(event.value)] : []))
    expect(last).toEqual(closed)
    const paths = events.flatMap((event) => (event.type === "open" ? [event.path] : []))
    expect([new Set(paths).size, closed.length]).toEqual([paths.length, paths.length])
  }
}

test.each<[name: string, pieces: string[], events: string[][]]>([
  ["a number alone ends with the text", ["12"], [["<  number"], [">  12"]]],
  [
    "a number ends by what follows",
    ["[1", "2", "]"],
    [["<  array", "< /0 number"], [], ["> /0 12", ">  [12]"], []],
  ],
  ["a number ends by white space", ["-1.5e1", " "], [["<  number"], [">  -15"], []]],
  ["words close with their last letter", ["tru", "e"], [["<  boolean"], [">  true"], []]],
  ["null has a kind", ["null"], [["<  null", ">  null"], []]],
  ["an empty string has no delta", ['""'], [["<  string", '>  ""'], []]],
  [
    "strings grow by pieces",
    ['{"a":"b', "c", 'd"}'],
    [
      ["<  object", "< /a string", '+ /a "b"'],
      ['+ /a "c"'],
      ['+ /a "d"', '> /a "bcd"', '>  {"a":"bcd"}'],
      [],
    ],
  ],
  [
    "an escape comes whole",
    ['"\\', "n\\u0", "0e", '9"'],
    [["<  string"], ['+  "\\n"'], [], ['+  "é"', '>  "\\né"'], []],
  ],
  [
    "a surrogate pair comes whole",
    ['"\\ud83d', "\\ude0", '0"'],
    [["<  string"], [], ['+  "😀"', '>  "😀"'], []],
  ],
  [
    "half a pair stands for itself when nothing completes it",
    ['"\\ud83d', "a", '\\ud83d"'],
    [["<  string"], ['+  "\\ud83da"'], ['+  "\\ud83d"', '>  "\\ud83da\\ud83d"'], []],
  ],
  ["a pair of a text may be cut", ['"\ud83d', '\ude00"'], [["<  string"], ['+  "😀"', '>  "😀"'], []]],
  [
    "paths are JSON pointers",
    ['{"a/b":[{"m~n":0}],"":1}'],
    [
      [
        "<  object",
        "< /a~1b array",
        "< /a~1b/0 object",
        "< /a~1b/0/m~0n number",
        "> /a~1b/0/m~0n 0",
        '> /a~1b/0 {"m~n":0}',
        '> /a~1b [{"m~n":0}]',
        "< / number",
        "> / 1",
        '>  {"a/b":[{"m~n":0}],"":1}',
      ],
      [],
    ],
  ],
])("%s", (_, pieces, events) => {
  expect(read(pieces)).toEqual(events)
})

test.each<[name: string, text: string]>([
  ["names that every object has", '{"__proto__":{"a":1},"constructor":null,"toString":"x"}'],
  ["names that are numbers", '{"10":1,"2":{"1":0},"b":2}'],
  ["negative zero", "[-0, -0.0, 0e5, -0E-1]"],
  ["numbers beyond doubles", "[123456789012345678901234567890, 1e400, 1e-400, 0.1]"],
  ["a byte order mark inside", '["\ufeff", "\ufeffa"]'],
  ["white space everywhere", ' {\n"a" :\t[ ]\r, "b": { } , "c" : [ 1 , "" ] } '],
  ["all escapes", '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uD83D\\uDE00\\uFFff"'],
  ["characters of all lengths", '{"é漢😀":"é漢😀"}'],
  ["deep nesting", `${"[".repeat(3_000)}1${"]".repeat(3_000)}`],
])("laws: %s", (_, text) => {
  // The fork of every piece is compared at every level: fewer pieces where there are many.
  if (text.length < 1_000) expectLaws(text, randomOf(1))
  else {
    const reader = new FieldReader()
    const events = [...reader.push(text), ...reader.finish()]
    expect(events.length).toBe(6_002)
    // Not by JSON.stringify, whose calls nest as the value does.
    expect(depthOf(foldFields(events))).toEqual([3_000, 1])
    expect(depthOf(reader.snapshot())).toEqual([3_000, 1])
  }
})

test("of a name that comes twice the last value counts, as for JSON.parse", () => {
  const text = '{"a":1,"b":{"c":"x","c":[2]},"a":"y"}'
  const reader = new FieldReader()
  const events = [...reader.push(text)]
  for (const value of [foldFields(events), reader.snapshot()]) {
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
  }
  expect(events.filter(({ path }) => path === "/a").map(print)).toEqual([
    "< /a number",
    "> /a 1",
    "< /a string",
    '+ /a "y"',
    '> /a "y"',
  ])
})

test.each<[text: string, snapshot: unknown]>([
  ["", undefined],
  ["12", undefined],
  ['"ab\\', "ab"],
  ["[", []],
  ['[1, "a', [1, "a"]],
  ["[1, 2", [1]],
  ['{"a": {"b": [true, nul', { a: { b: [true] } }],
  ['{"a": 1, "na', { a: 1 }],
  ['{"a": 1, "b": ', { a: 1 }],
  ['{"a": 1} ', { a: 1 }],
])("the snapshot of %j", (text, snapshot) => {
  const reader = new FieldReader()
  const events = [...reader.push(text)]
  expect(reader.snapshot()).toStrictEqual(snapshot)
  expect(foldFields(events)).toStrictEqual(snapshot)
})

test.each<[text: string, message: string]>([
  ["[01]", '"]" at offset 3 of a JSON text: expected the rest of a number'],
  ["[1.]", '"]" at offset 3'],
  ["trux", '"x" at offset 3 of a JSON text: expected the rest of a word'],
  ['{"a" 1}', '"1" at offset 5 of a JSON text: expected a colon'],
  ["[1,]", '"]" at offset 3 of a JSON text: expected a value'],
  ['{"a":1,}', '"}" at offset 7 of a JSON text: expected a name'],
  ["{1", '"1" at offset 1 of a JSON text: expected a name'],
  ["[1}", '"}" at offset 2 of a JSON text: expected a comma'],
  ['"\\x', '"x" at offset 2 of a JSON text: expected an escape'],
  ['"\\u00g', '"g" at offset 5 of a JSON text: expected a hexadecimal digit'],
  ['["ab\n', '"\\n" at offset 4 of a JSON text: expected a character of a string'],
  ["{} x", '"x" at offset 3 of a JSON text: expected the end'],
  ["x", '"x" at offset 0 of a JSON text: expected a value'],
])("%j is refused in place", (text, message) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(() => new FieldReader().push(text)).toThrow(message)
  const reader = new FieldReader()
  expect(() => {
    for (const unit of text) reader.push(unit)
  }).toThrow(SyntaxError)
})

test("a text that was cut off leaves its values open", () => {
  for (const text of ["[1", "-", '"a', '{"a":tr']) {
    const reader = new FieldReader()
    reader.push(text)
    expect(reader.finish()).toEqual([])
  }
})

test("laws: random texts in random spellings", () => {
  const names = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("", "a/b", "~", "~1", "__proto__", "0"))
  const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(null, true, false),
      fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
      fc.string({ unit: "grapheme", maxLength: 8 }),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(names, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(anyValue, fc.nat(), (value, seed) => {
      const random = randomOf(seed)
      const spelling = { order: 0.2, space: 0.2, escape: 0.3, number: 0.3 }
      expectLaws(spellAtRandom(readJson(JSON.stringify(value)), random, spelling), random)
    }),
    { seed: 3, numRuns: 300 },
  )
})

describe.skipIf(!hasMaskBench)("MaskBench (skipped without ../shared)", () => {
  test("laws: every valid instance", () => {
    let count = 0
    for (const { tests } of maskBenchLines()) {
      for (const { valid, text } of tests) {
        if (!valid) continue
        count++
        expectFold(text, randomOf(count))
      }
    }
    expect(count).toBeGreaterThan(1_800)
  })
})

/** The fold of a text, by bytes and in random cuts; names that come twice are allowed. */
function expectFold(text: string, random: Random): void {
  const value = JSON.stringify(JSON.parse(text))
  const whole = new FieldReader()
  const uncut = [...whole.push(text), ...whole.finish()].map(print)
  for (const most of [1, 8]) {
    const reader = new FieldReader()
    const events: FieldEvent[] = []
    for (const piece of cut(text, random, most)) events.push(...reader.push(piece))
    const closed = events.map(print)
    events.push(...reader.finish())
    if (JSON.stringify(foldFields(events)) !== value)
      expect([text, foldFields(events)]).toEqual([text, value])
    expect(JSON.stringify(reader.snapshot())).toBe(value)
    expect(merged(events).map(print)).toEqual(uncut)
    expect(events.map(print).slice(0, closed.length)).toEqual(closed)
  }
}

test("a part of a typed value is typed", () => {
  interface Order {
    id: number
    lines: { name: string; tags?: string[] }[]
    at: [number, string]
  }
  expectTypeOf<DeepPartial<Order>>().toEqualTypeOf<{
    id?: number
    lines?: { name?: string; tags?: string[] }[]
    at?: [number?, string?]
  }>()
  expectTypeOf(new FieldReader().snapshot<Order>()?.lines?.[0]?.name).toEqualTypeOf<string | undefined>()
})
