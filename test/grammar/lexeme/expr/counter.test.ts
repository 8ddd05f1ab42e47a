/** Lengths in characters that an expression can still have, against its shortest texts by enumeration. */
import { describe, expect, test } from "vitest"
import { formatExpr } from "../../../../grammar/format/format.ts"
import { canHaveLength, lengthThreshold, Unbounded } from "../../../../grammar/lexeme/expr/counter.ts"
import { type ExprId, exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"

const bound = 12
const letters = [..."abé💩"]
const patterns = [
  "",
  "a",
  "[ab]{2,5}",
  "(aa)*",
  "(aaa)+b?",
  "(a|bb)*",
  "a{3}|b{7}",
  "(a{4}|b{6})*",
  "é{2}|💩",
  "(?=.*b)a*b*a*",
  "(?!a*$)[ab]{0,4}",
  ".*",
]

/** For each number of characters whether some text of that length is accepted: layers of derivatives. */
function lengthsOf(expr: ExprId): boolean[] {
  const encoder = new TextEncoder()
  let layer = new Set([expr])
  const can: boolean[] = []
  for (let n = 0; n <= bound; n++) {
    can.push([...layer].some((at) => exprs.nullable(at)))
    const next = new Set<ExprId>()
    for (const at of layer) {
      for (const letter of letters) {
        const after = encoder.encode(letter).reduce((state, byte) => exprs.derivative(state, byte), at)
        if (!exprs.isNever(after)) next.add(after)
      }
    }
    layer = next
  }
  return can
}

describe.each(patterns)("/%s/", (pattern) => {
  const expr = parseRegex(pattern, { mode: "match", path: "" })
  const can = lengthsOf(expr)

  test("a length between two bounds", () => {
    for (let min = 0; min <= bound; min++) {
      for (let max = 0; max <= bound; max++)
        expect([min, max, canHaveLength(expr, min, max)]).toEqual([
          min,
          max,
          can.slice(min, max + 1).includes(true),
        ])
    }
    expect(canHaveLength(expr, -3, 0)).toBe(can[0])
    expect(canHaveLength(expr, 0, -1)).toBe(false)
  })

  test("far bounds", () => {
    const isEndless = can.slice(-4).includes(true)
    expect(canHaveLength(expr, 1_000_000, Unbounded)).toBe(isEndless)
    expect(canHaveLength(expr, 1_000_000, 1_000_011)).toBe(isEndless)
  })

  test("above the threshold every length is possible, here and later", () => {
    const threshold = lengthThreshold(expr)
    if (threshold < 0) return
    for (const left of [expr, exprs.derivative(expr, 0x61), exprs.derivative(expr, 0x62)]) {
      if (exprs.isNever(left)) continue
      for (let n = threshold; n <= bound; n++) expect(canHaveLength(left, n, n)).toBe(true)
    }
  })
})

test("only what goes on for ever has a threshold", () => {
  const thresholdOf = (pattern: string) => lengthThreshold(parseRegex(pattern, { mode: "match", path: "" }))
  expect([thresholdOf(".*"), thresholdOf("[^]*ab[^]*"), thresholdOf("(aa)*"), thresholdOf("a{5}")]).toEqual([
    0, 2, -1, -1,
  ])
})

test("a pattern whose lengths need too many states is refused each time it is asked for one, and has no threshold", () => {
  const expr = parseRegex("^.*a.{16}b.*$", { mode: "search", path: "" })
  const even = exprs.and([expr, parseRegex("^(..)*$", { mode: "search", path: "" })])
  const tooMany = /more than \d+ automaton states/
  expect(() => canHaveLength(even, 19, 19)).toThrow(tooMany)
  expect(() => canHaveLength(even, 19, 19)).toThrow(tooMany)
  expect(lengthThreshold(expr)).toBe(-1)
  expect(lengthThreshold(exprs.derivative(expr, 0x61))).toBe(-1)
})

describe("a language of states without end", () => {
  const expr = formatExpr("regex") as ExprId
  const both = exprs.and([expr, parseRegex("^[a-z(]+", { mode: "search", path: "" })])

  test("has texts that are long enough", () => {
    for (const min of [1, 2, 7, 200]) {
      expect(canHaveLength(expr, min, Unbounded)).toBe(true)
      expect(canHaveLength(exprs.derivative(expr, "[".charCodeAt(0)), min, Unbounded)).toBe(true)
      expect(canHaveLength(both, min, Unbounded)).toBe(true)
    }
  })

  test("has no threshold", () => {
    expect(lengthThreshold(expr)).toBe(-1)
    expect(lengthThreshold(both)).toBe(-1)
  })
})
