import { expect, test } from "vitest"
import { readSuite, runSuiteGroup, type SuiteGroup } from "../../../server/suite/schemasuite.ts"
import { makeSuite } from "../../support/suites.ts"

test("groups are run in three spellings", async () => {
  const suite = await readSuite(makeSuite(false), "2020-12")
  expect(Object.keys(suite.documents)).toEqual(["http://localhost:1234/draft2020-12/integer.json"])
  const strings = suite.groups.find(({ group }) => group === "strings")!
  expect(runSuiteGroup(strings, suite)).toEqual([
    { file: "type.json", group: "strings", test: "short", valid: true, accepted: true },
    { file: "type.json", group: "strings", test: "long", valid: false, accepted: false },
  ])
})

test("a group that is refused says so for each of its tests", async () => {
  const suite = await readSuite(makeSuite(false), "draft2020-12")
  const malformed = suite.groups.find(({ group }) => group === "malformed") as SuiteGroup
  const [result, ...others] = runSuiteGroup(malformed, suite)
  expect(others).toEqual([])
  expect(result).toMatchObject({ test: "any", valid: true, refused: expect.stringMatching(/^syntax .*type/) })
})

test("an instance is read as the file spells it", async () => {
  const suite = await readSuite(makeSuite(false), "2020-12")
  const keys = suite.groups.find(({ group }) => group === "keys") as SuiteGroup
  expect(keys.tests[0].source).toMatch(/^\{\n\s+"a": \[/)
})
