/** A content with its end as one lexeme: by brute force over all short texts, each state with a way to the end. */
import { expect, test } from "vitest"
import { leastBytes, shortestCompletion } from "../../../grammar/lexeme/completion.ts"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { matchesText } from "../../../grammar/lexeme/expr/finite.ts"
import { freeTextExpr } from "../../../grammar/lexeme/freetext.ts"
import {
  exprContent,
  lengthContent,
  NoContent,
  namesContent,
} from "../../../grammar/lexeme/string/content.ts"
import { buildNames } from "../../../grammar/lexeme/string/names.ts"
import { Dead, lexemes, PlainTag } from "../../../grammar/lexeme/table.ts"
import { untilLexeme } from "../../../grammar/lexeme/until.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"

const utf8 = new TextEncoder()
const regex = (pattern: string) => parseRegex(pattern, { mode: "match", path: "" })

const table: [name: string, pattern: string, ends: string[], tag: string][] = [
  ["any text", "[abc]*", ["ab"], "ab"],
  ["an end that repeats a byte", "[abc]*", ["aab"], "aab"],
  ["an end with padding", "[abc]*", ["ab", "cab"], "ab"],
  ["an end with padding that the content may need", "c{2,}[ab]?", ["ab", "cab"], "ab"],
  ["a pattern", "(ca?)*b?", ["ab", "cab"], "ab"],
  ["what the end begins with", "a*", ["ab"], "ab"],
  ["nothing", "", ["ab", "cab"], "ab"],
]

/** All texts over a, b and c with up to six letters. */
const texts = [""]
for (const text of texts) if (text.length < 6) for (const letter of "abc") texts.push(text + letter)

function contentOf(pattern: string, tag: string): ExprId {
  return exprs.and([regex(pattern), freeTextExpr([tag])])
}

test.each(table)("%s", (_, pattern, ends, tag) => {
  const expr = contentOf(pattern, tag)
  for (const isOpen of [false, true]) {
    const start = untilLexeme(exprContent(expr), ends, isOpen)
    for (const text of texts) {
      const isMeant = ends.some(
        (end) => text.endsWith(end) && matchesText(expr, text.slice(0, text.length - end.length)),
      )
      const state = lexemes.run(start, utf8.encode(text))
      expect([isOpen, text, lexemes.tags[state] !== 0]).toEqual([isOpen, text, isMeant])
      // A beginning lives iff it is the beginning of some text.
      const isBegun = texts.some((longer) => {
        if (!longer.startsWith(text)) return false
        return ends.some(
          (end) => longer.endsWith(end) && matchesText(expr, longer.slice(0, longer.length - end.length)),
        )
      })
      if (isBegun) expect([isOpen, text, state]).not.toEqual([isOpen, text, Dead])
      if (state === Dead) continue
      const { bytes } = shortestCompletion(state)
      expect([text, lexemes.tagAfter(state, bytes) !== 0]).toEqual([text, true])
      expect(bytes.length).toBeGreaterThanOrEqual(leastBytes(state))
    }
  }
})

test("lengths count what waits", () => {
  const counted = lengthContent(exprContent(freeTextExpr(["ab"])), 2, 3)
  const start = untilLexeme(counted, ["ab"], false)
  const accepted = texts.filter((text) => lexemes.tagAfter(start, utf8.encode(text)) !== 0)
  expect(accepted.every((text) => text.length === 4 || text.length === 5)).toBe(true)
  expect(accepted).toContain("aaab")
  expect(accepted).not.toContain("aab")
})

test("listed texts", () => {
  const names = ["a", "aa", "cb"].map((name) => ({ bytes: utf8.encode(name), tag: PlainTag }))
  const start = untilLexeme(namesContent(buildNames(names), NoContent), ["ab", "cab"], false)
  const accepted = texts.filter((text) => lexemes.tagAfter(start, utf8.encode(text)) !== 0)
  expect(accepted.sort()).toEqual(["aab", "aaab", "acab", "aacab", "cbab", "cbcab"].sort())
})
