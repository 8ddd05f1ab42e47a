/**
 * No token outside the mask, ever. TOKENRAIL_DRAWS=10000000 is the full run, 2 minutes of one core.
 */
import { expect, test } from "vitest"
import { sampleRow } from "../../sampler/cpu.ts"
import { Selector } from "../../sampler/fast/select.ts"
import type { SampleResult, SampleRow } from "../../sampler/row.ts"
import { isLegal, luringRows } from "../support/sampler/adversarial.ts"

const drawCount = Number(
  process.env.TOKENRAIL_DRAWS ?? (process.env.TOKENRAIL_TESTS === "full" ? 1e7 : 200_000),
)
const rows = luringRows()

/** How many draws over all rows, in turn, are not legal; which rows they were of. */
function violations(
  count: number,
  select: (logits: Float32Array, row: SampleRow) => SampleResult,
): { count: number; names: Set<string> } {
  const names = new Set<string>()
  let found = 0
  for (let draw = 0; draw < count; draw++) {
    const lure = rows[draw % rows.length]
    const result = select(lure.logits, { ...lure.row, position: draw })
    if (result.status === "ok" && isLegal(lure, result.token)) continue
    found++
    names.add(lure.name)
  }
  return { count: found, names }
}

test(
  `${drawCount} draws of ${rows.length} adversarial rows: none outside the mask`,
  () => {
    const selector = new Selector()
    const { count, names } = violations(drawCount, (logits, row) => selector.select(logits, row))
    expect([...names]).toEqual([])
    expect(count).toBe(0)
  },
  60_000 + drawCount / 10,
)

test("the definition too", () => {
  expect([...violations(rows.length, sampleRow).names]).toEqual([])
})

test.each<[string, (logits: Float32Array, row: SampleRow) => SampleResult]>([
  ["the mask is forgotten", (logits, row) => sampleRow(logits, { ...row, mask: null })],
  [
    "the last word of the mask is all ones",
    (logits, row) =>
      sampleRow(logits, {
        ...row,
        mask: row.mask!.map((word, at) => (at === row.mask!.length - 1 ? -1 : word)),
      }),
  ],
  [
    "the mask comes after the draw, and id 0 instead",
    (logits, row) => {
      const { token } = sampleRow(logits, { ...row, mask: null })
      return { token: Math.max(0, token), status: "ok" }
    },
  ],
])("a sampler with a fault is found: %s", (_, faulty) => {
  expect(violations(rows.length, faulty).count).toBeGreaterThan(rows.length / 20)
})
