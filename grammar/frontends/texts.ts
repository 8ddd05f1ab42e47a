/** Given texts: one of a list of choices, or a piece of a text. */
import type { FrontEnd } from "../compiler.ts"
import { chunksOf, substringExpr } from "../ebnf/substring.ts"
import { checkLimit, GrammarError } from "../errors.ts"
import { compareNames } from "../json/read/value.ts"
import { exprLexeme, rawLexeme } from "../lexeme/raw.ts"
import { NoContent, namesContent } from "../lexeme/string/content.ts"
import { buildNames } from "../lexeme/string/names.ts"
import { PlainTag } from "../lexeme/table.ts"
import { checkTexts, fromLexeme } from "./result.ts"

/**
 * The front ends of `kind: "choice"` and `kind: "substring"`, and the copied strings of schemas.
 */
export const texts: FrontEnd<"choice" | "substring" | "quotations"> = {
  quotations: (source, unit, path, limits) => substringExpr(chunksOf(source, unit), path, limits),

  choice({ options }, context) {
    checkLimit(context.limits, "choices", options.length)
    if (options.length === 0) throw new GrammarError("syntax", "", "a choice needs at least one option")
    return fromLexeme(rawLexeme(choiceContent(options)), context, {
      title: `choice of ${options.length}`,
      emptiness: "no option is a text",
    })
  },

  substring(input, context) {
    const chunks = "chunks" in input ? input.chunks : chunksOf(input.text, input.unit ?? "chars")
    checkTexts(
      chunks.map((chunk) => chunk.length),
      "a chunk",
    )
    const lexeme = exprLexeme(substringExpr(chunks, "", context.limits))
    return fromLexeme(lexeme, context, { title: `substring of ${chunks.length} chunks`, emptiness: "" })
  },
}

function choiceContent(options: readonly string[]): number {
  const encoder = new TextEncoder()
  const texts = new Set(options)
  for (const text of texts) {
    if (!text.isWellFormed())
      throw new GrammarError("syntax", "", `the option ${JSON.stringify(text)} holds half a surrogate pair`)
  }
  const entries = [...texts].map((text) => ({ bytes: encoder.encode(text), tag: PlainTag }))
  checkTexts(
    entries.map(({ bytes }) => bytes.length),
    "an option of the choice",
  )
  return namesContent(buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes))), NoContent)
}
