/** The cheapest names of a trie, and the cheapest text that is none of its names. */
import { grown } from "../../intern.ts"
import { owned } from "../../tables.ts"
import type { Completion } from "../completion.ts"
import { ExcludedTag, linkByte, NoNames, nameBytes, nameChild, nameNodeCount, nameTag } from "./names.ts"

/** Cost of a node without a usable name. */
const NoName = 0x3fffffff

/**
 * Cost of the cheapest usable name of each node that was computed so far, by the costs of bytes.
 */
const known = owned(
  "shortest names",
  { least: new Map<Uint8Array, { values: Int32Array; count: number }>() },
  // The entries grow with the names of a world.
  { forget: () => (known.least = new Map()) },
)

/**
 * Returns the cost of the cheapest usable name of `node`; more than any text costs if there is
 * none.
 */
export function leastName(node: number, costs: Uint8Array): number {
  let least = known.least.get(costs)
  if (least === undefined) {
    least = { values: new Int32Array(1024), count: 0 }
    known.least.set(costs, least)
  }
  if (node < least.count) return least.values[node]
  // Children have lower numbers than their parents, so this computes each node once, in order,
  // without recursion.
  const count = nameNodeCount()
  if (count > least.values.length) least.values = grown(least.values, 2 * count)
  const { values } = least
  for (let at = least.count; at < count; at++) {
    const link = linkByte(at)
    if (link >= 0) {
      values[at] = Math.min(NoName, costs[link] + values[at - 1])
      continue
    }
    values[at] = isUsable(at) ? 0 : NoName
    if (values[at] === 0) continue
    for (const byte of nameBytes(at))
      values[at] = Math.min(values[at], costs[byte] + values[nameChild(at, byte)])
  }
  least.count = count
  return values[node]
}

/** Returns a cheapest usable name with its tag, or null if there is none. */
export function shortestName(node: number, costs: Uint8Array): Completion | null {
  if (leastName(node, costs) >= NoName) return null
  const bytes: number[] = []
  let at = node
  while (!isUsable(at)) {
    const least = leastName(at, costs)
    const byte = nameBytes(at).find((byte) => costs[byte] + leastName(nameChild(at, byte), costs) === least)
    bytes.push(byte as number)
    at = nameChild(at, byte as number)
  }
  return { bytes: Uint8Array.from(bytes), tag: nameTag(at) }
}

/** Bytes from which a text that no name prescribes is made. */
const plainBytes = [
  ..."0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ !#$%&'()*+,-./:;<=>?@[]^_`{|}~",
].map((char) => char.charCodeAt(0))

/**
 * Returns a shortest text of at least `min` characters, each of cost 1, that is not a name of
 * `node`.
 */
export function shortestOther(node: number, costs: Uint8Array, min: number): Uint8Array {
  const plain = plainBytes.filter((byte) => costs[byte] === 1)
  for (let length = min; ; length++) {
    // Searches depth first along the names. Any text that leaves them is free.
    const path: { node: number; next: number }[] = [{ node, next: 0 }]
    while (path.length > 0) {
      const top = path[path.length - 1]
      const isFree = top.node === NoNames || (path.length - 1 === length && nameTag(top.node) === 0)
      if (isFree) {
        const text = new Uint8Array(length).fill(plain[0])
        for (let i = 0; i + 1 < path.length; i++) text[i] = plain[path[i].next - 1]
        return text
      }
      if (path.length - 1 === length || top.next === plain.length) path.pop()
      else path.push({ node: nameChild(top.node, plain[top.next++]), next: 0 })
    }
  }
}

function isUsable(node: number): boolean {
  const tag = nameTag(node)
  return tag !== 0 && tag !== ExcludedTag
}
