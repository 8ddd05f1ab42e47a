import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Empty, type ExprId, exprs, Never } from "../../../../grammar/lexeme/expr/expr.ts"
import { printExpr } from "../../../../grammar/lexeme/expr/print.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"
import { stringsOver } from "../../../support/oracle/texts.ts"
import { reachOf } from "../../../support/reach.ts"

const { and, anyChar, anyText, concat, literal, loop, not, or } = exprs
const a = literal("a")
const b = literal("b")
const word = exprs.codePoints([97, 122])

/** Whether `id` accepts `text`. */
function accepts(id: ExprId, text: string): boolean {
  let left = id
  for (const byte of new TextEncoder().encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

describe("laws: both sides are one expression", () => {
  test.each<[string, ExprId, ExprId]>([
    ["∅·a = ∅", concat(Never, a), Never],
    ["a·∅ = ∅", concat(a, Never), Never],
    ["ε·a = a", concat(Empty, a), a],
    ["a·ε = a", concat(a, Empty), a],
    ["a*·Σ* = Σ*", concat(loop(a, 0, 9), anyText), anyText],
    ["a{2,9}·Σ* = a{2}·Σ*", concat(loop(a, 2, 9), anyText), concat(loop(a, 2, 2), anyText)],
    ["a·a* = a+", concat(a, loop(a, 0, Number.POSITIVE_INFINITY)), loop(a, 1, Number.POSITIVE_INFINITY)],
    ["a{1,2}·a{3,4} = a{4,6}", concat(loop(a, 1, 2), loop(a, 3, 4)), loop(a, 4, 6)],
    ["a?·a? = a{0,2}", concat(loop(a, 0, 1), loop(a, 0, 1)), loop(a, 0, 2)],
    ["a?·a{3,4} = a{3,5}", concat(loop(a, 0, 1), loop(a, 3, 4)), loop(a, 3, 5)],
    ["a?·a?·b = a{0,2}·b", concat(loop(a, 0, 1), concat(loop(a, 0, 1), b)), concat(loop(a, 0, 2), b)],
    [
      "ab | a?·b*·ab = a?·b*·ab",
      or([concat(a, b), concat(loop(a, 0, 1), concat(loop(b, 0, Number.POSITIVE_INFINITY), concat(a, b)))]),
      concat(loop(a, 0, 1), concat(loop(b, 0, Number.POSITIVE_INFINITY), concat(a, b))),
    ],
    ["∅ | a = a", or([Never, a]), a],
    ["no alternative = ∅", or([]), Never],
    ["a | b = b | a", or([a, b]), or([b, a])],
    ["Σ* | a = Σ*", or([a, anyText]), anyText],
    ["a | b is one set", or([a, b]), exprs.codePoints([97, 98])],
    ["ab | bb = (a|b)b", or([concat(a, b), concat(b, b)]), concat(or([a, b]), b)],
    ["a{1,3} | a{4,5} = a{1,5}", or([loop(a, 1, 3), loop(a, 4, 5)]), loop(a, 1, 5)],
    [
      "a{0,2}ba{0,3} | a{0,5}ba{0,4} = a{0,5}ba{0,4}",
      or([concat(loop(a, 0, 2), concat(b, loop(a, 0, 3))), concat(loop(a, 0, 5), concat(b, loop(a, 0, 4)))]),
      concat(loop(a, 0, 5), concat(b, loop(a, 0, 4))),
    ],
    ["ε | a{1,3} = a{0,3}", or([Empty, loop(a, 1, 3)]), loop(a, 0, 3)],
    ["r | (r & s) = r", or([word, and([word, not(a)])]), word],
    ["r | ¬r = Σ*", or([concat(a, b), not(concat(a, b))]), anyText],
    ["Σ* & a = a", and([a, anyText]), a],
    ["no factor = Σ*", and([]), anyText],
    ["∅ & a = ∅", and([a, Never]), Never],
    ["ε & a = ∅", and([Empty, a]), Never],
    ["ε & a* = ε", and([Empty, loop(a, 0, 3)]), Empty],
    ["[a-z] & [b-c] = [b-c]", and([word, exprs.codePoints([98, 99])]), exprs.codePoints([98, 99])],
    ["r & (r | s) = r", and([concat(a, a), or([concat(a, a), concat(b, loop(b, 2, 3))])]), concat(a, a)],
    ["r & ¬r = ∅", and([word, not(word)]), Never],
    ["¬¬r = r", not(not(word)), word],
    ["¬∅ = Σ*", not(Never), anyText],
    ["¬Σ* = ∅", not(anyText), Never],
    ["¬a & ¬bb = ¬(a | bb)", and([not(a), not(literal("bb"))]), not(or([a, literal("bb")]))],
    ["∅{0,2} = ε", loop(Never, 0, 2), Empty],
    ["∅{1,2} = ∅", loop(Never, 1, 2), Never],
    ["a{1,1} = a", loop(a, 1, 1), a],
    ["a{0,0} = ε", loop(a, 0, 0), Empty],
    ["(a{1,3}){2,5} = a{2,15}", loop(loop(a, 1, 3), 2, 5), loop(a, 2, 15)],
    ["(ε | a){3,5} = a{0,5}", loop(or([Empty, a]), 3, 5), loop(a, 0, 5)],
    [
      ".{0,∞} = Σ*",
      loop(exprs.codePoints([0, 0xd7ff, 0xe000, 0x10ffff]), 0, Number.POSITIVE_INFINITY),
      anyText,
    ],
  ])("%s", (_, left, right) => {
    expect(printExpr(left)).toBe(printExpr(right))
    expect(left).toBe(right)
  })
})

test("what is dropped beside a wider operand is in it: counted loops by definition", () => {
  const bounds = fc.tuple(fc.nat(2), fc.nat(2)).map(([min, more]) => [min, min + more] as const)
  const operand = fc.tuple(bounds, fc.constantFrom(a, b, or([a, b])), bounds)
  const repeat = (char: string, [min, max]: readonly [number, number]) => `(?:${char}){${min},${max}}`
  fc.assert(
    fc.property(fc.array(operand, { minLength: 2, maxLength: 5 }), (operands) => {
      const expr = or(
        operands.map(([front, middle, back]) =>
          concat(loop(concat(a, b), ...front), concat(middle, loop(a, ...back))),
        ),
      )
      const regexps = operands.map(([front, middle, back]) => {
        const between = middle === a ? "a" : middle === b ? "b" : "[ab]"
        return new RegExp(`^${repeat("ab", front)}${between}${repeat("a", back)}$`)
      })
      for (const text of stringsOver(["a", "b"], 7))
        expect([text, accepts(expr, text)]).toEqual([text, regexps.some((regexp) => regexp.test(text))])
    }),
    { seed: 21, numRuns: 60 },
  )
})

test("what follows optional parts is dropped beside them: runs of them by definition", () => {
  const part = fc.constantFrom("a?", "b?", "(?:ab)?", "a*", "[ab]", "(?:ba)*", "b", "a{0,2}", "(?:a|bb)?")
  const run = fc.array(part, { minLength: 2, maxLength: 6 })
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 3 }), fc.nat(3), (runs, skipped) => {
      const texts = runs.map((parts) => parts.join(""))
      const pattern = `^(?:${[...texts, runs[0].slice(skipped).join("")].join("|")})$`
      const expr = parseRegex(pattern, { mode: "search", path: "" })
      const regexp = new RegExp(pattern)
      for (const text of stringsOver(["a", "b"], 7))
        expect([pattern, text, accepts(expr, text)]).toEqual([pattern, text, regexp.test(text)])
    }),
    { seed: 22, numRuns: 150 },
  )
})

test("bounds that leave gaps are not multiplied", () => {
  const even = loop(loop(a, 2, 2), 2, 3)
  expect(["aaa", "aaaa", "aaaaa", "aaaaaa"].map((text) => accepts(even, text))).toEqual([
    false,
    true,
    false,
    true,
  ])
})

describe("sets of code points", () => {
  const edges = [
    0, 0x7f, 0x80, 0x7ff, 0x800, 0xfff, 0x1000, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x3ffff, 0x10ffff,
  ]
  test("accept exactly their members, at every edge of UTF-8", () => {
    const point = fc.oneof(fc.constantFrom(...edges), fc.nat(0x10ffff))
    fc.assert(
      fc.property(fc.uniqueArray(point, { minLength: 2, maxLength: 8 }), point, (ends, probe) => {
        const ranges = ends.sort((x, y) => x - y).slice(0, ends.length & ~1)
        const set = exprs.codePoints(ranges)
        for (const x of [...edges, ...ranges, ...ranges.map((end) => end + 1), probe]) {
          if ((x >= 0xd800 && x <= 0xdfff) || x > 0x10ffff) continue
          const isMember = ranges.some((lo, i) => i % 2 === 0 && lo <= x && x <= ranges[i + 1])
          if (accepts(set, String.fromCodePoint(x)) !== isMember) return false
        }
        return true
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  test("never let malformed UTF-8 through, nor does a complement", () => {
    const malformed = [
      [0x80],
      [0xc0, 0x80],
      [0xe0, 0x80, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xff],
    ]
    for (const id of [anyChar, anyText, not(a), not(Empty), not(concat(a, anyText))]) {
      for (const bytes of malformed) {
        expect(exprs.nullable(bytes.reduce((left, byte) => exprs.derivative(left, byte), id))).toBe(false)
      }
    }
  })
})

test("a clamped expression cannot be told apart by short texts", () => {
  const texts = ["", "a", "aa", "aaa", "aab", "aabb"]
  for (const [min, max] of [
    [0, 9],
    [5, 9],
    [2, 3],
    [7, Number.POSITIVE_INFINITY],
  ]) {
    const id = concat(loop(a, min, max), loop(b, min, max))
    const clamped = exprs.clamped(id, reachOf(4))
    for (const text of texts) {
      const [left, right] = [id, clamped].map((start) =>
        new TextEncoder().encode(text).reduce((state, byte) => exprs.derivative(state, byte), start),
      )
      expect(exprs.isNever(left)).toBe(exprs.isNever(right))
      expect(exprs.nullable(left)).toBe(exprs.nullable(right))
    }
  }
  const huge = exprs.clamped(loop(a, 0, 1_000_000), reachOf(4))
  expect(huge).toBe(exprs.clamped(loop(a, 0, 999_999), reachOf(4)))
})

test("an intersection loses the bounds that no short text meets, and no other", () => {
  const pairs = (max: number) => and([loop(a, 0, max), loop(literal("aa"), 0, 1000)])
  expect(exprs.clamped(pairs(900), reachOf(4))).toBe(exprs.clamped(pairs(1000), reachOf(4)))
  // Four bytes, three that an escape may end, and one to come to an even number.
  expect(exprs.clamped(pairs(8), reachOf(4))).not.toBe(pairs(8))
  expect(exprs.clamped(pairs(7), reachOf(4))).toBe(pairs(7))
  // An end is as far as the bound of the other one.
  const word = and([
    loop(anyChar, 0, 20),
    concat(loop(a, 0, Number.POSITIVE_INFINITY), literal("bbbbbbbbbbbbbbbbb")),
  ])
  expect(exprs.clamped(word, reachOf(4))).toBe(word)
})

test("an intersection and what is left of its bounds cannot be told apart by short texts", () => {
  const { part } = fc.letrec<{ part: ExprId }>((tie) => ({
    part: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      fc.constantFrom(a, b, anyChar),
      fc.integer({ min: 2, max: 12 }).map((count) => literal("b".repeat(count))),
      fc.tuple(tie("part"), tie("part")).map(([head, tail]) => concat(head, tail)),
      fc.tuple(tie("part"), tie("part")).map((parts) => or(parts)),
      fc
        .tuple(tie("part"), fc.nat(2), fc.nat(14))
        .map(([body, min, more]) => loop(body, min, min + 1 + more)),
      fc.tuple(tie("part"), fc.nat(2)).map(([body, min]) => loop(body, min, Number.POSITIVE_INFINITY)),
    ),
  }))
  let clampedCount = 0
  fc.assert(
    fc.property(part, part, part, (first, second, within) => {
      const id = and([first, second, not(concat(anyText, concat(within, anyText)))])
      const clamped = exprs.clamped(id, reachOf(3))
      if (clamped !== id) clampedCount++
      for (const text of stringsOver(["a", "b", "c"], 3)) {
        const [left, right] = [id, clamped].map((start) =>
          new TextEncoder().encode(text).reduce((state, byte) => exprs.derivative(state, byte), start),
        )
        expect([text, exprs.isNever(left), exprs.nullable(left)]).toEqual([
          text,
          exprs.isNever(right),
          exprs.nullable(right),
        ])
      }
    }),
    { seed: 71, numRuns: 1_000 },
  )
  expect(clampedCount).toBeGreaterThan(40)
})

test("alternatives that share what follows are clamped once each, however deep they nest", () => {
  // Each level leads to the next one twice: 2^200 ways through.
  const nested = (max: number) => {
    let id = loop(a, 0, max)
    for (let level = 0; level < 200; level++) id = or([concat(a, id), concat(literal("bc"), id)])
    return id
  }
  const clamped = exprs.clamped(nested(1_000_000), reachOf(4))
  expect(clamped).toBe(exprs.clamped(nested(999_999), reachOf(4)))
  const beside = (max: number) => and([nested(max), loop(anyChar, 0, 1_000_000)])
  expect(exprs.isNever(exprs.clamped(beside(1_000_000), reachOf(4)))).toBe(false)
  expect(clamped).not.toBe(nested(1_000_000))
  const ends = loop(nested(3), 20, 30)
  expect(exprs.clamped(ends, reachOf(4))).not.toBe(ends)
})
