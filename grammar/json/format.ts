/** `format` as a language of decoded texts. */
import { GrammarError } from "../errors.ts"
import type { ExprId } from "../lexeme/expr.ts"

const standard = new Set(
  "date time date-time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference uri-template json-pointer relative-json-pointer uuid regex".split(
    " ",
  ),
)

/** Texts in the format `name`, or null for a name that no draft knows. Standard formats are refused. */
export function formatExpr(name: string): ExprId | null {
  if (!standard.has(name)) return null
  throw new GrammarError("unsupported", "", `the format ${name} is not enforced. Pass formats: "annotate"`)
}
