/** `format` in JSON Schemas. */
import type { FrontEnd } from "../compiler.ts"
import { formatExpr } from "../format/format.ts"

/** The formats of schemas, for a table with `json`. */
export const formats: FrontEnd<"formats"> = { formats: formatExpr }
