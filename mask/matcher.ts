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
import { type Capture, TapeWriter } from "../grammar/tape.ts"
import { type Deadline, type DraftMasks, fillDraftRows, type RowKind } from "./batch.ts"
import { onlyToken } from "./bits.ts"
import type { MachineStats, TokenMachine } from "./machine.ts"
import { canonicalTokens, type Encode, forcedBytes } from "./prompt/forced.ts"
import { type Healing, healed, healingOf } from "./prompt/healing.ts"
import { type Recipe, writeRecipe } from "./recipe.ts"

/**
 * How long one call may take, in milliseconds; by default as long as it takes. What takes longer throws a GrammarError of kind
 * `limit`, a `TimeError`: the matcher is where it was, and can be asked again, or rolled back. The clock is looked at between
 * pieces of work of a few milliseconds at most.
 */
export interface MatcherOptions {
  /** For a mask, and for moving on by a token or by bytes. */
  maskMs?: number
  /** For what looks for an end or for what is forced: `shortest`, `least`, `forcedBytes`, `forcedTokens`, `explain`, `captures`. */
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
  private machine: TokenMachine
  private last: Accepted
  private readonly options: MatcherOptions
  private readonly maskMs: number

  constructor(fsm: TokenMachine, options: MatcherOptions = {}) {
    checkOptions(options, matcherFields)
    this.machine = fsm
    this.last = startOf(fsm)
    this.options = options
    this.maskMs = options.maskMs ?? Number.POSITIVE_INFINITY
  }

  /** What it walks on; another machine after `heal`. */
  get fsm(): TokenMachine {
    return this.machine
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
    const { vocabulary } = this.machine
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
    const { machine, state } = this
    if (this.maskMs === Number.POSITIVE_INFINITY || machine.hasMask(state)) return machine.mask(state)
    return this.madeMask()
  }

  /** By itself, as `madeNext` is: what a closure needs is set aside wherever one might be made. */
  private madeMask(): Recipe {
    return withinTime(this.maskMs, () => this.machine.mask(this.state), maskWork)
  }

  /** Whether `fillMask` has nothing to find, only to write. */
  hasMask(): boolean {
    return this.isTerminated() || this.machine.hasMask(this.state)
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
    const { machine, state } = this
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
    const { machine, state } = this
    const next = this.moved(() => machine.between(machine.advance(state, bytes)))
    if (next === DeadState) return false
    this.push(next, bytes.slice(), false)
    return true
  }

  private madeNext(token: number): number {
    return this.moved(() => this.machine.next(this.state, token))
  }

  private moved(move: () => number): number {
    return withinTime(this.maskMs, move, maskWork)
  }

  private found<T>(find: () => T): T {
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
    const fork = new Matcher(this.machine, this.options)
    fork.last = this.last
    return fork
  }

  /**
   * The masks of a tree of drafted tokens, from here on: row 0 is the one of now, row i + 1 comes behind `tokens[i]`. The parent
   * of a token is an earlier index, or −1 for now; of a chain it is i − 1. Where a token may not come, its row and those of all
   * below it are zero, and `valid` says 0. The matcher does not move.
   *
   * Masks that are known come first. Before every other one `isOver` is asked; when it says true the row is left zero, and null
   * in `filled`. Shape of `rows` [n + 1, W]. Throws RangeError where the rows are too short or a parent is no earlier index.
   */
  fillDraftMasks(
    rows: Uint32Array,
    tokens: readonly number[],
    parents: readonly number[],
    isOver?: Deadline,
  ): DraftMasks {
    return fillDraftRows(this, rows, tokens, parents, isOver)
  }

  /**
   * Takes back the last tokens of the prompt that a longer token could cover: leave out the last `drop` of `promptIds`. Until
   * the text of those, `prefix`, is written again, only what spells it may come, across its end too. The rest is the
   * constraint's as before. Throws RangeError once tokens have been accepted.
   */
  heal(promptIds: readonly number[]): Healing {
    if (this.length > 0) {
      throw new RangeError(`heal: ${this.length} tokens have been accepted; heal the prompt before the first`)
    }
    const healing = healingOf(this.fsm, promptIds)
    if (healing.drop > 0) {
      this.machine = healed(this.fsm, healing.prefix)
      this.last = startOf(this.machine)
    }
    return healing
  }

  /** Back to the start; a healed prompt stays healed. */
  reset(): void {
    this.last = startOf(this.machine)
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

  /** The longest bytes (at most 4,096) that every way on begins with. */
  forcedBytes(): Uint8Array {
    return this.isTerminated() ? new Uint8Array(0) : this.found(() => forcedBytes(this.fsm, this.state))
  }

  /**
   * The tokens in which the tokenizer itself would write what is forced here: where one token alone may follow, that one;
   * none where nothing is forced, or the tokenizer might write it otherwise.
   *
   * `before`: prompt and output so far; the last 64 bytes are looked at. `encode`: text → ids, without control tokens.
   */
  forcedTokens(before: readonly number[], encode: Encode): readonly number[] {
    const row = new Uint32Array(this.fsm.vocabulary.words)
    if (this.fillMask(row) === "single") return [onlyToken(row)]
    if (this.isTerminated()) return []
    return this.found(() => canonicalTokens(this.fsm, this.state, before, encode))
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

  /**
   * What the grammar captures of the text: by their start, outer spans before inner ones; null while the text is not complete. Offsets
   * are in bytes, from where the constraint begins. The text is read again, so decoding costs nothing; most grammars take a
   * handful of steps a byte. Throws GrammarError `limit` for a text that can be read in too many ways.
   */
  captures(): readonly Capture[] | null {
    const { captures, vocabulary } = this.machine
    if (captures === null) return this.isTerminated() || this.isAccepting() ? [] : null
    const links: Accepted[] = []
    for (let link = this.last; link.before !== null; link = link.before) if (!link.isEnd) links.push(link)
    const writer = new TapeWriter()
    for (const { read } of links.reverse()) {
      if (typeof read === "number") writer.addToken(read, vocabulary.bytes(read))
      else writer.addBytes(read)
    }
    return this.found(() => captures.read(writer.tape()))
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
