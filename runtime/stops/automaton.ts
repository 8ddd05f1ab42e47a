/**
 * Searches a text for several strings at once: an Aho–Corasick automaton (Aho and Corasick 1975)
 * over the units of the strings.
 *
 * Stop strings are read by UTF-16 units. Bytes are read as strings whose units are bytes.
 */

/**
 * Node 0 is the root; N is the number of nodes, at most one more than the strings have units.
 * Building it takes time and memory linear in the units.
 */
export class StringAutomaton {
  /** Length of the string that node n spells. Shape [N]. */
  readonly depth: Int32Array
  /** Index of the string that ends at node n, or −1. Shape [N]. */
  readonly ends: Int32Array
  /**
   * The node of the longest proper suffix of node n that is one of the strings, or 0. Shape [N].
   */
  readonly shorter: Int32Array
  readonly strings: readonly string[]
  /** The next node for a node and a unit; the key is made by `edge`. */
  private readonly edges = new Map<number, number>()
  /** The node of the longest proper suffix of node n that is a node. Shape [N]. */
  private readonly fallback: Int32Array
  /** 1 if an edge leaves node n. Shape [N]. */
  private readonly isInner: Uint8Array
  private nodeCount = 1

  /** None of the strings may be empty. */
  constructor(strings: readonly string[]) {
    const unitCount = strings.reduce((sum, string) => sum + string.length, 0)
    this.strings = strings
    this.depth = new Int32Array(unitCount + 1)
    this.ends = new Int32Array(unitCount + 1).fill(-1)
    this.shorter = new Int32Array(unitCount + 1)
    this.fallback = new Int32Array(unitCount + 1)
    this.isInner = new Uint8Array(unitCount + 1)
    // All strings advance together, unit by unit: a suffix is shorter than its string, so its node
    // exists before it is needed.
    const nodes = new Int32Array(strings.length)
    let longer = [...strings.keys()]
    for (let depth = 0; longer.length > 0; depth++) {
      for (const index of longer) {
        const node = this.insert(nodes[index], strings[index].charCodeAt(depth))
        nodes[index] = node
        if (depth + 1 === strings[index].length && this.ends[node] < 0) this.ends[node] = index
      }
      longer = longer.filter((index) => depth + 1 < strings[index].length)
    }
  }

  /** Returns the node after one more unit, which is below 65,536. */
  next(node: number, unit: number): number {
    for (let at = node; ; at = this.fallback[at]) {
      const to = this.edges.get(edge(at, unit))
      if (to !== undefined) return to
      if (at === 0) return 0
    }
  }

  /**
   * Returns the node to continue from if none of the strings that end here counted. A string that
   * cannot be extended to another one is dropped.
   */
  settle(node: number): number {
    return this.isInner[node] === 1 ? node : this.fallback[node]
  }

  /** Returns the node after `unit` at `node`, which is created if it is missing. */
  private insert(node: number, unit: number): number {
    const known = this.edges.get(edge(node, unit))
    if (known !== undefined) return known
    const suffix = node === 0 ? 0 : this.next(this.fallback[node], unit)
    const to = this.nodeCount++
    this.edges.set(edge(node, unit), to)
    this.isInner[node] = 1
    this.depth[to] = this.depth[node] + 1
    this.fallback[to] = suffix
    this.shorter[to] = this.ends[suffix] >= 0 ? suffix : this.shorter[suffix]
    return to
  }
}

function edge(node: number, unit: number): number {
  return node * 65_536 + unit
}
