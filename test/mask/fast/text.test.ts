/** Strings of any characters, by counts, against a walk of the trie. */
import { expect, test } from "vitest"
import { Unbounded } from "../../../grammar/lexeme/expr/counter.ts"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import {
  anyContent,
  exprContent,
  lengthContent,
  NoContent,
  namesContent,
} from "../../../grammar/lexeme/string/content.ts"
import { buildNames } from "../../../grammar/lexeme/string/names.ts"
import { bodyState, type Escapes } from "../../../grammar/lexeme/string/string.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { TextMasks } from "../../../mask/fast/text.ts"
import { TokenTrie } from "../../../mask/trie.ts"
import { vocabularyOf } from "../../support/oracle.ts"

const encoder = new TextEncoder()
const pieces = [
  "a",
  "b",
  '"',
  'a"',
  'ab"',
  '"a',
  'é"',
  "é",
  "aé漢",
  '漢"b',
  "\\",
  '\\n"',
  "\\u00",
  '\\u0061"',
  '""',
  'a"b"',
  "ab",
]
const vocabulary = vocabularyOf([...pieces, 0xc3, 0xa9])
const trie = new TokenTrie(vocabulary)

const search = exprContent(parseRegex("b", { mode: "search", path: "" }))
const contents: [name: string, content: number][] = [
  ["any text", anyContent],
  ["at most one character", lengthContent(anyContent, 0, 1)],
  ["two or three", lengthContent(anyContent, 2, 3)],
  ["at least four", lengthContent(anyContent, 4, Unbounded)],
  ["a b somewhere", search],
]

/** Tokens that stay inside, and closing nodes with their tags, by reading each token. */
function walked(state: number): { inside: number[]; closed: number[] } {
  const inside: number[] = []
  const states = [state]
  const closed: number[] = []
  trie.scan(0, (node, byte, depth, token) => {
    const next = lexemes.next(states[depth - 1], byte)
    if (next === 0) return false
    states[depth] = next
    if (lexemes.tags[next] !== 0) {
      closed.push(node, lexemes.tags[next])
      return false
    }
    if (token >= 0) inside.push(token, ...(trie.duplicates.get(token) ?? []))
    return true
  })
  return { inside: inside.sort((a, b) => a - b), closed }
}

for (const escapes of ["canonical", "json"] as Escapes[]) {
  test.each(contents)(`%s, escapes ${escapes}`, (_, content) => {
    const masks = new TextMasks(trie, vocabulary.width)
    const state = bodyState(content, escapes)
    const local = masks.local(0, [0], state)
    expect(local).not.toBeNull()
    const { tokens, room, closed, isUnbounded } = local!
    const { inside, closed: expected } = walked(state)
    const bound = room === Unbounded ? tokens.maxCount : room
    expect(Array.from(tokens.ids(bound)).sort((a, b) => a - b)).toEqual(inside)
    expect(Array.from(closed)).toEqual(expected)
    expect(isUnbounded).toBe(content === anyContent)
  })
}

test("what is no such string has another way: a pattern, a set of names", () => {
  const masks = new TextMasks(trie, vocabulary.width)
  const names = namesContent(buildNames([{ bytes: encoder.encode("ab"), tag: 5 }]), NoContent)
  const pattern = exprContent(exprs.literal("ab"))
  for (const content of [names, pattern]) expect(masks.local(0, [0], bodyState(content, "json"))).toBeNull()
})

test("one walk serves all bounds; it is counted and can be forgotten", () => {
  const masks = new TextMasks(trie, vocabulary.width)
  const local = (content: number) => masks.local(0, [0], bodyState(content, "canonical"))!
  const first = local(anyContent)
  const { bytes } = masks
  expect(bytes).toBeGreaterThan(0)
  expect([local(lengthContent(anyContent, 0, 2)).tokens, masks.bytes]).toEqual([first.tokens, bytes])
  masks.clear()
  expect([masks.bytes, local(anyContent).tokens === first.tokens]).toEqual([0, false])
})
