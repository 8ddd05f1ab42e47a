/**
 * The strongly connected components of a graph, callees first. Linear in nodes and edges (Tarjan
 * 1972, without recursion, because grammars may be as deep as they are long).
 */

/**
 * Yields the components that `start` reaches. A component comes after those that it reaches.
 * `calleesOf` is called once for each node.
 */
export function* components(
  start: number,
  calleesOf: (node: number) => readonly number[],
): Generator<number[]> {
  /** By node: its index in the order of discovery. The lists below are indexed by it. */
  const met = new Map<number, number>()
  /**
   * By index: the lowest index on the path that the node reaches, and whether it is on the path
   * itself.
   */
  const low: number[] = []
  const isOnPath: boolean[] = []
  const path: number[] = []
  const work: { node: number; at: number; callees: readonly number[]; next: number }[] = []
  const enter = (node: number) => {
    const at = met.size
    met.set(node, at)
    low.push(at)
    isOnPath.push(true)
    path.push(node)
    work.push({ node, at, callees: calleesOf(node), next: 0 })
  }
  enter(start)
  while (work.length > 0) {
    const top = work[work.length - 1]
    if (top.next < top.callees.length) {
      const callee = top.callees[top.next++]
      const at = met.get(callee)
      if (at === undefined) enter(callee)
      else if (isOnPath[at]) low[top.at] = Math.min(low[top.at], at)
      continue
    }
    work.pop()
    const mine = low[top.at]
    if (work.length > 0) {
      const caller = work[work.length - 1].at
      low[caller] = Math.min(low[caller], mine)
    }
    if (mine !== top.at) continue
    const members = path.splice(path.lastIndexOf(top.node))
    for (const member of members) isOnPath[met.get(member) as number] = false
    yield members
  }
}
