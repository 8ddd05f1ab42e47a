import fc from "fast-check"
import { expect, test } from "vitest"
import { HeldText } from "../../../runtime/stops/heldtext.ts"

test("a queue of units: what comes out is what went in, in any pieces", () => {
  const steps = fc.array(fc.oneof(fc.string({ maxLength: 5 }), fc.nat(9)))
  fc.assert(
    fc.property(steps, (each) => {
      const held = new HeldText()
      let expected = ""
      for (const step of each) {
        if (typeof step === "string") {
          held.push(step)
          expected += step
        } else {
          expect(held.take(step)).toBe(expected.slice(0, step))
          expected = expected.slice(step)
        }
        expect(held.length).toBe(expected.length)
      }
      expect(held.take(held.length)).toBe(expected)
    }),
    { numRuns: 1000 },
  )
})
