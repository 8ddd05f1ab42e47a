import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { byteVocabulary } from "../../../server/suite/checker.ts"
import { type MaskRow, readMaskRows, runMaskRow } from "../../../server/suite/maskbench.ts"

/** What ids are held against. */
const known = { width: 257, encode: null }
const tokens = (text: string) => [...new TextEncoder().encode(text)]
const row = (schema: string, tests: [boolean, string][]): MaskRow => ({
  id: "x",
  schema,
  tests: tests.map(([valid, text]) => ({ valid, tokens: tokens(text) })),
})

test("a text is accepted when every token is allowed and the end after the last", () => {
  const tests: [boolean, string][] = [
    [true, '{"a": 1}'],
    [false, '{"a": "1"}'],
    [false, '{"a": 1'],
  ]
  const result = runMaskRow(
    row('{"type":"object","properties":{"a":{"type":"integer"}}}', tests),
    byteVocabulary(),
    true,
  )
  if (!("tests" in result)) throw new Error(JSON.stringify(result))
  expect(result.tests.map(({ accepted }) => accepted)).toEqual([true, false, false])
  // One time a token: all of the first, up to the refused quote, all of the third.
  expect(result.us).toHaveLength(8 + 7 + 7)
  expect(result.ttfm_us).toBeGreaterThan(0)
})

test("verdicts come without times when times are not asked for", () => {
  expect(runMaskRow(row('{"type":"null"}', [[true, "null"]]), byteVocabulary(), false)).toEqual({
    id: "x",
    tests: [{ valid: true, accepted: true }],
  })
})

test("an unsatisfiable schema is the empty language, a malformed one is refused by kind and place", () => {
  const empty = runMaskRow(
    row('{"type":"integer","minimum":5,"maximum":3}', [[false, "4"]]),
    byteVocabulary(),
    false,
  )
  expect(empty).toMatchObject({ tests: [{ accepted: false }] })
  const refused = runMaskRow(row('{"type":"objct"}', []), byteVocabulary(), false)
  expect(refused).toMatchObject({ refused: expect.stringMatching(/^syntax .*type/) })
})

test("rows are read with the spelling of their schemas, in the order of the hash of their ids", async () => {
  const directory = mkdtempSync(join(tmpdir(), "maskbench-"))
  const lines = ["a", "b", "c"].map((id) => `{"id":"${id}","schema":{"b":1.0,"1":{}},"tests":[]}`).join("\n")
  writeFileSync(join(directory, "rows.jsonl"), `${lines}\n`)
  writeFileSync(join(directory, "rows.jsonl.gz"), gzipSync(`${lines}\n`))
  const rows = await readMaskRows(join(directory, "rows.jsonl"), known)
  // SHA-1: c 84a5…, a 86f7…, b e9d7….
  expect(rows.map(({ id }) => id)).toEqual(["c", "a", "b"])
  expect(rows[0].read().schema).toBe('{"b":1.0,"1":{}}')
  const again = await readMaskRows(join(directory, "rows.jsonl.gz"), known)
  expect(again.map((row) => row.read())).toEqual(rows.map((row) => row.read()))
  for (const name of ["none.jsonl", "none.jsonl.gz"])
    await expect(readMaskRows(join(directory, name), known)).rejects.toThrow(/ENOENT/)
})
