import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import {
  type GrammarResult,
  type GrammarRow,
  type Judgement,
  judgeGrammarRow,
  readGrammarRows,
  runGrammarRow,
} from "../../../server/suite/grammars.ts"

const row = (kind: string, grammar: unknown, more: Partial<GrammarRow> = {}): GrammarRow => ({
  ...{ id: "x", kind, grammar, options: {}, tests: [], mustFail: false },
  ...more,
})

test("a schema keeps its spelling, rows keep their order and defaults", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "grammars-")), "rows.jsonl")
  const lines = [
    '{"id":"a","kind":"schema","grammar":{"b":1.0,"1":{}},"tests":[{"text":"1","valid":true}]}',
    "",
    '{"id":"b","kind":"choice","grammar":["x"],"error":"limit","options":{"order":"any"}}',
    '{"id":"c","kind":"tag","grammar":{"type":"json_schema","json_schema":{"const":1.0}}}',
  ]
  writeFileSync(path, lines.join("\n"))
  const [schema, choice, tag] = await readGrammarRows(path)
  expect(tag).toMatchObject({ grammar: '{"type":"json_schema","json_schema":{"const":1.0}}' })
  expect(schema).toMatchObject({ id: "a", grammar: '{"b":1.0,"1":{}}', mustFail: false, options: {} })
  expect(choice).toMatchObject({
    id: "b",
    grammar: ["x"],
    mustFail: true,
    tests: [],
    options: { order: "any" },
  })
})

test.each<[what: string, row: GrammarRow, result: RegExp | boolean[]]>([
  [
    "a regex with flags",
    row("regex", "K", { options: { flags: "iu" }, tests: [{ text: "k", valid: true }] }),
    [true],
  ],
  [
    "a schema in every spelling",
    row("schema", '{"type":"integer"}', { tests: [{ text: "1e2", valid: true }] }),
    [true],
  ],
  ["a choice", row("choice", ["a", "b"], { tests: [{ text: "c", valid: false }] }), [false]],
  ["a choice that is no list", row("choice", "a"), /^syntax a choice is a list of texts/],
  ["a regex that is no text", row("regex", 1), /^syntax a regex is a text/],
  ["a kind that is none", row("yacc", ""), /^unsupported grammars of kind yacc/],
  ["an option that is none", row("regex", "a", { options: { stop: "x" } }), /^unsupported option stop/],
  ["an option of another kind", row("gbnf", 'root ::= "a"', { options: { flags: "i" } }), /^unsupported/],
  ["a GBNF grammar", row("gbnf", 'root ::= "a" b\nb ::= [0-9]', { tests: texts("a1", "ab") }), [true, false]],
  [
    "a GBNF grammar that begins elsewhere",
    row("gbnf", 'x ::= "a"', { options: { root: "x" }, tests: texts("a") }),
    [true],
  ],
  [
    "control tokens, read as they are spelled",
    row("gbnf", "root ::= <think> [a-z]* </think>", { tests: texts("<think>ab</think>", "ab") }),
    [true, false],
  ],
  ["a GBNF grammar that is none", row("gbnf", "root ::= b"), /^syntax line 1, column 10: rule "b" is not/],
  [
    "a Lark grammar with its start and a grammar that it names",
    row("lark", 'x: @a "!"', {
      options: { start: "x", named: { a: 'start: "b"+' } },
      tests: texts("bb!", "!"),
    }),
    [true, false],
  ],
  ["a Lark grammar that is none", row("lark", "start: b"), /^syntax line 1, column 8: the rule "b" is not/],
  ["a grammar in either notation", row("grammar", 'start: "a"', { tests: texts("a", "b") }), [true, false]],
  [
    "a substring",
    row("substring", { text: "ab cd", unit: "words" }, { tests: texts("ab ", "b") }),
    [true, false],
  ],
  [
    "a substring of chunks",
    row("substring", { chunks: ["ab", "c"] }, { tests: texts("abc", "b") }),
    [true, false],
  ],
  ["a substring by an unknown unit", row("substring", { text: "a", unit: "lines" }), /^syntax unit "lines"/],
  [
    "a structural tag",
    row(
      "tag",
      '{"structures":[{"begin":"<f>","schema":{"type":"integer"},"end":"</f>"}],"triggers":["<f"]}',
      { tests: texts("so <f>1</f> it is", "<f>x") },
    ),
    [true, false],
  ],
  ["a structural tag that is none", row("tag", '{"type":"wat"}'), /^syntax \/type/],
  [
    "a turn with tools",
    row(
      "tools",
      { style: "harmony", tools: [{ type: "function", function: { name: "f" } }], tool_choice: "auto" },
      {
        tests: texts(
          "<|channel|>commentary to=functions.f<|constrain|>json<|message|>{}<|call|>",
          "<|channel|>final<|message|>hello<|return|>",
          "<|channel|>commentary to=functions.g<|constrain|>json<|message|>{}<|call|>",
        ),
      },
    ),
    [true, true, false],
  ],
  ["a style that is none", row("tools", { style: "x", tools: [] }), /^syntax style/],
])("%s", (_, input, expected) => {
  const result = runGrammarRow(input, () => ({}))
  if (expected instanceof RegExp) expect(result).toMatchObject({ refused: expect.stringMatching(expected) })
  else expect(result).toMatchObject({ tests: expected.map((accepted) => ({ accepted })) })
})

function texts(...all: string[]): GrammarRow["tests"] {
  return all.map((text) => ({ text, valid: true }))
}

const verdict = (accepted: boolean, prefix = accepted): GrammarResult => ({
  id: "x",
  tests: [{ accepted, prefix }],
})
const asked = (valid: boolean, prefix?: boolean): GrammarRow =>
  row("regex", "a", { tests: [{ text: "", valid, prefix }] })
test.each<[judgement: Judgement, row: GrammarRow, result: GrammarResult]>([
  ["pass", asked(true), verdict(true)],
  ["pass", asked(false, true), verdict(false, true)],
  ["wrong_accepts", asked(false), verdict(true)],
  ["wrong_accepts", asked(false, false), verdict(false, true)],
  ["wrong_rejects", asked(true), verdict(false)],
  ["wrong_rejects", asked(false, true), verdict(false)],
  ["refused", asked(true), { id: "x", refused: "limit" }],
  ["pass", row("regex", "(", { mustFail: true }), { id: "x", refused: "syntax" }],
  ["wrong_accepts", row("regex", "(", { mustFail: true }), { id: "x", tests: [] }],
  ["crashed", row("regex", "(", { mustFail: true }), { id: "x", crashed: "SIGKILL" }],
])("judged as %s", (judgement, input, result) => {
  expect(judgeGrammarRow(input, result)).toBe(judgement)
})
