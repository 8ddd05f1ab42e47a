import { describe, expect, test } from "vitest"
import { Slots } from "../../../runtime/engine/cache.ts"

const prompt = (length: number, first = 0): number[] =>
  Array.from({ length }, (_, at) => (at < 4 ? at : at + first))

describe("slots", () => {
  test("are taken and given back; the one left longest ago goes first", () => {
    const slots = new Slots(2, 4)
    expect(slots.take([1])).toEqual({ slot: 0, reusedCount: 0, copyFrom: undefined })
    expect(slots.take([2])?.slot).toBe(1)
    expect(slots.take([3])).toBeUndefined()
    slots.release(1)
    slots.release(0)
    expect([slots.freeCount, slots.take([4])?.slot, slots.take([5])?.slot]).toEqual([2, 1, 0])
  })

  test("whole chunks of a prompt are reused in place, and one token is left to compute", () => {
    const slots = new Slots(2, 4)
    const first = slots.take(prompt(10))!
    slots.computed(first.slot, 10)
    slots.release(first.slot)
    expect(slots.take(prompt(10))).toEqual({ slot: first.slot, reusedCount: 8, copyFrom: undefined })
    slots.release(first.slot)
    expect(slots.take(prompt(8))).toEqual({ slot: first.slot, reusedCount: 4, copyFrom: undefined })
  })

  test("what a running neighbour has computed is copied", () => {
    const slots = new Slots(3, 4)
    slots.take(prompt(10))
    expect(slots.take(prompt(10))).toEqual({ slot: 1, reusedCount: 0, copyFrom: undefined })
    slots.computed(0, 4)
    expect(slots.take(prompt(10, 5))).toEqual({ slot: 2, reusedCount: 4, copyFrom: 0 })
  })

  test("nothing is reused of rows that the model has lost", () => {
    const slots = new Slots(2, 4)
    slots.take(prompt(10))
    slots.take(prompt(12))
    slots.computed(0, 10)
    slots.computed(1, 12)
    slots.release(0)
    slots.forget()
    expect(slots.take(prompt(10))).toEqual({ slot: 0, reusedCount: 0, copyFrom: undefined })
  })

  test("output tokens and torn rows are never reused", () => {
    const slots = new Slots(1, 4)
    slots.take(prompt(6))
    slots.computed(0, 40)
    slots.release(0)
    expect(slots.take(prompt(20))?.reusedCount).toBe(4)
    slots.release(0, false)
    expect(slots.take(prompt(20))?.reusedCount).toBe(0)
  })

  test("a model that cannot go back computes every prompt", () => {
    const slots = new Slots(1, 4, { canReuse: false })
    slots.take(prompt(10))
    slots.computed(0, 10)
    slots.release(0)
    expect(slots.take(prompt(10))?.reusedCount).toBe(0)
  })

  test("a model with states goes back to its marks alone", () => {
    const slots = new Slots(3, 4, { canReuse: false, marks: 2 })
    const fill = (slot: number, count: number) => {
      slots.computed(slot, count)
      slots.mark(slot, count)
    }
    slots.take(prompt(18))
    for (const end of [4, 8, 12, 16]) fill(0, end)
    // Of four marks 12 and 16 are left; nothing lies before 12.
    expect(slots.take(prompt(18))).toEqual({ slot: 1, reusedCount: 16, copyFrom: 0 })
    slots.release(1)
    slots.release(0)
    expect(slots.take(prompt(15))).toEqual({ slot: 1, reusedCount: 12, copyFrom: undefined })
    expect(slots.take(prompt(11))?.reusedCount).toBe(0)
    slots.release(1)
    slots.lose(1)
    expect(slots.take(prompt(16, 1))).toEqual({ slot: 0, reusedCount: 0, copyFrom: undefined })
  })

  test("chunks end at multiples of their size, wherever they begin", () => {
    const slots = new Slots(1, 4)
    expect([
      slots.chunkEnd(0, 10),
      slots.chunkEnd(3, 10),
      slots.chunkEnd(8, 10),
      slots.chunkEnd(4, 8),
    ]).toEqual([4, 4, 10, 8])
  })

  test("where any cut will do every token is reused, and two are left to compute", () => {
    const slots = new Slots(2, 4, { cutsFreely: true })
    const long = Array.from({ length: 30 }, (_, at) => at)
    const first = slots.take(long)!
    slots.computed(first.slot, 21)
    slots.release(first.slot)
    expect(slots.take([...long.slice(0, 19), 99, 98])).toMatchObject({ slot: first.slot, reusedCount: 19 })
    slots.computed(first.slot, 30)
    slots.release(first.slot)
    expect(slots.take([...long.slice(0, 19), 99])).toMatchObject({ slot: first.slot, reusedCount: 18 })
    slots.release(first.slot)
    // So few are computed sooner than copied.
    expect(slots.take(long.slice(0, 9))).toMatchObject({ reusedCount: 0 })
    // A piece of one token is none.
    expect([slots.pieceEnd(0, 9, 6), slots.pieceEnd(0, 7, 6), slots.pieceEnd(5, 7, 6)]).toEqual([6, 5, 7])
  })

  test("what a slot holds beyond a short beginning is kept for who wants all of it", () => {
    const slots = new Slots(2, 4, { cutsFreely: true })
    const long = Array.from({ length: 60 }, (_, at) => at)
    slots.take(long)
    slots.computed(0, 60)
    slots.release(0)
    const other = [...long.slice(0, 10), ...Array(30).fill(7)]
    expect(slots.take(other)).toEqual({ slot: 1, reusedCount: 10, copyFrom: 0 })
    expect(slots.take([...long, 1, 2])).toEqual({ slot: 0, reusedCount: 60, copyFrom: undefined })
  })

  test("a prompt of one token is computed as nothing else is, and not reused", () => {
    const slots = new Slots(1, 4, { cutsFreely: true })
    slots.take([5])
    slots.computed(0, 12)
    slots.release(0)
    expect(slots.take([5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])?.reusedCount).toBe(0)
  })
})
