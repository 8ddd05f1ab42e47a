import { expect, test } from "vitest"
import { hostLogits, type StepLogits } from "../../../runtime/model/logits.ts"
import { onHost } from "../../../sampler/sampler.ts"

const rows = Float32Array.of(1, 2, 3, 4, 5, 6)

test("rows on the host are views, and kept rows are copies", async () => {
  const logits = hostLogits(rows.slice(), 2)
  expect([logits.width, logits.rowCount]).toEqual([2, 3])
  expect(await logits.row(2)).toEqual(Float32Array.of(5, 6))
  const kept = logits.keep(1, 3)
  logits.host!.fill(0)
  expect([await kept.row(0), await kept.row(1)]).toEqual([Float32Array.of(3, 4), Float32Array.of(5, 6)])
  expect(await logits.row(1)).toEqual(Float32Array.of(0, 0))
})

test("a row that does not exist is an error", async () => {
  for (const index of [-1, 3, 0.5]) {
    await expect(hostLogits(rows, 2).row(index)).rejects.toThrow(RangeError)
  }
})

test("rows that are elsewhere are copied to the host one after the other", async () => {
  const far: StepLogits = { ...hostLogits(rows, 2), host: null }
  expect(await onHost(far)).toEqual(rows)
  expect(await onHost(hostLogits(rows, 2))).toBe(rows)
})
