import { describe, expect, test } from "vitest"
import { chunksOf, type SubstringUnit, substringExpr } from "../../../grammar/ebnf/substring.ts"
import { defaultLimits } from "../../../grammar/errors.ts"
import { shortestCompletion } from "../../../grammar/lexeme/completion.ts"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { refusalOf } from "../../support/cases.ts"
import { randomOf } from "../../support/oracle.ts"

const utf8 = new TextEncoder()

function accepts(expr: ExprId, text: string | Uint8Array): boolean {
  let rest = expr
  for (const byte of typeof text === "string" ? utf8.encode(text) : text) rest = exprs.derivative(rest, byte)
  return exprs.nullable(rest)
}

const exprOf = (chunks: readonly string[]) => substringExpr(chunks, "", defaultLimits)

/** [text, unit, accept, reject] */
const rows: [text: string, unit: SubstringUnit, accept: string[], reject: string[]][] = [
  [
    "foo bar baz",
    "words",
    ["", "foo", "bar baz", " ", "foo bar ", " bar"],
    ["oo", "foobar", "foo baz", "foo  bar"],
  ],
  ["foo bar.", "words", ["bar.", "."], ["r.", "foo."]],
  ["the fox", "chars", ["he f", "the fox", "x"], ["tf", "thee"]],
  ["빠른 갈색 여우가", "words", ["빠른", "갈색 여우가"], ["른", "여우"]],
  ["naïve_1 – x2", "words", ["naïve_1", " – ", "x2"], ["na", "ïve_1", "x"]],
  ["かな💩é", "chars", ["な💩", "é", "かな💩é"], ["か💩", "かé", "e"]],
  ["", "chars", [""], ["a"]],
]

describe("substrings of texts", () => {
  test.each(rows)("%s by %s", (text, unit, accept, reject) => {
    const chunks = chunksOf(text, unit)
    expect(chunks.join("")).toBe(text)
    const expr = exprOf(chunks)
    for (const each of accept) expect([each, accepts(expr, each)]).toEqual([each, true])
    for (const each of reject) expect([each, accepts(expr, each)]).toEqual([each, false])
  })

  test("a text holds no half of a character", () => {
    expect(accepts(exprOf(["é", "è"]), Uint8Array.of(0xc3))).toBe(false)
    expect(accepts(exprOf(["é", "è"]), "éè")).toBe(true)
  })
})

/** Runs of chunks, by their definition. */
function runs(chunks: readonly string[]): Set<string> {
  const texts = new Set([""])
  for (let i = 0; i < chunks.length; i++)
    for (let j = i + 1; j <= chunks.length; j++) texts.add(chunks.slice(i, j).join(""))
  return texts
}

test("chunks that begin each other: exactly the runs, from every state a way to an end (seed 7)", () => {
  const random = randomOf(7)
  const letters = ["a", "b", "é", "è"]
  for (let round = 0; round < 300; round++) {
    const chunk = () =>
      Array.from(
        { length: Math.floor(random() * 4) },
        () => letters[Math.floor(random() * (1 + (round % 4)))],
      ).join("")
    const chunks = Array.from({ length: Math.floor(random() * 9) }, chunk)
    const texts = runs(chunks)
    const expr = exprOf(chunks)
    for (const text of texts) expect([chunks, text, accepts(expr, text)]).toEqual([chunks, text, true])
    for (let i = 0; i < 30; i++) {
      const text = Array.from({ length: Math.floor(random() * 6) }, chunk).join("")
      expect([chunks, text, accepts(expr, text)]).toEqual([chunks, text, texts.has(text)])
      const bytes = utf8.encode(text)
      const state = lexemes.run(exprLexeme(expr), bytes.subarray(0, Math.floor(random() * bytes.length)))
      if (state === 0) continue
      const { bytes: end } = shortestCompletion(state)
      expect(lexemes.tagAfter(state, end)).not.toBe(0)
    }
  }
})

test("a repeated letter, a long text", () => {
  const unary = exprOf(new Array(20_000).fill("a"))
  expect(accepts(unary, "a".repeat(20_000))).toBe(true)
  expect(accepts(unary, "a".repeat(20_001))).toBe(false)
  const random = randomOf(3)
  const words = Array.from({ length: 100_000 }, () => Math.floor(random() * 5_000).toString(36))
  const text = words.join(" ")
  const expr = exprOf(chunksOf(text, "words"))
  const part = words.slice(70_000, 70_200).join(" ")
  expect(accepts(expr, part)).toBe(true)
  expect(accepts(expr, `${part}XXX`)).toBe(false)
})

test("refusals", () => {
  const many = refusalOf(() =>
    substringExpr(["a", "b", "c"], "line 1, column 2", { ...defaultLimits, chunks: 2 }),
  )
  expect([many.kind, many.message]).toEqual([
    "limit",
    "line 1, column 2: chunks of a substring: 3 is above the bound of 2. Raise limits.chunks or make the input smaller",
  ])
  const half = refusalOf(() => exprOf(["a\ud800"]))
  expect([half.kind, half.message]).toEqual(["syntax", 'the chunk "a\\ud800" holds half a surrogate pair'])
})
