/**
 * Duals: the conditions under which a container violates its keywords. Each alternative is one way
 * to violate them.
 *
 * required ↔ a name absent · every property of a class satisfies S ↔ some property of that class
 * does not · bounds on counts ↔ the strict opposite bound · items ↔ an item that does not ·
 * contains ↔ too few or too many · unique ↔ equal items.
 */
import { exprs } from "../../lexeme/expr/expr.ts"
import type { Keywords } from "../read/keywords.ts"
import type { JsonNode } from "../read/reader.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type Alternative, type Conjunctions, Infinite, type Names, typeBit } from "./conjunction.ts"

/** Returns the names that `properties` does not declare and `patternProperties` does not match. */
function restNames({ properties, patternProperties }: Keywords): Names {
  if (patternProperties.length === 0) return new Set(properties.keys())
  const declared = [...properties.keys()].filter((name) => name.isWellFormed())
  const matched = patternProperties.map(({ expr }) => expr)
  return exprs.not(exprs.or([...declared.map((name) => exprs.literal(name)), ...matched]))
}

function objectDuals(all: Conjunctions, keywords: Keywords): Alternative[] {
  const alternatives: Alternative[] = []
  const wrong = (node: SchemaNode) => all.schema(node, false)
  for (const name of keywords.required) {
    const node = keywords.properties.get(name)
    // The property is absent, or present with a wrong value. Both say: if it is present, its value
    // is wrong.
    alternatives.push([
      node === undefined || node.value.kind === "true"
        ? all.fact({ kind: "absent", name })
        : all.fact({ kind: "property", name, fact: wrong(node) }),
    ])
  }
  const required = new Set(keywords.required)
  for (const [name, node] of keywords.properties) {
    if (node.value.kind === "true" || required.has(name)) continue
    alternatives.push([
      all.fact({ kind: "present", name }),
      all.fact({ kind: "property", name, fact: wrong(node) }),
    ])
  }
  for (const { expr, node } of keywords.patternProperties)
    alternatives.push([all.fact({ kind: "some", names: expr, fact: wrong(node) })])
  if (keywords.additional !== null) {
    const names = restNames(keywords)
    alternatives.push([all.fact({ kind: "some", names, fact: wrong(keywords.additional) })])
  }
  if (keywords.propertyNames !== null) {
    const names = exprs.not(keywords.namesOf(keywords.propertyNames))
    alternatives.push([all.fact({ kind: "some", names, fact: all.anything })])
  }
  for (const [name, names] of keywords.dependentRequired) {
    for (const other of names) {
      alternatives.push([all.fact({ kind: "present", name }), all.fact({ kind: "absent", name: other })])
    }
  }
  for (const [name, node] of keywords.dependentSchemas)
    alternatives.push([all.fact({ kind: "present", name }), wrong(node)])
  alternatives.push(...sizeDuals(all, keywords.minProperties, keywords.maxProperties))
  return alternatives
}

function sizeDuals(all: Conjunctions, min: number, max: number): Alternative[] {
  const alternatives: Alternative[] = []
  if (min > 0) alternatives.push([all.fact({ kind: "size", min: 0, max: min - 1 })])
  if (max !== Infinite) alternatives.push([all.fact({ kind: "size", min: max + 1, max: Infinite })])
  return alternatives
}

function arrayDuals(all: Conjunctions, keywords: Keywords): Alternative[] {
  const alternatives = sizeDuals(all, keywords.minItems, keywords.maxItems)
  for (const [index, node] of keywords.prefix.entries()) {
    if (node.value.kind === "true") continue
    alternatives.push([
      all.fact({ kind: "size", min: index + 1, max: Infinite }),
      all.fact({ kind: "item", index, fact: all.schema(node, false) }),
    ])
  }
  if (keywords.rest !== null && keywords.rest.value.kind !== "true") {
    const fact = all.schema(keywords.rest, false)
    alternatives.push([
      all.fact({ kind: "contains", from: keywords.prefix.length, fact, min: 1, max: Infinite }),
    ])
  }
  if (keywords.contains !== null) {
    const { node, min, max } = keywords.contains
    const fact = all.schema(node)
    if (min > 0) alternatives.push([all.fact({ kind: "contains", from: 0, fact, min: 0, max: min - 1 })])
    if (max !== Infinite)
      alternatives.push([all.fact({ kind: "contains", from: 0, fact, min: max + 1, max: Infinite })])
  }
  if (keywords.unique) alternatives.push([all.fact({ kind: "unique", positive: false })])
  return alternatives
}

/** Returns the ways for a container of the same type to differ from `value`. */
function equalsDuals(all: Conjunctions, value: JsonNode): Alternative[] {
  if (value.kind === "array") {
    const alternatives = sizeDuals(all, value.items.length, value.items.length)
    for (const [index, item] of value.items.entries()) {
      alternatives.push([
        all.fact({ kind: "size", min: index + 1, max: Infinite }),
        all.fact({ kind: "item", index, fact: all.fact({ kind: "equals", value: item, positive: false }) }),
      ])
    }
    return alternatives
  }
  if (value.kind !== "object") throw new Error(`internal: ${typeBit(value)} is not a container`)
  const alternatives: Alternative[] = []
  for (const name of value.keys) {
    const member = value.members.get(name) as JsonNode
    alternatives.push([
      all.fact({
        kind: "property",
        name,
        fact: all.fact({ kind: "equals", value: member, positive: false }),
      }),
    ])
  }
  alternatives.push([all.fact({ kind: "size", min: value.keys.length + 1, max: Infinite })])
  return alternatives
}

export const negateContainer = { object: objectDuals, array: arrayDuals, equals: equalsDuals }
