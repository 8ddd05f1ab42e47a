/**
 * Refuses ahead of time what cannot be negated: where the negation of `uniqueItems` would be asked for.
 *
 * Follows schemas with a sign, as the canonical form does: `not`, `if` and the other branches of a `oneOf` turn it, all
 * else keeps it. So a schema is refused before the first token, with the pointer, and never in the middle of an array.
 */
import { GrammarError } from "../errors.ts"
import { Types } from "./conjunction.ts"
import type { KeywordReader } from "./keywordreader.ts"
import { areDisjoint } from "./oneof.ts"
import type { SchemaNode } from "./refs.ts"

export function refuseNegatedUnique(reader: KeywordReader, root: SchemaNode): void {
  const signs = [new Set([root]), new Set<SchemaNode>()]
  const queue: [SchemaNode, 0 | 1][] = [[root, 0]]
  const add = (node: SchemaNode | null | undefined, sign: 0 | 1) => {
    if (node == null || signs[sign].has(node)) return
    signs[sign].add(node)
    queue.push([node, sign])
  }
  for (const [node, sign] of queue) {
    const other = sign === 0 ? 1 : 0
    const keywords = reader.of(node)
    if (sign === 1 && keywords.unique && (keywords.types & Types.array) !== 0) {
      throw new GrammarError(
        "unsupported",
        `${node.pointer}/uniqueItems`,
        "the negation of uniqueItems is not supported. Rewrite the not, if or oneOf around it",
      )
    }
    const { properties, patternProperties, prefix, all, any, not, conditional, contains } = keywords
    for (const child of [...all, ...any.flat(), ...properties.values(), ...prefix]) add(child, sign)
    for (const { node: child } of patternProperties) add(child, sign)
    for (const child of [keywords.additional, keywords.rest, keywords.propertyNames]) add(child, sign)
    for (const child of [keywords.unevaluatedProperties, keywords.unevaluatedItems]) add(child, sign)
    for (const [, child] of keywords.dependentSchemas) add(child, sign)
    for (const child of not) add(child, other)
    for (const branches of keywords.one) {
      for (const branch of branches) {
        add(branch, sign)
        const overlaps = branches.some(
          (rival) => rival !== branch && !areDisjoint(reader, branch, rival, Types.array),
        )
        if (sign === 1 || overlaps) add(branch, other)
      }
    }
    for (const child of conditional === null ? [] : [conditional.yes, conditional.no]) add(child, sign)
    if (conditional !== null && (conditional.yes !== null || conditional.no !== null)) {
      add(conditional.test, 0)
      add(conditional.test, 1)
    }
    if (contains !== null) {
      add(contains.node, 0)
      if (sign === 1 || contains.max !== Number.POSITIVE_INFINITY || keywords.unique) add(contains.node, 1)
    }
  }
}
