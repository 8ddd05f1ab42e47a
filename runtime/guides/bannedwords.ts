/**
 * Words that a constrained text may not contain, whatever tokens spell them.
 *
 * An automaton over bytes runs in parallel with the machine of the constraint. A place is a pair: a
 * state of the machine and a node of the automaton. A place is open if some completion from it
 * writes no word. `completion` searches for one, shortest first, and the rule of
 * `engine/closing.ts` stays on open places, so a ban never leads to a dead end.
 */

import { TokenBytes, TokenMark } from "../../grammar/lexeme/token.ts"
import type { TokenMachine } from "../../mask/index.ts"
import { latin1OfText } from "../latin1.ts"
import { StringAutomaton } from "../stops/automaton.ts"

/** Value in place of a node: a word has been written. */
export const Found = -(2 ** 30)

/**
 * Maximum number of places that one search visits. If it has not found a completion by then, there
 * counts as none.
 */
const maxPlaces = 20_000
/** Number of cached completions. */
const maxKept = 100_000
const noBytes = new Uint8Array(0)

/** A place that a search has reached. */
interface Reached {
  readonly state: number
  readonly node: number
  readonly before: Reached | null
  readonly byte: number
  readonly length: number
}

export class BannedWords {
  readonly words: readonly string[]
  private readonly machine: TokenMachine
  private readonly automaton: StringAutomaton
  /** Cached completions by place. */
  private readonly kept = new Map<number, Uint8Array | null>()

  /** `machine`: the constraint's machine. No word may be empty. */
  constructor(machine: TokenMachine, words: readonly string[]) {
    this.machine = machine
    this.words = words
    this.automaton = new StringAutomaton(words.map(latin1OfText))
  }

  /**
   * Returns the node after `bytes`, or `Found`. A negative node counts the bytes of a control token
   * that are still to come; they belong to no word.
   */
  after(node: number, bytes: Uint8Array): number {
    let at = node
    for (const byte of bytes) {
      at = this.next(at, byte)
      if (at === Found) break
    }
    return at
  }

  private next(node: number, byte: number): number {
    if (node < 0) return node + 1
    if (byte === TokenMark) return 1 - TokenBytes
    const to = this.automaton.next(node, byte)
    return this.automaton.ends[to] >= 0 || this.automaton.shorter[to] !== 0 ? Found : to
  }

  /**
   * Returns bytes that complete the text from a place and write no word; null if none were found.
   */
  completion(state: number, node: number): Uint8Array | null {
    const key = placeKey(state, node)
    const known = this.kept.get(key)
    if (known !== undefined) return known
    if (this.kept.size >= maxKept) this.kept.clear()
    const found = this.search(state, node)
    this.kept.set(key, found)
    return found
  }

  /**
   * Best-first search, ordered by the bytes so far plus the least length of any completion. At each
   * place the shortest completion is tried first, so the search only branches if that one writes a
   * word.
   */
  private search(state: number, node: number): Uint8Array | null {
    const { machine } = this
    const seen = new Set([placeKey(state, node)])
    const waiting: Reached[][] = []
    // The least length may be underestimated, and then the sum may fall along a path. `floor` keeps
    // places out of the cost classes that are already done.
    const put = (reached: Reached, floor: number): void => {
      const cost = Math.max(floor, reached.length + machine.least(reached.state))
      waiting[cost] ??= []
      waiting[cost].push(reached)
    }
    put({ state, node, before: null, byte: 0, length: 0 }, 0)
    for (let cost = 0; cost < waiting.length; cost++) {
      for (let at = 0; at < (waiting[cost]?.length ?? 0); at++) {
        const reached = waiting[cost][at]
        const rest = machine.isAccepting(reached.state) ? noBytes : machine.shortest(reached.state)
        if (this.after(reached.node, rest) !== Found) return pathTo(reached, rest)
        for (const byte of machine.nextBytes(reached.state)) {
          const next = this.next(reached.node, byte)
          if (next === Found) continue
          const to = machine.advance(reached.state, Uint8Array.of(byte))
          const key = placeKey(to, next)
          if (to === 0 || seen.has(key)) continue
          if (seen.size >= maxPlaces) return null
          seen.add(key)
          put({ state: to, node: next, before: reached, byte, length: reached.length + 1 }, cost)
        }
      }
    }
    return null
  }
}

/** Nodes lie between −2^17 and 2^17. */
function placeKey(state: number, node: number): number {
  return state * 2 ** 18 + node + 2 ** 17
}

function pathTo(reached: Reached, rest: Uint8Array): Uint8Array {
  const path = new Uint8Array(reached.length + rest.length)
  path.set(rest, reached.length)
  for (let at: Reached = reached; at.before !== null; at = at.before) path[at.length - 1] = at.byte
  return path
}
