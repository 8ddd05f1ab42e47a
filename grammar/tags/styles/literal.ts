/** Fixed text of a wire form: control tokens of the vocabulary are read by their ids, all else as bytes. */
import type { Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import { piecesOf, piecesTerm } from "../literal.ts"

/** Exactly `text`. */
export function literalTerm(rules: Rules, text: string): Term {
  return piecesTerm(rules, piecesOf(text, rules.tokens))
}

/**
 * `text` without a control token at its end that ends a text in this vocabulary: no such token is ever read, it ends what is
 * written. Null where there is none.
 */
export function beforeEnd(rules: Rules, text: string): string | null {
  const last = piecesOf(text, rules.tokens).at(-1)
  if (last?.token === undefined || last.token === null) return null
  return rules.tokens?.endIds.includes(last.token) ? text.slice(0, -last.text.length) : null
}

/** `text` up to its first control token in this vocabulary, and from there on. */
export function beforeToken(rules: Rules, text: string): [bytes: string, rest: string] {
  const [first] = piecesOf(text, rules.tokens)
  const bytes = first === undefined || first.token !== null ? "" : first.text
  return [bytes, text.slice(bytes.length)]
}
