/**
 * Folds of trees and graphs: what is computed of each node out of what was computed of those that it needs. Without recursion, since
 * grammars and expressions nest deeper than calls may.
 */

/**
 * Computes `root` after all that it needs, each node once, and returns what was computed of it. `known` holds what is known
 * before and receives what is computed, which is never undefined; `compute` looks up there what it needs. A node of a circle is
 * computed before one that it needs: that one is undefined then. Linear in nodes and needs.
 */
export function fold<K, V>(
  root: K,
  known: Map<K, V | undefined>,
  needs: (node: K) => Iterable<K>,
  compute: (node: K) => V,
): V {
  const open = [root]
  for (let node = root; open.length > 0; node = open[open.length - 1]) {
    if (!known.has(node)) {
      known.set(node, undefined)
      for (const need of needs(node)) if (!known.has(need)) open.push(need)
      continue
    }
    open.pop()
    if (known.get(node) === undefined) known.set(node, compute(node))
  }
  return known.get(root) as V
}

/** The same for a tree, in which no node has two parents; `compute` is given what was computed of the parts of a node. */
export function foldTree<K, V>(
  root: K,
  partsOf: (node: K) => readonly K[],
  compute: (node: K, of: (part: K) => V) => V,
): V {
  const nodes = [root]
  for (const node of nodes) for (const part of partsOf(node)) nodes.push(part)
  const made = new Map<K, V>()
  const of = (part: K) => made.get(part) as V
  // All parts of a node stand behind it.
  for (let i = nodes.length - 1; i > 0; i--) made.set(nodes[i], compute(nodes[i], of))
  return compute(root, of)
}
