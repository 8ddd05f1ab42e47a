/**
 * The reason why a schema is unsatisfiable, in words: the outermost part that is required and
 * impossible.
 *
 * The search follows the schemas that always hold (`allOf`, `$ref`) and required properties and
 * items down to the contradiction. A contradiction between choices is reported at the choices.
 */

import { TimeError, withinTime } from "../deadline.ts"
import { contradictionOf, type IsPossible } from "./contradiction.ts"
import { AllTypes, Types } from "./facts/conjunction.ts"
import type { JsonLanguage } from "./language.ts"
import type { Keywords } from "./read/keywords.ts"
import type { SchemaNode } from "./refs/refs.ts"

/** Maximum number of nested values through which a message goes. */
const MostDepth = 4

export interface Reason {
  path: string
  message: string
}

/** Milliseconds for the search. */
const MostMs = 1_000

/**
 * `isPossible` decides about schemas that are made of single keywords. A search that takes too long
 * ends with a sentence that says less.
 */
export function whyEmpty(language: JsonLanguage, root: SchemaNode, isPossible: IsPossible): Reason {
  try {
    return withinTime(MostMs, () => reasonOf(language, root, isPossible))
  } catch (error) {
    if (error instanceof TimeError) return { path: root.pointer, message: contradictory }
    throw error
  }
}

function reasonOf(
  language: JsonLanguage,
  root: SchemaNode,
  isPossible: IsPossible,
  around: readonly SchemaNode[] = [],
): Reason {
  const { reader, all } = language
  const nodes = reader.inAnyCase(root)
  const schemas = nodes.map((node) => [node, reader.of(node)] as const)
  let types = AllTypes
  for (const [node, keywords] of schemas) {
    if (node.value.kind === "false") return { path: node.pointer, message: "false allows no value" }
    types &= keywords.types
    if (types === 0)
      return {
        path: `${node.pointer}/type`,
        message: contradictionOf(nodes, isPossible) ?? "no type is left that every part allows",
      }
  }
  const isImpossible = (nodes: readonly SchemaNode[]) =>
    nodes.length > 0 && !language.isProductive(all.of(nodes.map((node) => all.schema(node))))
  const isKnown = (node: SchemaNode) => node === root || around.includes(node) || around.length === MostDepth
  const noValueOf = (node: SchemaNode): string => {
    const why = isKnown(node) ? null : reasonOf(language, node, isPossible, [...around, root])
    const saysMore = why !== null && why.message !== contradictory && node.value.kind !== "false"
    const inner = saysMore ? `: ${why.message}` : ""
    return `${node.pointer} allows no value${inner}`
  }
  // A reason inside objects or arrays explains only a schema that allows nothing else.
  if (types === Types.object) {
    for (const [node, keywords] of schemas) {
      for (const name of keywords.required) {
        const path = `${node.pointer}/required`
        const quoted = JSON.stringify(name)
        const values = schemas.flatMap(([, other]) => valuesOf(other, name))
        const single = values.find((value) => isImpossible([value]))
        if (single !== undefined) return { path, message: `${quoted} is required but ${noValueOf(single)}` }
        if (isImpossible(values)) {
          const places = values.map(({ pointer }) => pointer).join(" and ")
          const why = contradictionOf(
            values.flatMap((value) => reader.inAnyCase(value)),
            isPossible,
          )
          const message = `${quoted} is required but ${places} allow no value together`
          return { path, message: why === null ? message : `${message}: ${why}` }
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
          message: `an item is required but ${noValueOf(item)}`,
        }
    }
  }
  const pair = contradictionOf(nodes, isPossible)
  if (pair !== null) return { path: root.pointer, message: pair }
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
  return { path: root.pointer, message: contradictory }
}

const contradictory = "its keywords contradict each other: no value satisfies all of them"

/** Returns the constraints of one schema on the value of `name`, without patterns. */
function valuesOf(keywords: Keywords, name: string): SchemaNode[] {
  const declared = keywords.properties.get(name)
  if (declared !== undefined) return [declared]
  return keywords.additional !== null && keywords.patternProperties.length === 0 ? [keywords.additional] : []
}
