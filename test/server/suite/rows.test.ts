import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { readGrammarRows } from "../../../server/suite/grammars.ts"
import { readMaskRows } from "../../../server/suite/maskbench.ts"
import { CorpusError } from "../../../server/suite/rows.ts"
import { readSuite } from "../../../server/suite/schemasuite.ts"

const directory = mkdtempSync(join(tmpdir(), "rows-"))
const encode = (text: string) => [...new TextEncoder().encode(text)]
let count = 0
const written = (content: string | Buffer, end = ".jsonl"): string => {
  const path = join(directory, `${++count}${end}`)
  writeFileSync(path, content)
  return path
}
const good = '{"id":"a","schema":{},"tests":[{"valid":true,"tokens":[1]}]}'

describe("MaskBench", () => {
  test.each<[row: string, message: string]>([
    ["{", "line 2: the row is not JSON"],
    ["[]", "line 2: the row is not a JSON object"],
    ['{"schema":{},"tests":[]}', "line 2: `id` is missing"],
    ['{"id":1,"schema":{},"tests":[]}', "line 2: `id` is missing or not a string"],
    ['{"id":"b","tests":[]}', "line 2 (b): `schema` is missing"],
    ['{"id":"b","schema":"{}","tests":[]}', "line 2 (b): `schema` is a string"],
    ['{"id":"b","schema":{}}', "line 2 (b): `tests` is missing"],
    ['{"id":"b","schema":{},"tests":{}}', "line 2 (b): `tests` is not a list"],
    ['{"id":"b","schema":{},"tests":[1]}', "line 2 (b), test 1: it is not an object"],
    ['{"id":"b","schema":{},"tests":[{"tokens":[1]}]}', "test 1: `valid` is missing"],
    [
      '{"id":"b","schema":{},"tests":[{"valid":1,"tokens":[1]}]}',
      "test 1: `valid` is neither true nor false",
    ],
    ['{"id":"b","schema":{},"tests":[{"valid":true}]}', "test 1: it has no `tokens`, and no `text`"],
    ['{"id":"b","schema":{},"tests":[{"valid":true,"tokens":"1"}]}', "test 1: `tokens` is not a list"],
    [
      '{"id":"b","schema":{},"tests":[{"valid":true,"tokens":[1,256]}]}',
      "test 1: token 2 is 256, and the ids of",
    ],
    ['{"id":"b","schema":{},"tests":[{"valid":true,"tokens":[-1]}]}', "test 1: token 1 is -1"],
    ['{"id":"b","schema":{},"tests":[{"valid":true,"tokens":[0.5]}]}', "test 1: token 1 is 0.5"],
    ['{"id":"b","schema":{},"tests":[{"valid":true,"tokens":["1"]}]}', "test 1: token 1 is a string"],
  ])("%s", async (row, message) => {
    const path = written(`${good}\n${row}\n`)
    const read = readMaskRows(path, { width: 256, encode })
    await expect(read).rejects.toBeInstanceOf(CorpusError)
    await expect(read).rejects.toThrow(`${path}, ${message.replace(/^test/, "line 2 (b), test")}`)
  })

  test("a file that is not there, is empty, or is no gzip", async () => {
    const tokens = { width: 256, encode }
    await expect(readMaskRows(join(directory, "none.jsonl"), tokens)).rejects.toThrow(/cannot read .*ENOENT/)
    await expect(readMaskRows(written("\n"), tokens)).rejects.toThrow("has no rows")
    await expect(readMaskRows(written("no gzip", ".jsonl.gz"), tokens)).rejects.toThrow(
      /cannot read .*header/,
    )
    expect(await readMaskRows(written(gzipSync(good), ".jsonl.gz"), tokens)).toHaveLength(1)
  })

  test("texts and values are split by the tokenizer, if there is one", async () => {
    const row =
      '{"id":"a","schema":{},"tests":[{"valid":true,"text":"1"},{"valid":true,"data":{"a":[1.0,"é"]}}]}'
    const [read] = await readMaskRows(written(row), { width: 256, encode })
    expect(read.read().tests).toEqual([
      { valid: true, tokens: encode("1") },
      { valid: true, tokens: encode('{"a": [1.0, "é"]}') },
    ])
    await expect(readMaskRows(written(row), { width: 256, encode: null })).rejects.toThrow(
      "no tokenizer.json",
    )
  })

  test("a directory holds one file a schema, as the benchmark's repository does", async () => {
    const data = join(directory, "data")
    mkdirSync(data)
    const schema =
      '{"schema": {"type": "integer"}, "tests": [{"description": "d", "valid": false, "data": "x"}], "meta": {}}'
    writeFileSync(join(data, "Github---1.json"), schema)
    const [row] = await readMaskRows(data, { width: 256, encode })
    expect(row.read()).toEqual({
      id: "Github---1",
      schema: '{"type": "integer"}',
      tests: [{ valid: false, tokens: encode('"x"') }],
    })
    writeFileSync(join(data, "broken.json"), "{")
    await expect(readMaskRows(data, { width: 256, encode })).rejects.toThrow(
      "broken.json: the row is not JSON",
    )
  })
})

test.each<[row: string, message: string]>([
  ["{", "line 1: the row is not JSON"],
  ['{"kind":"regex","grammar":"a"}', "line 1: `id` is missing"],
  ['{"id":"a","grammar":"a"}', "line 1 (a): `kind` is missing"],
  ['{"id":"a","kind":"regex"}', "line 1 (a): `grammar` is missing"],
  ['{"id":"a","kind":"regex","grammar":"a","tests":{}}', "line 1 (a): `tests` is not a list"],
  ['{"id":"a","kind":"regex","grammar":"a","tests":[{"text":"a"}]}', "line 1 (a), test 1: it needs `text`"],
  ["", "has no rows"],
])("grammars: %s", async (row, message) => {
  await expect(readGrammarRows(written(row))).rejects.toThrow(message)
})

test("the JSON Schema test suite: what is not there and what is broken is named", async () => {
  await expect(readSuite(join(directory, "none"), "2020-12")).rejects.toThrow(/cannot read .*draft2020-12/)
  const tests = join(directory, "suite/tests/draft7")
  mkdirSync(tests, { recursive: true })
  await expect(readSuite(join(directory, "suite"), "7")).rejects.toThrow("has no .json file")
  writeFileSync(join(tests, "a.json"), '[{"description": "d", "schema": {}}]')
  await expect(readSuite(join(directory, "suite"), "7")).rejects.toThrow(/a\.json: /)
})
