/** Walks from nodes that lie below each other, against a walk from each of them. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { Children } from "../../../mask/fast/children.ts"
import { ListTables } from "../../../mask/fast/listtables.ts"
import { ListWalks } from "../../../mask/fast/listwalks.ts"
import { Quotes } from "../../../mask/fast/quotes.ts"
import { type Found, Stride, TokenTrie } from "../../../mask/trie.ts"
import { vocabularyOf } from "../../support/oracle.ts"

const states = ["[ab]+", "[ab]*_b|ba|abba", "[ab]{0,9}", "a|b_|__*", "[^a]*b"].map((pattern) =>
  exprLexeme(parseRegex(`^(?:${pattern})$`, { mode: "match", path: "" })),
)

/** Walks over `trie` that mark the nodes of lists from `minNested` nodes on. */
function walksOver(trie: TokenTrie, minNested: number): { walks: ListWalks; lists: ListTables } {
  const children = new Children(trie)
  const lists = new ListTables(children, new Quotes(trie))
  return { walks: new ListWalks(children, lists, minNested), lists }
}

const roomFor = (trie: TokenTrie): Found => ({
  tokens: new Int32Array(2 * trie.nodeCount + 1),
  tokenCount: 0,
  exits: [],
})

const noNodes = new Int32Array(0)

/** Distinct tokens, and distinct pairs of node and tag. */
function contents({ tokens, tokenCount, exits }: Found) {
  const pairs = exits.flatMap((node, i) => (i % 2 === 0 ? [`${node} ${exits[i + 1]}`] : []))
  return {
    tokens: [...new Set(tokens.subarray(0, tokenCount))].sort((a, b) => a - b),
    exits: [...new Set(pairs)].sort(),
  }
}

test("walks from many nodes find what walks from each of them do, one after the other", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "_"), minLength: 1, maxLength: 9 })
  const list = fc.record({
    pick: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 30 }),
    state: fc.constantFrom(...states),
  })
  const run = (texts: string[], reads: { pick: number[]; state: number }[]) => {
    const trie = new TokenTrie(vocabularyOf([...new Set(texts)]))
    const ways = [1, 4, Number.POSITIVE_INFINITY].map((minNested) => walksOver(trie, minNested))
    for (const { pick, state } of reads) {
      const nodes = [...new Set(pick.map((i) => Stride * (i % trie.nodeCount)))].sort((a, b) => a - b)
      const each = nodes.map((node) => {
        const found = roomFor(trie)
        trie.walk(node, state, found)
        return found
      })
      const expected = contents({
        tokens: Int32Array.from(each.flatMap((found) => [...found.tokens.subarray(0, found.tokenCount)])),
        tokenCount: each.reduce((sum, { tokenCount }) => sum + tokenCount, 0),
        exits: each.flatMap(({ exits }) => exits),
      })
      for (const { walks, lists } of ways) {
        expect(contents(walks.below(lists.intern(nodes), state))).toEqual(expected)
        expect(contents(walks.belowNested(Int32Array.from(nodes), state))).toEqual(expected)
      }
    }
  }
  const many = fc.array(text, { minLength: 1, maxLength: 60 })
  fc.assert(fc.property(many, fc.array(list, { minLength: 1, maxLength: 8 }), run), { numRuns: 300 })
})

test("tokens that are found in many states have room", () => {
  const trie = new TokenTrie(vocabularyOf(Array.from({ length: 40 }, (_, i) => "a".repeat(i + 1))))
  const nodes = Int32Array.from({ length: 40 }, (_, i) => Stride * i)
  const counted = exprLexeme(parseRegex("^a{1,60}$", { mode: "match", path: "" }))
  for (const minNested of [1, 100]) {
    const { walks, lists } = walksOver(trie, minNested)
    expect(contents(walks.below(lists.intern(nodes), counted)).tokens.length).toBe(40)
  }
})

test("what was read is forgotten when stamps begin anew", () => {
  const trie = new TokenTrie(vocabularyOf(["a", "ab", "b"]))
  const { walks } = walksOver(trie, 1)
  const nodes = Int32Array.of(0)
  const first = contents(walks.belowNested(nodes, states[0]))
  for (let i = 0; i < 2 * (2 ** 30 / lexemes.count); i++) walks.belowNested(noNodes, states[0])
  expect(contents(walks.belowNested(nodes, states[0]))).toEqual(first)
})
