/** Content automata, length counters and finite languages, by definition: over all short texts of an alphabet. */
import { describe, expect, test } from "vitest"
import { canHaveLength, Unbounded } from "../../../../grammar/lexeme/expr/counter.ts"
import { finiteTexts, matchesText } from "../../../../grammar/lexeme/expr/finite.ts"
import { rawTexts } from "../../../../grammar/lexeme/expr/shortest.ts"
import {
  contentRow,
  contentTag,
  exprContent,
  lengthContent,
  NoContent,
  namesContent,
  nextCharacter,
  nextContent,
  utf8Bytes,
} from "../../../../grammar/lexeme/string/content.ts"
import { buildNames, ExcludedTag } from "../../../../grammar/lexeme/string/names.ts"
import { leastContent } from "../../../../grammar/lexeme/string/shortcontent.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"
import { stringsOver } from "../../../support/oracle/texts.ts"

const encoder = new TextEncoder()
const texts = stringsOver(["a", "b", "é"], 6)
const lengthOf = (text: string) => [...text].length
const tagAfter = (content: number, text: string) =>
  contentTag(encoder.encode(text).reduce((at, byte) => nextContent(at, byte), content))

const patterns = ["a*", "(ab)*", "(a|é){2,3}", "b(a|bb)*", "a|ab|abé|", "(aa|bbb)*", "(?!a).*b", ".*"]

describe.each(patterns)("/%s/", (pattern) => {
  const expr = parseRegex(pattern, { mode: "match", path: "" })
  const matches = texts.filter((text) => new RegExp(`^(?:${pattern})$`, "u").test(text))

  test("membership", () => {
    const content = exprContent(expr)
    for (const text of texts) {
      const expected = matches.includes(text)
      expect([text, tagAfter(content, text) === 1, matchesText(expr, text)]).toEqual([
        text,
        expected,
        expected,
      ])
    }
  })

  test("lengths: within 0 to 4 of at most 4 characters, a bound is met exactly", () => {
    for (let min = 0; min <= 4; min++) {
      for (let max = 0; max <= 4; max++) {
        const within = matches.filter((text) => lengthOf(text) >= min && lengthOf(text) <= max)
        const at = [min, max]
        expect([at, canHaveLength(expr, min, max)]).toEqual([at, within.length > 0])
        const content = lengthContent(exprContent(expr), min, max)
        expect([at, content !== NoContent]).toEqual([at, within.length > 0])
        for (const text of texts)
          expect([at, text, tagAfter(content, text) !== 0]).toEqual([at, text, within.includes(text)])
      }
      const open = lengthContent(exprContent(expr), min, Unbounded)
      for (const text of texts)
        expect([min, text, tagAfter(open, text) !== 0]).toEqual([
          min,
          text,
          matches.includes(text) && lengthOf(text) >= min,
        ])
    }
  })

  test("names left out of a length", () => {
    for (const excluded of [["a"], ["", "ab", "é"], ["a", "aa", "aaa", "aaaa"], matches.slice(0, 40)]) {
      const entries = excluded.map((text) => ({ bytes: encoder.encode(text), tag: ExcludedTag }))
      const names = buildNames(entries.sort((a, b) => Buffer.compare(a.bytes, b.bytes)))
      const inner = lengthContent(exprContent(expr), 1, 4)
      const content = inner === NoContent ? NoContent : namesContent(names, inner)
      const within = matches.filter(
        (text) => lengthOf(text) >= 1 && lengthOf(text) <= 4 && !excluded.includes(text),
      )
      // More characters than those of the alphabet may be allowed.
      if (within.length > 0) expect(content).not.toBe(NoContent)
      for (const text of texts)
        expect([text, content !== NoContent && tagAfter(content, text) !== 0]).toEqual([
          text,
          within.includes(text),
        ])
    }
  })

  test("the bound of bytes is never too high", () => {
    const least = Math.min(...matches.map((text) => encoder.encode(text).length))
    expect(rawTexts.least(expr)).toBeLessThanOrEqual(least)
    const longer = matches.filter((text) => lengthOf(text) >= 2)
    const content = lengthContent(exprContent(expr), 2, Unbounded)
    expect(leastContent(content, rawTexts)).toBeLessThanOrEqual(
      Math.min(...longer.map((text) => encoder.encode(text).length)),
    )
  })

  test("a row is 256 steps", () => {
    for (const content of [exprContent(expr), lengthContent(exprContent(expr), 1, 4)]) {
      const row = new Int32Array(256)
      contentRow(content, row)
      expect(Array.from(row)).toEqual(Array.from(row, (_, byte) => nextContent(content, byte)))
    }
  })

  test("names lie over it", () => {
    const names = ["a", "ab", "é"]
    const entries = names.map((name, i) => ({ bytes: encoder.encode(name), tag: i === 1 ? 2 : 3 + i }))
    const content = namesContent(buildNames(entries), exprContent(expr))
    for (const text of texts) {
      // Tag 2 switches a name off.
      const own = names.indexOf(text)
      const expected = own === 1 ? 0 : own >= 0 ? 3 + own : matches.includes(text) ? 1 : 0
      expect([text, tagAfter(content, text)]).toEqual([text, expected])
    }
  })
})

test.each<[pattern: string, texts: string[] | null]>([
  ["a|ab|é", ["a", "ab", "é"]],
  ["[ab]{2}", ["aa", "ab", "ba", "bb"]],
  ["", [""]],
  ["a*", null],
  ["[a-z]{2}", null],
])("finite texts of /%s/, ten at most", (pattern, expected) => {
  expect(finiteTexts(parseRegex(pattern, { mode: "match", path: "" }), 10)).toEqual(expected)
})

test("UTF-8, character by character", () => {
  for (const codePoint of [0, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]) {
    const text = String.fromCodePoint(codePoint)
    expect(utf8Bytes(codePoint)).toEqual([...encoder.encode(text)])
    const literal = exprContent(
      parseRegex(`\\u{${codePoint.toString(16)}}`, { mode: "match", flags: "u", path: "" }),
    )
    expect(contentTag(nextCharacter(literal, codePoint))).toBe(1)
    expect(nextCharacter(literal, codePoint === 0 ? 1 : codePoint - 1 === 0xdfff ? 1 : codePoint - 1)).toBe(
      NoContent,
    )
  }
})
