/** A random text of a grammar: pieces and bytes that may follow, drawn one by one, and then the shortest completion. */
import { concatenate } from "../../grammar/bytes.ts"
import { DeadState, type States } from "../../grammar/state.ts"
import { utf8 } from "../../grammar/utf8.ts"

/**
 * A text of about `maxBytes` bytes at most. It stops at a point where the text is complete with probability 1/8. Three of four
 * draws are out of `pieces`, where one of them may follow; of bytes, printable ASCII is preferred nine times out of ten.
 */
export function randomText(
  states: States,
  random: () => number,
  maxBytes: number,
  pieces: readonly string[] = [],
): string {
  let state = states.start
  const parts: Uint8Array[] = []
  const known = pieces.map((piece) => utf8(piece))
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]
  for (let left = Math.floor(random() * maxBytes); left > 0; ) {
    if (states.isAccepting(state) && random() < 0.125) break
    const fitting = random() < 0.75 ? known.filter((piece) => states.advance(state, piece) !== DeadState) : []
    let part: Uint8Array
    if (fitting.length > 0) part = pick(fitting)
    else {
      const bytes = states.nextBytes(state)
      if (bytes.length === 0) break
      const printable = bytes.filter((byte) => byte >= 0x20 && byte < 0x7f)
      part = Uint8Array.of(pick(printable.length > 0 && random() < 0.9 ? printable : bytes))
    }
    parts.push(part)
    left -= part.length
    state = states.advance(state, part)
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(concatenate([...parts, states.shortest(state)]))
}
