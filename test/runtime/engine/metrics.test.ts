import { expect, test } from "vitest"
import { quantile } from "../../../runtime/engine/metrics.ts"

test("a quantile is one of the values: the one with that share below it", () => {
  const values = Array.from({ length: 100 }, (_, index) => 99 - index)
  expect([quantile(values, 0), quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1)]).toEqual([
    0, 50, 99, 99,
  ])
  expect([quantile([], 0.5), quantile([7], 0.99)]).toEqual([0, 7])
  expect(values[0]).toBe(99)
})
