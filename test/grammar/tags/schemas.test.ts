// Styles and fields of XGrammar. `xgrammar.jsonl` has tags with texts and what the matcher of XGrammar 0.2.8 says of them.
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { DeadState, States } from "../../../grammar/state.ts"

const encoder = new TextEncoder()
const statesOf = (format: unknown) => new States(compile({ kind: "tag", format }).grammar)

function accepts(states: States, text: string): boolean {
  const state = states.advance(states.start, encoder.encode(text))
  return state !== DeadState && states.isAccepting(state)
}

interface PeerRow {
  tag: { format: { style?: string; max_whitespace_cnt: number | null } }
  texts: [text: string, isAccepted: boolean][]
}

test("texts are those of XGrammar's matcher", () => {
  const lines = readFileSync("test/grammar/tags/xgrammar.jsonl", "utf8").trim().split("\n")
  const wrong: string[] = []
  for (const { tag, texts } of lines.map((line): PeerRow => JSON.parse(line))) {
    const states = statesOf(tag)
    const { style = "json", max_whitespace_cnt: count } = tag.format
    for (const [text, isAccepted] of texts) {
      if (accepts(states, text) !== isAccepted) wrong.push(`${style} ${count} ${JSON.stringify(text)}`)
    }
  }
  expect(lines.length).toBeGreaterThan(20)
  expect(wrong).toEqual([])
})

const object = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
}

test.each<[string, unknown, string[], string[]]>([
  [
    "a missing outer type",
    { format: { type: "sequence", elements: [{ type: "const_string", value: "a" }, { type: "any_text" }] } },
    ["ab"],
    ["b"],
  ],
  [
    "the older name of a style",
    { type: "structural_tag", format: { type: "qwen_xml_parameter", json_schema: object } },
    ["<parameter=name>Bob</parameter><parameter=age>100</parameter>"],
    ["<parameter=name>Bob</parameter>"],
  ],
  [
    "no white space at all",
    { type: "json_schema", json_schema: { type: "array", items: { const: 1 } }, max_whitespace_cnt: 0 },
    ["[1,1]"],
    ["[1, 1]"],
  ],
  [
    "any order",
    { type: "json_schema", json_schema: object, style: "cohere_xml", any_order: true },
    [
      '<cofl:value name="age" type="json"> 1 </cofl:value>\n<cofl:value name="name" type="raw">B</cofl:value>',
    ],
    ['<cofl:value name="age" type="raw">1</cofl:value>'],
  ],
])("%s", (_, format, accepted, rejected) => {
  const states = statesOf(format)
  for (const text of accepted) expect([text, accepts(states, text)]).toEqual([text, true])
  for (const text of rejected) expect([text, accepts(states, text)]).toEqual([text, false])
})

test("elements within elements are refused by name", () => {
  const nested = { ...object, properties: { ...object.properties, l: { type: "array" } } }
  for (const json_schema of [nested, { ...object, additionalProperties: true }]) {
    const run = () => statesOf({ type: "json_schema", json_schema, style: "cohere_xml" })
    expect(run).toThrow("may be an object or an array, which cohere_xml writes as elements within elements")
  }
})
