/**
 * Makes a failing pair of schema and instance smaller while it still fails: drops members and items, puts children in the
 * place of their parents, and cuts strings. Greedy, until nothing more can go.
 */
import { type JsonNode, readJson, toText } from "../../../grammar/json/read/reader.ts"

/** The smallest pair found for which `fails` still holds; `fails` may throw, which counts as not failing. */
export function shrink(
  schema: string,
  instance: string,
  fails: (schema: string, instance: string) => boolean,
): { schema: string; instance: string } {
  const holds = (a: string, b: string) => {
    try {
      return fails(a, b)
    } catch {
      return false
    }
  }
  let best = { schema, instance }
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const part of ["schema", "instance"] as const) {
      for (let found = true; found; ) {
        found = false
        for (const text of smaller(readJson(best[part], { maxDepth: 10_000 }))) {
          const next = { ...best, [part]: text }
          if (text.length >= best[part].length || !holds(next.schema, next.instance)) continue
          best = next
          found = true
          isSmaller = true
          break
        }
      }
    }
  }
  return best
}

/** Texts with one thing less, the boldest first. */
function* smaller(node: JsonNode): Generator<string> {
  const children = childrenOf(node)
  for (const [, child] of children) yield toText(child)
  if (node.kind === "object" || node.kind === "array") {
    yield "true"
    for (const [gone] of children) yield joined(node, children.filter(([step]) => step !== gone).map(write))
    for (const [step, child] of children) {
      for (const text of smaller(child)) {
        yield joined(
          node,
          children.map((other) => (other[0] === step ? label(node, step) + text : write(other))),
        )
      }
    }
  }
  if (node.kind === "string" && node.value.length > 0) yield JSON.stringify([...node.value].slice(1).join(""))
  if (node.kind === "string" && node.value.length > 1)
    yield JSON.stringify([...node.value].slice(0, -1).join(""))
  if (node.kind === "number" && node.text.length > 1)
    yield node.text.startsWith("0") ? "0" : node.text.slice(0, 1).replace("-", "0")

  function write([step, child]: [string | number, JsonNode]): string {
    return label(node, step) + toText(child)
  }
}

function childrenOf(node: JsonNode): [string | number, JsonNode][] {
  if (node.kind === "object") return [...node.members]
  return node.kind === "array" ? [...node.items.entries()] : []
}

const label = (node: JsonNode, step: string | number) =>
  node.kind === "object" ? `${JSON.stringify(step)}:` : ""
const joined = (node: JsonNode, parts: string[]) =>
  node.kind === "object" ? `{${parts.join()}}` : `[${parts.join()}]`
