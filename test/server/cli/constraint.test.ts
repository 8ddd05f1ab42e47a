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
const grammarPath = join(mkdtempSync(join(tmpdir(), "constraint-")), "grammar.gbnf")
writeFileSync(grammarPath, 'root ::= "a"')

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
  [["--gbnf", grammarPath], { kind: "gbnf", text: 'root ::= "a"' }],
  [["--gbnf", 'x ::= "a"', "--root", "x"], { kind: "gbnf", text: 'x ::= "a"', root: "x" }],
  [["--lark", 'start:"a"'], { kind: "lark", text: 'start:"a"' }],
  [
    ["--lark", "%import common.INT\nx: INT", "--root", "x"],
    { kind: "lark", text: "%import common.INT\nx: INT", start: "x" },
  ],
  [["--lark", "-"], { kind: "lark", text: '{"type":"null"}' }],
  [["--tag", '{"type":"any_text"}'], { kind: "tag", format: '{"type":"any_text"}' }],
  [["--tag", path], { kind: "tag", format: '{"type": "integer"}' }],
  [["--substring", "a b", "--unit", "words"], { kind: "substring", text: "a b", unit: "words" }],
  [["--substring", grammarPath], { kind: "substring", text: 'root ::= "a"' }],
  [[], null],
])("%j", async (args, input) => {
  expect(await readConstraint(read(...args), io)).toEqual(input)
})

test.each<[args: string[], message: RegExp]>([
  [["--regex", "a", "--choice", "b"], /--regex and --choice exclude each other/],
  [["--schema", "nowhere.json"], /cannot read nowhere\.json/],
  [["--gbnf", "nowhere.gbnf"], /cannot read nowhere\.gbnf/],
  [["--lark", "C:/nowhere.lark"], /cannot read C:\/nowhere\.lark/],
  [["--gbnf", 'root ::= "a"', "--lark", 'start: "a"'], /--gbnf and --lark exclude each other/],
  [["--regex", "a", "--root", "a"], /--root is where a grammar begins/],
  [["--unit", "words"], /--unit is of the pieces of a substring/],
  [[], /no constraint: give --schema.* or --substring/],
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
    ...["--open-objects", "declared"],
    "--formats",
    "annotate",
  ]
  expect(spelling(read(...all))).toEqual({
    ...{ whitespace: "spaced", order: "any", escapes: "json", numbers: "json", formats: "annotate" },
    ...{ openObjects: "declared" },
  })
  expect(() => read("--order", "random")).toThrow(/Allowed choices are schema, any/)
})
