/** Shortest texts by form and by search, against a plain search by breadth. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { shortestCompletion } from "../../../../grammar/lexeme/completion.ts"
import { Unbounded } from "../../../../grammar/lexeme/expr/counter.ts"
import { type ExprId, exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { rawTexts } from "../../../../grammar/lexeme/expr/shortest.ts"
import { exprLexeme, rawLexeme } from "../../../../grammar/lexeme/raw.ts"
import {
  exprContent,
  lengthContent,
  NoContent,
  namesContent,
} from "../../../../grammar/lexeme/string/content.ts"
import { buildNames, ExcludedTag } from "../../../../grammar/lexeme/string/names.ts"
import { stringLexeme } from "../../../../grammar/lexeme/string/string.ts"
import { Dead, lexemes } from "../../../../grammar/lexeme/table.ts"

const leaf = fc
  .constantFrom("", "a", "é", "ab", "💩", '"', "\u0001", "a\n")
  .map((text) => exprs.literal(text))
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
      expect(rawTexts.least(expr)).toBe(fewestBytes(expr))
    }),
    { seed: 1, numRuns: 300 },
  )
})

test("never too high, and the shortest text is one of the fewest bytes", () => {
  fc.assert(
    fc.property(mixed, (expr) => {
      if (exprs.isNever(expr)) return
      const fewest = fewestBytes(expr)
      expect(rawTexts.least(expr)).toBeLessThanOrEqual(fewest)
      const { bytes, tag } = shortestCompletion(exprLexeme(expr))
      expect([bytes.length, tag]).toEqual([fewest, 1])
      let at = expr
      for (const byte of bytes) at = exprs.derivative(at, byte)
      expect(exprs.nullable(at)).toBe(true)
    }),
    { seed: 2, numRuns: 300 },
  )
})

/** Fewest bytes from a lexeme state to an accepting one, by breadth. */
function fewestOf(lexeme: number): number {
  let level = [lexeme]
  const seen = new Set([Dead, lexeme])
  for (let length = 0; level.length > 0; length++) {
    if (level.some((at) => lexemes.tags[at] !== 0)) return length
    const next: number[] = []
    for (const at of level) {
      for (let byte = 0; byte < 256; byte++) {
        const target = lexemes.next(at, byte)
        if (seen.has(target)) continue
        seen.add(target)
        next.push(target)
      }
    }
    level = next
  }
  throw new Error("no text")
}

function expectShortest(lexeme: number): void {
  const { bytes, tag } = shortestCompletion(lexeme)
  const end = lexemes.run(lexeme, bytes)
  const shown = new TextDecoder().decode(bytes)
  expect([shown, bytes.length, tag]).toEqual([shown, fewestOf(lexeme), lexemes.tags[end]])
}

const texts = fc.constantFrom("", "a", "é", "ab", "b", '"', "0", "00", "a\n", "1", "\\")
const nameSets = fc.uniqueArray(fc.tuple(texts, fc.constantFrom(1, ExcludedTag, 7)), {
  selector: ([text]) => text,
  maxLength: 8,
})
const bounds = fc.tuple(fc.nat(5), fc.option(fc.nat(4)))

test("strings and raw texts, with names beside them and lengths, inside escapes too", () => {
  fc.assert(
    fc.property(
      mixed,
      nameSets,
      bounds,
      fc.constantFrom("names", "length", "both"),
      (expr, names, at, how) => {
        const open = exprs.concat(exprs.anyText, exprs.concat(expr, exprs.loop(exprs.literal("b"), 0, 3)))
        const encoder = new TextEncoder()
        const entries = names
          .map(([text, tag]) => ({ bytes: encoder.encode(text), tag }))
          .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
        const [min, more] = at
        for (const base of [expr, open, exprs.anyText]) {
          const max = more === null ? Unbounded : min + more
          const content =
            how === "length"
              ? lengthContent(exprContent(base), min, max)
              : namesContent(buildNames(entries), how === "both" ? exprContent(base) : NoContent)
          if (content === NoContent) continue
          expectShortest(rawLexeme(content))
          const string = stringLexeme(content, "canonical")
          expectShortest(string)
          for (const begun of ['"', '"a', '"\\', '"\\u00', '"\\ud83d', '"b\\']) {
            const state = lexemes.run(string, encoder.encode(begun))
            if (state !== Dead) expectShortest(state)
          }
        }
      },
    ),
    { seed: 3, numRuns: 60 },
  )
})

test("a million characters are counted, not walked", () => {
  const pair = exprs.concat(exprs.codePoints([0x61, 0x7a]), exprs.codePoints([0x30, 0x39]))
  const content = lengthContent(exprContent(exprs.loop(pair, 1, Number.POSITIVE_INFINITY)), 500_000, 900_000)
  expect(shortestCompletion(stringLexeme(content, "json")).bytes.length).toBe(500_002)
  const loop = exprLexeme(
    exprs.loop(exprs.concat(pair, exprs.loop(exprs.literal("b"), 0, 1)), 400_000, 1_000_000),
  )
  expect(shortestCompletion(loop).bytes.length).toBe(800_000)
})

test("a literal may be longer than calls may nest", () => {
  expect(rawTexts.least(exprs.literal("ab".repeat(50_000)))).toBe(100_000)
})
