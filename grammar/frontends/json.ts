/** JSON Schemas. */
import type { FrontEnd } from "../compiler.ts"
import { compileJsonSchema } from "../json/compile.ts"

/**
 * The front end of `kind: "json"`. Without `regex` in the same table, schemas with patterns are
 * refused; without `formats`, those that assert a format.
 */
export const json: FrontEnd<"json"> = {
  json: ({ schema }, context) => compileJsonSchema(schema, context.json),
}
