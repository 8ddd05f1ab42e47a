/**
 * What front ends return: a grammar and its report, or the refusal of a constraint without texts.
 */
import type { Compiled, Context } from "../compiler.ts"
import { checkLimit, fixedBounds, GrammarError } from "../errors.ts"
import { Grammar } from "../grammar.ts"
import type { JsonOptions } from "../json/compile.ts"
import { Dead } from "../lexeme/table.ts"
import { type KeywordNote, makeReport } from "../report.ts"

/**
 * Compiles a constraint that is one lexeme. `emptiness` says why no text satisfies it, if none
 * does.
 */
export function fromLexeme(
  lexeme: number,
  { limits, json }: Context,
  text: { title: string; emptiness: string; notes?: () => KeywordNote[] },
): Compiled {
  const { title, emptiness, notes = () => [] } = text
  const isEmpty = lexeme === Dead
  const grammar = new Grammar(isEmpty ? [] : [{ lexeme, frames: [] }], { key: json.key, title, limits })
  return compiled(grammar, json, notes, { emptiness: isEmpty ? emptiness : null, wayOut: "Loosen it" })
}

/**
 * Returns the grammar with its report. Throws `unsatisfiable` if `emptiness` says that it has no
 * text.
 */
export function compiled(
  grammar: Grammar,
  { unsatisfiable }: JsonOptions,
  notes: () => KeywordNote[],
  { emptiness, wayOut }: { emptiness: string | null; wayOut: string },
): Compiled {
  if (emptiness === null) return { grammar, report: makeReport(notes) }
  if (unsatisfiable === "error") throw new GrammarError("unsatisfiable", "", `${emptiness}. ${wayOut}`)
  return { grammar, report: makeReport(notes, { path: "", message: emptiness }) }
}

/** Throws `limit` if a text of one of these lengths in bytes could be begun but not be finished. */
export function checkTexts(lengths: readonly number[], what: string): void {
  for (const length of lengths) checkLimit(fixedBounds, "shortestBytes.text", length, "", { what })
}
