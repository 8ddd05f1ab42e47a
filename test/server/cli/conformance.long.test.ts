import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { tokenrail } from "../../support/program.ts"
import { makeSuite } from "../../support/suites.ts"

test("the program prints a row a test, in order, then the summary", async () => {
  const { code, out } = await tokenrail([
    "conformance",
    makeSuite(false),
    "--suite",
    "jsts",
    "--json",
    "--parallel",
    "2",
  ])
  const rows = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(
    rows
      .slice(0, -1)
      .map(({ file, test, accepted, refused }) => [file, test, accepted ?? refused.split(" ")[0]]),
  ).toEqual([
    ["optional/keys.json", "there", true],
    ["optional/keys.json", "not there", false],
    ["optional/lie.json", "null", true],
    ["type.json", "short", true],
    ["type.json", "long", false],
    ["type.json", "any", "syntax"],
  ])
  expect(rows.at(-1).summary).toMatchObject({
    ...{ total: 6, pass: 5, wrong_accepts: 0, wrong_rejects: 0, refused: 1, refused_kinds: { syntax: 1 } },
    parts: { required: { total: 3, pass: 2 }, optional: { total: 3, pass: 3 } },
  })
  expect(code).toBe(0)
})

test("a wrong accept is exit code 1", async () => {
  const { code, out } = await tokenrail(["conformance", makeSuite(true), "--suite", "jsts"])
  expect([code, out]).toEqual([1, expect.stringMatching(/1 wrong accepts, 1 wrong rejects, 1 refused/)])
})

test("maskbench needs a vocabulary", async () => {
  const { code, err } = await tokenrail(["conformance", "rows.jsonl", "--suite", "maskbench"])
  expect([code, err]).toEqual([2, expect.stringContaining("--vocab")])
})

/** A file with these lines. */
function fileOf(rows: unknown[]): string {
  const path = join(mkdtempSync(join(tmpdir(), "rows-")), "rows.jsonl")
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"))
  return path
}

const rowsOf = (out: string) =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

const texts = (...tests: [text: string, valid: boolean, prefix?: boolean][]) =>
  tests.map(([text, valid, prefix]) => ({ text, valid, ...(prefix !== undefined && { prefix }) }))

test("constraints of several kinds: verdicts, beginnings, and what must be refused", async () => {
  const file = fileOf([
    {
      id: "r",
      kind: "regex",
      grammar: "a+b",
      tests: texts(["aab", true], ["aa", false, true], ["ba", false, false]),
    },
    { id: "i", kind: "regex", grammar: "k", options: { flags: "iu" }, tests: texts(["K", true]) },
    {
      id: "s",
      kind: "schema",
      grammar: { type: "integer", maximum: 9 },
      tests: texts(["9.0", true], ["10", false]),
    },
    {
      ...{ id: "p", kind: "schema", grammar: '{"type":"array"}', options: { whitespace: "none" } },
      tests: texts(["[1,2]", true], ["[1, 2]", false]),
    },
    { id: "c", kind: "choice", grammar: ["yes", "no"], tests: texts(["y", false, true], ["no", true]) },
    { id: "g", kind: "yacc", grammar: 'start: "a"', tests: texts(["a", true]) },
    { id: "o", kind: "regex", grammar: "a", options: { stop: "x" }, tests: [] },
    { id: "e", kind: "regex", grammar: "(a", tests: [], error: "syntax" },
  ])
  const { code, out } = await tokenrail(["conformance", file, "--suite", "grammars", "--json"])
  const rows = rowsOf(out)
  expect(rows[0]).toEqual({
    id: "r",
    tests: [
      { accepted: true, prefix: true },
      { accepted: false, prefix: true },
      { accepted: false, prefix: false },
    ],
  })
  expect(rows.map(({ id, refused }) => [id, refused?.split(" ")[0]]).filter(([, kind]) => kind)).toEqual([
    ["g", "unsupported"],
    ["o", "unsupported"],
    ["e", "syntax"],
  ])
  expect(rows.at(-1).summary).toMatchObject({
    ...{ suite: "grammars", total: 8, pass: 6, refused: 2, wrong_accepts: 0, wrong_rejects: 0 },
    refused_kinds: { unsupported: 2 },
  })
  expect(code).toBe(0)
})

test("a constraint that must be refused and is not, and a beginning of nothing, are wrong accepts", async () => {
  const file = fileOf([
    { id: "e", kind: "regex", grammar: "a", tests: [], error: true },
    { id: "p", kind: "regex", grammar: "ab", tests: texts(["a", false, false]) },
  ])
  const { code, out } = await tokenrail(["conformance", file, "--suite", "grammars"])
  expect([code, out]).toEqual([1, expect.stringMatching(/0 of 2 right .* 2 wrong accepts/)])
})

test("against an earlier run: what was right there and is not now is named, and exit code 1", async () => {
  const suite = makeSuite(false)
  const { out } = await tokenrail(["conformance", suite, "--suite", "jsts", "--json"])
  const rows = rowsOf(out)
  const same = await tokenrail(["conformance", suite, "--suite", "jsts", "--against", fileOf(rows)])
  // A log gets a line of progress every ten seconds, so a slow run has some.
  expect([same.code, same.err.replace(/^conformance: \d+ of \d+.*\n/gm, "")]).toEqual([
    0,
    expect.stringMatching(/^refused: type.json › malformed › any: [^\n]+\n$/),
  ])
  const better = rows.map((row) => (row.refused ? { ...row, refused: undefined, accepted: true } : row))
  const worse = await tokenrail([
    "conformance",
    suite,
    "--suite",
    "jsts",
    "--json",
    "--against",
    fileOf(better),
  ])
  expect([worse.code, worse.err]).toEqual([
    1,
    expect.stringMatching(/^lost since .*: type.json › malformed › any$/m),
  ])
  expect(rowsOf(worse.out).at(-1).summary).toMatchObject({ lost: 1 })
  const summary = [{ summary: { ...rows.at(-1).summary, pass: 6 } }]
  const fewer = await tokenrail(["conformance", suite, "--suite", "jsts", "--against", fileOf(summary)])
  expect([fewer.code, fewer.err]).toEqual([1, expect.stringContaining("right: 5, before 6")])
  const none = await tokenrail(["conformance", suite, "--suite", "jsts", "--against", "nowhere.jsonl"])
  expect([none.code, none.err]).toEqual([2, expect.stringContaining("nowhere.jsonl")])
})
