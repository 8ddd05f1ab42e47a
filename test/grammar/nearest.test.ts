import fc from "fast-check"
import { expect, test } from "vitest"
import { editDistance, nearestName } from "../../grammar/nearest.ts"

const names = ["schema", "regex", "choice", "maxTokens", "topK", "stop"]

test.each([
  ["schmea", "schema"],
  ["shema", "schema"],
  ["max_tokens", "maxTokens"],
  ["maxtoken", "maxTokens"],
  ["top_k", "topK"],
  ["stops", "stop"],
  ["regexp", "regex"],
  ["prompt", undefined],
  ["", undefined],
  ["x".repeat(10_000), undefined],
])("%s means %s", (given, meant) => {
  expect(nearestName(given, names)).toBe(meant)
})

/** The definition, without a bound. */
function plainDistance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length
  const replaced = plainDistance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1)
  const least = Math.min(replaced, plainDistance(a.slice(1), b) + 1, plainDistance(a, b.slice(1)) + 1)
  if (a.length < 2 || b.length < 2 || a[0] !== b[1] || a[1] !== b[0]) return least
  return Math.min(least, plainDistance(a.slice(2), b.slice(2)) + 1)
}

test("the distance is that of the definition, up to its bound", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 })
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 6 }), (a, b, most) => {
      expect(editDistance(a, b, most)).toBe(Math.min(plainDistance(a, b), most + 1))
    }),
  )
})
