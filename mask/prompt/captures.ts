/** What a grammar captures of the text of a matcher, which is read again for it: decoding costs nothing. */
import { type Capture, TapeWriter } from "../../grammar/tape.ts"
import type { Matcher } from "../matcher.ts"

/**
 * Returns what the grammar captures of the text: by their start, outer spans before inner ones; null while the text is not
 * complete. Offsets are in bytes, from where the constraint begins. Most grammars take a handful of steps a byte. Throws
 * GrammarError `limit` for a text that can be read in too many ways.
 */
export function captures(matcher: Matcher): readonly Capture[] | null {
  const { captures, vocabulary } = matcher.fsm
  if (captures === null) return matcher.isTerminated() || matcher.isAccepting() ? [] : null
  const writer = new TapeWriter()
  for (const part of matcher.accepted()) {
    if (typeof part === "number") writer.addToken(part, vocabulary.bytes(part))
    else writer.addBytes(part)
  }
  return matcher.found(() => captures.read(writer.tape()))
}
