/** The bytes that lexemes begin with: never fewer than lead on. */
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { byteSet, hasByte } from "../../../grammar/lexeme/bytesets.ts"
import { Dead, lexemes } from "../../../grammar/lexeme/table.ts"
import { States } from "../../../grammar/state.ts"
import { firstBytes } from "../../../mask/fast/firstbytes.ts"

const allBytes = Array.from({ length: 256 }, (_, byte) => byte)

const grammars: [name: string, text: string][] = [
  ["few ways on", 'root ::= "ab" | "c"'],
  ["many ways on", "root ::= [a-zA-Z_] [^;]*"],
  ["characters of several bytes", "root ::= [à-ÿ]+"],
  ["one of many texts", `root ::= ${Array.from({ length: 200 }, (_, i) => `"t${i}x"`).join(" | ")}`],
]

test.each(grammars)("%s", (_, text) => {
  const open = compile({ kind: "gbnf", text }).grammar.start.map(({ lexeme }) => lexeme)
  const seen = new Set(open)
  for (let state = open.pop(); state !== undefined && seen.size < 400; state = open.pop()) {
    const lexeme = state
    const live = allBytes.filter((byte) => lexemes.next(lexeme, byte) !== Dead)
    const first = firstBytes(lexeme)
    expect(live.every((byte) => hasByte(first, byte))).toBe(true)
    expect(first).toBe(byteSet(live))
    for (const byte of live) {
      const next = lexemes.next(lexeme, byte)
      if (!seen.has(next)) open.push(next)
      seen.add(next)
    }
  }
})

test("a string except along names", () => {
  const schema = { properties: { ab: {}, ac: {} }, additionalProperties: { type: "string" } }
  const states = new States(compile({ kind: "json", schema }).grammar)
  const state = states.advance(states.start, new TextEncoder().encode('{"a'))
  expect(states.threadCount(state)).toBeGreaterThan(0)
  for (let i = 0; i < states.threadCount(state); i++) {
    const lexeme = states.lexemeState(state, i)
    const live = allBytes.filter((byte) => lexemes.next(lexeme, byte) !== Dead)
    expect(live.filter((byte) => !hasByte(firstBytes(lexeme), byte))).toEqual([])
  }
})
