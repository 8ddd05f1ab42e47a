import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import {
  type ConstraintFlags,
  constraintFlags,
  needConstraint,
  readConstraint,
  spelling,
} from "../../../server/cli/constraint.ts"
import { UsageError } from "../../../server/cli/exit.ts"
import { flagsOf, ioOf } from "../../support/io.ts"

const io = ioOf({ input: '{"type":"null"}' })
const path = join(mkdtempSync(join(tmpdir(), "constraint-")), "schema.json")
writeFileSync(path, '{"type": "integer"}')

const read = (...args: string[]) => flagsOf<ConstraintFlags>(constraintFlags, args)

test.each<[args: string[], input: unknown]>([
  [["--schema", path], { kind: "json", schema: '{"type": "integer"}' }],
  [["--schema", "-"], { kind: "json", schema: '{"type":"null"}' }],
  [["--schema", ' {"a":1}'], { kind: "json", schema: ' {"a":1}' }],
  [["--schema", "true"], { kind: "json", schema: "true" }],
  [["--regex", "a+"], { kind: "regex", pattern: "a+" }],
  [["--regex", ""], { kind: "regex", pattern: "" }],
  [["--choice", "a", "b"], { kind: "choice", options: ["a", "b"] }],
  [["--json-object"], { kind: "json", schema: '{"type":"object"}' }],
  [[], null],
])("%j", async (args, input) => {
  expect(await readConstraint(read(...args), io)).toEqual(input)
})

test.each<[args: string[], message: RegExp]>([
  [["--regex", "a", "--choice", "b"], /--regex and --choice exclude each other/],
  [["--schema", "nowhere.json"], /cannot read nowhere\.json/],
  [[], /no constraint: give --schema/],
])("misuse: %j", async (args, message) => {
  await expect(needConstraint(read(...args), io)).rejects.toThrow(message)
  await expect(needConstraint(read(...args), io)).rejects.toThrow(UsageError)
})

test("policies have the wire's names and the compiler's meaning", () => {
  expect(spelling(read())).toEqual({})
  const all = [
    "--whitespace",
    "spaced",
    "--order",
    "any",
    "--escapes",
    "json",
    "--numbers",
    "json",
    "--formats",
    "annotate",
  ]
  expect(spelling(read(...all))).toEqual({
    ...{ whitespace: "tight", order: "any", escapes: "all", numbers: "all", formats: "annotate" },
  })
  expect(() => read("--order", "random")).toThrow(/Allowed choices are schema, any/)
})
