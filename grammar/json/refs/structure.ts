/**
 * Schemas with equal text in equal surroundings have the same meaning: one stands for all.
 *
 * Values are hash-consed bottom up, each once. Equal text has equal meaning only under the same
 * base URI, dialect and dynamic scope, and only if it contains no identifier of its own.
 */
import type { JsonNode } from "../read/reader.ts"
import type { SchemaNode } from "./refs.ts"

const identifiers = new Set(["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema"])

export class Structures {
  private readonly ids = new Map<JsonNode, number>()
  private readonly keys = new Map<string, number>()
  private readonly firsts = new Map<number, SchemaNode[]>()
  private count = 0

  /** Returns the first schema so far that is written like `node` and has the same meaning. */
  first(node: SchemaNode): SchemaNode {
    const id = this.idOf(node.value)
    let known = this.firsts.get(id)
    if (known === undefined) {
      known = []
      this.firsts.set(id, known)
    }
    for (const other of known) {
      if (other.resource === node.resource && other.scope === node.scope && other.dialect === node.dialect)
        return other
    }
    known.push(node)
    return node
  }

  private idOf(value: JsonNode): number {
    let id = this.ids.get(value)
    if (id === undefined) {
      const key = this.keyOf(value)
      id = (key === null ? undefined : this.keys.get(key)) ?? this.count++
      if (key !== null) this.keys.set(key, id)
      this.ids.set(value, id)
    }
    return id
  }

  /** Returns null for a value that equals no other. */
  private keyOf(value: JsonNode): string | null {
    switch (value.kind) {
      case "number":
        return value.text
      case "string":
        return JSON.stringify(value.value)
      case "array":
        return `[${value.items.map((item) => this.idOf(item))}]`
      case "object": {
        if (value.keys.some((key) => identifiers.has(key))) return null
        return `{${value.keys.map((key) => `${JSON.stringify(key)}:${this.idOf(value.members.get(key) as JsonNode)}`)}}`
      }
      default:
        return value.kind
    }
  }
}
