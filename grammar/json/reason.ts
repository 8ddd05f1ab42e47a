/**
 * The reason why a schema is unsatisfiable, in words: the outermost part that is required and
 * impossible.
 *
 * The search follows the schemas that always hold (`allOf`, `$ref`) and required properties and
 * items down to the contradiction. A contradiction between choices is reported at the choices.
 */

import { AllTypes, Types } from "./facts/conjunction.ts"
import type { JsonLanguage } from "./language.ts"
import type { Keywords } from "./read/keywords.ts"
import type { SchemaNode } from "./refs/refs.ts"

export interface Reason {
  path: string
  message: string
}

export function whyEmpty(language: JsonLanguage, root: SchemaNode): Reason {
  const { reader, all } = language
  const schemas = reader.inAnyCase(root).map((node) => [node, reader.of(node)] as const)
  let types = AllTypes
  for (const [node, keywords] of schemas) {
    if (node.value.kind === "false") return { path: node.pointer, message: "false allows no value" }
    types &= keywords.types
    if (types === 0)
      return { path: `${node.pointer}/type`, message: "no type is left that every part allows" }
  }
  const isImpossible = (nodes: readonly SchemaNode[]) =>
    nodes.length > 0 && !language.isProductive(all.of(nodes.map((node) => all.schema(node))))
  // A reason inside objects or arrays explains only a schema that allows nothing else.
  if (types === Types.object) {
    for (const [node, keywords] of schemas) {
      for (const name of keywords.required) {
        const path = `${node.pointer}/required`
        const quoted = JSON.stringify(name)
        const values = schemas.flatMap(([, other]) => valuesOf(other, name))
        const single = values.find((value) => isImpossible([value]))
        if (single !== undefined)
          return { path, message: `${quoted} is required but ${single.pointer} allows no value` }
        if (isImpossible(values)) {
          const places = values.map(({ pointer }) => pointer).join(" and ")
          return { path, message: `${quoted} is required but ${places} allow no value together` }
        }
      }
    }
  }
  if (types === Types.array) {
    for (const [node, keywords] of schemas) {
      const item = keywords.prefix[0] ?? keywords.rest
      if (keywords.minItems > 0 && item !== null && isImpossible([item]))
        return {
          path: `${node.pointer}/minItems`,
          message: `an item is required but ${item.pointer} allows no value`,
        }
    }
  }
  for (const [node, keywords] of schemas) {
    if (node !== root && isImpossible([node])) return { path: node.pointer, message: "no value satisfies it" }
    for (const [keyword, lists] of [
      ["anyOf", keywords.any],
      ["oneOf", keywords.one],
    ] as const) {
      if (lists.some((branches) => branches.every((branch) => isImpossible([branch]))))
        return { path: `${node.pointer}/${keyword}`, message: "no branch allows a value" }
    }
  }
  return { path: root.pointer, message: "its keywords contradict each other: no value satisfies all of them" }
}

/** Returns the constraints of one schema on the value of `name`, without patterns. */
function valuesOf(keywords: Keywords, name: string): SchemaNode[] {
  const declared = keywords.properties.get(name)
  if (declared !== undefined) return [declared]
  return keywords.additional !== null && keywords.patternProperties.length === 0 ? [keywords.additional] : []
}
