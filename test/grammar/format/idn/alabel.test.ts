/**
 * A-labels in host names against the reference validator, which decodes and encodes them back; and a way to the end from
 * every beginning.
 */
import { expect, test } from "vitest"
import { formatExpr } from "../../../../grammar/format/format.ts"
import { type ExprId, exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { rawTexts } from "../../../../grammar/lexeme/expr/shortest.ts"
import { encodePunycode, isALabel, isIdnHostname } from "../../../support/validate/idn.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function after(format: string, text: string): ExprId {
  let left = formatExpr(format)!
  for (const byte of encoder.encode(text)) left = exprs.derivative(left, byte)
  return left
}

const accepts = (format: string, text: string) => exprs.nullable(after(format, text))

function makeRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

const letters = [
  ..."abcl019-äéßαβς\u0375жяאב\u05f3ابيدو\u06f1\u0661中文のカ\u30fb\u3007\u00b7\u0301क\u094d\u200c\u200dष",
  ..."ᠠ한글ŀ\u{1e900}\u{20000}",
]

test.each([
  ["xn--9n2bp8q.xn--9t4b11yi5a", true],
  ["XN--9N2BP8Q", true],
  ["www.xn--bcher-kva.example", true],
  ["xn--4gbwdl.xn--wgbh1c", true],
  ["xn--", false],
  ["xn--a", false],
  ["xn--example-", false],
  ["xn---9uc", false],
  ["xn--7a", false],
  ["XN--aa---o47jg78q", false],
  ["xn--al-0ea", false],
  ["xn--ll-0ea", true],
])("%s: %s", (text, isValid) => {
  expect([accepts("hostname", text), accepts("idn-hostname", text)]).toEqual([isValid, isValid])
})

test("an A-label beside others keeps the direction of the name", () => {
  expect(accepts("idn-hostname", "xn--4dbc5h.a")).toBe(true)
  expect(accepts("idn-hostname", "xn--4dbc5h.1a")).toBe(false)
  expect(accepts("idn-hostname", "1a.xn--4dbc5h")).toBe(false)
})

test("agrees with the reference on random labels, whole or with a digit more", () => {
  const random = makeRandom(5)
  const wrong: string[] = []
  let valid = 0
  for (let i = 0; i < 4_000; i++) {
    const label = Array.from({ length: 1 + random(6) }, () => letters[random(letters.length)]).join("")
    let text = `xn--${encodePunycode(label)}`
    if (random(5) === 0) {
      const at = 4 + random(text.length - 4)
      text = text.slice(0, at) + "abcdz09-"[random(8)] + text.slice(at + random(2))
    }
    const expected = isALabel(text) && !text.endsWith("-")
    if (expected) valid++
    if (accepts("hostname", text) !== expected) wrong.push(`${expected} ${text}`)
    if (accepts("idn-hostname", text.toUpperCase()) !== expected)
      wrong.push(`${expected} ${text.toUpperCase()}`)
  }
  expect(wrong).toEqual([])
  expect(valid).toBeGreaterThan(500)
})

test("takes labels of up to 63 octets", () => {
  const random = makeRandom(7)
  const scripts = [
    [0xe0, 0xff],
    [0x3b1, 0x3c9],
    [0x430, 0x44f],
    [0x4e00, 0x9fa5],
    [0xac00, 0xd7a3],
    [0x5d0, 0x5ea],
    [0x3041, 0x3090],
    [0x10400, 0x1044f],
    [0x20000, 0x2a000],
  ]
  const wrong: string[] = []
  let valid = 0
  for (let i = 0; i < 600; i++) {
    const [low, high] = scripts[random(scripts.length)]
    let label = ""
    for (;;) {
      const letter =
        random(3) === 0 ? "abc-12"[random(6)] : String.fromCodePoint(low + random(high - low + 1))
      const longer = random(2) === 0 ? label + letter : letter + label
      if (encodePunycode(longer).length > 59) break
      label = longer
    }
    const text = `xn--${encodePunycode(label)}`
    if (!isALabel(text)) continue
    valid++
    if (!accepts("hostname", text)) wrong.push(`${label} ${text}`)
  }
  expect(wrong).toEqual([])
  expect(valid).toBeGreaterThan(300)
})

test.each(["hostname", "idn-hostname"])("%s: every beginning has a way to the end", (format) => {
  const random = makeRandom(9)
  const label = (length: number) => "x".repeat(length)
  const before = [
    "",
    "a.",
    `${label(60)}.${label(60)}.${label(60)}.`,
    `${label(60)}.${label(60)}.${label(60)}.${label(50)}.`,
  ]
  if (format === "idn-hostname") before.push("א.")
  const wrong: string[] = []
  for (let i = 0; i < 60; i++) {
    let text = `${before[i % before.length]}xn--`
    let state = after(format, text)
    for (let more = random(66); more > 0; more--) {
      const row = Array.from(exprs.row(state))
      const ways: number[] = []
      for (let at = 0; at < row.length; at += 2)
        if ((row[at] & 0xff) < 0x80 && (row[at] & 0xff) !== 0x2e) ways.push(at)
      if (ways.length === 0) break
      const at = random(4) === 0 && (row[0] & 0xff) === 0x2d ? 0 : ways[random(ways.length)]
      text += String.fromCharCode(row[at] & 0xff)
      state = row[at + 1]
    }
    const end = rawTexts.textOf(state)
    text += decoder.decode(end)
    const isValid =
      format === "idn-hostname"
        ? isIdnHostname(text)
        : text.length <= 253 && text.split(".").every((part) => !part.startsWith("xn--") || isALabel(part))
    if (!accepts(format, text) || !isValid) wrong.push(text)
  }
  expect(wrong).toEqual([])
})
