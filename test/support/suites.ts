/** A small suite on disk, in the layout of the JSON-Schema-Test-Suite. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Its directory. `lies` adds a valid instance that is labelled invalid. */
export function makeSuite(lies: boolean): string {
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
