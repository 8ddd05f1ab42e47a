/** Any lexeme without its empty text: where a rule says what follows an empty part, the part itself is read with at least one byte. */
import { type ClampedKind, quietState } from "./clamp.ts"
import { type CompletedKind, leastBytes } from "./completion.ts"
import { Dead, lexemes } from "./table.ts"

const NonEmptyKind = lexemes.register<CompletedKind & ClampedKind>({
  tag: () => 0,
  expand(lexeme, _b, _c, row) {
    // It reads what the lexeme reads, so it has no edges of its own and shares the local masks.
    row.base = lexeme
    row.bytes = []
  },
  least: (lexeme) => Math.max(1, leastBytes(lexeme)),
  quiet: (lexeme) => quietState(lexeme),
})

/** The texts of `lexemeState` with at least one byte; `Dead` if there are none. */
export function nonEmptyLexeme(lexemeState: number): number {
  if (lexemeState === Dead || lexemes.tags[lexemeState] === 0) return lexemeState
  return lexemes.canContinue(lexemeState) ? lexemes.state(NonEmptyKind, lexemeState) : Dead
}
