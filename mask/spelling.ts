/** Bytes as tokens, the longest first: not what the tokenizer would write, but what the vocabulary can. */
import { TokenBytes, TokenMark, tokenAt } from "../grammar/lexeme/token.ts"
import type { TokenTrie } from "./trie.ts"

/** The tokens that write `bytes`, each the longest that may come there; null if the vocabulary cannot. */
export function spell(trie: TokenTrie, bytes: Uint8Array): number[] | null {
  const tokens: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const token = longestToken(trie, bytes, at)
    if (token < 0) return null
    tokens.push(token)
    at += bytes[at] === TokenMark ? TokenBytes : trie.depth(longestNode(trie, bytes, at))
  }
  return tokens
}

/** The longest token that `bytes` hold at `at`, or the one that is named there; −1 for none. */
export function longestToken(trie: TokenTrie, bytes: Uint8Array, at: number): number {
  return bytes[at] === TokenMark ? tokenAt(bytes, at) : trie.token(longestNode(trie, bytes, at))
}

/** The node of the longest token that `bytes` hold at `start`; the root, 0, if there is none. */
export function longestNode(trie: TokenTrie, bytes: Uint8Array, start: number): number {
  let longest = 0
  let node = 0
  for (let at = start; at < bytes.length; at++) {
    node = trie.child(node, bytes[at])
    if (node === 0) break
    if (trie.token(node) >= 0) longest = node
  }
  return longest
}

/** The node that spells `bytes` from `start` to their end; −1 if no token begins so. */
export function nodeOf(trie: TokenTrie, bytes: Uint8Array, start = 0): number {
  let node = 0
  for (let at = start; at < bytes.length; at++) {
    node = trie.child(node, bytes[at])
    if (node === 0) return -1
  }
  return node
}
