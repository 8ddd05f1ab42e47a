/** Expressions of exactly one text. */

import { owned } from "../../tables.ts"
import { ownText, utf8 } from "../../utf8.ts"
import { concat } from "./build.ts"
import { Empty, type ExprId } from "./nodes.ts"
import { oneByte } from "./sets.ts"

/** Largest cached text, in UTF-16 units. */
const MaxUnits = 32
/** Largest count of cached texts: about 1 MiB. */
const MaxTexts = 8_192

const known = owned("literals", { texts: new Map<string, ExprId>() }, { entryBytes: 40 })

/** Returns the expression of exactly this text, or of these bytes. */
export function literal(text: string | Uint8Array): ExprId {
  const bytes = typeof text === "string" ? utf8(text) : text
  let id: ExprId = Empty
  for (let i = bytes.length - 1; i >= 0; i--) id = concat(oneByte(bytes[i]), id)
  return id
}

/**
 * Like `literal`, but cached if the text is short: grammars repeat the same signs and words, unlike
 * schemas with their own names.
 */
export function knownLiteral(text: string): ExprId {
  const made = known.texts.get(text)
  if (made !== undefined) return made
  const id = literal(text)
  if (text.length > MaxUnits) return id
  if (known.texts.size >= MaxTexts) known.texts.clear()
  known.texts.set(ownText(text), id)
  return id
}
