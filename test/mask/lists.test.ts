/** Lists of trie nodes against the tokens that pass through them. */
import { expect, test } from "vitest"
import { NodeLists, RootList } from "../../mask/lists.ts"
import { TokenTrie } from "../../mask/trie.ts"
import { vocabularyOf } from "../support/oracle.ts"

const pieces = ["a", "ab", "abc", 'a"', 'a"b"', '"', '""', "b", "bc", "ab"]
const trie = new TokenTrie(vocabularyOf(pieces))
const lists = new NodeLists(trie)

/** The node at which `text` ends. */
const nodeOf = (text: string): number =>
  [...text].reduce((node, character) => trie.child(node, character.charCodeAt(0)), 0)
const listOf = (...texts: string[]): number => lists.intern(texts.map(nodeOf).sort((a, b) => a - b))

test("equal lists are one, and the root is the first", () => {
  expect(lists.intern([0])).toBe(RootList)
  expect(listOf("a", "b")).toBe(listOf("b", "a"))
  expect(Array.from(lists.view(listOf("a")))).toEqual([nodeOf("a")])
})

test("exits are gathered by tag", () => {
  const [a, b, c] = [nodeOf("a"), nodeOf("ab"), nodeOf("b")]
  const exits = lists.exits([c, 2, a, 1, b, 2])
  expect(Array.from(exits)).toEqual([1, listOf("a"), 2, listOf("ab", "b")])
  expect(lists.exits([]).length).toBe(0)
})
