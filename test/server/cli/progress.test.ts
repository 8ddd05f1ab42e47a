/** Progress on standard error: one line of a terminal, removed at the end. */
import { afterEach, expect, test, vi } from "vitest"
import { named, progress, working } from "../../../server/cli/progress.ts"
import { ioOf } from "../../support/io.ts"

afterEach(() => {
  vi.useRealTimers()
})

const cleared = "\r\u001b[K"

test("a counted task shows one line, and removes it", () => {
  vi.useFakeTimers()
  const io = ioOf({ isTerminal: true })
  const tick = progress(io, "bench", 3)
  tick()
  expect(io.printed).toBe("")
  vi.advanceTimersByTime(600)
  tick()
  expect(io.printed).toBe("\rbench: 2 of 3\u001b[K")
  tick()
  expect(io.printed.endsWith(cleared)).toBe(true)
})

test("a log gets whole lines", () => {
  vi.useFakeTimers()
  const io = ioOf()
  const tick = progress(io, "bench", 2)
  vi.advanceTimersByTime(20_000)
  tick()
  expect(io.printed).toBe("bench: 1 of 2\n")
})

test("a task is shown after a second, with its time; other lines do not mix with it", () => {
  vi.useFakeTimers()
  const io = ioOf({ isTerminal: true })
  const task = working(io, "loading the model")
  vi.advanceTimersByTime(900)
  expect(io.printed).toBe("")
  vi.advanceTimersByTime(1_200)
  expect(io.printed).toContain("loading the model: 2 s")
  task.aside("a line\n")
  expect(io.printed.endsWith(`${cleared}a line\n`)).toBe(true)
  const before = io.printed
  task.end()
  vi.advanceTimersByTime(5_000)
  expect(io.printed).toBe(before)
})

test("a task that blocks is named while it runs, on a terminal, if it is long", async () => {
  const io = ioOf({ isTerminal: true })
  expect(await named(io, "compiling", true, () => io.printed)).toBe("compiling …")
  expect(io.printed).toBe(`compiling …${cleared}`)
  await expect(
    named(io, "compiling", true, () => {
      throw new Error("no")
    }),
  ).rejects.toThrow("no")
  expect(io.printed.endsWith(cleared)).toBe(true)
  const silent = ioOf()
  await named(silent, "compiling", true, () => 1)
  working(silent, "loading").end()
  expect(silent.printed).toBe("")
})
