/**
 * Token healing: the last tokens of a prompt are written again, by tokens that may cross its end.
 *
 * A prompt that ends in `http:` ends inside `://`, which a tokenizer would write as one token. The
 * model has hardly ever seen the pieces, and continues as no real text does (Lundberg 2023, "The
 * Art of Prompt Design: Prompt Boundaries and Token Healing"). So the last tokens of the prompt are
 * dropped, and the output has to begin with their bytes. A machine of its own requires that, so
 * masks, forced tokens, rollback and budgets need no special case.
 */
import { concatenate } from "../../grammar/bytes.ts"
import type { Expectation } from "../../grammar/frame.ts"
import type { Grammar } from "../../grammar/grammar.ts"
import { DeadState } from "../../grammar/state.ts"
import { type CaptureReader, tapeBehind } from "../../grammar/tape.ts"
import { sharedLocals } from "../local.ts"
import type { MachineStats, TokenMachine } from "../machine.ts"
import { idsRecipe, type Recipe, unite, writeRecipe } from "../recipe.ts"
import { nodeOf } from "../spelling.ts"
import type { Vocabulary } from "../vocabulary.ts"

/**
 * The result of healing: the last `drop` tokens of the prompt are dropped, and their bytes are
 * `prefix`.
 */
export interface Healing {
  readonly drop: number
  readonly prefix: Uint8Array
  /** Accepts `prefix` and then whatever the original machine accepts. */
  readonly machine: TokenMachine
}

/**
 * Maximum number of prefixes for which healed machines are cached. All are evicted when it is
 * reached.
 */
const maxEnds = 256

/**
 * Drops as many tokens at the end of the prompt as it can: their bytes must be a proper prefix of
 * some token, and `machine` must allow the rest of that token as its first bytes. The caller omits
 * the last `drop` tokens of `promptIds` and continues with the healed machine: until `prefix` is
 * written again, only tokens that spell it may come, including tokens that cross its end. Tokens up
 * to the last control token are never dropped, nor is a token that begins inside a character the
 * first one dropped. If the tokenizer removes the first space of a text (WordPiece), nothing is
 * dropped. Cost: one mask for each of the last tokens whose bytes begin a token.
 */
export function heal(machine: TokenMachine, promptIds: readonly number[]): Healing {
  const { vocabulary } = machine
  const found: { drop: number; prefix: Uint8Array } = { drop: 0, prefix: noBytes }
  let prefix: Uint8Array = noBytes
  for (let drop = 1; drop <= promptIds.length && !vocabulary.dropsFirstSpace; drop++) {
    const bytes = bytesOf(vocabulary, promptIds[promptIds.length - drop])
    prefix = concatenate([bytes, prefix])
    if (bytes.length === 0 || prefix.length >= vocabulary.maxTokenBytes) break
    const isInCharacter = (bytes[0] & 0xc0) === 0x80
    if (!isInCharacter && isCovered(machine, prefix)) Object.assign(found, { drop, prefix })
  }
  return { ...found, machine: found.drop === 0 ? machine : healed(machine, found.prefix) }
}

const noBytes: Uint8Array = new Uint8Array(0)

/** Returns the bytes that a token writes; empty if there is no such token. */
function bytesOf(vocabulary: Vocabulary, token: number): Uint8Array {
  return vocabulary.hasColumn(token) ? vocabulary.bytes(token) : noBytes
}

/**
 * Returns whether some token begins with `prefix` and continues with bytes that `machine` allows
 * first.
 */
function isCovered(machine: TokenMachine, prefix: Uint8Array): boolean {
  const node = nodeOf(sharedLocals(machine.vocabulary).trie, prefix)
  if (node < 0) return false
  const row = new Uint32Array(machine.vocabulary.words)
  writeRecipe(machine.maskBelow(machine.start, node), row)
  return row.some((word) => word !== 0)
}

const healedOf = new WeakMap<TokenMachine, Map<string, HealedMachine>>()

/**
 * Returns the machine that accepts `prefix` and then whatever `machine` accepts; the same one for
 * the same prefix, so that its masks are shared.
 */
export function healed(machine: TokenMachine, prefix: Uint8Array): TokenMachine {
  const ends = healedOf.get(machine) ?? new Map<string, HealedMachine>()
  healedOf.set(machine, ends)
  const key = prefix.join()
  const known = ends.get(key)
  if (known) return known
  if (ends.size >= maxEnds) ends.clear()
  const made = new HealedMachine(machine, prefix)
  ends.set(key, made)
  return made
}

/**
 * States 1 … P, where P is the length of the prefix: in state s, s − 1 bytes of the prefix are
 * written. Higher states are those of the original machine plus P.
 */
class HealedMachine implements TokenMachine {
  readonly vocabulary: Vocabulary
  readonly start = 1
  private readonly machine: TokenMachine
  private readonly prefix: Uint8Array
  /** Masks of states 1 … P. */
  private readonly masks: (Recipe | undefined)[] = []

  constructor(machine: TokenMachine, prefix: Uint8Array) {
    this.machine = machine
    this.vocabulary = machine.vocabulary
    this.prefix = prefix
  }

  get grammar(): Grammar | null {
    return this.machine.grammar
  }

  get captures(): CaptureReader | null {
    const { captures } = this.machine
    return captures && { read: (tape) => captures.read(tapeBehind(tape, this.prefix.length)) }
  }

  next(state: number, token: number): number {
    if (!this.isBefore(state)) return this.outer(this.machine.next(this.inner(state), token))
    const bytes = bytesOf(this.vocabulary, token)
    return bytes.length === 0 ? DeadState : this.advanceToken(state, bytes)
  }

  knownNext(state: number, token: number): number {
    if (this.isBefore(state)) return -1
    const known = this.machine.knownNext(this.inner(state), token)
    return known < 0 ? -1 : this.outer(known)
  }

  advance(state: number, bytes: Uint8Array): number {
    if (!this.isBefore(state)) return this.outer(this.machine.advance(this.inner(state), bytes))
    const behind = this.behindPrefix(state, bytes)
    return typeof behind === "number" ? behind : this.outer(this.machine.advance(this.machine.start, behind))
  }

  between(state: number): number {
    return this.isBefore(state) ? state : this.outer(this.machine.between(this.inner(state)))
  }

  advanceToken(state: number, bytes: Uint8Array): number {
    if (!this.isBefore(state)) return this.outer(this.machine.advanceToken(this.inner(state), bytes))
    const behind = this.behindPrefix(state, bytes)
    return typeof behind === "number"
      ? behind
      : this.outer(this.machine.advanceToken(this.machine.start, behind))
  }

  /**
   * Returns the bytes that remain after the prefix; a state if the bytes end inside the prefix or
   * differ from it.
   */
  private behindPrefix(state: number, bytes: Uint8Array): Uint8Array | number {
    const rest = this.rest(state)
    const shared = Math.min(rest.length, bytes.length)
    for (let i = 0; i < shared; i++) if (bytes[i] !== rest[i]) return DeadState
    return bytes.length < rest.length ? state + bytes.length : bytes.subarray(rest.length)
  }

  nextBytes(state: number, most?: number): number[] {
    return this.isBefore(state) ? [this.rest(state)[0]] : this.machine.nextBytes(this.inner(state), most)
  }

  mask(state: number): Recipe {
    if (!this.isBefore(state)) return this.machine.mask(this.inner(state))
    this.masks[state] ??= this.maskBehind(this.rest(state), 0)
    return this.masks[state]
  }

  hasMask(state: number): boolean {
    return this.isBefore(state) ? this.masks[state] !== undefined : this.machine.hasMask(this.inner(state))
  }

  maskBelow(state: number, node: number): Recipe {
    if (!this.isBefore(state)) return this.machine.maskBelow(this.inner(state), node)
    return this.maskBehind(this.rest(state), node)
  }

  isAccepting(state: number): boolean {
    return !this.isBefore(state) && this.machine.isAccepting(this.inner(state))
  }

  isExhausted(state: number): boolean {
    return !this.isBefore(state) && this.machine.isExhausted(this.inner(state))
  }

  least(state: number): number {
    if (!this.isBefore(state)) return this.machine.least(this.inner(state))
    return this.rest(state).length + this.machine.least(this.machine.start)
  }

  shortest(state: number): Uint8Array {
    if (!this.isBefore(state)) return this.machine.shortest(this.inner(state))
    return concatenate([this.rest(state), this.machine.shortest(this.machine.start)])
  }

  explain(state: number): Expectation[] {
    if (!this.isBefore(state)) return this.machine.explain(this.inner(state))
    return [{ what: "the end of the prompt", example: new TextDecoder().decode(this.rest(state)), path: "" }]
  }

  print(state: number): string {
    if (!this.isBefore(state)) return this.machine.print(this.inner(state))
    return `state ${state}, the prompt goes on with ${JSON.stringify(new TextDecoder().decode(this.rest(state)))}`
  }

  stats(): MachineStats {
    return this.machine.stats()
  }

  /** Returns whether the prefix is not yet fully written. */
  private isBefore(state: number): boolean {
    return state <= this.prefix.length
  }

  private rest(state: number): Uint8Array {
    return this.prefix.subarray(state - 1)
  }

  private inner(state: number): number {
    return state - this.prefix.length
  }

  private outer(state: number): number {
    return state === DeadState ? DeadState : state + this.prefix.length
  }

  /**
   * Returns the tokens below `node` whose further bytes are a prefix of `rest`, or all of `rest`
   * and then bytes that the machine allows first.
   */
  private maskBehind(rest: Uint8Array, node: number): Recipe {
    const { trie, lists } = sharedLocals(this.vocabulary)
    const tokens: number[] = []
    let below = node
    for (const byte of rest) {
      below = trie.child(below, byte)
      if (below === 0) break
      if (trie.token(below) >= 0) tokens.push(trie.token(below))
    }
    const parts = idsRecipe(lists.withDuplicates(Int32Array.from(tokens)))
    return below === 0
      ? parts
      : unite([parts, this.machine.maskBelow(this.machine.start, below)], this.vocabulary.words)
  }
}
