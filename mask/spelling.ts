/** Bytes as tokens, the longest first: not what the tokenizer would write, but what the vocabulary can. */
import { TokenBytes, TokenMark, tokenAt } from "../grammar/lexeme/token.ts"
import type { TokenTrie } from "./trie.ts"

/** The tokens that write `bytes`, each the longest that may come there; null where the vocabulary cannot. */
export function spell(trie: TokenTrie, bytes: Uint8Array): number[] | null {
  const tokens: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const token = longestToken(trie, bytes, at)
    if (token < 0) return null
    tokens.push(token)
    at += bytes[at] === TokenMark ? TokenBytes : trie.longest(bytes, at)
  }
  return tokens
}

/** The longest token that `bytes` hold at `at`, or the one that is named there; −1 for none. */
export function longestToken(trie: TokenTrie, bytes: Uint8Array, at: number): number {
  if (bytes[at] === TokenMark) return tokenAt(bytes, at)
  const length = trie.longest(bytes, at)
  return length === 0 ? -1 : trie.token(trie.descend(bytes.subarray(at, at + length), 0))
}
