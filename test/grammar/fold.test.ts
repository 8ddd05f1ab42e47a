import { describe, expect, test } from "vitest"
import { fold, foldTree } from "../../grammar/fold.ts"

describe("a graph", () => {
  test("each node is computed once, after those that it needs", () => {
    const needs: Record<string, string[]> = { a: ["b", "c"], b: ["d"], c: ["d", "b"], d: [] }
    const known = new Map<string, string | undefined>()
    const computed: string[] = []
    const value = fold(
      "a",
      known,
      (node) => needs[node],
      (node) => {
        computed.push(node)
        return `${node}(${needs[node].map((need) => known.get(need)).join()})`
      },
    )
    expect(value).toBe("a(b(d()),c(d(),b(d())))")
    expect(computed.toSorted()).toEqual(["a", "b", "c", "d"])
  })

  test("what is known is not computed again", () => {
    const known = new Map<number, number | undefined>([[1, 10]])
    expect(
      fold(
        2,
        known,
        (node) => [node - 1],
        (node) => (known.get(node - 1) as number) + node,
      ),
    ).toBe(12)
  })

  test("on a cycle one value is undefined when it is needed", () => {
    const known = new Map<number, string | undefined>()
    const needOf = (node: number) => (node + 1) % 3
    const value = fold(
      0,
      known,
      (node) => [needOf(node)],
      (node) => `${node} needs ${known.get(needOf(node))}`,
    )
    expect(value).toBe("0 needs 1 needs 2 needs undefined")
  })

  test("a chain of a million nodes takes no stack", () => {
    const known = new Map<number, number | undefined>([[0, 0]])
    const below = (node: number) => (node === 0 ? [] : [node - 1])
    expect(fold(1_000_000, known, below, (node) => (known.get(node - 1) as number) + 1)).toBe(1_000_000)
  })
})

describe("a tree", () => {
  interface Tree {
    readonly name: string
    readonly parts: readonly Tree[]
  }
  const partsOf = ({ parts }: Tree) => parts
  const leaf = (name: string): Tree => ({ name, parts: [] })

  test("the parts of a node come before it", () => {
    const tree = { name: "a", parts: [{ name: "b", parts: [leaf("c"), leaf("d")] }, leaf("e")] }
    const text = foldTree<Tree, string>(tree, partsOf, ({ name, parts }, of) => name + parts.map(of).join(""))
    expect(text).toBe("abcde")
  })

  test("a million levels take no stack", () => {
    let tree = leaf("end")
    for (let depth = 0; depth < 1_000_000; depth++) tree = { name: "", parts: [tree] }
    const depth = foldTree<Tree, number>(tree, partsOf, ({ parts }, of) =>
      parts.reduce((sum, part) => sum + of(part), 1),
    )
    expect(depth).toBe(1_000_001)
  })
})
