/** What tests ask of a token trie. It loads the trie alone. */
import { Stride, type TokenTrie } from "../../mask/trie.ts"

/** The children of a trie node, ascending. */
export function childrenOf(trie: TokenTrie, node: number): number[] {
  const children: number[] = []
  for (let child = node + Stride; child < trie.end(node); child = trie.end(child)) children.push(child)
  return children
}
