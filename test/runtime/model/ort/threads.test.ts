import { expect, test } from "vitest"
import { type Candidate, fastest, StepWatch, threadCounts } from "../../../../runtime/model/ort/threads.ts"

/** The number that is chosen where a step takes these milliseconds by the number of threads, and those that were closed. */
async function choose(ms: Readonly<Record<number, number>>): Promise<{ chosen: number; closed: number[] }> {
  const closed: number[] = []
  const open = async (threads: number): Promise<Candidate> => ({ threads, step: async () => ms[threads] })
  const best = await fastest(Object.keys(ms).map(Number), open, async ({ threads }) => {
    closed.push(threads)
  })
  return { chosen: best.threads, closed }
}

test("powers of two, and all cores but one", () => {
  expect([1, 2, 3, 6, 16].map(threadCounts)).toEqual([[1], [1], [1, 2], [1, 2, 4, 5], [1, 2, 4, 8, 15]])
})

test("more threads are taken where they take a tenth less time, and no more are tried behind those that do not", async () => {
  expect(await choose({ 1: 10, 2: 6, 4: 3.5, 8: 3.4, 16: 1 })).toEqual({ chosen: 4, closed: [1, 2, 8] })
  expect(await choose({ 1: 1, 2: 1 })).toEqual({ chosen: 1, closed: [2] })
  expect(await choose({ 1: 1, 2: 5 })).toEqual({ chosen: 1, closed: [2] })
})

test("a step that takes another time than before calls for another trial, once a minute at most", () => {
  const watch = new StepWatch(0)
  const pass = (steps: number, ms: number, now: number): boolean[] =>
    Array.from({ length: steps }, () => watch.note(8, ms, now)).filter(Boolean)
  expect(pass(400, 10, 1_000)).toEqual([])
  // Too soon, then as before, then slower.
  expect(pass(200, 30, 30_000)).toEqual([])
  expect(pass(1_000, 12, 70_000)).toEqual([])
  expect(pass(200, 30, 80_000)).toEqual([true])
  // Rows of another number are another step.
  expect(watch.note(1, 90, 80_001)).toBe(false)
  expect(pass(200, 30, 90_000)).toEqual([])
  expect(pass(200, 10, 100_000)).toEqual([])
  expect(pass(200, 10, 150_000)).toEqual([true])
})
