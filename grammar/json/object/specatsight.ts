/**
 * What most schemas say about objects, told at sight: names with a schema each, all others alike, nothing to combine.
 * The same spec as `objectSpec` makes of it, in half of the time; the tests hold it to that.
 */

import { exprs } from "../../lexeme/expr/expr.ts"
import { anyContent } from "../../lexeme/string/content.ts"
import { utf8 } from "../../utf8.ts"
import type { Conjunctions } from "../facts/conjunction.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Chance, DeclaredName, ObjectSpec } from "./objectspec.ts"

const noChances: readonly Chance[] = []

/** The spec of one schema that speaks of single names and of all others alike; null for anything else. */
export function specAtSight(all: Conjunctions, reader: KeywordReader, id: number): ObjectSpec | null {
  const fact = all.facts[id]
  if (fact.kind !== "schema" || !fact.positive) return null
  const keywords = reader.of(fact.node)
  const { properties, additional, required } = keywords
  const isSimple =
    keywords.patternProperties.length === 0 &&
    keywords.propertyNames === null &&
    keywords.unevaluatedProperties === null
  if (!isSimple) return null
  const other = additional === null ? all.everything : all.of([all.schema(additional)])
  const requiredNames = new Set(required)
  const names: DeclaredName[] = []
  const declare = (name: string, value: number) =>
    names.push({
      name,
      bytes: utf8(name),
      value: name.isWellFormed() ? value : all.never,
      isRequired: requiredNames.has(name),
      chances: noChances,
      absence: 0,
    })
  for (const [name, node] of properties) declare(name, all.of([all.schema(node)]))
  for (const name of requiredNames) if (!properties.has(name)) declare(name, other)
  const isClosed = other === all.never || all.isFalse(other)
  return {
    names,
    classes: isClosed ? [] : [{ expr: exprs.anyText, content: anyContent, value: other, chances: noChances }],
    min: keywords.minProperties,
    max: keywords.maxProperties,
    obligationCount: 0,
    anything: all.anything,
  }
}
