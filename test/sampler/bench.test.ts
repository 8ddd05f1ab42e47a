import { expect, test } from "vitest"
import { floorUs } from "../bench/sampler-floor.ts"

const h100 = 3.35e12

test("S2-32: published times below one read of the logits are no targets", () => {
  // Bytes over bandwidth, as the specification prints them.
  expect(floorUs(128_256, 1, h100)).toBeCloseTo(0.153, 3)
  expect(floorUs(128_256, 256, h100)).toBeCloseTo(39.2, 1)
  expect(floorUs(256_000, 256, 8e12)).toBeCloseTo(32.8, 1)
  expect(floorUs(32_000, 1, 4.8e12)).toBeCloseTo(0.027, 3)
  expect(floorUs(128_256, 1, h100, { logitBytes: 2 })).toBe(floorUs(128_256, 1, h100) / 2)
  expect(floorUs(128_256, 1, h100, { isMasked: true }) / floorUs(128_256, 1, h100)).toBeCloseTo(1.031, 3)
  // The seven-stage table at 256 rows: processors, temperature, sample, each said to read all rows once or more.
  for (const published of [12, 5, 15]) expect(published).toBeLessThan(floorUs(128_256, 256, h100))
})
