/** Lengths read off the form of an expression, against the definition: intersect with "exactly k characters". */
import { describe, expect, test } from "vitest"
import { canHaveLength } from "../../../../grammar/lexeme/expr/counter.ts"
import { type ExprId, exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { exprLengths } from "../../../../grammar/lexeme/expr/lengths.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"
import { randomOf } from "../../../support/oracle.ts"

const Most = 12

function has(expr: ExprId, count: number): boolean {
  return !exprs.isNever(exprs.and([expr, exprs.loop(exprs.anyChar, count, count)]))
}

/** What the bounds say wrongly. */
function wrong(expr: ExprId): string[] {
  if (exprs.isNever(expr)) return []
  const { low, high, from, to } = exprLengths(expr)
  const found: string[] = []
  for (let k = 0; k <= Most; k++) {
    const is = has(expr, k)
    if (is && (k < low || k > high)) found.push(`length ${k} is outside ${low}..${high}`)
    if (!is && k >= from && k <= to) found.push(`length ${k} is not there, but inside ${from}..${to}`)
    if (is !== canHaveLength(expr, k, k)) found.push(`canHaveLength(${k}, ${k}) is ${!is}`)
  }
  return found
}

test.each([
  ["[a-z]", 1, 1, 1, 1],
  ["", 0, 0, 0, 0],
  ["[0-9a-f]{8}-[0-9a-f]{4}", 13, 13, 13, 13],
  ["a{2,5}|b{4,9}", 2, 9, 2, 9],
  ["(?:ab){2,3}", 4, 6, 4, 4],
  ["(?:a|bcd){3}", 3, 9, 3, 3],
  ["(?:a|bc){3}", 3, 6, 3, 6],
  ["(?:\\S+\\s+){0,29}\\S+", 1, 0x7fffffff, 3, 0x7fffffff],
  ["[äöü💩]{1,3}", 1, 3, 1, 3],
  ["(?:a{3}){0,2}", 0, 6, 3, 3],
  ["(?:a{1,2})*", 0, 0x7fffffff, 0, 0x7fffffff],
])("%s", (pattern, low, high, from, to) => {
  expect(exprLengths(parseRegex(pattern, { mode: "match", path: "" }))).toEqual({ low, high, from, to })
})

test.each([
  ["all but one text", exprs.not(exprs.literal("abé")), 0, 1],
  ["all but the empty text", exprs.not(exprs.loop(exprs.anyChar, 0, 0)), 1, 1],
  ["all but what has few texts", exprs.not(exprs.loop(exprs.literal("ab"), 1, 40)), 0, 1],
  ["all but what has many", exprs.not(exprs.loop(exprs.anyChar, 1, 2)), 3, 3],
])("%s", (_name, expr, from, first) => {
  expect(exprLengths(expr)).toEqual({ low: 0, high: 0x7fffffff, from, to: 0x7fffffff })
  expect(wrong(expr)).toEqual([])
  expect(has(expr, first)).toBe(true)
})

describe("bounds are right", () => {
  const atoms = ["a", "[bc]", "é", ".", "ab", "", "\\d", "💩", "(?=a)", "(?!b)", "^", "$", "\\b"]
  const random = randomOf(17)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]
  const pattern = (depth: number): string => {
    if (depth === 0) return pick(atoms)
    switch (Math.floor(random() * 4)) {
      case 0:
        return `${pattern(depth - 1)}${pattern(depth - 1)}`
      case 1:
        return `(?:${pattern(depth - 1)}|${pattern(depth - 1)})`
      case 2:
        return `(?:${pattern(depth - 1)})${pick(["*", "+", "?", "{2}", "{0,3}", "{2,4}", "{3,}"])}`
      default:
        return pattern(depth - 1)
    }
  }
  test("of random patterns, of their intersections, complements and derivatives", () => {
    const made: ExprId[] = []
    for (let i = 0; i < 400; i++) {
      const text = pattern(1 + (i % 4))
      const expr = parseRegex(text, { mode: pick(["match", "search"]), path: "", unsatisfiable: "empty" })
      made.push(expr)
      const other = pick(made)
      for (const one of [expr, exprs.not(expr), exprs.and([expr, other]), exprs.derivative(expr, 0x61)])
        expect(wrong(one), text).toEqual([])
    }
  })
})
