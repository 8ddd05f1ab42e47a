import { expect, test } from "vitest"
import { excused } from "../../../runtime/guides/priority.ts"

test("a wait for a core is excused up to the bound of the work itself", () => {
  expect(excused(0, 2_000)).toBe(0)
  expect(excused(700, 2_000)).toBe(700)
  expect(excused(20_000, 2_000)).toBe(2_000)
})
