/**
 * The captures of a matcher's text. The text is read again for them, so decoding costs nothing.
 */
import { type Capture, TapeWriter } from "../../grammar/tape.ts"
import type { Matcher } from "../matcher.ts"

/**
 * Returns what the grammar captures of the text, sorted by start, outer spans before inner ones;
 * null if the text is not complete. Offsets are in bytes, from where the constraint begins. Most
 * grammars take a handful of steps per byte. Throws GrammarError `limit` if the text can be read in
 * too many ways.
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
