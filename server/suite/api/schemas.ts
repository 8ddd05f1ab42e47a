/**
 * The JSON Schemas of the suite, keyword by keyword.
 *
 * They are kept as texts, so that the spelling of numbers and the order of keys are sent as they
 * are written: `## keyword`, then for each row a line `name: prompt` and the schema. It is the
 * schema of the member `v` of an object; after `* ` it is the schema of the whole answer.
 *
 * In each row the keyword decides: an answer that follows the prompt, or that is drawn from the
 * rest of the schema, hardly ever satisfies it. That is how an enforced keyword differs from good
 * luck.
 */
import { containers } from "./rows/containers.ts"
import { logic } from "./rows/logic.ts"
import { scalars } from "./rows/scalars.ts"

export interface SchemaRow {
  readonly keyword: string
  readonly name: string
  readonly prompt: string
  /** JSON text of the schema of the whole answer. */
  readonly schema: string
}

const introduction = "Answer with an object whose only member is v. "

/** Returns all rows, in order. */
export function schemaRows(): SchemaRow[] {
  return [scalars, containers, logic].flatMap(readRows)
}

/** Reads rows. Throws if a row does not have the form. */
function readRows(text: string): SchemaRow[] {
  let keyword = ""
  return text
    .trim()
    .split("\n\n")
    .flatMap((block) => {
      const heading = /^## (.+)$/.exec(block)
      if (heading !== null) {
        keyword = heading[1]
        return []
      }
      const row = /^(\* )?([^\n:]+): ([^\n]+)\n([\s\S]+)$/.exec(block)
      if (row === null) throw new Error(`internal: no row of schemas: ${block}`)
      const [, isWhole, name, prompt, schema] = row
      return isWhole
        ? [{ keyword, name, prompt, schema }]
        : [{ keyword, name, prompt: introduction + prompt, schema: memberOnly(schema) }]
    })
}

/** Returns the schema of an object whose only member is `v`. */
function memberOnly(schema: string): string {
  return `{"type":"object","properties":{"v":${schema}},"required":["v"],"additionalProperties":false}`
}
