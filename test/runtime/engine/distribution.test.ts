import { expect, test } from "vitest"
import { Distribution, decades } from "../../../runtime/engine/distribution.ts"

test("a value is counted in the first class whose bound it does not pass", () => {
  const times = new Distribution([1, 2, 5])
  for (const value of [0, 1, 1.5, 2, 5, 5.1, 100]) times.observe(value)
  expect([...times.counts]).toEqual([2, 2, 1, 2])
  expect(times.sum).toBe(114.6)
})

test("bounds are the numbers that they look like", () => {
  expect(decades(1e-3, 1)).toEqual([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1])
  expect(String(decades(1e-6, 1e-5))).toBe("0.000001,0.0000025,0.000005,0.00001")
})
