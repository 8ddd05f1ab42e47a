import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { losses, nameOf, readBaseline } from "../../../server/suite/baseline.ts"

const isRight = (row: Record<string, unknown>) => row.ok === true
const now = { pass: 2, wrong_accepts: 0 }

function fileOf(...rows: unknown[]): string {
  const path = join(mkdtempSync(join(tmpdir(), "baseline-")), "run.jsonl")
  writeFileSync(path, `${rows.map((row) => JSON.stringify(row)).join("\n")}\n\n`)
  return path
}

test("a row is named by its id, or by its place in a suite", () => {
  expect(nameOf({ id: "a", file: "f" })).toBe("a")
  expect(nameOf({ file: "f.json", group: "g", test: "t" })).toBe("f.json › g › t")
})

test("what was right and is not now is lost; new rows and rows that were wrong are not", async () => {
  const baseline = await readBaseline(
    fileOf({ id: "a", ok: true }, { id: "b", ok: true }, { id: "c", ok: false }),
    isRight,
  )
  const rows = [
    { id: "a", ok: true },
    { id: "b", ok: false },
    { id: "c", ok: false },
    { id: "d", ok: false },
  ]
  expect(losses(baseline, rows, now, isRight)).toEqual(["b"])
})

test("without rows the summaries are compared", async () => {
  const read = (pass: number, wrong_accepts: number) =>
    readBaseline(fileOf({ summary: { pass, wrong_accepts } }), isRight)
  expect(losses(await read(2, 0), [], now, isRight)).toEqual([])
  expect(losses(await read(3, 0), [], now, isRight)).toEqual(["right: 2, before 3"])
  expect(losses(await read(1, 0), [], { pass: 2, wrong_accepts: 1 }, isRight)).toEqual([
    "wrong accepts: 1, before 0",
  ])
})

test("rows count more than a summary beside them", async () => {
  const baseline = await readBaseline(
    fileOf({ id: "a", ok: true }, { summary: { pass: 9, wrong_accepts: 0 } }),
    isRight,
  )
  expect(losses(baseline, [{ id: "a", ok: true }], now, isRight)).toEqual([])
})
