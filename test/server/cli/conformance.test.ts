import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readSuite, runSuiteGroup } from "../../../server/suite/schemasuite.ts"
import { tokenrail } from "./program.ts"

/** A suite in the layout of the JSON-Schema-Test-Suite; `lies` adds a valid instance that is labelled invalid. */
function makeSuite(lies: boolean): string {
  const directory = mkdtempSync(join(tmpdir(), "suite-"))
  const put = (path: string, value: unknown) => {
    mkdirSync(join(directory, path, ".."), { recursive: true })
    writeFileSync(join(directory, path), JSON.stringify(value, null, 1))
  }
  const tests = (...rows: [string, unknown, boolean][]) =>
    rows.map(([description, data, valid]) => ({ description, data, valid }))
  put("remotes/draft2020-12/integer.json", { type: "integer" })
  put("tests/draft2020-12/type.json", [
    {
      description: "strings",
      schema: { type: "string", maxLength: 2 },
      tests: tests(["short", "é", true], ["long", "abc", false]),
    },
    { description: "malformed", schema: { type: "objct" }, tests: tests(["any", 1, true]) },
  ])
  put("tests/draft2020-12/optional/keys.json", [
    {
      description: "keys",
      schema: { required: ["a"] },
      tests: tests(["there", { a: [1, { b: "x" }] }, true], ["not there", {}, lies]),
    },
  ])
  put("tests/draft2020-12/optional/lie.json", [
    { description: "lie", schema: { type: "null" }, tests: tests(["null", null, !lies]) },
  ])
  return directory
}

test("groups are run in three spellings", async () => {
  const suite = await readSuite(makeSuite(false), "2020-12")
  expect(Object.keys(suite.documents)).toEqual(["http://localhost:1234/draft2020-12/integer.json"])
  const strings = suite.groups.find(({ group }) => group === "strings")!
  expect(runSuiteGroup(strings, suite)).toEqual([
    { file: "type.json", group: "strings", test: "short", valid: true, accepted: true },
    { file: "type.json", group: "strings", test: "long", valid: false, accepted: false },
  ])
})

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
