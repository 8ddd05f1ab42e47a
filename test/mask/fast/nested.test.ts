/** Walks from nodes that lie below each other, against a walk from each of them. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { exprLexeme } from "../../../grammar/lexeme/raw.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { parseRegex } from "../../../grammar/regex/parse.ts"
import { NestedWalks } from "../../../mask/fast/nested.ts"
import { type Found, Stride, TokenTrie } from "../../../mask/trie.ts"
import { vocabularyOf } from "../../support/oracle.ts"

const states = ["[ab]+", "[ab]*_b|ba|abba", "[ab]{0,9}", "a|b_|__*", "[^a]*b"].map((pattern) =>
  exprLexeme(parseRegex(`^(?:${pattern})$`, { mode: "match", path: "" })),
)

const roomFor = (trie: TokenTrie): Found => ({
  tokens: new Int32Array(2 * trie.nodeCount + 1),
  tokenCount: 0,
  exits: [],
})

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
    isWithNodes: fc.boolean(),
  })
  const run = (texts: string[], reads: { pick: number[]; state: number; isWithNodes: boolean }[]) => {
    const trie = new TokenTrie(vocabularyOf([...new Set(texts)]))
    const nested = new NestedWalks(trie, roomFor(trie))
    for (const { pick, state, isWithNodes } of reads) {
      const nodes = [...new Set(pick.map((i) => Stride * (i % trie.nodeCount)))].sort((a, b) => a - b)
      const each = nodes.map((node) => {
        const found = roomFor(trie)
        if (isWithNodes) trie.visit(node, state, found)
        else trie.walk(node, state, found)
        return found
      })
      const expected = contents({
        tokens: Int32Array.from(each.flatMap((found) => [...found.tokens.subarray(0, found.tokenCount)])),
        tokenCount: each.reduce((sum, { tokenCount }) => sum + tokenCount, 0),
        exits: each.flatMap(({ exits }) => exits),
      })
      nested.begin()
      if (isWithNodes) for (const node of nodes) nested.visit(node, state)
      else nested.below(Int32Array.from(nodes), state)
      expect(contents(nested.found)).toEqual(expected)
    }
  }
  const many = fc.array(text, { minLength: 1, maxLength: 60 })
  fc.assert(fc.property(many, fc.array(list, { minLength: 1, maxLength: 8 }), run), { numRuns: 300 })
})

test("tokens that are found in many states have room", () => {
  const trie = new TokenTrie(vocabularyOf(Array.from({ length: 40 }, (_, i) => "a".repeat(i + 1))))
  const nodes = Int32Array.from({ length: 40 }, (_, i) => Stride * i)
  const counted = exprLexeme(parseRegex("^a{1,60}$", { mode: "match", path: "" }))
  const nested = new NestedWalks(trie, roomFor(trie))
  const { tokens } = contents(nested.all(nodes, counted))
  expect(tokens.length).toBe(40)
})

test("what was read is forgotten when stamps begin anew", () => {
  const trie = new TokenTrie(vocabularyOf(["a", "ab", "b"]))
  const nested = new NestedWalks(trie, roomFor(trie))
  const nodes = Int32Array.of(0)
  const first = contents(nested.all(nodes, states[0]))
  for (let i = 0; i < 2 * (2 ** 30 / lexemes.count); i++) nested.begin()
  expect(contents(nested.all(nodes, states[0]))).toEqual(first)
})
