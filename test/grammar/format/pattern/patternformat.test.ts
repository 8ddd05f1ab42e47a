import { expect, test } from "vitest"
import { formatExpr } from "../../../../grammar/format/format.ts"
import { exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { Never } from "../../../../grammar/lexeme/expr/nodes.ts"
import { rawTexts } from "../../../../grammar/lexeme/expr/shortest.ts"
import { exprContent } from "../../../../grammar/lexeme/string/content.ts"
import { stringLexeme } from "../../../../grammar/lexeme/string/string.ts"
import { lexemes } from "../../../../grammar/lexeme/table.ts"

function accepts(text: string): boolean {
  let left = formatExpr("regex")!
  for (const byte of new TextEncoder().encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u")
    return true
  } catch {
    return false
  }
}

const accepted = [
  "",
  "([abc])+\\s+$",
  "[]",
  "[^]",
  "(?<=a)b",
  "(?<n>a)\\k<n>",
  "\\k<n>(?<n>a)",
  "\\1(a)",
  "[\\d-]",
  "[--a]",
]
accepted.push(
  "a{2,10}?",
  "a{02,2}",
  "\\p{Script=Greek}",
  "\\u{00010FFFF}",
  "[a-\\u{10ffff}]",
  "[é-💩]",
  "(?<é>)",
  "\\0",
  "\\cJ",
)
const rejected = [
  "^(abc]",
  "\\a",
  "(?i)",
  "(?P<n>a)",
  "a**",
  "*",
  "a{2,1}",
  "{",
  "}",
  "]",
  "\\k<n>",
  "\\1",
  "[b-a]",
  "[\\d-a]",
]
rejected.push(
  "(?=a)*",
  "\\00",
  "\\u{110000}",
  "\\p{Nope}",
  "\\-",
  "[💩-é]",
  "[\\u{61}-\\x60]",
  "(",
  ")",
  "\\",
  "(?<n>)(?<n>)",
  "\\c1",
)

test.each(accepted)("accepts %s", (text) => {
  expect(isPattern(text)).toBe(true)
  expect(accepts(text)).toBe(true)
})

test.each(rejected)("rejects %s", (text) => {
  expect(isPattern(text)).toBe(false)
  expect(accepts(text)).toBe(false)
})

test.each(["(?i:a)", "\\u0061(?<\\u0061>)", "[\\ud83d\\udca9]"])(
  "%s: refused although newer or rare grammars have it",
  (text) => {
    expect(accepts(text)).toBe(false)
  },
)

const parts = [
  "a",
  "é",
  "💩",
  "(",
  "(?:",
  "(?=",
  "(?<=",
  "(?<n>",
  "(?<é>",
  ")",
  "[",
  "[^",
  "]",
  "-",
  "\\d",
  "\\-",
  "\\b",
  "\\1",
  "\\k<n>",
]
parts.push(
  "\\0",
  "\\x4",
  "\\x41",
  "\\u0041",
  "\\u{41}",
  "}",
  "{",
  "{2}",
  "{2,",
  "{2,1}",
  "*",
  "+?",
  "|",
  "^",
  "\\p{L}",
  "\\cA",
  "\\/",
  "1",
  "\\",
)

test("agrees with the host on 4,000 texts", () => {
  let state = 5
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
  const wrong: string[] = []
  let patterns = 0
  for (let i = 0; i < 4000; i++) {
    const text = Array.from({ length: 1 + random(6) }, () => parts[random(parts.length)]).join("")
    if (isPattern(text)) patterns++
    if (accepts(text) !== isPattern(text)) wrong.push(text)
  }
  expect(wrong).toEqual([])
  expect(patterns).toBeGreaterThan(400)
})

test("every beginning of a pattern has a shortest end", () => {
  const beginnings = new Set<string>()
  for (const text of [
    ...accepted,
    "(?<ab>(?:\\k<c",
    "\\k<é>\\9(?<",
    "(?<a>)(?<a",
    "(?<a>)\\k<",
    "[\\u{1",
    "(a{2,",
  ]) {
    for (let end = 0; end <= text.length; end++) beginnings.add(text.slice(0, end))
  }
  for (const beginning of beginnings) {
    let left = formatExpr("regex")!
    for (const byte of new TextEncoder().encode(beginning)) left = exprs.derivative(left, byte)
    if (left === Never) continue
    const end = new TextDecoder().decode(rawTexts.textOf(left))
    expect(isPattern(beginning + end), beginning + end).toBe(true)
    // A bound that falls by at most one a byte, and is 0 where the pattern may end, is no higher than any end is long.
    const least = rawTexts.least(left)
    if (exprs.nullable(left)) expect(least, beginning).toBe(0)
    const row = Array.from(exprs.row(left))
    for (let i = 0; i < row.length; i += 2)
      expect(least, `${beginning} ${row[i]}`).toBeLessThanOrEqual(1 + rawTexts.least(row[i + 1]))
  }
})

test("takes part in intersections", () => {
  const short = exprs.and([
    formatExpr("regex")!,
    exprs.loop(exprs.anyChar, 1, 1),
    exprs.not(exprs.codePoints([32, 0x10ffff])),
  ])
  expect(exprs.isNever(short)).toBe(false)
  const lone = exprs.and([formatExpr("regex")!, exprs.codePoints([0x28, 0x2b])])
  expect(exprs.isNever(lone)).toBe(true)
})

test("a byte at a time leads where the whole row of a state does", () => {
  // In a class after atoms, sets and dashes, and inside characters there: states that are told by what they differ in.
  const prefixes = [
    "[a",
    "[é",
    "[名",
    "[\\d",
    "[a-",
    "(x)[^b名",
    "[",
    "[\xc3",
    "[\xe5\x90",
    "[a\xf0\x9f",
    "(?<\xce",
  ]
  for (const prefix of prefixes) {
    const bytes = /[\u0100-\uffff]|é/.test(prefix)
      ? new TextEncoder().encode(prefix)
      : Uint8Array.from(prefix, (c) => c.charCodeAt(0))
    let state = formatExpr("regex")!
    for (const byte of bytes) state = exprs.derivative(state, byte)
    expect(state, prefix).not.toBe(Never)
    const one = Array.from({ length: 256 }, (_, byte) => exprs.derivative(state, byte))
    const row = Array.from(exprs.row(state))
    const whole = new Array<number>(256).fill(Never)
    for (let i = 0; i < row.length; i += 2) whole.fill(row[i + 1], row[i] & 0xff, (row[i] >>> 8) + 1)
    expect(one, prefix).toEqual(whole)
  }
})

test("a dash of a range may be spelled by an escape", () => {
  const start = stringLexeme(exprContent(formatExpr("regex")!), "json")
  const isRead = (spelled: string) => lexemes.tagAfter(start, new TextEncoder().encode(spelled)) !== 0
  for (const dash of ["-", "\\u002d", "\\u002D"]) {
    for (const [low, high] of ["az", "aé", "é名", "名💩"].map((ends) => [...ends])) {
      expect(isRead(`"[${low}${dash}${high}]"`), `${low}${dash}${high}`).toBe(true)
      expect(isRead(`"[${high}${dash}${low}]"`), `${high}${dash}${low}`).toBe(false)
    }
  }
  expect(isRead('"[\\u0061\\u002d\\u007a]"')).toBe(true)
  expect(isRead('"[\\u007a\\u002d\\u0061]"')).toBe(false)
})
