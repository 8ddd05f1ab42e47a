/** Whole texts of an expression against enumeration. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { type ExprId, exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { finiteTexts, matchesText } from "../../../../grammar/lexeme/expr/finite.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"
import { stringsOver } from "../../../support/oracle/texts.ts"

const letters = ["a", "b", "é"]
const texts = stringsOver(letters, 4)
const subset = fc.uniqueArray(fc.constantFrom(...texts), { maxLength: 12 })
const listed = (list: readonly string[]): ExprId => exprs.or(list.map((text) => exprs.literal(text)))
const inOrder = (list: readonly string[]) =>
  [...list].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

test("the texts of a list, of its parts and of what two lists share", () => {
  fc.assert(
    fc.property(subset, subset, (a, b) => {
      expect(finiteTexts(listed(a), a.length)).toEqual(inOrder(a))
      expect(finiteTexts(exprs.and([listed(a), exprs.not(listed(b))]), 100)).toEqual(
        inOrder(a.filter((text) => !b.includes(text))),
      )
      if (a.length > 0) expect(finiteTexts(listed(a), a.length - 1)).toBeNull()
      for (const text of texts.slice(0, 40)) expect(matchesText(listed(a), text)).toBe(a.includes(text))
    }),
    { seed: 1, numRuns: 200 },
  )
})

test.each<[pattern: string, count: number | null]>([
  ["a|b", 2],
  ["[a-z]{2}", 676],
  ["a{0,3}b?", 8],
  ["a*", null],
  ["(?!a)[ab]", 1],
  ["[^a]", null],
  ["[a-z]{8}", null],
])("%s has %s texts (null: infinitely many, or above the bound of 10,000)", (pattern, count) => {
  const expr = parseRegex(pattern, { mode: "match", path: "" })
  expect(finiteTexts(expr, 10_000)?.length ?? null).toBe(count)
})

test("half a surrogate pair is in no language", () => {
  expect(matchesText(exprs.anyText, "\ud800")).toBe(false)
  expect(matchesText(exprs.anyText, "💩\0")).toBe(true)
})
