/** What is left of a character against a strict decoder, and sets found from an automaton. */
import { expect, test } from "vitest"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { afterFirst, afterNext, CharacterSets } from "../../../mask/fast/characters.ts"

const strict = new TextDecoder("utf-8", { fatal: true })

function isCharacter(bytes: readonly number[]): boolean {
  try {
    return [...strict.decode(Uint8Array.from(bytes))].length === 1
  } catch {
    return false
  }
}

test("first bytes and those that follow are UTF-8's", () => {
  for (let first = 0; first < 256; first++) {
    const code = afterFirst(first)
    expect([first, code === 0]).toEqual([first, isCharacter([first])])
    if (code <= 0) continue
    for (let second = 0; second < 256; second++) {
      const then = afterNext(code, second)
      // Any tail completes what is left: the bounds lie in the first two bytes.
      const tail = first < 0xe0 ? [] : first < 0xf0 ? [0x80] : [0x80, 0x80]
      expect([first, second, then >= 0]).toEqual([first, second, isCharacter([first, second, ...tail])])
    }
  }
})

const stateOf = (pattern: string) => exprLexeme(parseRegex(pattern, { mode: "match", path: "", flags: "u" }))

test("the largest set of a loop is its class, and leads back", () => {
  const sets = new CharacterSets()
  const start = stateOf("[^x]*x")
  const { set, next } = sets.largest(start)
  const members = Array.from(sets.firstBytes(set))
  expect([members.includes(0x61), members.includes(0x78), members.includes(0xe3)]).toEqual([
    true,
    false,
    true,
  ])
  expect(next).toBe(start)
  expect(sets.chain(start, set, 5)).toEqual({ states: [start], isForked: false })
})

test("a counted repeat is a chain of states", () => {
  const sets = new CharacterSets()
  const start = stateOf("[a-z]{3}[0-9]")
  const { states, isForked } = sets.chain(start, sets.largest(start).set, 9)
  expect([states.length, new Set(states).size, isForked]).toEqual([4, 4, false])
  expect(sets.leaving(states, sets.largest(start).set)).toEqual(
    Array.from({ length: 10 }, (_, i) => 0x30 + i),
  )
})

test("few characters are no set", () => {
  const sets = new CharacterSets()
  expect(sets.largest(stateOf("[ab]*c")).set).toBe(sets.none)
})
