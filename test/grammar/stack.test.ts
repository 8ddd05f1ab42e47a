/** Stacks against lists of frames. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { describeSample, type Expectation, Frame, type Step } from "../../grammar/frame.ts"
import { EmptyStack, StackTable } from "../../grammar/stack.ts"

class TestFrame extends Frame {
  override readonly needsText: boolean
  override readonly isSymbolic: boolean

  constructor(needsText: boolean, isSymbolic: boolean) {
    super()
    this.needsText = needsText
    this.isSymbolic = isSymbolic
  }

  follow(): readonly Step[] {
    return []
  }

  finish(): string {
    return ""
  }

  expect(sample: string): Expectation {
    return { what: describeSample(sample), example: sample, path: "" }
  }
}

// More than are looked for one by one on a stack.
const frames = Array.from({ length: 24 }, (_, i) => new TestFrame(i % 3 === 1, i % 3 === 2))
const lists = fc.array(
  fc.oneof(fc.array(fc.nat(2), { maxLength: 12 }), fc.array(fc.nat(frames.length - 1), { maxLength: 3 })),
  { maxLength: 120 },
)

test("frames have identities of their own", () => {
  expect(new Set(frames.map(({ id }) => id)).size).toBe(frames.length)
})

test("a stack is the list that was pushed, and equal lists are one integer", () => {
  fc.assert(
    fc.property(lists, (all) => {
      const stacks = new StackTable()
      const byList = new Map<string, number>()
      for (const list of all) {
        let stack = EmptyStack
        for (const index of list) stack = stacks.push(stack, frames[index])
        const known = byList.get(list.join())
        if (known !== undefined) expect(stack).toBe(known)
        byList.set(list.join(), stack)
      }
      expect(new Set(byList.values()).size).toBe(byList.size)
      for (const [key, stack] of byList) {
        const list = key === "" ? [] : key.split(",").map((index) => frames[Number(index)])
        expect(stacks.depth(stack)).toBe(list.length)
        expect(stacks.captureCount(stack)).toBe(list.filter(({ needsText }) => needsText).length)
        expect(stacks.isSymbolic(stack)).toBe(list.some(({ isSymbolic }) => isSymbolic))
        const read: Frame[] = []
        for (let at = stack; at !== EmptyStack; at = stacks.pop(at)) read.unshift(stacks.top[at])
        expect(read).toEqual(list)
      }
      const beginnings = new Set(all.flatMap((list) => list.map((_, n) => list.slice(0, n + 1).join())))
      expect(stacks.count).toBe(beginnings.size + 1)
    }),
    { seed: 1, numRuns: 200 },
  )
})
