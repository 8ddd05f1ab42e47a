/** Free text against naive string search, character by character; random patterns, seeds in the failures. */
import { describe, expect, test } from "vitest"
import { clampedState } from "../../../grammar/lexeme/clamp.ts"
import { leastBytes, shortestCompletion } from "../../../grammar/lexeme/completion.ts"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { freeTextExpr, freeTextLexeme, stopTag } from "../../../grammar/lexeme/freetext.ts"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { Dead, lexemes, PlainTag } from "../../../grammar/lexeme/table.ts"
import { stringsOver } from "../../support/oracle/texts.ts"
import { randomOf } from "../../support/oracle.ts"

interface Patterns {
  stops: string[]
  excludes: string[]
}

const utf8 = new TextEncoder()
const tagAfter = (lexeme: number, text: string) => lexemes.tagAfter(lexeme, utf8.encode(text))
const readUntil = (patterns: Patterns) => freeTextLexeme(patterns, { mayEnd: false })
const readText = (patterns: Patterns) => freeTextLexeme(patterns, { mayEnd: true })

/** The tag after `text`, 0 where it is unfinished; null: it is refused. */
function naive({ stops, excludes }: Patterns, mayEnd: boolean, text: string): number | null {
  const characters = [...text]
  for (let count = 1; count <= characters.length; count++) {
    const read = characters.slice(0, count).join("")
    if (excludes.some((exclude) => read.endsWith(exclude))) return null
    // Of two stops that are complete together one is a suffix of the other: the longer one counts.
    const done = stops.filter((stop) => read.endsWith(stop)).sort((a, b) => b.length - a.length)
    if (done.length > 0) return count === characters.length ? stopTag(done[0]) : null
  }
  return mayEnd ? PlainTag : 0
}

test.each<[string, Patterns, [string, number | null][]]>([
  ["nothing is special", { stops: [], excludes: [] }, [["any é", PlainTag]]],
  [
    "a stop ends the text, and half of one is text",
    { stops: ["<tool>"], excludes: [] },
    [
      ["a <to", PlainTag],
      ["<<tool>", stopTag("<tool>")],
      ["<tool>x", null],
      ["<tool <", PlainTag],
    ],
  ],
  [
    "an exclude is dead, also where it ends with a stop",
    { stops: ["call"], excludes: ["</a>", "recall"] },
    [
      ["</a", PlainTag],
      ["x</a>", null],
      ["call", stopTag("call")],
      ["recall", null],
    ],
  ],
  [
    "characters of several bytes",
    { stops: ["｜▁"], excludes: ["日本"] },
    [
      ["｜", PlainTag],
      ["｜｜▁", stopTag("｜▁")],
      ["日日", PlainTag],
      ["日本", null],
      ["本日", PlainTag],
    ],
  ],
  [
    "the first stop that is complete",
    { stops: ["abc", "bd", "cc"], excludes: [] },
    [
      ["abd", stopTag("bd")],
      ["abcc", null],
      ["acc", stopTag("cc")],
    ],
  ],
])("%s", (_name, patterns, verdicts) => {
  for (const [text, verdict] of verdicts) {
    const state = lexemes.run(readText(patterns), utf8.encode(text))
    expect([text, state === Dead ? null : lexemes.tags[state]]).toEqual([text, verdict])
  }
})

describe("random patterns read as naive search finds them", () => {
  const alphabet = ["a", "b", "é", "𝄞"]
  const texts = [...stringsOver(alphabet, 5)]
  test.each(Array.from({ length: 60 }, (_, seed) => [seed]))("seed %i", (seed) => {
    const random = randomOf(seed)
    const word = () => {
      const length = 1 + Math.floor(random() * 3)
      return Array.from({ length }, () => alphabet[Math.floor(random() * (2 + (seed % 3)))]).join("")
    }
    const words = () => Array.from({ length: Math.floor(random() * 4) }, word)
    const patterns = { stops: words(), excludes: words() }
    for (const mayEnd of [true, false]) {
      const lexeme = freeTextLexeme(patterns, { mayEnd })
      for (const text of texts) {
        const state = lexemes.run(lexeme, utf8.encode(text))
        const verdict = lexeme === Dead ? null : naive(patterns, mayEnd, text)
        const found = state === Dead ? null : lexemes.tags[state]
        if (found !== verdict)
          expect([patterns, mayEnd, text, found]).toEqual([patterns, mayEnd, text, verdict])
      }
    }
  })
})

test("text that cannot end is dead at once, and every other text can be ended", () => {
  expect(readUntil({ stops: [], excludes: ["a"] })).toBe(Dead)
  expect(readUntil({ stops: ["bab"], excludes: ["a"] })).toBe(Dead)
  const lexeme = readUntil({ stops: ["<a>", "<bcd>"], excludes: ["x<"] })
  for (const text of ["", "x", "<", "<bc", "é<b"]) {
    const state = lexemes.run(lexeme, utf8.encode(text))
    const { bytes, tag } = shortestCompletion(state)
    expect([text, lexemes.tagAfter(state, bytes)]).toEqual([text, tag])
    expect(bytes.length).toBeGreaterThanOrEqual(leastBytes(state))
  }
})

test("equal patterns in any order are one automaton", () => {
  expect(readText({ stops: ["a", "b", "a"], excludes: ["y", "x"] })).toBe(
    readText({ stops: ["b", "a"], excludes: ["x", "y"] }),
  )
})

test("text ends between characters only, and is UTF-8", () => {
  const lexeme = readText({ stops: ["é"], excludes: [] })
  const after = (...bytes: number[]) => lexemes.run(lexeme, bytes)
  expect(lexemes.tags[after(0xf0, 0x9d, 0x84)]).toBe(0)
  expect(lexemes.tags[after(0xf0, 0x9d, 0x84, 0x9e)]).toBe(PlainTag)
  for (const bytes of [[0x80], [0xff], [0xc3, 0x41], [0xed, 0xa0], [0xf5], [0xc0]])
    expect(after(...bytes)).toBe(Dead)
})

test.each([
  [[], 3],
  [["ab", "é"], 3],
  [["ab"], Number.POSITIVE_INFINITY],
  [["a"], 0],
])("as an expression: none of %j, at most %d characters", (excludes, maxChars) => {
  const lexeme = exprLexeme(exprs.concat(freeTextExpr(excludes, maxChars), exprs.literal("ab")))
  for (const text of stringsOver(["a", "b", "é"], 6)) {
    const body = text.slice(0, -2)
    const isText = [...body].length <= maxChars && !excludes.some((exclude) => body.includes(exclude))
    expect([text, tagAfter(lexeme, text)]).toEqual([text, text.endsWith("ab") && isText ? PlainTag : 0])
  }
})

test("a bound that no token reaches is none", () => {
  const text = (maxChars: number) => exprLexeme(freeTextExpr(["no"], maxChars))
  const reach = { bytes: 20, fewIterations: 0, iterations: () => 20 }
  expect(clampedState(text(1000), reach)).toBe(clampedState(text(500), reach))
  expect(clampedState(text(20), reach)).not.toBe(clampedState(text(500), reach))
})
