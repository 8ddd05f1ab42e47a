/**
 * Lexemes in another spelling: a transducer reads how a text is written and tells a lexeme what was meant.
 *
 * So one language can be written in two ways without being described twice: Python's literals are JSON's values, a text
 * inside of quotes is that text. A state is the lexeme's state and the transducer's. Where the transducer is settled,
 * whatever the lexeme may still read can be written; elsewhere a state lives only if some byte leads on.
 */
import { type CompletedKind, shortestCompletion } from "./completion.ts"
import { Dead, lexemes } from "./table.ts"

/** A way to write texts. State 0 is the beginning; a text may end in settled states where `mayEnd` says so. */
export interface Spelling {
  /** Dense identity within the process, see `spellingOf`. */
  readonly id: number
  /** What was meant by `byte` in `state`, and the state after it; null: it cannot be written there. */
  read(state: number, byte: number): { readonly meant: readonly number[]; readonly state: number } | null
  mayEnd(state: number): boolean
  /** Whether everything can be written from here. */
  isSettled(state: number): boolean
  /** How bytes are written from state 0 on. */
  write(meant: Uint8Array): Uint8Array
}

const spellings: Spelling[] = []

/** Makes a spelling known. */
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

/** Whether something can be written after which the lexeme goes on. An escape is a few bytes long. */
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

/** The texts of `lexeme` as `spelling` writes them. */
export function respelled(lexeme: number, spelling: Spelling): number {
  return lexeme === Dead ? Dead : lexemes.state(RespelledKind, lexeme, spelling.id, 0)
}

/** What `bytes`, written from state 0 on, mean. */
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
