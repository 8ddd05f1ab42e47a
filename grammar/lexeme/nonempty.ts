/** Any lexeme without its empty text: where a rule says what follows an empty part, the part itself is read with at least one byte. */
import { Dead, lexemes } from "./table.ts"

const NonEmptyKind = lexemes.register({
  tag: () => 0,
  expand(lexeme, _b, _c, row) {
    for (let byte = 0; byte < 256; byte++) row.targets[byte] = lexemes.next(lexeme, byte)
  },
  least: (lexeme) => Math.max(1, lexemes.least(lexeme)),
})

/** The texts of `lexemeState` with at least one byte; `Dead` if there are none. */
export function nonEmptyLexeme(lexemeState: number): number {
  if (lexemeState === Dead || lexemes.tags[lexemeState] === 0) return lexemeState
  return lexemes.canContinue(lexemeState) ? lexemes.state(NonEmptyKind, lexemeState) : Dead
}
