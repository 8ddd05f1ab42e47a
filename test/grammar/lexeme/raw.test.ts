/** Lexemes that are written as they are, against the texts of their contents. */
import { expect, test } from "vitest"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { exprLexeme, numberLexeme, rawLexeme } from "../../../grammar/lexeme/raw.ts"
import { exprContent, NoContent, namesContent } from "../../../grammar/lexeme/string/content.ts"
import { buildNames } from "../../../grammar/lexeme/string/names.ts"
import { Dead, lexemes, PlainTag } from "../../../grammar/lexeme/table.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { stringsOver } from "../../support/oracle/texts.ts"

const encoder = new TextEncoder()
const edgeBytes = (state: number) =>
  Array.from({ length: lexemes.edgeCount(state) }, (_, i) => lexemes.edgeByte(state, i))
const tagAfter = (lexeme: number, text: string) => lexemes.tagAfter(lexeme, encoder.encode(text))

test.each([["a|ab*"], ["[^b]*"], ["(a|é){2}"], ["(?!a)\\w+"]])("the texts of /%s/", (pattern) => {
  const lexeme = exprLexeme(parseRegex(pattern, { mode: "match", path: "" }))
  const regexp = new RegExp(`^(?:${pattern})$`, "u")
  for (const text of stringsOver(["a", "b", "é", "_"], 4))
    expect([text, tagAfter(lexeme, text)]).toEqual([text, regexp.test(text) ? PlainTag : 0])
})

test("nothing is the dead state, and what cannot be finished leads there at once", () => {
  expect(rawLexeme(NoContent)).toBe(Dead)
  expect(exprLexeme(exprs.literal(""))).not.toBe(Dead)
  expect(numberLexeme(0)).toBe(Dead)
  const lexeme = exprLexeme(exprs.literal("ab"))
  expect(lexemes.run(lexeme, encoder.encode("b"))).toBe(Dead)
  expect(lexemes.canContinue(lexemes.run(lexeme, encoder.encode("ab")))).toBe(false)
})

test("names over texts: a name has its tag, other texts have theirs, and the state is edges over a base", () => {
  const names = ["ab", "b"].map((text, i) => ({ bytes: encoder.encode(text), tag: 5 + i }))
  const base = parseRegex("[ab]+", { mode: "match", path: "" })
  const lexeme = rawLexeme(namesContent(buildNames(names), exprContent(base)))
  expect(["a", "ab", "b", "ba", ""].map((text) => tagAfter(lexeme, text))).toEqual([
    PlainTag,
    5,
    6,
    PlainTag,
    0,
  ])
  expect(edgeBytes(lexeme)).toEqual([0x61, 0x62])
  expect(lexemes.base(lexeme)).toBe(exprLexeme(base))
})
