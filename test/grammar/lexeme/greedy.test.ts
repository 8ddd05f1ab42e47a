import { describe, expect, test } from "vitest"
import { defaultLimits } from "../../../grammar/errors.ts"
import {
  AllBytes,
  byteSet,
  hasByte,
  NoBytes,
  sharedBytes,
  uniteBytes,
} from "../../../grammar/lexeme/bytesets.ts"
import { endingsByTag } from "../../../grammar/lexeme/endings.ts"
import { bytesOn, endsOf, firstNotLexeme, tagOf, tagsReached } from "../../../grammar/lexeme/greedy.ts"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { Dead, lexemes } from "../../../grammar/lexeme/table.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"

const utf8 = new TextEncoder()
const lexemeOf = (pattern: string) =>
  exprLexeme(parseRegex(pattern, { mode: "match", path: "", unsatisfiable: "empty", limits: defaultLimits }))
const setOf = (text: string) => byteSet(utf8.encode(text))
const endsOfPattern = (pattern: string) => endsOf(lexemeOf(pattern), () => {})
/** The tag with which `text` ends; 0: it does not, undefined: it is no beginning. */
const tagAfter = (lexemeState: number, text: string) => {
  const at = lexemes.run(lexemeState, utf8.encode(text))
  return at === Dead ? undefined : lexemes.tags[at]
}

test("sets of bytes are interned", () => {
  expect(setOf("ba")).toBe(setOf("abba"))
  expect([setOf(""), byteSet([])]).toEqual([NoBytes, NoBytes])
  expect(uniteBytes(setOf("ab"), setOf("c"))).toBe(setOf("abc"))
  expect(sharedBytes(setOf("ab"), setOf("bc"))).toBe(setOf("b"))
  expect(sharedBytes(AllBytes, setOf("é"))).toBe(setOf("é"))
  expect([hasByte(AllBytes, 255), hasByte(NoBytes, 0), hasByte(setOf("a"), 0x61)]).toEqual([
    true,
    false,
    true,
  ])
})

describe("the ends of a lexeme", () => {
  test.each([
    ["[ab]+", "", ["ab"]],
    ["a{1,3}", "", ["a", ""]],
    ["ab?", "", ["b", ""]],
    ["ac*|b", "", ["c", ""]],
    ["ac*|b", "a", [""]],
    ["(ab)*", "", ["a"]],
    ["a*", "a", []],
  ])("of %s behind '%s'", (pattern, before, guards) => {
    const reached = endsOfPattern(pattern).reached(setOf(before))
    expect([...reached].sort()).toEqual(guards.map(setOf).sort())
  })

  test("are told by tags, and some of them alone are a lexeme without dead ends", () => {
    const ends = endsOfPattern("ac*|bd?")
    const all = ends.lexeme(new Set([setOf("c"), setOf("d"), NoBytes]))
    expect(["", "a", "acc", "b", "bd", "bc"].map((text) => tagAfter(all, text))).toEqual([
      ...[0, tagOf(setOf("c")), tagOf(setOf("c")), tagOf(setOf("d")), tagOf(NoBytes), undefined],
    ])
    const some = ends.lexeme(new Set([NoBytes]))
    expect(["a", "b", "bd"].map((text) => tagAfter(some, text))).toEqual([undefined, 0, tagOf(NoBytes)])
    expect(ends.lexeme(new Set([setOf("x")]))).toBe(Dead)
  })

  test("the empty text has a guard of its own, and is no text of the lexeme", () => {
    const ends = endsOfPattern("(ab)*")
    expect(ends.emptyGuard).toBe(setOf("a"))
    const lexeme = ends.lexeme(new Set([setOf("a")]))
    expect(["", "a", "ab"].map((text) => tagAfter(lexeme, text))).toEqual([0, 0, tagOf(setOf("a"))])
  })
})

test("texts by their first byte", () => {
  const lexeme = firstNotLexeme(lexemeOf("[abc]*"), setOf("bx"))
  expect(["", "ab", "b", "cb"].map((text) => tagAfter(lexeme, text))).toEqual([0, 1, undefined, 1])
  expect(firstNotLexeme(lexemeOf("[abc]*"), setOf("abc"))).toBe(Dead)
  expect(firstNotLexeme(lexemeOf("[abc]+"), setOf("x"))).toBe(lexemeOf("[abc]+"))
  expect(bytesOn(lexemeOf("a|é"))).toBe(byteSet([0x61, 0xc3]))
})

test("tags by first byte, and a shortest text of each", () => {
  const ends = endsOfPattern("ac*|bd?")
  const lexeme = ends.lexeme(new Set([setOf("c"), setOf("d"), NoBytes]))
  expect(tagsReached(lexeme, setOf("a"), () => {})).toEqual(new Set([tagOf(setOf("d")), tagOf(NoBytes)]))
  const texts = endingsByTag(lexeme).map(({ bytes }) => new TextDecoder().decode(bytes))
  expect(texts.sort()).toEqual(["a", "b", "bd"])
})
