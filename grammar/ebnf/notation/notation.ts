/**
 * Detects which notation a grammar is written in, if the caller has only its text.
 *
 * The first definition decides: `name ::=` is GBNF, `name:` is Lark. Before it there may be
 * comments of either notation, and statements with a percent sign, which only Lark has.
 */
import type { Limits } from "../../errors.ts"
import { Source } from "./source.ts"

export type Notation = "gbnf" | "lark"

/** White space and comments. */
const skipped = /(?:\s+|#[^\r\n]*|\/\/[^\r\n]*)*/y
/** A name in either notation with what may follow it, up to the sign that makes it a definition. */
const definition =
  /[?!]*[A-Za-z_-][\w.-]*(?:\s*(?:::_|\{[^{}\r\n]*\}))?(?:\s*\[(?:[^\]"\r\n]|"(?:[^"\\\r\n]|\\[^\r\n])*"){0,4096}\])?\s*(::=|:)/y

/**
 * Returns the notation of a text. Throws `syntax` if its first statement is not a definition in
 * either notation.
 */
export function notationOf(text: string, limits: Limits): Notation {
  const source = new Source(text, limits)
  skipped.lastIndex = 0
  skipped.test(text)
  const start = skipped.lastIndex
  if (text[start] === "%") return "lark"
  definition.lastIndex = start
  const found = definition.exec(text)
  if (found !== null) return found[1] === "::=" ? "gbnf" : "lark"
  throw source.error(
    "syntax",
    start,
    'expected a definition: "name ::= …" of a GBNF grammar, or "name: …" of a Lark grammar',
  )
}
