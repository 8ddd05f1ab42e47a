/**
 * Folds of graphs and trees: the value of a node is computed from the values of the nodes that it
 * needs. They do not recurse, since grammars and expressions may nest deeper than the host's calls.
 */

/**
 * Returns the value of `root`. Computes the values of all nodes that it needs first, each once.
 * `known` holds the values that exist before and receives the others; a value is never undefined.
 * `compute` reads the values of the needed nodes from `known`. On a cycle, one node is computed
 * before a node that it needs, whose value is undefined then. Linear in nodes and needs.
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

/**
 * Returns the value of the root of a tree. `compute` gets a function that returns the values of the
 * node's parts. Linear.
 */
export function foldTree<K, V>(
  root: K,
  partsOf: (node: K) => readonly K[],
  compute: (node: K, of: (part: K) => V) => V,
): V {
  const nodes: K[] = []
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes.push(node)
    for (const part of partsOf(node)) open.push(part)
  }
  const made = nodes.length > 1 ? new Map<K, V>() : null
  const of = (part: K) => made?.get(part) as V
  // All parts of a node come after it, the last one first.
  for (let i = nodes.length - 1; i > 0; i--) made?.set(nodes[i], compute(nodes[i], of))
  return compute(root, of)
}
