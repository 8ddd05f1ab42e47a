import { expect, test } from "vitest"
import { type Line, ServiceTime } from "../../../server/http/servicetime.ts"

/** A line that is always full, in front of slots whose sequences take `serviceMs` each; observed every `everyMs`. */
function serve(options: {
  slots: number
  waiting: number
  serviceMs: number
  forMs: number
  everyMs?: number
}): ServiceTime {
  const { slots, waiting, serviceMs, forMs, everyMs = 50 } = options
  const time = new ServiceTime()
  // The slots are out of step, as they are once sequences differ.
  const ends = Array.from({ length: slots }, (_, slot) => (serviceMs * (slot + 1)) / slots)
  let finished = 0
  for (let at = 0; at <= forMs; at += everyMs) {
    for (const [slot, end] of ends.entries()) {
      if (end > at) continue
      ends[slot] += serviceMs
      finished++
    }
    time.observe({ running: slots, waiting, slots, finished }, at)
  }
  return time
}

test.each([
  { slots: 1, waiting: 10, serviceMs: 500, forMs: 60_000 },
  { slots: 8, waiting: 256, serviceMs: 20_000, forMs: 400_000 },
  { slots: 8, waiting: 4, serviceMs: 400, forMs: 20_000 },
  { slots: 4, waiting: 256, serviceMs: 300_000, forMs: 4_000_000, everyMs: 5_000 },
])("the wait is the time that the line takes: %j", (options) => {
  const time = serve(options)
  const { slots, waiting, serviceMs } = options
  expect(time.meanMs).toBeGreaterThan(0.9 * serviceMs)
  expect(time.meanMs).toBeLessThan(1.1 * serviceMs)
  // Those running are half done: 8 slots of 20 s serve 256 and them in 650 s, which is above a minute.
  const trueSeconds = ((waiting + slots / 2) * serviceMs) / slots / 1000
  expect(time.waitSeconds / trueSeconds).toBeCloseTo(1, 0.9)
})

test("the mean follows the load", () => {
  const time = new ServiceTime()
  let finished = 0
  let at = 0
  const run = (serviceMs: number, count: number) => {
    for (let i = 0; i < count; i++) {
      at += serviceMs
      time.observe({ running: 1, waiting: 3, slots: 1, finished: ++finished }, at)
    }
  }
  run(10_000, 200)
  expect(time.meanMs).toBeGreaterThan(9_000)
  run(100, 1_000)
  expect(time.meanMs).toBeLessThan(200)
})

test("while nothing has ended yet, the age of what runs counts", () => {
  const time = new ServiceTime()
  const line: Line = { running: 8, waiting: 16, slots: 8, finished: 0 }
  time.observe(line, 0)
  expect(time.waitSeconds).toBeLessThan(3)
  time.observe(line, 60_000)
  expect(time.meanMs).toBeGreaterThan(60_000)
  expect(time.waitSeconds).toBeGreaterThan(120)
})

test("an idle time adds nothing, an empty line waits for nothing", () => {
  const time = new ServiceTime()
  expect(time.waitSeconds).toBe(0)
  const idle = { running: 0, waiting: 0, slots: 8, finished: 0 }
  time.observe(idle, 0)
  time.observe(idle, 1e9)
  expect([time.meanMs, time.waitSeconds]).toEqual([1_000, 0])
})
