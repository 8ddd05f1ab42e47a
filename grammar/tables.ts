/**
 * What the process keeps for all grammars: states, and what was computed about them.
 *
 * States (expressions, contents, names, lexeme states) are integers that grammars hold: they stay. What is computed from a
 * state (its row, its derivatives, its lengths) is found again from the state alone, with the same answer: above a bound
 * it is forgotten, all at once, before the next compilation. Nothing is walking then, since everything is synchronous.
 */

import { forgetLengths, lengthBytes } from "./lexeme/expr/counter.ts"
import { exprBytes } from "./lexeme/expr/nodes.ts"
import { derivativeBytes, forgetDerivatives } from "./lexeme/expr/rows.ts"
import { contentBytes } from "./lexeme/string/content.ts"
import { nameTableBytes } from "./lexeme/string/names.ts"
import { lexemes } from "./lexeme/table.ts"

/** Bytes by table. */
export interface TableBytes {
  /** States: these only grow. */
  expressions: number
  contents: number
  names: number
  lexemeStates: number
  /** What is computed from them: bounded by `trimTables`. */
  rows: number
  derivatives: number
  lengths: number
}

/** Bytes of rows, of derivatives and of lengths that stay from one compilation to the next. */
const MaxBytes = { rows: 24 << 20, derivatives: 64 << 20, lengths: 64 << 20 }

export function tableBytes(): TableBytes {
  const rows = lexemes.rowBytes
  return {
    expressions: exprBytes(),
    contents: contentBytes(),
    names: nameTableBytes(),
    lexemeStates: lexemes.bytes - rows,
    rows,
    derivatives: derivativeBytes(),
    lengths: lengthBytes(),
  }
}

/** Forgets what takes more than its share of bytes. Constant time where nothing does. */
export function trimTables(max: typeof MaxBytes = MaxBytes): void {
  if (lexemes.rowBytes > max.rows) lexemes.forgetRows()
  if (derivativeBytes() > max.derivatives) forgetDerivatives()
  if (lengthBytes() > max.lengths) forgetLengths()
}
