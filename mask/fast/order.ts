/**
 * Sorting without duplicates, for lists of trie nodes and keys of unions. Most are short, or sorted
 * already.
 */

/**
 * Lists up to this length are sorted by insertion, because calling the array's own sort costs more
 * (the masks of 132 tokens of a C grammar take 37 ms instead of 42).
 */
const FewNodes = 32

/**
 * Returns `nodes` sorted, without duplicates. Duplicates arise if a list holds two nodes of which
 * one lies below the other.
 */
export function ascending(nodes: ArrayLike<number>): ArrayLike<number> {
  let at = 1
  while (at < nodes.length && nodes[at - 1] < nodes[at]) at++
  // The nodes are usually ascending, because a walk finds them in that order.
  if (at >= nodes.length) return nodes
  const sorted = Int32Array.from(nodes)
  return sorted.subarray(0, putInOrder(sorted, sorted.length, at))
}

/**
 * Sorts the first `length` of `nodes`, whose first `from` are ascending, and removes duplicates.
 * Returns how many are left.
 */
export function putInOrder(nodes: Int32Array, length = nodes.length, from = 1): number {
  if (length > FewNodes) nodes.subarray(0, length).sort()
  else insert(nodes, length, from)
  return distinct(nodes, length)
}

/** Sorts the first `length` of `nodes`, whose first `from` are ascending. */
function insert(nodes: Int32Array, length: number, from: number): void {
  for (let i = from; i < length; i++) {
    const node = nodes[i]
    let at = i
    for (; at > 0 && nodes[at - 1] > node; at--) nodes[at] = nodes[at - 1]
    nodes[at] = node
  }
}

/**
 * Removes duplicates from the first `length` of `nodes`, which are ascending. Returns how many are
 * left.
 */
export function distinct(nodes: Int32Array, length: number): number {
  let count = 0
  for (let i = 0; i < length; i++) if (i === 0 || nodes[i] !== nodes[i - 1]) nodes[count++] = nodes[i]
  return count
}
