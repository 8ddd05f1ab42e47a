/**
 * Matcher: one request's position in a machine over tokens, and the only mutable thing per request.
 *
 * Its position is a value, the last link of a persistent list: accepting adds a link, rolling back
 * returns to an earlier one, forking shares them all. So there is no mode and no second path for
 * speculation. A link holds the token or the bytes that were read, so that the text can be read
 * again when a caller asks for it; decoding never does.
 */

import { type TimedWork, withinTime } from "../grammar/deadline.ts"
import type { Expectation } from "../grammar/frame.ts"
import { DeadState } from "../grammar/state.ts"
import type { MachineStats, TokenMachine } from "./machine.ts"
import { parts } from "./parts.ts"
import { type Recipe, writeRecipe } from "./recipe.ts"

/**
 * The kind of a filled row. `free`: every ordinary token and the end ids; `single`: one bit;
 * `masked`: any other row.
 */
export type RowKind = "free" | "single" | "masked"

/**
 * How long one call may take, in milliseconds. Default: no bound. A call that takes longer throws a
 * GrammarError of kind `limit`, a `TimeError`; the matcher stays where it was, and can be asked
 * again or rolled back. The clock is read between pieces of work of a few milliseconds at most.
 */
export interface MatcherOptions {
  /** For a mask, and for accepting a token or bytes. */
  maskMs?: number
  /**
   * For `shortest`, `least` and `explain`, and for `forcedBytes`, `forcedTokens` and `captures` of
   * a matcher.
   */
  completionMs?: number
}

const maskWork: TimedWork = { what: "finding the tokens that may come next takes", option: "maskMs" }
const completionWork: TimedWork = { what: "finding how the text may end takes", option: "completionMs" }

/** A link of the accepted tokens, and the position after it. Links are shared and never change. */
interface Accepted {
  /** Null for the start, where nothing has been read yet. */
  readonly before: Accepted | null
  /** Number of links after the start. */
  readonly count: number
  readonly state: number
  /** A token, or bytes. */
  readonly read: number | Uint8Array
  /** Whether this link ended the text; its state is then that of the link before it. */
  readonly isEnd: boolean
}

/**
 * The position of one text in a machine over tokens. It says which tokens may come next, and moves
 * past those that were drawn. A machine may be shared; a matcher belongs to one text.
 */
export class Matcher {
  readonly fsm: TokenMachine
  private last: Accepted
  private readonly options: MatcherOptions
  private readonly maskMs: number

  constructor(fsm: TokenMachine, options: MatcherOptions = {}) {
    parts().checkOptions("matcher", options)
    this.fsm = fsm
    this.last = startOf(fsm)
    this.options = options
    this.maskMs = options.maskMs ?? Number.POSITIVE_INFINITY
  }

  /** The current state of the machine. Equal states have equal masks. */
  get state(): number {
    return this.last.state
  }

  /** Number of tokens accepted so far, including an end id. */
  get length(): number {
    return this.last.count
  }

  /**
   * Overwrites `row` (W words) with the mask of the tokens that may come next. After an end id only
   * the end ids may.
   */
  fillMask(row: Uint32Array): RowKind {
    const { vocabulary } = this.fsm
    if (this.isTerminated()) {
      row.fill(0)
      for (const id of vocabulary.endIds) row[id >>> 5] |= 1 << (id & 31)
      return vocabulary.endIds.length === 1 ? "single" : "masked"
    }
    const recipe = this.findMask()
    writeRecipe(recipe, row)
    if (recipe.row === null ? isOneId(recipe.ids) : isSingle(row)) return "single"
    return this.isAccepting() && equals(row, vocabulary.freeRow) ? "free" : "masked"
  }

  private findMask(): Recipe {
    const { fsm: machine, state } = this
    if (this.maskMs === Number.POSITIVE_INFINITY || machine.hasMask(state)) return machine.mask(state)
    return this.madeMask()
  }

  /**
   * A method of its own, like `madeNext`: a function that contains a closure allocates its context
   * even when the closure is not made.
   */
  private madeMask(): Recipe {
    return withinTime(this.maskMs, () => this.fsm.mask(this.state), maskWork)
  }

  /** Returns whether the mask is cached, so that `fillMask` need only write it. */
  hasMask(): boolean {
    return this.isTerminated() || this.fsm.hasMask(this.state)
  }

  /**
   * Returns an id of the mask, for rows that stay on a device. Equal ids of matchers on one machine
   * mean equal rows for as long as the machine lives. A healed prompt has a machine of its own.
   */
  maskId(): number {
    // The dead state is never a position, so its id is free for the row of the end ids.
    return this.isTerminated() ? DeadState : this.state
  }

  /** Moves past `token`. Returns false, and changes nothing, if it may not come next. */
  accept(token: number): boolean {
    if (this.isTerminated()) return false
    const { fsm: machine, state } = this
    const known = machine.knownNext(state, token)
    const next = known >= 0 ? known : this.madeNext(token)
    if (next !== DeadState) this.push(next, token, false)
    // If the grammar itself names an end id, that id is text there.
    else if (machine.isAccepting(state) && machine.vocabulary.isEnd(token)) this.push(state, token, true)
    else return false
    return true
  }

  /**
   * Moves past raw bytes, as one step of `rollback`. They are not cut into tokens, so they count
   * against no token budget. Returns false, and changes nothing, if they may not come next.
   */
  acceptBytes(bytes: Uint8Array): boolean {
    if (this.isTerminated()) return false
    const { fsm: machine, state } = this
    const next = this.moved(() => machine.between(machine.advance(state, bytes)))
    if (next === DeadState) return false
    this.push(next, bytes.slice(), false)
    return true
  }

  private madeNext(token: number): number {
    return this.moved(() => this.fsm.next(this.state, token))
  }

  private moved(move: () => number): number {
    return withinTime(this.maskMs, move, maskWork)
  }

  /**
   * Returns what `find` returns. Throws a GrammarError `limit` if it takes longer than
   * `completionMs`.
   */
  found<T>(find: () => T): T {
    return withinTime(this.options.completionMs ?? Number.POSITIVE_INFINITY, find, completionWork)
  }

  private push(state: number, read: number | Uint8Array, isEnd: boolean): void {
    this.last = { before: this.last, count: this.last.count + 1, state, read, isEnd }
  }

  /** Returns how many of `tokens`, in order, may come next. The matcher does not move. */
  validate(tokens: readonly number[]): number {
    const ahead = this.fork()
    for (const [count, token] of tokens.entries()) if (!ahead.accept(token)) return count
    return tokens.length
  }

  /** Removes the last `count` accepted tokens. O(count). */
  rollback(count: number): void {
    if (!Number.isInteger(count) || count < 0 || count > this.length) {
      throw new RangeError(`rollback(${count}): ${this.length} tokens have been accepted`)
    }
    for (let i = 0; i < count; i++) this.last = this.last.before as Accepted
  }

  /** Returns an independent matcher at the same position. O(1). */
  fork(): Matcher {
    const fork = new Matcher(this.fsm, this.options)
    fork.last = this.last
    return fork
  }

  /** Returns to the start. */
  reset(): void {
    this.last = startOf(this.fsm)
  }

  /** Returns whether the text so far is complete, so that an end id may come next. */
  isAccepting(): boolean {
    return this.fsm.isAccepting(this.state)
  }

  /** Returns whether only an end id may come next. */
  isExhausted(): boolean {
    return this.fsm.isExhausted(this.state)
  }

  /** Returns whether an end id has been accepted. */
  isTerminated(): boolean {
    return this.last.isEnd
  }

  /** Returns a lower bound on the bytes of any completion; 0 if the text is complete. */
  least(): number {
    return this.found(() => this.fsm.least(this.state))
  }

  /**
   * Returns a short completion: bytes that complete the text from here; empty if it is complete.
   */
  shortest(): Uint8Array {
    return this.found(() => this.fsm.shortest(this.state))
  }

  /** Returns descriptions of what may be written next. */
  explain(): Expectation[] {
    return this.found(() => this.fsm.explain(this.state))
  }

  /**
   * Returns the tokens and bytes that were accepted, in order, without the end id. O(their number).
   */
  accepted(): (number | Uint8Array)[] {
    const parts: (number | Uint8Array)[] = []
    for (let link = this.last; link.before !== null; link = link.before)
      if (!link.isEnd) parts.push(link.read)
    return parts.reverse()
  }

  stats(): MachineStats {
    return this.fsm.stats()
  }
}

const noBytes = new Uint8Array(0)

function startOf(machine: TokenMachine): Accepted {
  return { before: null, count: 0, state: machine.start, read: noBytes, isEnd: false }
}

function isOneId(lists: readonly Int32Array[]): boolean {
  let one = -1
  for (const ids of lists) {
    for (let i = 0; i < ids.length; i++) {
      if (one >= 0 && ids[i] !== one) return false
      one = ids[i]
    }
  }
  return one >= 0
}

/** Returns whether exactly one bit is set; stops at the second. */
function isSingle(row: Uint32Array): boolean {
  let found = 0
  for (let w = 0; w < row.length; w++) {
    const word = row[w]
    if (word === 0) continue
    if (found !== 0 || (word & (word - 1)) !== 0) return false
    found = word
  }
  return found !== 0
}

function equals(a: Uint32Array, b: Uint32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
