/**
 * The trie of a vocabulary in its file: the nodes as they lie in memory, so that a process need not
 * make them.
 */
import { End, Head, Stride, Token } from "../trie.ts"
import type { TrieParts, Vocabulary } from "../vocabulary.ts"

/** Returns the spellings of several ids as words: the number of ids, then the ids, lowest first. */
export function duplicateWords(duplicates: TrieParts["duplicates"]): number[] {
  return [...duplicates].flatMap(([first, others]) => [others.length + 1, first, ...others])
}

/** Reads what `duplicateWords` wrote. */
export function duplicatesOf(words: Uint32Array): Map<number, number[]> {
  const duplicates = new Map<number, number[]>()
  for (let at = 0; at < words.length; at += words[at] + 1) {
    const [first, ...others] = words.subarray(at + 1, at + 1 + words[at])
    duplicates.set(first, others)
  }
  return duplicates
}

/**
 * Throws RangeError if a walk over the nodes would not end, or would leave an array: each node ends
 * after itself, at another node, and has the depth and the id of some token. The checksum finds
 * damage; this loop compares no bytes, since that takes as long as making the trie.
 */
export function checkNodes({ nodes, duplicates }: TrieParts, { width, maxTokenBytes }: Vocabulary): void {
  const isRoot = nodes[Head] === 0 && nodes[End] === nodes.length
  let isRight = isRoot ? 1 : 0
  // hot
  for (let at = Stride; at < nodes.length; at += Stride) {
    const depth = nodes[at + Head] >>> 8
    const end = nodes[at + End]
    const token = nodes[at + Token]
    isRight &= +(depth > 0) & +(depth <= maxTokenBytes) & +(end > at) & +(end <= nodes.length)
    isRight &= +(token >= -1) & +(token < width) & +(end % Stride === 0)
  }
  for (const others of duplicates.values()) for (const id of others) isRight &= +(id < width)
  if (isRight === 0) throw new RangeError("the nodes of the trie are not in order")
}
