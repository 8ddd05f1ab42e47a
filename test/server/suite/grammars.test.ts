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
  ]
  writeFileSync(path, lines.join("\n"))
  const [schema, choice] = await readGrammarRows(path)
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
  ["a kind that is none", row("gbnf", ""), /^unsupported grammars of kind gbnf/],
  ["an option that is none", row("regex", "a", { options: { stop: "x" } }), /^unsupported option stop/],
])("%s", (_, input, expected) => {
  const result = runGrammarRow(input, () => ({}))
  if (expected instanceof RegExp) expect(result).toMatchObject({ refused: expect.stringMatching(expected) })
  else expect(result).toMatchObject({ tests: expected.map((accepted) => ({ accepted })) })
})

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
