/** What shortcuts ask of lists of trie nodes, against the tokens that pass through them. */
import { expect, test } from "vitest"
import { byteSet, NoBytes } from "../../../grammar/lexeme/bytesets.ts"
import { Children } from "../../../mask/fast/children.ts"
import { ListTables } from "../../../mask/fast/listtables.ts"
import { Quotes } from "../../../mask/fast/quotes.ts"
import { NoList, RootList } from "../../../mask/lists.ts"
import { TokenTrie } from "../../../mask/trie.ts"
import { vocabularyOf } from "../../support/oracle.ts"

const pieces = ["a", "ab", "abc", 'a"', 'a"b"', '"', '""', "b", "bc", "ab"]
const trie = new TokenTrie(vocabularyOf(pieces))
const lists = new ListTables(new Children(trie), new Quotes(trie))

/** The node at which `text` ends. */
const nodeOf = (text: string): number =>
  [...text].reduce((node, character) => trie.child(node, character.charCodeAt(0)), 0)
const listOf = (...texts: string[]): number => lists.intern(texts.map(nodeOf).sort((a, b) => a - b))

test("sizes are nodes below", () => {
  expect(lists.size(RootList)).toBe(trie.nodeCount - 1)
  expect(lists.size(listOf("a", "b"))).toBe(trie.subtreeSize(nodeOf("a")) + trie.subtreeSize(nodeOf("b")))
})

test("children by a byte, or none", () => {
  expect(lists.childrenBy(RootList, 0x61)).toBe(listOf("a"))
  expect(lists.childrenBy(listOf("a", "b"), 0x63)).toBe(listOf("bc"))
  expect(lists.childrenBy(listOf("a", '"'), 0x22)).toBe(listOf('a"', '""'))
  expect(lists.childrenBy(RootList, 0x7a)).toBe(-1)
})

test("the bytes with which tokens go on", () => {
  expect(lists.nextBytes(RootList)).toBe(byteSet([0x61, 0x62, 0x22]))
  expect(lists.nextBytes(listOf("a", "b"))).toBe(byteSet([0x62, 0x22, 0x63]))
  expect(lists.nextBytes(listOf("bc"))).toBe(NoBytes)
})

test("tokens that end at the nodes, with those that spell the same", () => {
  const ids = Array.from(lists.tokens(listOf("ab", "bc"))).sort((a, b) => a - b)
  expect(ids.map((id) => pieces[id])).toEqual(["ab", "bc", "ab"])
  expect(lists.tokens(RootList).length).toBe(0)
})

test("nodes below which a string opened there closes are told apart", () => {
  expect(lists.quoted(listOf("a", "b"))).toEqual({ open: listOf("b"), closing: listOf("a") })
  expect(lists.quoted(listOf("b"))).toEqual({ open: listOf("b"), closing: NoList })
})

test("exits are patched by tag", () => {
  const exits = [nodeOf("a"), 2, nodeOf("ab"), 2, nodeOf("b"), 3]
  const pairs = lists.exits(exits)
  expect(lists.patched(pairs, [], [])).toBe(pairs)
  expect([...lists.patched(pairs, exits.slice(2), [nodeOf('"'), 2])]).toEqual([2, listOf("a", '"')])
})

test("unions and differences are those of the nodes", () => {
  for (let round = 0; round < 2; round++) {
    expect(lists.union(listOf("a", "b"), listOf("ab", "b"))).toBe(listOf("a", "ab", "b"))
    expect(lists.without(listOf("a", "ab", "b"), listOf("b", "bc"))).toBe(listOf("a", "ab"))
    expect(lists.without(listOf("a"), listOf("a"))).toBe(NoList)
  }
  expect(lists.union(NoList, listOf("a"))).toBe(listOf("a"))
  expect(lists.unionOf(Int32Array.of(listOf("a")))).toBe(listOf("a"))
  expect(lists.unionOf(Int32Array.of(listOf("b"), NoList, listOf("a", "b"), listOf("ab")))).toBe(
    listOf("a", "ab", "b"),
  )
})
