/** Children among the edges of a byte: those that each node tells, whichever list was asked for before. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { ByteEdges } from "../../../mask/fast/byteedges.ts"
import { Vocabulary } from "../../../mask/index.ts"
import { TokenTrie } from "../../../mask/trie.ts"

test("each list has the children that its nodes have", () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 60,
  })
  const picks = fc.array(fc.array(fc.nat(1_000), { maxLength: 40 }), { minLength: 1, maxLength: 6 })
  const read = (all: string[], lists: number[][]) => {
    const tokens = [...new Set(all)].map((text) => new TextEncoder().encode(text))
    const trie = new TokenTrie(Vocabulary.fromBytes([...tokens, null], { endIds: [tokens.length] }))
    const nodes = Array.from({ length: trie.nodeCount }, (_, i) => (i * trie.nodes.length) / trie.nodeCount)
    const edges = new ByteEdges(trie)
    for (const [list, pick] of lists.entries()) {
      const own = [...new Set(pick.map((i) => nodes[i % nodes.length]))].sort((a, b) => a - b)
      for (const byte of [0x61, 0x62, 0x63, 0x64]) {
        const expected = own.map((node) => trie.child(node, byte)).filter((child) => child !== 0)
        const found = edges.childrenOf(list, Int32Array.from(own), byte)
        expect(found).toEqual(expected.sort((a, b) => a - b))
      }
    }
  }
  fc.assert(fc.property(texts, picks, read), { numRuns: 200 })
})
