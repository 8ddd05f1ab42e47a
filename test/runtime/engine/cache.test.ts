import { describe, expect, test } from "vitest"
import { Slots } from "../../../runtime/engine/cache.ts"

const prompt = (length: number, first = 0): number[] =>
  Array.from({ length }, (_, at) => (at < 4 ? at : at + first))

describe("slots", () => {
  test("are taken and given back; the one left longest ago goes first", () => {
    const slots = new Slots(2, 4, true)
    expect(slots.take([1])).toEqual({ slot: 0, reusedCount: 0, copyFrom: undefined })
    expect(slots.take([2])?.slot).toBe(1)
    expect(slots.take([3])).toBeUndefined()
    slots.release(1)
    slots.release(0)
    expect([slots.freeCount, slots.take([4])?.slot, slots.take([5])?.slot]).toEqual([2, 1, 0])
  })

  test("whole chunks of a prompt are reused in place, and one token is left to compute", () => {
    const slots = new Slots(2, 4, true)
    const first = slots.take(prompt(10))!
    slots.computed(first.slot, 10)
    slots.release(first.slot)
    expect(slots.take(prompt(10))).toEqual({ slot: first.slot, reusedCount: 8, copyFrom: undefined })
    slots.release(first.slot)
    expect(slots.take(prompt(8))).toEqual({ slot: first.slot, reusedCount: 4, copyFrom: undefined })
  })

  test("what a running neighbour has computed is copied", () => {
    const slots = new Slots(3, 4, true)
    slots.take(prompt(10))
    expect(slots.take(prompt(10))).toEqual({ slot: 1, reusedCount: 0, copyFrom: undefined })
    slots.computed(0, 4)
    expect(slots.take(prompt(10, 5))).toEqual({ slot: 2, reusedCount: 4, copyFrom: 0 })
  })

  test("nothing is reused of rows that the model has lost", () => {
    const slots = new Slots(2, 4, true)
    slots.take(prompt(10))
    slots.take(prompt(12))
    slots.computed(0, 10)
    slots.computed(1, 12)
    slots.release(0)
    slots.forget()
    expect(slots.take(prompt(10))).toEqual({ slot: 0, reusedCount: 0, copyFrom: undefined })
  })

  test("output tokens and torn rows are never reused", () => {
    const slots = new Slots(1, 4, true)
    slots.take(prompt(6))
    slots.computed(0, 40)
    slots.release(0)
    expect(slots.take(prompt(20))?.reusedCount).toBe(4)
    slots.release(0, false)
    expect(slots.take(prompt(20))?.reusedCount).toBe(0)
  })

  test("a model that cannot go back computes every prompt", () => {
    const slots = new Slots(1, 4, false)
    slots.take(prompt(10))
    slots.computed(0, 10)
    slots.release(0)
    expect(slots.take(prompt(10))?.reusedCount).toBe(0)
  })

  test("chunks end at multiples of their size, wherever they begin", () => {
    const slots = new Slots(1, 4, true)
    expect([
      slots.chunkEnd(0, 10),
      slots.chunkEnd(3, 10),
      slots.chunkEnd(8, 10),
      slots.chunkEnd(4, 8),
    ]).toEqual([4, 4, 10, 8])
  })
})
