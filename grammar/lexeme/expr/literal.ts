/** Exactly one text, as an expression. */
import { ownText, utf8 } from "../../utf8.ts"
import { concat } from "./build.ts"
import { Empty, type ExprId } from "./nodes.ts"
import { oneByte } from "./sets.ts"

/** UTF-16 units of a text that is kept. */
const MaxUnits = 32
/** Texts that are kept: about 1 MiB of them. */
const MaxTexts = 8_192

const known = new Map<string, ExprId>()

/** The expression of exactly this text, or of these bytes. */
export function literal(text: string | Uint8Array): ExprId {
  const bytes = typeof text === "string" ? utf8(text) : text
  let id: ExprId = Empty
  for (let i = bytes.length - 1; i >= 0; i--) id = concat(oneByte(bytes[i]), id)
  return id
}

/** The same, kept if it is short: grammars write the same signs and words over and over, where each schema has names of its own. */
export function knownLiteral(text: string): ExprId {
  const made = known.get(text)
  if (made !== undefined) return made
  const id = literal(text)
  if (text.length > MaxUnits) return id
  if (known.size >= MaxTexts) known.clear()
  known.set(ownText(text), id)
  return id
}
