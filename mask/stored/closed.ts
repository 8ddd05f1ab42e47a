/**
 * ClosedFsm: a finite machine whose states are all computed ahead of time. The states, their edges
 * over bytes, their completions and their explanations are flat tables, so it needs no grammar: it
 * can be written to a file and read elsewhere.
 *
 * Edges are over bytes, not tokens: inside a string a row by token would have 100,000 entries,
 * while the bytes are a dozen ranges. Stored masks are read from the tables; others are found by a
 * walk over the token trie and memoized.
 */
import type { Expectation } from "../../grammar/frame.ts"
import { printBytes } from "../../grammar/lexeme/expr/print.ts"
import { DeadState } from "../../grammar/state.ts"
import { sharedLocals } from "../local.ts"
import type { MachineStats, TokenMachine } from "../machine.ts"
import { emptyRecipe, idsRecipe, type Recipe, rowRecipe, wordCount } from "../recipe.ts"
import type { TokenTrie } from "../trie.ts"
import type { Vocabulary } from "../vocabulary.ts"

/** Value of `steps`: the text is complete here. */
export const CompleteStep = 256
/** Value of `steps`: the completion has an entry of its own in `completions`. */
export const OwnStep = 257
/** Value of `maskOf`: no mask is stored. */
export const NoMask = 0
/** The first word of a stored mask that is a list of token ids, ascending. */
export const IdsMask = 0
/** The first word of a stored mask that is a row of W words. */
export const RowMask = 1

/**
 * The tables of a machine. State 0 is dead and has no edges. S is the number of states including
 * it, E that of edges, X that of explanations, M that of masks.
 */
export interface ClosedTables {
  readonly start: number
  /** Edges of state s = [edgeOffsets[s] .. edgeOffsets[s + 1]). Shape [S + 1]. */
  readonly edgeOffsets: Uint32Array
  /** First and last byte of each edge; ascending within a state and disjoint. Shape [E]. */
  readonly lows: Uint8Array
  readonly highs: Uint8Array
  /** State after each edge, never dead. Shape [E]. */
  readonly targets: Uint32Array
  /** 1 if the text may end. Shape [S]. */
  readonly accepting: Uint8Array
  /**
   * First byte of the completion, whose rest is the completion of the next state; or one of the
   * constants. Shape [S].
   */
  readonly steps: Uint16Array
  /** By state: the completions that are not one byte and the completion of the next state. */
  readonly completions: ReadonlyMap<number, Uint8Array>
  /** Index of the result of `explain`. Shape [S]; values below X. */
  readonly explanationOf: Uint32Array
  readonly explanations: readonly (readonly Expectation[])[]
  /** Index of the mask + 1, or `NoMask`. Shape [S]. */
  readonly maskOf: Uint32Array
  /**
   * Mask m = maskValues[maskOffsets[m] .. maskOffsets[m + 1]); its first word is its kind. Shape [M
   * + 1].
   */
  readonly maskOffsets: Uint32Array
  readonly maskValues: Uint32Array
}

/**
 * A finite machine over tokens that needs no grammar. Any number of matchers may share one.
 * `precompile` and `deserialize` make it.
 */
export class ClosedFsm implements TokenMachine {
  readonly vocabulary: Vocabulary
  readonly grammar = null
  readonly tables: ClosedTables
  /** Identifies the grammar: SHA-256 of `Grammar.key` in hexadecimal. */
  readonly grammarHash: string
  /** A grammar with captures has no closed machine. */
  readonly captures = null
  private readonly recipes: (Recipe | undefined)[] = []
  private hitCount = 0
  private walkCount = 0
  private walkedBytes = 0

  constructor(tables: ClosedTables, vocabulary: Vocabulary, grammarHash: string) {
    this.tables = tables
    this.vocabulary = vocabulary
    this.grammarHash = grammarHash
  }

  get start(): number {
    return this.tables.start
  }

  get stateCount(): number {
    return this.tables.accepting.length
  }

  next(state: number, token: number): number {
    if (!this.vocabulary.hasColumn(token)) return DeadState
    const bytes = this.vocabulary.bytes(token)
    return bytes.length === 0 ? DeadState : this.advance(state, bytes)
  }

  /** Computing the step takes no longer than a look-up. */
  knownNext(state: number, token: number): number {
    return this.next(state, token)
  }

  advance(state: number, bytes: Uint8Array): number {
    let at = state
    for (let i = 0; i < bytes.length && at !== DeadState; i++) at = nextState(this.tables, at, bytes[i])
    return at
  }

  between(state: number): number {
    return state
  }

  advanceToken(state: number, bytes: Uint8Array): number {
    return this.advance(state, bytes)
  }

  nextBytes(state: number, most = 256): number[] {
    const { edgeOffsets, lows, highs } = this.tables
    const bytes: number[] = []
    for (let i = edgeOffsets[state]; i < edgeOffsets[state + 1]; i++) {
      for (let byte = lows[i]; byte <= highs[i] && bytes.length < most; byte++) bytes.push(byte)
    }
    return bytes
  }

  mask(state: number): Recipe {
    if (state === DeadState) return emptyRecipe
    const index = this.tables.maskOf[state]
    const place = this.placeOf(state)
    let recipe = this.recipes[place]
    if (recipe === undefined) {
      recipe = index === NoMask ? this.walked(state) : this.stored(index - 1)
      this.recipes[place] = recipe
    } else this.hitCount++
    return recipe
  }

  hasMask(state: number): boolean {
    return (
      state === DeadState ||
      this.tables.maskOf[state] !== NoMask ||
      this.recipes[this.placeOf(state)] !== undefined
    )
  }

  /**
   * Returns the index of the recipe. States that share a stored mask share its recipe; walked masks
   * come after the stored ones.
   */
  private placeOf(state: number): number {
    const index = this.tables.maskOf[state]
    return index === NoMask ? this.tables.maskOffsets.length + state : index - 1
  }

  maskBelow(state: number, node: number): Recipe {
    const { trie, lists } = sharedLocals(this.vocabulary)
    return idsRecipe(lists.withDuplicates(Int32Array.from(readable(this.tables, trie, node, state))))
  }

  isAccepting(state: number): boolean {
    return this.tables.accepting[state] === 1
  }

  least(state: number): number {
    return this.isAccepting(state) ? 0 : 1
  }

  isExhausted(state: number): boolean {
    return this.isAccepting(state) && this.tables.edgeOffsets[state] === this.tables.edgeOffsets[state + 1]
  }

  shortest(state: number): Uint8Array {
    if (state === DeadState) throw new RangeError("nothing completes a text that was rejected")
    const { steps, completions } = this.tables
    const bytes: number[] = []
    let at = state
    for (; steps[at] < CompleteStep; at = nextState(this.tables, at, steps[at])) bytes.push(steps[at])
    if (steps[at] === OwnStep) bytes.push(...(completions.get(at) as Uint8Array))
    return Uint8Array.from(bytes)
  }

  explain(state: number): Expectation[] {
    return this.tables.explanations[this.tables.explanationOf[state]].map((each) => ({ ...each }))
  }

  print(state: number): string {
    const { edgeOffsets, lows, highs, targets } = this.tables
    const edges: string[] = []
    for (let i = edgeOffsets[state]; i < edgeOffsets[state + 1]; i++) {
      edges.push(`  [${printBytes(lows[i], highs[i])}] to ${targets[i]}`)
    }
    return [`state ${state}${this.isAccepting(state) ? ", may end" : ""}`, ...edges].join("\n")
  }

  stats(): MachineStats {
    return {
      states: this.stateCount,
      threads: 0,
      stateBytes: 0,
      transitions: this.tables.targets.length,
      maskBytes: this.tables.maskValues.byteLength + this.walkedBytes,
      localBytes: 0,
      hits: this.hitCount,
      walks: this.walkCount,
      shortcuts: {},
      nodes: sharedLocals(this.vocabulary).trie.visitCount,
    }
  }

  private stored(mask: number): Recipe {
    const { maskOffsets, maskValues } = this.tables
    const words = maskValues.subarray(maskOffsets[mask] + 1, maskOffsets[mask + 1])
    if (maskValues[maskOffsets[mask]] === RowMask) return rowRecipe(words)
    return idsRecipe(new Int32Array(words.buffer, words.byteOffset, words.length))
  }

  /**
   * Returns the mask by its definition: every token whose bytes can be read, and the end ids if the
   * text may end.
   */
  private walked(state: number): Recipe {
    const { vocabulary } = this
    const row = new Uint32Array(wordCount(vocabulary.width))
    const set = (token: number) => {
      row[token >>> 5] |= 1 << (token & 31)
    }
    const { trie } = sharedLocals(vocabulary)
    for (const token of readable(this.tables, trie, 0, state)) {
      set(token)
      for (const twin of trie.duplicates.get(token) ?? []) set(twin)
    }
    if (this.isAccepting(state)) for (const id of vocabulary.endIds) set(id)
    this.walkCount++
    this.walkedBytes += row.byteLength
    return rowRecipe(row)
  }
}

/** Returns the state after `byte`, or `DeadState`. */
export function nextState(tables: ClosedTables, state: number, byte: number): number {
  const { edgeOffsets, lows, highs, targets } = tables
  const end = edgeOffsets[state + 1]
  for (let i = edgeOffsets[state]; i < end && lows[i] <= byte; i++) {
    if (byte <= highs[i]) return targets[i]
  }
  return DeadState
}

/**
 * Returns the tokens below `node` that `state` reads from there to their end, without duplicates.
 */
function readable(tables: ClosedTables, trie: TokenTrie, node: number, state: number): number[] {
  const tokens: number[] = []
  /** States by depth. */
  const states = new Uint32Array(trie.maxDepth + 1)
  states[trie.depth(node)] = state
  trie.scan(node, (_, byte, depth, token) => {
    const next = nextState(tables, states[depth - 1], byte)
    states[depth] = next
    if (next === DeadState) return false
    if (token >= 0) tokens.push(token)
    return true
  })
  return tokens
}
