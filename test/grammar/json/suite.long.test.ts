/**
 * The required tests and the formats of the JSON-Schema-Test-Suite, every instance in three spellings. Skipped where `../shared` is
 * absent; the files are not part of the package.
 */
import { existsSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { readSuite, runSuiteGroup } from "../../../server/suite/schemasuite.ts"

const directory = "../shared/data/json-schema-test-suite"

/** Passed, and all, of the tests of each draft: those that are required, and one draft's formats. */
const floors: [draft: string, part: "required" | "optional/format", passed: number, all: number][] = [
  ["draft4", "required", 618, 618],
  ["draft6", "required", 839, 839],
  ["draft7", "required", 927, 927],
  ["draft2019-09", "required", 1259, 1259],
  ["draft2020-12", "required", 1299, 1299],
  // Refused are 20 texts: labels whose Punycode does not decode, and four labels with a Greek keraia.
  ["draft2020-12", "optional/format", 748, 768],
]

function belongs(file: string, part: string): boolean {
  return part === "required" ? !file.startsWith("optional") : file.startsWith(part)
}

describe.skipIf(!existsSync(directory))("JSON-Schema-Test-Suite", () => {
  test.each(floors)("%s: %s, %i of %i tests", { timeout: 120_000 }, async (draft, part, floor, all) => {
    const suite = await readSuite(directory, draft)
    const count = { passed: 0, wrongAccept: 0, wrongReject: 0, mixed: 0, refused: 0 }
    const failures: string[] = []
    for (const group of suite.groups.filter(({ file }) => belongs(file, part))) {
      for (const result of runSuiteGroup(group, suite)) {
        const kind =
          "refused" in result
            ? "refused"
            : result.accepted === "mixed"
              ? "mixed"
              : result.accepted === result.valid
                ? "passed"
                : result.accepted
                  ? "wrongAccept"
                  : "wrongReject"
        count[kind]++
        if (kind !== "passed") failures.push(`${kind}: ${result.file}, ${result.group}, ${result.test}`)
      }
    }
    console.log(draft, JSON.stringify(count))
    expect(count.wrongAccept, failures.join("\n")).toBe(0)
    expect(count.passed, failures.join("\n")).toBeGreaterThanOrEqual(floor)
    expect(Object.values(count).reduce((sum, n) => sum + n)).toBe(all)
  })
})
