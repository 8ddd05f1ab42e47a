/** The guide of the search for a shortest text: never too high, and exact without intersections. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { type ExprId, exprs } from "../../../grammar/lexeme/expr.ts"
import { leastBytes } from "../../../grammar/lexeme/least.ts"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"

const leaf = fc.constantFrom("", "a", "é", "ab", "💩").map((text) => exprs.literal(text))
const plain = fc.letrec<{ e: ExprId }>((tie) => ({
  e: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.tuple(tie("e"), tie("e")).map(([a, b]) => exprs.concat(a, b)),
    fc.tuple(tie("e"), tie("e")).map(([a, b]) => exprs.or([a, b])),
    fc.tuple(tie("e"), fc.nat(3), fc.nat(2)).map(([a, min, more]) => exprs.loop(a, min, min + more)),
  ),
})).e
const mixed = fc
  .tuple(plain, plain, fc.nat(2))
  .map(([a, b, how]) => (how === 0 ? exprs.and([a, b]) : how === 1 ? exprs.and([a, exprs.not(b)]) : a))

/** Fewest bytes to an accepting derivative, by breadth. */
function fewestBytes(expr: ExprId): number {
  let level = [expr]
  const seen = new Set(level)
  for (let length = 0; level.length > 0; length++) {
    if (level.some((at) => exprs.nullable(at))) return length
    const next: ExprId[] = []
    for (const at of level) {
      for (let byte = 0; byte < 256; byte++) {
        const target = exprs.derivative(at, byte)
        if (exprs.isNever(target) || seen.has(target)) continue
        seen.add(target)
        next.push(target)
      }
    }
    level = next
  }
  throw new Error("no text")
}

test("exact without intersections and complements", () => {
  fc.assert(
    fc.property(plain, (expr) => {
      expect(leastBytes(expr)).toBe(fewestBytes(expr))
    }),
    { seed: 1, numRuns: 300 },
  )
})

test("never too high, and the shortest text is one of the fewest bytes", () => {
  fc.assert(
    fc.property(mixed, (expr) => {
      if (exprs.isNever(expr)) return
      const fewest = fewestBytes(expr)
      expect(leastBytes(expr)).toBeLessThanOrEqual(fewest)
      const { bytes, tag } = lexemes.shortest(exprLexeme(expr))
      expect([bytes.length, tag]).toEqual([fewest, 1])
      let at = expr
      for (const byte of bytes) at = exprs.derivative(at, byte)
      expect(exprs.nullable(at)).toBe(true)
    }),
    { seed: 2, numRuns: 300 },
  )
})

test("a literal may be longer than calls may nest", () => {
  expect(leastBytes(exprs.literal("ab".repeat(50_000)))).toBe(100_000)
})
