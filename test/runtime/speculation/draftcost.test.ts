/** When drafts pause: by what steps cost, with them and without. */
import { expect, test } from "vitest"
import { Speculation } from "../../../runtime/speculation/draft.ts"
import { StepCosts } from "../../../runtime/speculation/draftcost.ts"

test("a step's cost is known by its number of rows, and forgotten after 64 steps without a look", () => {
  const costs = new StepCosts()
  expect(costs.isStale(4, 0)).toBe(true)
  expect(costs.extraTokens(4, 5)).toBeUndefined()
  costs.observe(4, 2, 0)
  expect(costs.isStale(4, 64)).toBe(false)
  expect(costs.isStale(4, 65)).toBe(true)
  expect(costs.isStale(3, 1)).toBe(true)
  // Half a step more, of four rows: two tokens.
  expect(costs.extraTokens(4, 3)).toBe(2)
  expect(costs.extraTokens(4, 1)).toBe(-2)
})

test("one slow step moves the cost by little, and one with drafts counts as eight at most", () => {
  const costs = new StepCosts()
  costs.observe(1, 2, 0)
  costs.observe(1, 500, 1)
  expect(costs.extraTokens(1, 2.6)).toBeCloseTo(0)
  expect(costs.extraTokens(1, 500)).toBe(7)
})

test("drafts that are never right are few, those that are right go on", () => {
  const breakEven = () => 0.2
  const draftsOf = (gain: number, cost: number | undefined) => {
    const speculation = new Speculation("match", 4, breakEven)
    let count = 0
    for (let step = 0; step < 120; step++) {
      speculation.advance()
      if (speculation.next(false) === 0) continue
      count++
      speculation.record(4, gain, cost)
    }
    return count
  }
  expect(draftsOf(0, undefined)).toBeLessThan(8)
  expect(draftsOf(0, 3)).toBe(2)
  // A measured gain of drafts that are never right is noise.
  expect(draftsOf(0, -1)).toBeLessThan(16)
  expect(draftsOf(2, 1)).toBe(120)
})

test("drafts that decide tokens do not look at the clock, nor those that are asked for in every step", () => {
  for (const speculation of [
    new Speculation("reject", 3, () => 0.9),
    new Speculation("match", 3, () => 0.9, { isAdaptive: false }),
  ]) {
    for (let step = 0; step < 50; step++) {
      expect(speculation.next(step === 7)).toBe(3)
      speculation.record(3, 0, 5)
    }
  }
  expect(new Speculation("match", 3, () => 0.1).next(true)).toBe(0)
})
