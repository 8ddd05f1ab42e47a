/**
 * Bytes as tokens, always the longest that fits. The tokenizer may write other tokens, but these
 * spell the same bytes.
 */
import { TokenBytes, TokenMark, tokenAt } from "../grammar/lexeme/token.ts"
import type { TokenTrie } from "./trie.ts"

/**
 * Returns the tokens that write `bytes`, each the longest that fits; null if the vocabulary cannot
 * write them.
 */
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

/**
 * Returns the longest token at offset `at` of `bytes`; if the bytes there are the id of a token,
 * returns that token. −1 if there is none.
 */
export function longestToken(trie: TokenTrie, bytes: Uint8Array, at: number): number {
  return bytes[at] === TokenMark ? tokenAt(bytes, at) : trie.token(longestNode(trie, bytes, at))
}

/**
 * Returns the node of the longest token at offset `start` of `bytes`; the root, 0, if there is
 * none.
 */
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

/**
 * Returns the node that spells `bytes` from `start` to the end; −1 if no token begins with them.
 */
export function nodeOf(trie: TokenTrie, bytes: Uint8Array, start = 0): number {
  let node = 0
  for (let at = start; at < bytes.length; at++) {
    node = trie.child(node, bytes[at])
    if (node === 0) return -1
  }
  return node
}
