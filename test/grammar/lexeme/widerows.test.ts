import fc from "fast-check"
import { expect, test } from "vitest"
import { WideRows } from "../../../grammar/lexeme/widerows.ts"

test("rows by classes of bytes are the rows that were added", () => {
  // Few targets in runs, as states within strings have them, and one of its own for each byte.
  const runs = fc
    .array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 90 })), { minLength: 1, maxLength: 12 })
    .map((parts) => Int32Array.from({ length: 256 }, (_, byte) => targetAt(parts, byte)))
  const any = fc.array(fc.nat(1 << 20), { minLength: 256, maxLength: 256 }).map((row) => Int32Array.from(row))
  fc.assert(
    fc.property(fc.array(fc.oneof(runs, any), { minLength: 1, maxLength: 40 }), (rows) => {
      const wide = new WideRows()
      const starts = rows.map((row) => wide.add(row))
      for (const [i, row] of rows.entries()) {
        expect(row.map((_, byte) => wide.at(starts[i], byte))).toEqual(row)
        expect([...wide.targetsOf(starts[i])]).toEqual([...new Set(row)])
      }
    }),
    { seed: 31, numRuns: 200 },
  )
})

test("rows that split the bytes alike share the split", () => {
  const wide = new WideRows()
  const rows = 10_000
  for (let i = 0; i < rows; i++)
    wide.add(Int32Array.from({ length: 256 }, (_, byte) => (byte < 0x80 ? i : i + 1)))
  expect(wide.bytes).toBeLessThan(rows * 32)
})

function targetAt(parts: readonly (readonly [target: number, width: number])[], byte: number): number {
  let end = 0
  for (const [target, width] of parts) {
    end += width
    if (byte < end) return target
  }
  return 0
}
