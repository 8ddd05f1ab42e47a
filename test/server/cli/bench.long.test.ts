import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { distribution } from "../../../server/cli/bench.ts"
import { tokenrail } from "../../support/program.ts"

test("the shares of a distribution", () => {
  const values = Array.from({ length: 1000 }, (_, i) => 999 - i)
  expect(distribution(values)).toEqual({
    n: 1000,
    avg: 499.5,
    p50: 500,
    p90: 900,
    p99: 990,
    p999: 999,
    max: 999,
  })
  expect(distribution([])).toMatchObject({ n: 0, avg: 0, p50: 0 })
})

test("prints the rows that the comparison with other engines reads, then the summary", async () => {
  const directory = mkdtempSync(join(tmpdir(), "bench-"))
  const file = join(directory, "rows.jsonl")
  const rows = [
    { id: "a", schema: { type: "boolean" }, tests: [{ valid: true, tokens: [] }] },
    { id: "b", schema: { type: "objct" }, tests: [] },
  ]
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"))
  const { code, out } = await tokenrail(["bench", file, "--vocab", "runtime/embedded", "--json"])
  const [a, b, last] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(a).toEqual({
    id: "a",
    ttfm_us: expect.any(Number),
    tests: [{ valid: true, accepted: false }],
    us: [],
  })
  expect(b).toEqual({ id: "b", refused: expect.stringMatching(/^syntax /) })
  expect(last.summary).toMatchObject({ schemas: 2, refused: 1, first_mask_us: { n: 1 } })
  expect(code).toBe(0)
})
