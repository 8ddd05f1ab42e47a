/**
 * What the process keeps for all grammars: states, and results computed about them.
 *
 * States (expressions, contents, names, lexeme states) are integers that grammars hold, so they
 * stay. Results (rows, derivatives, lengths) depend on the state alone and can be computed again.
 * Above a bound they are all forgotten at once before the next compilation. No walk is under way
 * then, since everything is synchronous.
 */

import { forgetLengths, lengthBytes } from "./lexeme/expr/counter.ts"
import { exprBytes } from "./lexeme/expr/nodes.ts"
import { derivativeBytes, forgetDerivatives } from "./lexeme/expr/rows.ts"
import { contentBytes } from "./lexeme/string/content.ts"
import { nameTableBytes } from "./lexeme/string/names.ts"
import { lexemes } from "./lexeme/table.ts"

/** Bytes by table. */
export interface TableBytes {
  /** States, which only grow. */
  expressions: number
  contents: number
  names: number
  lexemeStates: number
  /** Results computed from them, which `trimTables` bounds. */
  rows: number
  derivatives: number
  lengths: number
}

/** Bytes of rows, of derivatives and of lengths that may stay from one compilation to the next. */
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

/** Forgets the tables that are above their bounds. Constant time if none is. */
export function trimTables(max: typeof MaxBytes = MaxBytes): void {
  if (lexemes.rowBytes > max.rows) lexemes.forgetRows()
  if (derivativeBytes() > max.derivatives) forgetDerivatives()
  if (lengthBytes() > max.lengths) forgetLengths()
}
