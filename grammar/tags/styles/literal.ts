/**
 * Fixed text of a wire form. Control tokens of the vocabulary are read by their ids, all else as
 * bytes.
 */
import type { Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import { piecesOf, piecesTerm } from "../literal.ts"

/** Returns the term of exactly `text`. */
export function literalTerm(rules: Rules, text: string): Term {
  return piecesTerm(rules, piecesOf(text, rules.tokens))
}

/**
 * Returns `text` without the control token at its end, if that token ends a text in this
 * vocabulary: such a token is never read, because it ends the output. Null if there is none.
 */
export function beforeEnd(rules: Rules, text: string): string | null {
  const last = piecesOf(text, rules.tokens).at(-1)
  if (last?.token === undefined || last.token === null) return null
  return rules.tokens?.endIds.includes(last.token) ? text.slice(0, -last.text.length) : null
}

/** Splits `text` before its first control token in this vocabulary. */
export function beforeToken(rules: Rules, text: string): [bytes: string, rest: string] {
  const [first] = piecesOf(text, rules.tokens)
  const bytes = first === undefined || first.token !== null ? "" : first.text
  return [bytes, text.slice(bytes.length)]
}
