/**
 * `idn-hostname` against the reference validator, which encodes every label; and what its machine rests on: the bound on
 * the length of a Punycode form, and a way to the end from every state.
 */
import { expect, test } from "vitest"
import { formatExpr } from "../../../../grammar/format/format.ts"
import { asciiLengthBound, joinZones, zoneOf } from "../../../../grammar/format/idn/punycodelength.ts"
import { exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import {
  contentTag,
  exprContent,
  lengthContent,
  NoContent,
  nextContent,
} from "../../../../grammar/lexeme/string/content.ts"
import { PlainTag } from "../../../../grammar/lexeme/table.ts"
import { encodePunycode, isIdnHostname } from "../../../support/validate/idn.ts"

const encoder = new TextEncoder()

function accepts(text: string): boolean {
  let left = formatExpr("idn-hostname")!
  for (const byte of encoder.encode(text)) left = exprs.derivative(left, byte)
  return exprs.nullable(left)
}

function makeRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

const table: [name: string, accepted: string[], rejected: string[]][] = [
  [
    "ASCII labels",
    ["a", "A-b.c", "1a", "x".repeat(63)],
    ["a-", "-a", "ab--c", "xn--a", "x".repeat(64), "a_b"],
  ],
  ["capitals only in ASCII labels", ["Abc", "abc.Ab"], ["Äbc", "Abä", "äA", "É"]],
  [
    "NFC",
    ["é", "ɛ\u0301", "ɛ\u0316\u0302b", "ẹ\u0301"],
    ["e\u0301", "a\u0302\u0316", "か\u3099", "â\u0323", "ൊ\u0d3e\u0d46\u0d3e"],
  ],
  ["marks come not first", ["ก\u0e31", "a\u0300\u0316".slice(0, 1)], ["\u0e31ก", "\u0903a"]],
  [
    "joiners",
    ["क्\u200dष", "क्\u200cष", "بي\u200cبي", "ب\u064e\u200c\u064eب"],
    ["क\u200dष", "\u200cب", "ا\u200cب", "ب\u200c", "ب\u200ca"],
  ],
  [
    "names with a right-to-left label",
    ["א.a", "a.א", "א1", "א-א", "اب.a1"],
    ["א.1", "1a.א", "אa", "aא", "א-", "0א", "ا٠۰"],
  ],
  ["separators", ["a。b", "ä．ö", "ä｡ö"], ["a。", "。a", "a.。b"]],
  [
    "the ASCII form of a label is bounded",
    ["ü".repeat(20), "ж".repeat(20), "中文域名测试例子"],
    ["ü".repeat(60), `${"a".repeat(63)}ü`],
  ],
]

test.each(table)("%s", (_, accepted, rejected) => {
  for (const text of accepted) expect([text, accepts(text), isIdnHostname(text)]).toEqual([text, true, true])
  for (const text of rejected) expect([text, accepts(text)]).toEqual([text, false])
})

test("a name has at most 253 octets in its ASCII form", () => {
  const label = "x".repeat(62)
  expect(accepts(`${label}.${label}.${label}.${"x".repeat(63)}x`)).toBe(false)
  expect(accepts(`${label}.${label}.${label}.${label}.x`)).toBe(true)
  expect(accepts(`${label}.${label}.${label}.${label}.xx`)).toBe(false)
})

const alphabet = [
  ..."abelz09-.AL",
  ..."äéñßαβς\u0375жяאב\u05f3ابيدو\u06f1\u0661中文のカ\u30fb\u3007l\u00b7l\u0301\u0316\u0323\u0e01\u0e31",
  ..."क\u094d\u200c\u200dষ\u09c7\u09be\u0b95\u0bc6\u0bbe\u3099ᠠ한글ऀ\u064e。ŀ",
]

test("agrees with the reference on random short names", () => {
  const random = makeRandom(3)
  const wrong: string[] = []
  let valid = 0
  for (let i = 0; i < 10_000; i++) {
    const text = Array.from({ length: 1 + random(5) }, () => alphabet[random(alphabet.length)]).join("")
    const expected = isIdnHostname(text)
    if (expected) valid++
    // Not complete: a mark after a small letter of ASCII must compose with none of them.
    if (expected && /[a-z][\u0301\u0323]/.test(text)) continue
    if (accepts(text) !== expected) wrong.push(`${expected} ${JSON.stringify(text)}`)
  }
  expect(wrong).toEqual([])
  expect(valid).toBeGreaterThan(700)
})

test("walks at random never end in a dead end, and what they spell is valid", () => {
  const random = makeRandom(9)
  const decoder = new TextDecoder()
  const wrong: string[] = []
  for (let i = 0; i < 120; i++) {
    let state = formatExpr("idn-hostname")!
    const bytes: number[] = []
    const least = random(60)
    while (bytes.length < least || !exprs.nullable(state)) {
      const row = Array.from(exprs.row(state))
      if (row.length === 0) break
      const range = 2 * random(row.length / 2)
      const low = row[range] & 0xff
      bytes.push(low + random((row[range] >>> 8) - low + 1))
      state = row[range + 1]
    }
    const text = decoder.decode(Uint8Array.from(bytes))
    if (!exprs.nullable(state) || !isIdnHostname(text)) wrong.push(text)
  }
  expect(wrong).toEqual([])
})

test("a bound on the characters can be met from every state, or it is known that it cannot", () => {
  const random = makeRandom(21)
  for (let i = 0; i < 6; i++) {
    let content = lengthContent(exprContent(formatExpr("idn-hostname")!), 1 + random(5), 5 + random(6))
    while (contentTag(content) === 0 || random(6) > 0) {
      const row = Array.from({ length: 256 }, (_, byte) => nextContent(content, byte))
      const next = row.filter((target) => target !== NoContent)
      if (next.length === 0) break
      content = next[random(next.length)]
    }
    expect(contentTag(content)).toBe(PlainTag)
  }
})

test("no Punycode form is longer than its bound", () => {
  const random = makeRandom(5)
  const scripts = [
    [0x80, 0xff],
    [0x430, 0x44f],
    [0x400, 0x47f],
    [0x3040, 0x30ff],
    [0x4e00, 0x9fff],
    [0xac00, 0xd7a3],
    [0x80, 0x10ffff],
    [0x10000, 0x10fff],
    [0x4e00, 0x4e00],
  ]
  let closest = 0
  for (let i = 0; i < 8_000; i++) {
    const [low, high] = scripts[random(scripts.length)]
    const points: number[] = []
    let [basic, wide] = [0, 0]
    const isSparse = random(2) === 0
    for (let n = 1 + random(59); n > 0; n--) {
      if (random(3) === 0) {
        points.push(0x61 + random(26))
        basic++
        continue
      }
      // Half of the labels draw from both ends, which makes for large steps.
      let point = isSparse ? (random(2) === 0 ? low : high) : low + random(high - low + 1)
      if (point >= 0xd800 && point < 0xe000) point = 0xe000
      points.push(point)
      wide++
    }
    if (wide === 0) continue
    const length = 4 + encodePunycode(String.fromCodePoint(...points)).length
    const bound = asciiLengthBound(basic, wide, joinZones(zoneOf(low), zoneOf(high)))
    expect(length).toBeLessThanOrEqual(bound)
    closest = Math.max(closest, length / bound)
  }
  expect(closest).toBeGreaterThan(0.9)
})

test("the digits of a delta are as the bound says", () => {
  const digitsOf = (delta: number, bias: number) => {
    let digits = 1
    for (let rest = delta, k = 36; ; k += 36) {
      const threshold = Math.min(Math.max(k - bias, 1), 26)
      if (rest < threshold) return digits
      rest = Math.floor((rest - threshold) / (36 - threshold))
      digits++
    }
  }
  for (let bias = 0; bias < 300; bias++) {
    for (const [digits, below] of [
      [1, 1],
      [2, 36],
      [3, 1_261],
      [4, 28_886],
      [5, 288_886],
      [6, 2_888_886],
      [7, 28_888_886],
    ]) {
      expect(digitsOf(below - 1, bias)).toBeLessThanOrEqual(digits)
    }
    if (bias <= 33) expect(digitsOf(285, bias)).toBeLessThanOrEqual(2)
  }
})
