/**
 * Regular expressions, as constraints and in JSON Schemas: `pattern`, `patternProperties` and
 * `x-guidance`.
 */
import type { FrontEnd } from "../compiler.ts"
import { checkLimit } from "../errors.ts"
import { schemaPatterns } from "../json/read/pattern.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { patternNotes } from "../regex/foreign.ts"
import { parseRegex } from "../regex/parse.ts"
import { fromLexeme } from "./result.ts"

/** The front end of `kind: "regex"`, and the patterns of schemas. */
export const regex: FrontEnd<"regex" | "patterns"> = {
  patterns: schemaPatterns,

  regex({ pattern, flags }, context) {
    const { limits, json } = context
    checkLimit(limits, "regexBytes", pattern.length)
    const { unsatisfiable } = json
    const expr = parseRegex(pattern, { flags, mode: "match", path: "", unsatisfiable, limits })
    return fromLexeme(exprLexeme(expr), context, {
      title: `regular expression ${pattern}`,
      emptiness: "no text matches the pattern",
      notes: () => patternNotes([{ path: "", pattern, flags }], limits),
    })
  },
}
