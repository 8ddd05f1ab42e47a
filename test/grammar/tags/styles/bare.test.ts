/**
 * Calls without their opening tag, which small models leave out: understood beside free text, and nothing else is taken for one.
 */
import { describe, expect, test } from "vitest"
import { compileJsonSchema } from "../../../../grammar/json/compile.ts"
import { styles } from "../../../../grammar/tags/styles/all.ts"
import type { Turn } from "../../../../grammar/tags/styles/plan.ts"
import { gather, type ReadTurn } from "../../../../grammar/tags/styles/read/events.ts"
import { readTurn, TurnReader } from "../../../../grammar/tags/styles/read/reader.ts"
import { randomOf } from "../../../support/oracle.ts"
import { RandomTools } from "./randomtools.ts"
import { type Call, options, Reader, tool, turnGrammar, Writer, written } from "./support.ts"

const Rounds = 6
const styled = styles.filter(({ bare }) => bare !== undefined)

function unitByUnit(turn: Turn, text: string): ReadTurn {
  const reader = new TurnReader(turn)
  const events = [...text].flatMap((unit) => reader.feed(unit))
  return gather([...events, ...reader.end()])
}

test("these styles have them", () => {
  expect(styled.map(({ name }) => name)).toEqual(["hermes", "qwen_xml", "exaone", "mimo"])
})

for (const style of styled) {
  test(`${style.name}: calls are read back, whole, in pieces and cut; a turn of calls alone has none`, () => {
    for (let seed = 1; seed <= Rounds; seed++) {
      const random = randomOf(seed)
      const source = new RandomTools(random)
      const tools = source.tools(2)
      const turn = { style: style.name, tools: tools.map((each) => tool(each.name, each.parameters)) }
      const calls: Call[] = tools.map((each) => ({ name: each.name, arguments: source.arguments(each) }))
      const free = new Reader(turnGrammar(turn))
      const required = new Reader(turnGrammar({ ...turn, tool_choice: "required" }))
      const none = new Reader(turnGrammar({ ...turn, tool_choice: "none" }))
      for (const at of style.bare!.keys()) {
        const text = written(new Writer(random).calls({ ...style, blocks: style.bare! }, at, calls))
        const told = [free, required, none].map((reader) => reader.accepts(text))
        expect([seed, text, told]).toEqual([seed, text, [true, false, false]])
        const read = readTurn(turn, text)
        expect([text, read.calls.map(({ name }) => name)]).toEqual([text, calls.map(({ name }) => name)])
        expect(read.calls.every(({ isComplete }) => isComplete)).toBe(true)
        expect(read.text).toBe("")
        expect(unitByUnit(turn, text)).toEqual(read)
        for (let end = 0; end < text.length; end += 3) {
          const cut = readTurn(turn, text.slice(0, end)).calls.map(({ name }) => name)
          expect(cut).toEqual(calls.slice(0, cut.length).map(({ name }) => name))
        }
      }
    }
  })
}

const weather = tool("weather", { type: "object", properties: { city: { type: "string" } } })
const turn = { style: "hermes", tools: [weather] }
const call = '{"name": "weather", "arguments": {"city": "Paris"}}'

describe("what begins like a call and is none", () => {
  const reader = new Reader(turnGrammar(turn))
  test.each([
    '{"name": "Bob", "age": 3}',
    '{"name": "weather"}',
    '{"name": "weather", "description": "x", "arguments": {}}',
    '{"name": "weather2", "arguments": {}}',
    '{"name": "weather", "arguments"',
    '{"city": "Paris"}',
    '[{"name": "Bob"}]',
    '{"name": "we',
    "{",
    '```json\n{"a": 1}\n```',
    "if (a) { b() }",
  ])("%j stays text", (text) => {
    expect(reader.accepts(text)).toBe(true)
    const read = readTurn(turn, text)
    expect(read).toEqual({ reasoning: "", text, calls: [] })
    expect(unitByUnit(turn, text)).toEqual(read)
  })

  test("behind a call too", () => {
    const text = `So: ${call}\n{"name": "Bob"} and\n${call}.`
    expect(reader.accepts(text)).toBe(true)
    const read = readTurn(turn, text)
    expect(read.text).toBe('So: \n{"name": "Bob"} and.')
    expect(read.calls.length).toBe(2)
    expect(unitByUnit(turn, text)).toEqual(read)
  })

  test("arguments are held to the schema", () => {
    expect(reader.accepts('{"name": "weather", "arguments": {"city": 5}}')).toBe(false)
    expect(reader.accepts('{"name": "weather", "arguments": "Paris"}')).toBe(false)
  })
})

test.each([
  ["with tags", `<tool_call>\n${call}\n</tool_call>`],
  ["both", `${call}\n<tool_call>\n${call}\n</tool_call>`],
  ["behind text and in a fence", `I look:\n\`\`\`json\n${call}\n\`\`\``],
])("a call is read %s", (_, text) => {
  expect(new Reader(turnGrammar(turn)).accepts(text)).toBe(true)
  const read = readTurn(turn, text)
  for (const each of read.calls) {
    expect(each.name).toBe("weather")
    expect(JSON.parse(each.arguments)).toEqual({ city: "Paris" })
  }
  expect(read.calls.length).toBe(text.split("weather").length - 1)
})

test("beside a format of the answer a bare object is the answer", () => {
  const schema = {
    type: "object",
    properties: { name: { type: "string" }, arguments: { type: "object" } },
    required: ["name", "arguments"],
  }
  const held = {
    ...turn,
    response_format: compileJsonSchema(schema, { ...options, unsatisfiable: "error", key: () => "" }).grammar,
  }
  expect(new Reader(turnGrammar(held)).accepts(call)).toBe(true)
  const read = { reasoning: "", text: call, calls: [] }
  expect(readTurn({ ...turn, hasFormat: true }, call)).toEqual(read)
  expect(unitByUnit({ ...turn, hasFormat: true }, call)).toEqual(read)
})

test("at most as many calls as are asked for", () => {
  const one = new Reader(turnGrammar({ ...turn, parallel_tool_calls: false }))
  expect([call, `${call}\n${call}`].map((text) => one.accepts(text))).toEqual([true, false])
})
