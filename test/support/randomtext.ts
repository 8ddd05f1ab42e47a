/** A random text of a grammar: pieces and bytes that may follow, drawn one by one, and then the shortest completion. */

import { concatenate } from "../../grammar/bytes.ts"
import { Completions } from "../../grammar/completions.ts"
import { nextBytes } from "../../grammar/explain.ts"
import { DeadState, type States } from "../../grammar/state.ts"
import { utf8 } from "../../grammar/utf8.ts"

/**
 * A text of about `maxBytes` bytes at most behind `begin`. It stops at a point where the text is complete with probability 1/8. Three of four
 * draws are out of `pieces`, where one of them may follow; of bytes, printable ASCII is preferred nine times out of ten.
 */
export function randomText(
  states: States,
  random: () => number,
  maxBytes: number,
  { pieces = [], begin = "" }: { pieces?: readonly string[]; begin?: string } = {},
): string {
  const parts = [utf8(begin)]
  let state = states.advance(states.start, parts[0])
  const known = pieces.map((piece) => utf8(piece))
  for (let left = Math.floor(random() * maxBytes); left > 0; ) {
    if (states.isAccepting(state) && random() < 0.125) break
    const part =
      (random() < 0.75 ? anyFitting(states, state, random, known) : null) ?? anyByte(states, state, random)
    if (part === null) break
    parts.push(part)
    left -= part.length
    state = states.advance(state, part)
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(
    concatenate([...parts, new Completions(states).shortest(state)]),
  )
}

/** One of `pieces` that may follow, each as likely as any other; null: none may. Reorders them. */
function anyFitting(
  states: States,
  state: number,
  random: () => number,
  pieces: Uint8Array[],
): Uint8Array | null {
  for (let left = pieces.length; left > 0; left--) {
    const at = Math.floor(random() * left)
    const piece = pieces[at]
    pieces[at] = pieces[left - 1]
    pieces[left - 1] = piece
    if (states.advance(state, piece) !== DeadState) return piece
  }
  return null
}

function anyByte(states: States, state: number, random: () => number): Uint8Array | null {
  const bytes = nextBytes(states, state)
  if (bytes.length === 0) return null
  const printable = bytes.filter((byte) => byte >= 0x20 && byte < 0x7f)
  const drawn = printable.length > 0 && random() < 0.9 ? printable : bytes
  return Uint8Array.of(drawn[Math.floor(random() * drawn.length)])
}
