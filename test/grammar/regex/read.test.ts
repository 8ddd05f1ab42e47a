import { describe, expect, test } from "vitest"
import { readPattern, repair } from "../../../grammar/regex/read.ts"

describe("repair", () => {
  test.each([
    ["a\\-b", "a-b"],
    ["[a\\-b]", "[a\\-b]"],
    ["\\_\\%\\@\\:", "_%@:"],
    ["\\.\\/\\^", "\\.\\/\\^"],
    ["a{,3}", "a\\{,3\\}"],
    ["a{2}{", "a{2}\\{"],
    ["a{2,}", "a{2,}"],
    ["x]", "x\\]"],
    ["[]]", "[]\\]"],
    ["[{}]", "[{}]"],
    ["\\p{L}\\-", "\\p{L}-"],
    ["\\u{1F4A9}\\-", "\\u{1F4A9}-"],
    ["\\k<n>\\-", "\\k<n>-"],
    ["\\💩", "💩"],
    ["\\d\\a", "\\d\\a"],
  ])("%s becomes %s", (source, expected) => {
    expect(repair(source)).toBe(expected)
  })
})

test("surrogate pairs are one character by Annex B too", () => {
  const { pattern } = readPattern("💩+[💩\\c]\\ud83d\\udca9", "", "")
  expect(pattern.alternatives[0].elements.map(({ type }) => type)).toEqual([
    "Quantifier",
    "CharacterClass",
    "Character",
  ])
  expect(pattern.alternatives[0].elements[2]).toMatchObject({ value: 0x1f4a9 })
})

test("flags that do not change the language are read", () => {
  expect(readPattern("a", "dgyims", "").flags).toEqual({
    ignoreCase: true,
    multiline: true,
    dotAll: true,
    unicodeSets: false,
  })
})
