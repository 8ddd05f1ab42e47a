/** Slices and sets of characters against their definitions, token by token. */
import { expect, test } from "vitest"
import { exprs } from "../../../grammar/lexeme/expr/expr.ts"
import { exprContent } from "../../../grammar/lexeme/string/content.ts"
import { bodyState } from "../../../grammar/lexeme/string/string.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { CharacterSets } from "../../../mask/fast/characters.ts"
import { RootSlices } from "../../../mask/fast/rootslices.ts"
import { Slice } from "../../../mask/fast/slices.ts"
import { writeRecipe } from "../../../mask/recipe.ts"
import { TokenTrie } from "../../../mask/trie.ts"
import { Vocabulary } from "../../../mask/vocabulary.ts"
import { stringsOver } from "../../support/oracle/texts.ts"

const encoder = new TextEncoder()
const texts = [...stringsOver(["a", "b", "é", '"', "漢"], 3)].filter((text) => text !== "")
const tokens: (Uint8Array | null)[] = texts.map((text) => encoder.encode(text))
tokens.push(Uint8Array.of(0x61, 0xc3), Uint8Array.of(0xe6, 0xbc), encoder.encode("ab"), null)
const vocabulary = Vocabulary.fromBytes(tokens, { endIds: [tokens.length - 1] })
const trie = new TokenTrie(vocabulary)

/** Characters of `set` at the beginning of `bytes`, and whether all of `bytes` are such, the last one perhaps begun. */
function read(bytes: Uint8Array, set: ReadonlySet<number>): { count: number; isInside: boolean } {
  let count = 0
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at]
    if (!set.has(first)) return { count, isInside: false }
    count++
    at += first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  }
  return { count, isInside: true }
}

test.each([
  ["a", [0x61], 9],
  ["a, b", [0x61, 0x62], 9],
  ["a, é", [0x61, 0xc3], 9],
  ["all but the quote", [0x61, 0x62, 0xc3, 0xe6], 9],
  ["all but the quote, at most two", [0x61, 0x62, 0xc3, 0xe6], 2],
  ["none", [], 9],
])("a slice by %s has the tokens inside by count, and below its groups all others", (_, first, cap) => {
  const slice = new Slice(trie, vocabulary.width, Int32Array.of(0), Uint8Array.from(first), cap)
  const set = new Set(first)
  const inside = (bound: number) =>
    tokens.flatMap((bytes, id) => {
      if (bytes === null) return []
      const { count, isInside } = read(bytes, set)
      return isInside && count <= Math.min(bound, cap) ? [id] : []
    })
  for (let bound = 0; bound <= 4; bound++) {
    expect([...slice.tokens.ids(bound)].sort((a, b) => a - b)).toEqual(inside(bound))
    const row = slice.tokens.row(bound)
    const fromRow = tokens.flatMap((_, id) => (((row[id >>> 5] >>> (id & 31)) & 1) === 1 ? [id] : []))
    expect(fromRow).toEqual(inside(bound))
  }
  for (const groups of [slice.groups, slice.merged]) {
    const below: number[] = []
    for (const { byte, nodes, size } of groups) {
      expect(size).toBe(nodes.reduce((sum, node) => sum + trie.subtreeSize(node), 0))
      for (const node of nodes) {
        expect(trie.byte(node)).toBe(byte)
        if (trie.token(node) >= 0) below.push(trie.token(node))
        trie.tokensBelow(node, below)
      }
    }
    const distinct = tokens.flatMap((bytes, id) =>
      bytes !== null && ![...trie.duplicates.values()].some((twins) => twins.includes(id)) ? [id] : [],
    )
    const outside = distinct.filter((id) => !inside(9).includes(id))
    expect(below.sort((a, b) => a - b)).toEqual(outside)
  }
})

test.each([
  ["a", [0x61]],
  ["a, b", [0x61, 0x62]],
  ["a, é", [0x61, 0xc3]],
  ["all but the quote", [0x61, 0x62, 0xc3, 0xe6]],
])("a slice of the whole trie by %s, made from rows and edges, is the one that a walk makes", (_, first) => {
  const firstBytes = Uint8Array.from(first)
  const walked = new Slice(trie, vocabulary.width, Int32Array.of(0), firstBytes, 9)
  const slice = new RootSlices(vocabulary, trie).of(0, firstBytes)
  const others = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !first.includes(byte))
  expect(slice.maxCount(others)).toBe(walked.maxCount)
  for (let bound = 0; bound <= 4; bound++) {
    const row = new Uint32Array(vocabulary.words)
    writeRecipe(slice.inside(bound), row)
    expect(row).toEqual(walked.tokens.row(bound))
  }
  expect(slice.groups(others, false)).toEqual(walked.groups)
  expect(slice.groups(others, true).map((group) => ({ ...group, count: 0 }))).toEqual(walked.merged)
  expect(slice.groups([0x22], true).map(({ byte }) => byte)).toEqual([0x22])
})

test.each([
  ["[^x]*", true],
  ["\\w*", true],
  ["[a-z]{3,20}", false],
  ["(\\S+ )*", true],
])("the largest set of /%s/ leads every one of its characters to one state", (pattern, isLoop) => {
  const sets = new CharacterSets()
  const expr = parseRegex(pattern, { mode: "match", path: "" })
  const start = bodyState(exprContent(expr), "canonical")
  const after = (state: number, text: string) => lexemes.run(state, encoder.encode(text))
  const { set, next } = sets.largest(start)
  const first = new Set(sets.firstBytes(set))
  expect(first.size).toBeGreaterThan(10)
  let met = 0
  for (let code = 0x20; code < 0x3000; code++) {
    const character = String.fromCharCode(code)
    const isMember = first.has(encoder.encode(character)[0])
    if (isMember) expect([character, after(start, character)]).toEqual([character, next])
    // What is left out leads elsewhere, or some character with the same first byte does.
    else if (code < 0x80) expect(after(start, character)).not.toBe(next)
    if (isMember) met++
  }
  expect(met).toBeGreaterThan(10)
  expect(sets.after(next, set) === next).toBe(isLoop)
  const { states, isForked } = sets.chain(start, set, 30)
  for (const [i, state] of states.entries()) expect(after(start, "m".repeat(i))).toBe(state)
  expect(isForked).toBe(false)
  if (!isLoop) expect(states).toHaveLength(21)
  expect(exprs.isNever(expr)).toBe(false)
})
