/**
 * Where schemas must say whether their strings are copied (`read/copied.ts`).
 *
 * A schema that does not say is narrowed. So it must not stand where a narrower schema can allow
 * more values: then a value could satisfy the narrowed whole and not the given one.
 */
import { GrammarError } from "../../errors.ts"
import { CopiedKey } from "../read/copied.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { excludeEachOther } from "./oneof.ts"

/** The largest `oneOf` whose schemas are compared pair by pair. */
const MostCompared = 64

/**
 * Throws `unsupported` if a schema that does not say whether its strings are copied stands where a
 * narrower schema can allow more values. `nodes` are all schemas.
 */
export function checkCopies(reader: KeywordReader, nodes: readonly SchemaNode[]): void {
  const { implied } = reader.copies
  if (implied.size === 0) return
  const found = new Set(nodes.flatMap((node) => reversed(reader, node)))
  for (const node of found) {
    if (implied.has(node)) {
      const message = `below oneOf, not, if, contains or propertyNames a string must say whether it is copied. Add "${CopiedKey}": true or false`
      throw new GrammarError("unsupported", node.pointer, message)
    }
    for (const below of reader.of(node).below) found.add(below)
  }
}

/**
 * Returns the schemas in `node` whose values may have to be others than those of the schema. A
 * `oneOf` of schemas that exclude each other is an `anyOf`.
 */
function reversed(reader: KeywordReader, node: SchemaNode): readonly SchemaNode[] {
  const { one, not, conditional, contains, propertyNames } = reader.of(node)
  const isUnion = (list: readonly SchemaNode[]): boolean =>
    list.length <= MostCompared &&
    list.every((a, i) => list.every((b, j) => j <= i || excludeEachOther(reader, a, b)))
  return [
    ...one.filter((list) => !isUnion(list)).flat(),
    ...not,
    ...(conditional === null ? [] : [conditional.test]),
    ...(contains === null ? [] : [contains.node]),
    ...(propertyNames === null ? [] : [propertyNames]),
  ]
}
