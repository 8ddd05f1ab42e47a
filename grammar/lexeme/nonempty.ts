/** Any lexeme without its empty text, for rules that treat the case of an empty part separately. */
import { type ClampedKind, quietState } from "./clamp.ts"
import { type CompletedKind, leastBytes } from "./completion.ts"
import { Dead, lexemes } from "./table.ts"

const NonEmptyKind = lexemes.register<CompletedKind & ClampedKind>({
  tag: () => 0,
  expand(lexeme, _b, _c, row) {
    // Its transitions are those of the lexeme, so it has no edges of its own and shares the local
    // masks.
    row.base = lexeme
    row.bytes = []
  },
  least: (lexeme) => Math.max(1, leastBytes(lexeme)),
  quiet: (lexeme) => quietState(lexeme),
})

/** Returns the texts of `lexemeState` with at least one byte; `Dead` if there are none. */
export function nonEmptyLexeme(lexemeState: number): number {
  if (lexemeState === Dead || lexemes.tags[lexemeState] === 0) return lexemeState
  return lexemes.canContinue(lexemeState) ? lexemes.state(NonEmptyKind, lexemeState) : Dead
}
