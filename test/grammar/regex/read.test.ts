import { expect, test } from "vitest"
import { readPattern } from "../../../grammar/regex/read.ts"

test("surrogate pairs are one character where the pattern is translated too", () => {
  const { pattern } = readPattern("💩+[💩\\_]\\ud83d\\udca9", "", "")
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
