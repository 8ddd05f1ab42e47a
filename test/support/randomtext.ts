/** A random text of a grammar: bytes that may follow, drawn one by one, and then the shortest completion. */
import { concatenate } from "../../grammar/bytes.ts"
import type { States } from "../../grammar/state.ts"

/**
 * A text of at most about `maxBytes` bytes. It stops at each point where the text is complete with probability 1/8, and
 * prefers printable ASCII: all other bytes come in one of ten draws.
 */
export function randomText(states: States, random: () => number, maxBytes: number): string {
  let state = states.start
  const bytes: number[] = []
  const budget = Math.floor(random() * maxBytes)
  while (bytes.length < budget && !(states.isAccepting(state) && random() < 0.125)) {
    const all = states.nextBytes(state)
    const printable = all.filter((byte) => byte >= 0x20 && byte < 0x7f)
    const next = printable.length > 0 && random() < 0.9 ? printable : all
    if (next.length === 0) break
    const byte = next[Math.floor(random() * next.length)]
    bytes.push(byte)
    state = states.advance(state, Uint8Array.of(byte))
  }
  const text = concatenate([Uint8Array.from(bytes), states.shortest(state)])
  return new TextDecoder("utf-8", { fatal: true }).decode(text)
}
