/**
 * What reaches each other: the strongly connected components of a graph, callees first. Linear in nodes and edges (Tarjan 1972,
 * without recursion: grammars may be as deep as they are long).
 */

/** The components that `start` reaches; those that a component reaches come before it. `calleesOf` is asked once a node. */
export function* components(
  start: number,
  calleesOf: (node: number) => readonly number[],
): Generator<number[]> {
  /** When a node was met first, and the first node on the path that it reaches. */
  const met = new Map<number, number>()
  const low = new Map<number, number>()
  const path: number[] = []
  const isOnPath = new Set<number>()
  const work: { node: number; callees: readonly number[]; next: number }[] = []
  const lower = (node: number, to: number) => low.set(node, Math.min(low.get(node) as number, to))
  const enter = (node: number) => {
    low.set(node, met.size)
    met.set(node, met.size)
    path.push(node)
    isOnPath.add(node)
    work.push({ node, callees: calleesOf(node), next: 0 })
  }
  enter(start)
  while (work.length > 0) {
    const top = work[work.length - 1]
    if (top.next < top.callees.length) {
      const callee = top.callees[top.next++]
      if (!met.has(callee)) enter(callee)
      else if (isOnPath.has(callee)) lower(top.node, met.get(callee) as number)
      continue
    }
    work.pop()
    const mine = low.get(top.node) as number
    if (work.length > 0) lower(work[work.length - 1].node, mine)
    if (mine !== met.get(top.node)) continue
    const members = path.splice(path.lastIndexOf(top.node))
    for (const member of members) isOnPath.delete(member)
    yield members
  }
}
