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
