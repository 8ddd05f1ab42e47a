/**
 * Matcher: one request's place in a machine over tokens, and the only mutable thing per request.
 *
 * Its position is a list of states, one a token: accepting pushes, rolling back pops, forking copies. There is no mode
 * and no second path for speculation: states are values.
 */
import type { Expectation } from "../grammar/frame.ts"
import { DeadState } from "../grammar/state.ts"
import { onlyToken } from "./bits.ts"
import type { MachineStats, TokenMachine } from "./machine.ts"
import { canonicalTokens, type Encode, forcedBytes } from "./prompt/forced.ts"
import { type Healing, healed, healingOf } from "./prompt/healing.ts"
import { writeRecipe } from "./recipe.ts"

/** What a filled row says: `free`: every ordinary token and the end ids; `single`: one bit; else `masked`. */
export type RowKind = "free" | "single" | "masked"

/**
 * One text's place in a machine over tokens: it says which tokens may come next, and moves on by those that
 * were drawn. The machine may be shared, a matcher is one text's own.
 */
export class Matcher {
  private machine: TokenMachine
  /** States after each accepted token, the start first. */
  private states: number[]
  /** Whether an end id was accepted; it takes one entry of `states`. */
  private terminated = false

  constructor(fsm: TokenMachine) {
    this.machine = fsm
    this.states = [fsm.start]
  }

  /** What it walks on; another machine after `heal`. */
  get fsm(): TokenMachine {
    return this.machine
  }

  /** The current state of the machine: equal states have equal masks. */
  get state(): number {
    return this.states[this.states.length - 1]
  }

  /** Tokens accepted so far, an end id included. */
  get length(): number {
    return this.states.length - 1
  }

  /** Overwrites `row` (W words) with the tokens that may come next. After an end id: the end ids alone. */
  fillMask(row: Uint32Array): RowKind {
    const { vocabulary } = this.fsm
    if (this.terminated) {
      row.fill(0)
      for (const id of vocabulary.endIds) row[id >>> 5] |= 1 << (id & 31)
      return vocabulary.endIds.length === 1 ? "single" : "masked"
    }
    const recipe = this.fsm.mask(this.state)
    writeRecipe(recipe, row)
    if (recipe.row === null ? isOneId(recipe.ids) : isSingle(row)) return "single"
    return this.isAccepting() && equals(row, vocabulary.freeRow) ? "free" : "masked"
  }

  /** Moves on by `token`. False, and nothing changes, if it may not come next. */
  accept(token: number): boolean {
    if (this.terminated) return false
    if (this.fsm.vocabulary.endIds.includes(token)) {
      if (!this.isAccepting()) return false
      this.terminated = true
      this.states.push(this.state)
      return true
    }
    const next = this.fsm.next(this.state, token)
    if (next === DeadState) return false
    this.states.push(next)
    return true
  }

  /** Moves on by raw bytes, as one step of `rollback`. False, and nothing changes, if they may not come next. */
  acceptBytes(bytes: Uint8Array): boolean {
    if (this.terminated) return false
    const next = this.fsm.advance(this.state, bytes)
    if (next === DeadState) return false
    this.states.push(next)
    return true
  }

  /** How many of `tokens` may come next, in order. The matcher does not move. */
  validate(tokens: readonly number[]): number {
    if (this.terminated) return 0
    let { state } = this
    for (const [count, token] of tokens.entries()) {
      if (this.fsm.vocabulary.endIds.includes(token)) return count + (this.fsm.isAccepting(state) ? 1 : 0)
      state = this.fsm.next(state, token)
      if (state === DeadState) return count
    }
    return tokens.length
  }

  /** Forgets the last `count` accepted tokens. */
  rollback(count: number): void {
    if (!Number.isInteger(count) || count < 0 || count > this.length) {
      throw new RangeError(`rollback(${count}): ${this.length} tokens have been accepted`)
    }
    if (count === 0) return
    this.states.length -= count
    this.terminated = false
  }

  /** An independent matcher at the same place. */
  fork(): Matcher {
    const fork = new Matcher(this.fsm)
    fork.states = [...this.states]
    fork.terminated = this.terminated
    return fork
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
      this.states = [this.machine.start]
    }
    return healing
  }

  /** Back to the start; a healed prompt stays healed. */
  reset(): void {
    this.states.length = 1
    this.terminated = false
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
    return this.terminated
  }

  /** The longest bytes (at most 4,096) that every way on begins with. */
  forcedBytes(): Uint8Array {
    return this.terminated ? new Uint8Array(0) : forcedBytes(this.fsm, this.state)
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
    return this.terminated ? [] : canonicalTokens(this.fsm, this.state, before, encode)
  }

  /** At most as many bytes as any completion has; 0 when the text is complete. */
  least(): number {
    return this.fsm.least(this.state)
  }

  /** A short completion: bytes that finish the text from here; empty when it is complete. */
  shortest(): Uint8Array {
    return this.fsm.shortest(this.state)
  }

  /** What may be written next, in words. */
  explain(): Expectation[] {
    return this.fsm.explain(this.state)
  }

  stats(): MachineStats {
    return this.fsm.stats()
  }
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
