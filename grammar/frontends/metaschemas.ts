/** References of JSON Schemas to the metaschemas of the drafts. */
import type { FrontEnd } from "../compiler.ts"
import { metaschemaText } from "../json/refs/metaschemas.ts"

/** The metaschemas, for a table with `json`. */
export const metaschemas: FrontEnd<"metaschemas"> = { metaschemas: metaschemaText }
