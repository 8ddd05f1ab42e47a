import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { tokenrail } from "../../support/program.ts"

const schema = '{"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}'

test("prints the report, keyword by keyword", async () => {
  const { code, out } = await tokenrail(["compile", "--schema", schema])
  expect(code).toBe(0)
  expect(out).toMatch(/\/properties\/a\S* +minimum +exact/)
  expect(out).toMatch(/compiled in [\d.]+ ms/)
})

test("--json is one object with the same report", async () => {
  const { out } = await tokenrail(["compile", "--schema", schema, "--json"])
  const { report, compileMs } = JSON.parse(out)
  expect(report.keywords).toContainEqual(expect.objectContaining({ keyword: "minimum", status: "exact" }))
  expect(compileMs).toBeGreaterThan(0)
})

test("--explain says what may follow; a wrong prefix is 1, with its place", async () => {
  const { code, out } = await tokenrail(["compile", "--choice", "left", "right", "--explain", "le"])
  expect([code, out]).toEqual([0, expect.stringContaining("may follow: ")])
  const wrong = await tokenrail(["compile", "--choice", "left", "--explain", "lx"])
  expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining("fails at byte 1, line 1, column 2")])
})

test("--vocab counts the tokens of the first mask", async () => {
  const { out } = await tokenrail(["compile", "--regex", "[ab]", "--vocab", "runtime/embedded", "--json"])
  const { allowed, width } = JSON.parse(out)
  expect(allowed).toBe(2)
  expect(width).toBeGreaterThan(256)
})

test("a refusal is 3, an unreadable vocabulary 2", async () => {
  expect(await tokenrail(["compile", "--regex", "(a"])).toMatchObject({ code: 3, out: "" })
  const { code, err } = await tokenrail(["compile", "--regex", "a", "--vocab", "nowhere"])
  expect([code, err]).toEqual([2, expect.stringContaining("nowhere/tokenizer.json")])
})

test("--target reports what other engines do, and 1 if something is lost", async () => {
  const lossy = '{"type": "array", "items": {"type": "boolean"}, "uniqueItems": true}'
  const { code, out } = await tokenrail([
    "compile",
    "--schema",
    lossy,
    "--target",
    "xgrammar",
    "--target",
    "openai",
  ])
  expect(code).toBe(1)
  expect(out).toMatch(
    /^XGrammar: accepts invalid values \(xgrammar .*\n {2}\/uniqueItems +uniqueItems +dropped +\S/,
  )
  expect(out).toMatch(/\nOpenAI .*refuses this schema/)
  const whole = await tokenrail([
    "compile",
    "--schema",
    '{"type": "boolean"}',
    "--target",
    "llguidance",
    "--json",
  ])
  expect([whole.code, JSON.parse(whole.out)]).toEqual([
    0,
    expect.objectContaining({ outcome: "exact", notes: [] }),
  ])
})

test("--target all prints an object for each engine; a schema that is none is 3, misuse 2", async () => {
  const { out } = await tokenrail(["compile", "--schema", "true", "--target", "all", "--json"])
  expect(out.trim().split("\n")).toHaveLength(7)
  expect(await tokenrail(["compile", "--schema", '{"a": 1, "a": 2}', "--target", "all"])).toMatchObject({
    code: 3,
  })
  for (const more of [
    ["--regex", "a", "--target", "openai"],
    ["--schema", "true", "--target", "none"],
  ])
    expect(await tokenrail(["compile", ...more])).toMatchObject({ code: 2 })
  const vocab = ["--schema", "true", "--target", "openai", "--vocab", "runtime/embedded"]
  expect(await tokenrail(["compile", ...vocab])).toMatchObject({ code: 2, out: "" })
})

test("--graph draws the states, and refuses what it cannot do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "graph-"))
  const file = join(folder, "year.svg")
  const draw = (...args: string[]) => tokenrail(["compile", "--regex", "20[0-9]{2}", "--graph", ...args])
  expect(await draw(file)).toMatchObject({
    code: 0,
    out: expect.stringContaining("4 states: all there are."),
  })
  expect(readFileSync(file, "utf8")).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
  const { out } = await draw(file, "--vocab", "runtime/embedded", "--json")
  expect(JSON.parse(out).graph).toMatchObject({ file, isWhole: true })
  expect(await draw(file, "--graph-states", "501")).toMatchObject({ code: 2 })
  expect((await draw(join(folder, "none", "a.svg"))).err).toContain("cannot write")
  rmSync(folder, { recursive: true })
})
