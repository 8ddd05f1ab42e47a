/**
 * Sets of characters on which a lexeme state behaves alike.
 *
 * Inside a word, a path, a run of digits or a counted repeat, whole sets of characters lead to one
 * next state: the same state, or the same with one character less to go. Such sets are found here
 * from the automaton alone, whatever pattern it came from, so that a mask can be computed for whole
 * classes of tokens at once. A set holds ASCII characters one by one, and all others by their first
 * byte: either all characters that begin with it, or none.
 */
import { PairMap, TupleTable } from "../../grammar/intern.ts"
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"

/**
 * A code says what is left of a UTF-8 character (RFC 3629 §4). 0: nothing; otherwise the range of
 * its next byte, and the code after that byte. Shape [code].
 */
const lowest = [0, 0x80, 0x80, 0x80, 0xa0, 0x80, 0x90, 0x80]
const highest = [0, 0xbf, 0xbf, 0xbf, 0xbf, 0x9f, 0xbf, 0x8f]
const rest = [0, 0, 1, 2, 1, 1, 2, 2]

/** Returns the code after `byte`, which begins a character; -1 if no character begins with it. */
export function afterFirst(byte: number): number {
  if (byte < 0x80) return 0
  if (byte < 0xc2 || byte > 0xf4) return -1
  if (byte < 0xe0) return 1
  if (byte < 0xf0) return byte === 0xe0 ? 4 : byte === 0xed ? 5 : 2
  return byte === 0xf0 ? 6 : byte === 0xf4 ? 7 : 3
}

/** Returns the code after `byte`, given the code before it; -1 if `byte` is not allowed there. */
export function afterNext(code: number, byte: number): number {
  return byte >= lowest[code] && byte <= highest[code] ? rest[code] : -1
}

/** Smaller sets are not worth using. */
const MinCharacters = 12

/** All characters of `set` lead to `next`. */
export interface CharacterStep {
  readonly set: number
  readonly next: number
}

export class CharacterSets {
  /** Membership of each set as eight words. */
  private readonly table = new TupleTable()
  /** First bytes of the characters of each set. */
  private readonly members: Uint8Array[] = []
  private readonly steps = new Map<number, CharacterStep>()
  /** (state, code) → state after any rest of a character, + 1; 0 if there are several. */
  private readonly rests = new PairMap()
  /** (state, set) → state after any character of the set, + 1; 0 if there are several. */
  private readonly nexts = new PairMap()
  /** The empty set. */
  readonly none = this.intern(new Int32Array(8))

  /** Evicts what is cached by state; sets stay. */
  clear(): void {
    this.steps.clear()
    this.rests.clear()
    this.nexts.clear()
  }

  /** Returns the first bytes of the characters in `set`. */
  firstBytes(set: number): Uint8Array {
    return this.members[set]
  }

  /**
   * Returns the largest set of characters that lead from `state` to one next state; `none` if it is
   * small.
   */
  largest(state: number): CharacterStep {
    let step = this.steps.get(state)
    if (step === undefined) {
      step = this.find(state)
      this.steps.set(state, step)
    }
    return step
  }

  /**
   * Returns the states after 0, 1, 2 … characters of `set`, whichever characters these are. Stops
   * after `count` characters, at a state that leads to itself, where no character of the set may be
   * read, or where different characters lead to different states (`isForked`).
   */
  chain(state: number, set: number, count: number): { states: number[]; isForked: boolean } {
    const states = [state]
    while (states.length <= count) {
      const last = states[states.length - 1]
      const next = this.after(last, set)
      if (next < 0) return { states, isForked: true }
      if (next === last || next === Dead) break
      states.push(next)
    }
    return { states, isForked: false }
  }

  /** Returns the first bytes outside `set` that some state of `chain` reads, ascending. */
  leaving(chain: readonly number[], set: number): number[] {
    const isMember = new Uint8Array(256)
    for (const byte of this.members[set]) isMember[byte] = 1
    const bytes: number[] = []
    for (let byte = 0; byte < 256; byte++) {
      if (isMember[byte] === 0 && chain.some((state) => lexemes.next(state, byte) !== Dead)) bytes.push(byte)
    }
    return bytes
  }

  /**
   * Returns the state after any character of `set`; `Dead` if none may be read, -1 if they lead to
   * several states.
   */
  after(state: number, set: number): number {
    let known = this.nexts.get(state, set)
    if (known < 0) {
      known = this.common(state, set) + 1
      this.nexts.set(state, set, known)
    }
    return known - 1
  }

  /**
   * Returns whether many characters lead from `state` to a state that reads them again, and a
   * lexeme may end after each of them.
   */
  isWordWithEnds(state: number): boolean {
    let count = 0
    for (let byte = 0x20; byte < 0x7f; byte++) {
      const next = lexemes.next(state, byte)
      if (next !== Dead && lexemes.tags[next] !== 0 && lexemes.next(next, byte) === next) count++
    }
    return count >= MinCharacters
  }

  private common(state: number, set: number): number {
    const members = this.members[set]
    if (members.length === 0) return Dead
    const next = this.afterCharacters(state, members[0])
    // A lexeme that may end after the character has exits there, which a set cannot express.
    if (next < 0 || lexemes.tags[next] !== 0) return -1
    for (let i = 1; i < members.length; i++) if (this.afterCharacters(state, members[i]) !== next) return -1
    return next
  }

  private find(state: number): CharacterStep {
    const counts = new Map<number, number>()
    for (let byte = 0x20; byte < 0x7f; byte++) {
      const next = lexemes.next(state, byte)
      if (next !== Dead && lexemes.tags[next] === 0) counts.set(next, (counts.get(next) ?? 0) + 1)
    }
    let next = Dead
    let most = MinCharacters - 1
    for (const [target, count] of counts) {
      if (count <= most) continue
      next = target
      most = count
    }
    if (next === Dead || lexemes.tags[state] !== 0) return { set: this.none, next: Dead }
    const words = new Int32Array(8)
    for (let byte = 0; byte < 0xf5; byte++) {
      if (afterFirst(byte) >= 0 && this.afterCharacters(state, byte) === next)
        words[byte >>> 5] |= 1 << (byte & 31)
    }
    return { set: this.intern(words), next }
  }

  /** Returns the state after every character that begins with `first`; -1 if there are several. */
  private afterCharacters(state: number, first: number): number {
    return this.afterRest(lexemes.next(state, first), afterFirst(first))
  }

  private afterRest(state: number, code: number): number {
    if (code === 0 || state === Dead) return state
    const known = this.rests.get(state, code)
    if (known >= 0) return known - 1
    let common = -2
    for (let byte = lowest[code]; byte <= highest[code] && common !== -1; byte++) {
      const next = this.afterRest(lexemes.next(state, byte), rest[code])
      common = common === -2 || common === next ? next : -1
    }
    this.rests.set(state, code, common + 1)
    return common
  }

  private intern(words: Int32Array): number {
    const set = this.table.intern(words)
    // Assigned by index: an earlier call may have thrown after it interned the set, before it
    // listed the members.
    if (this.members[set] === undefined) {
      const bytes: number[] = []
      for (let byte = 0; byte < 256; byte++) if ((words[byte >>> 5] >>> (byte & 31)) & 1) bytes.push(byte)
      this.members[set] = Uint8Array.from(bytes)
    }
    return set
  }
}
