/** Every id of the specification's checklist stands in the name of a test. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const path = "../shared/spec/sampler.md"
const isThere = existsSync(path)

test.skipIf(!isThere)(`every id of the checklist is tested${isThere ? "" : ` (${path} is not here)`}`, () => {
  const text = readFileSync(path, "utf8")
  const rows = text.slice(text.indexOf("## 2."), text.indexOf("## 3.")).split("\n")
  const ids = rows.flatMap((row) => row.split("|")[1]?.match(/S\d-T?\d+/g) ?? [])
  expect(ids.length).toBeGreaterThan(130)
  const tested = new Set<string>()
  for (const name of readdirSync("test", { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue
    for (const [id] of readFileSync(join("test", name), "utf8").matchAll(/S\d-T?\d+/g)) tested.add(id)
  }
  expect(ids.filter((id) => !tested.has(id))).toEqual([])
})
