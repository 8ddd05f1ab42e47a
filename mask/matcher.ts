/**
 * Matcher: one request's place in a machine over tokens, and the only mutable thing per request.
 *
 * Its position is a value, the last link of a persistent list: accepting links one more, rolling back returns to an earlier
 * one, forking shares them all. So there is no mode and no second path for speculation. A link names what was read, a token
 * or bytes, so that what was written can be read again when somebody asks for it; decoding never does.
 */

import { type TimedWork, withinTime } from "../grammar/deadline.ts"
import type { Expectation } from "../grammar/frame.ts"
import { checkOptions, type Fields } from "../grammar/options.ts"
import { DeadState } from "../grammar/state.ts"
import type { MachineStats, TokenMachine } from "./machine.ts"
import { type Recipe, writeRecipe } from "./recipe.ts"

/** What a filled row says: `free`: every ordinary token and the end ids; `single`: one bit; else `masked`. */
export type RowKind = "free" | "single" | "masked"

/**
 * How long one call may take, in milliseconds; by default as long as it takes. What takes longer throws a GrammarError of kind
 * `limit`, a `TimeError`: the matcher is where it was, and can be asked again, or rolled back. The clock is looked at between
 * pieces of work of a few milliseconds at most.
 */
export interface MatcherOptions {
  /** For a mask, and for moving on by a token or by bytes. */
  maskMs?: number
  /** For `shortest`, `least` and `explain`, and for `forcedBytes`, `forcedTokens` and `captures` of a matcher. */
  completionMs?: number
}

const matcherFields = { maskMs: "number", completionMs: "number" } as const satisfies Fields<MatcherOptions>

const maskWork: TimedWork = { what: "finding the tokens that may come next takes", option: "maskMs" }
const completionWork: TimedWork = { what: "finding how the text may end takes", option: "completionMs" }

/** A link of what was accepted, and the place behind it. Links are shared and never change. */
interface Accepted {
  /** Null: the start, behind which nothing was read. */
  readonly before: Accepted | null
  /** Links behind the start. */
  readonly count: number
  readonly state: number
  /** A token, or bytes. */
  readonly read: number | Uint8Array
  /** Whether it ended the text; then the state is the one before it. */
  readonly isEnd: boolean
}

/**
 * One text's place in a machine over tokens: it says which tokens may come next, and moves on by those that
 * were drawn. The machine may be shared, a matcher is one text's own.
 */
export class Matcher {
  readonly fsm: TokenMachine
  private last: Accepted
  private readonly options: MatcherOptions
  private readonly maskMs: number

  constructor(fsm: TokenMachine, options: MatcherOptions = {}) {
    checkOptions(options, matcherFields)
    this.fsm = fsm
    this.last = startOf(fsm)
    this.options = options
    this.maskMs = options.maskMs ?? Number.POSITIVE_INFINITY
  }

  /** The current state of the machine: equal states have equal masks. */
  get state(): number {
    return this.last.state
  }

  /** Tokens accepted so far, an end id included. */
  get length(): number {
    return this.last.count
  }

  /** Overwrites `row` (W words) with the tokens that may come next. After an end id: the end ids alone. */
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

  /** By itself, as `madeNext` is: what a closure needs is set aside wherever one might be made. */
  private madeMask(): Recipe {
    return withinTime(this.maskMs, () => this.fsm.mask(this.state), maskWork)
  }

  /** Whether `fillMask` has nothing to find, only to write. */
  hasMask(): boolean {
    return this.isTerminated() || this.fsm.hasMask(this.state)
  }

  /**
   * An id of the mask, for rows that stay on a device: equal ids of matchers on one machine mean equal rows, for as long as
   * the machine lives. A healed prompt has a machine of its own.
   */
  maskId(): number {
    // No state that is reached is the dead one, so its id is free for the row of the end ids.
    return this.isTerminated() ? DeadState : this.state
  }

  /** Moves on by `token`. False, and nothing changes, if it may not come next. */
  accept(token: number): boolean {
    if (this.isTerminated()) return false
    const { fsm: machine, state } = this
    const known = machine.knownNext(state, token)
    const next = known >= 0 ? known : this.madeNext(token)
    if (next !== DeadState) this.push(next, token, false)
    // An end id that the text itself names is text there.
    else if (machine.isAccepting(state) && machine.vocabulary.isEnd(token)) this.push(state, token, true)
    else return false
    return true
  }

  /**
   * Moves on by raw bytes, as one step of `rollback`: they are cut into no tokens, so they count towards no budget of tokens.
   * False, and nothing changes, if they may not come next.
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

  /** Returns what `find` returns. Throws a GrammarError `limit` if it takes longer than `completionMs`. */
  found<T>(find: () => T): T {
    return withinTime(this.options.completionMs ?? Number.POSITIVE_INFINITY, find, completionWork)
  }

  private push(state: number, read: number | Uint8Array, isEnd: boolean): void {
    this.last = { before: this.last, count: this.last.count + 1, state, read, isEnd }
  }

  /** How many of `tokens` may come next, in order. The matcher does not move. */
  validate(tokens: readonly number[]): number {
    const ahead = this.fork()
    for (const [count, token] of tokens.entries()) if (!ahead.accept(token)) return count
    return tokens.length
  }

  /** Forgets the last `count` accepted tokens. O(count). */
  rollback(count: number): void {
    if (!Number.isInteger(count) || count < 0 || count > this.length) {
      throw new RangeError(`rollback(${count}): ${this.length} tokens have been accepted`)
    }
    for (let i = 0; i < count; i++) this.last = this.last.before as Accepted
  }

  /** An independent matcher at the same place. O(1). */
  fork(): Matcher {
    const fork = new Matcher(this.fsm, this.options)
    fork.last = this.last
    return fork
  }

  /** Returns to the start. */
  reset(): void {
    this.last = startOf(this.fsm)
  }

  /** Whether the text so far is complete: an end id may come next. */
  isAccepting(): boolean {
    return this.fsm.isAccepting(this.state)
  }

  /** Whether an end id is the only thing that may come next. */
  isExhausted(): boolean {
    return this.fsm.isExhausted(this.state)
  }

  /** Whether an end id has been accepted. */
  isTerminated(): boolean {
    return this.last.isEnd
  }

  /** At most as many bytes as any completion has; 0 when the text is complete. */
  least(): number {
    return this.found(() => this.fsm.least(this.state))
  }

  /** A short completion: bytes that finish the text from here; empty when it is complete. */
  shortest(): Uint8Array {
    return this.found(() => this.fsm.shortest(this.state))
  }

  /** What may be written next, in words. */
  explain(): Expectation[] {
    return this.found(() => this.fsm.explain(this.state))
  }

  /** Tokens and bytes that were accepted, in order, without the end id. O(their number). */
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

/** Whether exactly one bit is set; stops at the second. */
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
