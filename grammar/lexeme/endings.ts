/** How a lexeme can end: a shortest text for each tag, and a byte to each next state. */

import { pathTo } from "../bytes.ts"
import { type Completion, shortestCompletion } from "./completion.ts"
import { Dead, lexemes } from "./table.ts"

/** Count of states that one search looks at. */
const MaxStates = 256

/**
 * Returns a shortest text from `state` for each tag, the shortest first. With too many states some
 * tags may be missing, but not all.
 */
export function endingsByTag(state: number): Completion[] {
  const endings = new Map<number, Completion>()
  const from = new Map<number, { before: number; byte: number }>()
  const met = [state]
  for (let i = 0; i < met.length && i < MaxStates; i++) {
    const at = met[i]
    const tag = lexemes.tags[at]
    if (tag !== 0 && !endings.has(tag)) endings.set(tag, { bytes: pathTo(at, state, from), tag })
    for (const [byte, target] of waysOn(at)) {
      if (target === state || from.has(target)) continue
      from.set(target, { before: at, byte })
      met.push(target)
    }
  }
  if (met.length > MaxStates) {
    const shortest = shortestCompletion(state)
    if (!endings.has(shortest.tag)) endings.set(shortest.tag, shortest)
  }
  return [...endings.values()].sort((a, b) => a.bytes.length - b.bytes.length || a.tag - b.tag)
}

/** Yields a byte for each of the states that may follow `state`, printable ASCII first. */
export function* waysOn(state: number): Generator<readonly [byte: number, target: number]> {
  const seen = new Set<number>([Dead])
  let last = Dead
  for (let i = 0; i < 256; i++) {
    const byte = (i + 0x20) & 0xff
    const target = lexemes.next(state, byte)
    if (target === last || seen.has(target)) continue
    last = target
    seen.add(target)
    yield [byte, target]
  }
}
