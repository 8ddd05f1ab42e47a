import fc from "fast-check"
import { expect, test } from "vitest"
import { cutMiddle, cutText, quote } from "../../../server/http/quote.ts"

test.each<[unknown, string]>([
  ["a", '"a"'],
  ["\n\ud800", '"\\n\\ud800"'],
  ["x".repeat(81), `"${"x".repeat(79)}…"`],
  [1, "1"],
  [null, "null"],
  [undefined, "undefined"],
  [[], "[]"],
  [[1], "a list"],
  [{ a: 1 }, "an object"],
])("%j is quoted as %s", (value, text) => {
  expect(quote(value)).toBe(text)
})

test("a text is never longer than the bound, and no pair is cut in half", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "😀", "…"), maxLength: 40 })
  fc.assert(
    fc.property(texts, fc.integer({ min: 4, max: 40 }), (text, most) => {
      for (const cut of [cutText(text, most), cutMiddle(text, most)]) {
        expect(cut.length).toBeLessThanOrEqual(most)
        expect(cut.isWellFormed()).toBe(true)
        if (text.length <= most) expect(cut).toBe(text)
      }
      expect(text.startsWith(cutText(text, most).replace(/…$/, ""))).toBe(true)
    }),
  )
})

test("the middle goes, the end stays", () => {
  expect(cutMiddle(`${"x".repeat(100)} Send less`, 40)).toBe(`${"x".repeat(29)}… Send less`)
})
