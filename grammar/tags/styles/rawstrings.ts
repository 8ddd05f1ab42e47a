/**
 * Strings that are written without quotes: what the schema says of them applies to the text as it stands.
 *
 * Where a style pads values with line ends, one of them right before and right behind belongs to the wrapper, if it is there.
 * So the text between the tags says which string is meant, whatever the model pads: the text T is the string S iff S is what
 * remains of T without them.
 */

import { compareNames } from "../../json/read/value.ts"
import type { StringValues } from "../../json/scalar/strings.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { exprLexeme, rawLexeme } from "../../lexeme/raw.ts"
import { NoContent, namesContent, PlainTag } from "../../lexeme/string/content.ts"
import { buildNames } from "../../lexeme/string/names.ts"
import { Dead } from "../../lexeme/table.ts"
import { utf8 } from "../../utf8.ts"

export interface RawForm {
  readonly padding: string | undefined
  /** Texts that no value may hold, the one that ends it among them; and all texts without them. */
  readonly excludes: readonly string[]
  readonly allowed: ExprId
}

/** Listed strings up to this many are an expression, more of them a trie. */
const FewTexts = 24

/** The lexeme of the strings of `conjunction` as they are written between tags; `Dead` if there are none. */
export function rawStringLexeme(
  strings: StringValues,
  conjunction: number,
  finiteValues: number,
  { padding, excludes, allowed }: RawForm,
): number {
  const expr = strings.countedExpr(conjunction)
  if (expr !== null) {
    const padded = padding === undefined ? expr : withPadding(expr, padding)
    return exprLexeme(exprs.and([padded, allowed]))
  }
  const texts = strings.texts(conjunction, finiteValues) ?? []
  const written = texts.flatMap((text) => (padding === undefined ? [text] : paddings(text, padding)))
  const kept = written.filter((text) => !excludes.some((exclude) => text.includes(exclude)))
  if (kept.length === 0) return Dead
  if (kept.length <= FewTexts) return exprLexeme(exprs.or(kept.map((text) => exprs.literal(text))))
  const entries = kept.map((text) => ({ bytes: utf8(text), tag: PlainTag }))
  return rawLexeme(
    namesContent(buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes))), NoContent),
  )
}

/** The texts from which a string of `expr` remains once the padding is off. */
function withPadding(expr: ExprId, padding: string): ExprId {
  if (expr === exprs.anyText) return expr
  const pad = exprs.literal(padding)
  const unbegun = exprs.not(exprs.concat(pad, exprs.anyText))
  const unended = exprs.not(exprs.concat(exprs.anyText, pad))
  return exprs.or([
    exprs.concat(pad, exprs.concat(expr, pad)),
    exprs.concat(pad, exprs.and([expr, unended])),
    exprs.concat(exprs.and([expr, unbegun]), pad),
    exprs.and([expr, unbegun, unended]),
  ])
}

/** `text` with its padding, as far as that is not what `text` itself begins or ends with. */
function paddings(text: string, padding: string): string[] {
  const heads = text.startsWith(padding) ? [padding] : ["", padding]
  const tails = text.endsWith(padding) ? [padding] : ["", padding]
  const all = heads.flatMap((head) => tails.map((tail) => head + text + tail))
  return [...new Set(all)].filter((written) => unpadded(written, padding) === text)
}

/** The string that is written as `text`. */
export function unpadded(text: string, padding: string): string {
  const begun = text.startsWith(padding) ? text.slice(padding.length) : text
  return begun.endsWith(padding) ? begun.slice(0, begun.length - padding.length) : begun
}
