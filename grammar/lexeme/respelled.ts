/**
 * Lexemes in another spelling: a transducer reads how a text is written and passes its meaning to a
 * lexeme.
 *
 * So a language with two spellings is described once: Python's literals are JSON's values, and a
 * quoted text is that text. A state is the lexeme's state and the transducer's. If the transducer
 * is settled, it can write whatever the lexeme may still read; otherwise a state is live only if
 * some byte can follow.
 */
import { type CompletedKind, shortestCompletion } from "./completion.ts"
import { Dead, lexemes } from "./table.ts"

/**
 * A way to write texts. State 0 is the beginning. A text may end in states for which `mayEnd` is
 * true.
 */
export interface Spelling {
  /** Dense identity within the process, see `spellingOf`. */
  readonly id: number
  /**
   * Returns the bytes that `byte` means in `state`, and the state after it; null if it cannot be
   * written there.
   */
  read(state: number, byte: number): { readonly meant: readonly number[]; readonly state: number } | null
  mayEnd(state: number): boolean
  /** Returns whether every text can be written from here. */
  isSettled(state: number): boolean
  /** Returns how the bytes are written from state 0 on. */
  write(meant: Uint8Array): Uint8Array
}

const spellings: Spelling[] = []

/** Registers a spelling. */
export function spellingOf(make: Omit<Spelling, "id">): Spelling {
  const spelling = { ...make, id: spellings.length }
  spellings.push(spelling)
  return spelling
}

const RespelledKind = lexemes.register<CompletedKind>({
  // [lexeme state, spelling, state of the spelling]
  tag: (lexeme, id, state) => (spellings[id].mayEnd(state) ? lexemes.tags[lexeme] : 0),
  expand(lexeme, id, state, row) {
    const spelling = spellings[id]
    for (let byte = 0; byte < 256; byte++) {
      const step = spelling.read(state, byte)
      if (step === null) continue
      const next = lexemes.run(lexeme, step.meant)
      if (next !== Dead && isLive(spelling, step.state, next)) {
        row.targets[byte] = lexemes.state(RespelledKind, next, id, step.state)
      }
    }
  },
  shortest(lexeme, id, state, isSearched) {
    if (!isSearched || state !== 0) return null
    const { bytes, tag } = shortestCompletion(lexeme)
    return { bytes: spellings[id].write(bytes), tag }
  },
})

/**
 * Returns whether the lexeme can read what some further bytes mean. An escape has only a few bytes.
 */
function isLive(spelling: Spelling, state: number, lexeme: number): boolean {
  if (spelling.isSettled(state)) return true
  for (let byte = 0; byte < 256; byte++) {
    const step = spelling.read(state, byte)
    if (step === null) continue
    const next = lexemes.run(lexeme, step.meant)
    if (next !== Dead && isLive(spelling, step.state, next)) return true
  }
  return false
}

/** Returns the texts of `lexeme` as `spelling` writes them. */
export function respelled(lexeme: number, spelling: Spelling): number {
  return lexeme === Dead ? Dead : lexemes.state(RespelledKind, lexeme, spelling.id, 0)
}

/** Returns the meaning of `bytes`, written from state 0 on. */
export function meantBy(spelling: Spelling, bytes: Uint8Array): Uint8Array {
  const meant: number[] = []
  let state = 0
  for (const byte of bytes) {
    const step = spelling.read(state, byte)
    if (step === null) throw new Error(`internal: byte ${byte} cannot be written here`)
    meant.push(...step.meant)
    state = step.state
  }
  return Uint8Array.from(meant)
}
