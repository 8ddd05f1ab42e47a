import { afterEach, expect, test, vi } from "vitest"
import { checkTime, excusingWaits, TimeError, withinTime } from "../../grammar/deadline.ts"

afterEach(() => vi.restoreAllMocks())

test("a deadline moves by the time in which the thread had no core, and by no more", () => {
  let now = 0
  vi.spyOn(performance, "now").mockImplementation(() => now)
  let waited = 100
  const waitedMs = () => waited
  /** Work of 30 ms with a bound of 10. */
  const work = () =>
    withinTime(10, () => {
      for (let i = 0; i < 30; i++, now++) checkTime(64)
    })
  expect(work).toThrow(TimeError)
  expect(() => excusingWaits(waitedMs, work)).toThrow(TimeError)
  excusingWaits(waitedMs, () => {
    waited += 50
    work()
    // What has been excused once is no excuse for more.
    expect(work).toThrow(TimeError)
  })
  expect(work).toThrow(TimeError)
})
