/** What contributors and releases rely on: the changelog's form, and one version of Node for both. */
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

test("CI tests the version of Node in .nvmrc", () => {
  const matrix = /^ *node: \[(.*)\]$/m.exec(readFileSync(".github/workflows/ci.yml", "utf8"))![1]
  expect(matrix.split(", ")).toContain(readFileSync(".nvmrc", "utf8").trim())
})
