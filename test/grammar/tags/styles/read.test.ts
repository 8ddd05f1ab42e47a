/** Reading turns back: events as they come, what a cut leaves, and strings that could be something else. */
import { expect, test } from "vitest"
import { compileJsonSchema } from "../../../../grammar/json/compile.ts"
import type { TurnEvent } from "../../../../grammar/tags/styles/read/events.ts"
import { readTurn, TurnReader } from "../../../../grammar/tags/styles/read/reader.ts"
import { options, tool } from "./support.ts"

const weather = tool("weather", { type: "object", properties: { city: { type: "string" } } })
const call = (city: string) =>
  `<tool_call>\n{"name": "weather", "arguments": {"city": "${city}"}}\n</tool_call>`

function eventsOf(reader: TurnReader, pieces: readonly string[]): TurnEvent[] {
  return [...pieces.flatMap((piece) => reader.feed(piece)), ...reader.end()]
}

test("events come as soon as they are certain", () => {
  const reader = new TurnReader({
    style: "hermes",
    tools: [weather],
    reasoning: { begin: "<think>", end: "</think>" },
  })
  expect(reader.feed("<think>a")).toEqual([{ type: "reasoning", text: "a" }])
  expect(reader.feed("b</")).toEqual([{ type: "reasoning", text: "b" }])
  expect(reader.feed("think>Hello\n<tool")).toEqual([{ type: "text", text: "Hello" }])
  expect(reader.feed('_call>\n{"name": "wea')).toEqual([])
  expect(reader.feed('ther", "arguments": {"ci')).toEqual([
    { type: "call", index: 0, name: "weather", isCustom: false },
    { type: "arguments", index: 0, text: '{"ci' },
  ])
  expect(reader.feed('ty": "R')).toEqual([{ type: "arguments", index: 0, text: 'ty": "R' }])
  expect(reader.feed('"}}\n</tool_call>')).toEqual([
    { type: "arguments", index: 0, text: '"}' },
    { type: "done", index: 0 },
  ])
  expect(reader.feed("\n<tool_ca")).toEqual([])
  expect(reader.end()).toEqual([{ type: "text", text: "\n<tool_ca" }])
})

test("text around and between calls is text, the line ends right before one are not", () => {
  const turn = { style: "hermes", tools: [weather] }
  const read = readTurn(turn, `One\n\n${call("A")}\n\ntwo\n${call("B")}\nthree\n`)
  expect(read.text).toBe("One\n\ntwo\nthree\n")
  expect(read.calls.map((each) => JSON.parse(each.arguments).city)).toEqual(["A", "B"])
})

test.each([
  ["within the name", '<tool_call>\n{"name": "wea', 0, false],
  ["within the arguments", call("Paris").slice(0, 60), 1, false],
  ["within the end", call("Paris").slice(0, -3), 1, false],
  ["nowhere", call("Paris"), 1, true],
])("a text that is cut %s", (_, text, calls, isComplete) => {
  const read = readTurn({ style: "hermes", tools: [weather] }, text)
  expect(read.calls.length).toBe(calls)
  expect(read.calls.every((each) => each.isComplete === isComplete)).toBe(true)
  expect(read.text).toBe("")
})

const element = (pairs: readonly (readonly [string, string])[]) =>
  `<tool_call>\n<function=f>\n${pairs.map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join("")}</function>\n</tool_call>`

const either = {
  type: "object",
  properties: {
    id: { type: ["integer", "string"] },
    note: { type: ["string", "null"] },
    list: { anyOf: [{ type: "array", items: { type: "integer" } }, { type: "string" }] },
    code: { anyOf: [{ type: "integer", maximum: 9 }, { type: "string" }] },
  },
}
const branches = {
  type: "object",
  required: ["kind", "v"],
  anyOf: [
    { properties: { kind: { const: "text" }, v: { type: "string" } } },
    { properties: { kind: { const: "number" }, v: { type: "integer" } } },
  ],
}

const padded = { type: "object", properties: { line: { type: "string", pattern: "^\\n" } } }

const readings: [name: string, schema: unknown, pairs: [string, string][], json: string][] = [
  ["a number, where one may be", either, [["id", "5"]], '{"id":5}'],
  ["else a string", either, [["id", "5x"]], '{"id":"5x"}'],
  ["null, where it may be", either, [["note", "null"]], '{"note":null}'],
  ["a list that the schema takes", either, [["list", "[1, 2]"]], '{"list":[1, 2]}'],
  ["a string like a list that it does not", either, [["list", '["a"]']], '{"list":"[\\"a\\"]"}'],
  ["a string like a number above the bound", either, [["code", "10"]], '{"code":"10"}'],
  [
    "each for itself",
    either,
    [
      ["id", "7"],
      ["list", "[1.5]"],
      ["code", "9"],
    ],
    '{"id":7,"list":"[1.5]","code":9}',
  ],
  [
    "as the rest of the arguments says",
    branches,
    [
      ["kind", "number"],
      ["v", "5"],
    ],
    '{"kind":"number","v":5}',
  ],
  [
    "as the rest of the arguments says, a string",
    branches,
    [
      ["kind", "text"],
      ["v", "5"],
    ],
    '{"kind":"text","v":"5"}',
  ],
  ["a string that needs escapes", either, [["note", 'a"\\\n🎉']], '{"note":"a\\"\\\\\\n🎉"}'],
  ["a string without the padding around it", padded, [["line", "\n"]], '{"line":"\\n"}'],
  ["a string with padding that it needs", padded, [["line", "x"]], '{"line":"\\nx"}'],
  [
    "values that no schema declares",
    either,
    [
      ["other", '{"a": "b"}'],
      ["more", "text"],
    ],
    '{"other":{"a": "b"},"more":"text"}',
  ],
]

test.each(readings)("a value is %s", (_, schema, pairs, json) => {
  const turn = { style: "qwen_xml", tools: [tool("f", schema)] }
  const text = element(pairs)
  expect(readTurn(turn, text).calls).toEqual([
    { name: "f", isCustom: false, arguments: json, isComplete: true },
  ])
  const events = eventsOf(new TurnReader(turn), text.split(""))
  const pieces = events.flatMap((event) => (event.type === "arguments" ? [event.text] : []))
  expect(pieces.join("")).toBe(json)
})

test("strings without quotes come piece by piece", () => {
  const turn = {
    style: "qwen_xml",
    tools: [weather].map(() => tool("f", { type: "object", properties: { a: { type: "string" } } })),
  }
  const reader = new TurnReader(turn)
  reader.feed("<tool_call>\n<function=f>\n<parameter=a>\n")
  expect(reader.feed("one ")).toEqual([{ type: "arguments", index: 0, text: "one " }])
  expect(reader.feed("two\n</par")).toEqual([{ type: "arguments", index: 0, text: "two" }])
  expect(reader.feed("agraph>\n</parameter>")).toEqual([
    { type: "arguments", index: 0, text: "\\n</paragraph>" },
    { type: "arguments", index: 0, text: '"' },
  ])
})

test("what a response format asks for is text, though it begins like a call", () => {
  const schema = { type: "object", properties: { name: { type: "string" }, parameters: {} } }
  const format = compileJsonSchema(schema, { ...options, unsatisfiable: "error", key: () => "" }).grammar
  const turn = { style: "llama3_json", tools: [weather], response_format: format }
  expect(readTurn(turn, '{"name": "Bob", "parameters": {}}')).toMatchObject({
    text: '{"name": "Bob", "parameters": {}}',
    calls: [],
  })
  expect(readTurn(turn, '{"name": "weather", "parameters": {}}')).toMatchObject({
    text: "",
    calls: [{ name: "weather" }],
  })
})
