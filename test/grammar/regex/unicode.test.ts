import { describe, expect, test } from "vitest"
import { includes } from "../../../grammar/regex/ranges.ts"
import { foldClosure, propertyRanges, whiteSpace, wordCharacters } from "../../../grammar/regex/unicode.ts"

const scalarValues: number[] = []
for (let point = 0; point <= 0x10ffff; point++) if (point < 0xd800 || point > 0xdfff) scalarValues.push(point)

describe("properties are those of the host", () => {
  test.each(["L", "Script=Greek", "Emoji", "Cn", "Any"])("\\p{%s}", (name) => {
    const ranges = propertyRanges(name)
    const host = new RegExp(`^\\p{${name}}$`, "u")
    const wrong = scalarValues.filter(
      (point) => includes(ranges, point) !== host.test(String.fromCodePoint(point)),
    )
    expect(wrong).toEqual([])
  })

  test("an unknown one is a SyntaxError", () => {
    expect(() => propertyRanges("Nope")).toThrow(SyntaxError)
  })
})

test("\\s and \\w are those of the host", () => {
  for (let point = 0; point < 0xd800; point++) {
    const text = String.fromCodePoint(point)
    expect([point, includes(whiteSpace, point)]).toEqual([point, /^\s$/u.test(text)])
    expect([point, includes(wordCharacters, point)]).toEqual([point, /^\w$/u.test(text)])
  }
})

test("what folds alike is what the host matches under iu", () => {
  const cased = scalarValues.filter((point) =>
    /^\p{Changes_When_Casemapped}$/u.test(String.fromCodePoint(point)),
  )
  const all = String.fromCodePoint(...cased)
  const special = [..."kKsSßẞıiIİΐǅθϑſ\u212a\u0345ꭰᎠϴµ"].map((c) => c.codePointAt(0)!)
  for (const point of [...special, ...cased.filter((_, i) => i % 13 === 0)]) {
    const host = all.match(new RegExp(`[\\u{${point.toString(16)}}]`, "giu")) ?? []
    const closure = foldClosure([point, point])
    expect([point, cased.filter((other) => includes(closure, other))]).toEqual([
      point,
      host.map((c) => c.codePointAt(0)),
    ])
  }
})

test("a large set is closed like its members", () => {
  expect(foldClosure([0x41, 0x5a, 0x100, 0x200])).toEqual(
    expect.arrayContaining([0x61, 0x7a].filter((end) => includes(foldClosure([0x41, 0x5a]), end))),
  )
  const letters = foldClosure([0x41, 0x5a])
  for (const member of [0x61, 0x7a, 0x17f, 0x212a]) expect(includes(letters, member)).toBe(true)
  expect(includes(letters, 0xe9)).toBe(false)
})
