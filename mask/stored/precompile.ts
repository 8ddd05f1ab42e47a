/**
 * Precompiles a machine: finds every state that any text reaches, breadth first over bytes.
 *
 * Many constraints have finitely many states: closed objects, enums, patterns, numbers, bounded
 * arrays. Others do not and are refused: an open object remembers every name it has seen, unique
 * items remember every item, and a schema that refers to itself nests without end. The refusal says
 * which of these it found.
 */

import { Completions } from "../../grammar/completions.ts"
import { GrammarError, limitError } from "../../grammar/errors.ts"
import { explain } from "../../grammar/explain.ts"
import type { Expectation } from "../../grammar/frame.ts"
import { TupleTable } from "../../grammar/intern.ts"
import { lexemes } from "../../grammar/lexeme/table.ts"
import { checkOptions, type Fields } from "../../grammar/options.ts"
import { DeadState, type States } from "../../grammar/state.ts"
import { TokenFsm } from "../fsm.ts"
import type { TokenMachine } from "../machine.ts"
import { wordCount, writeRecipe } from "../recipe.ts"
import { sha256 } from "../sha256.ts"
import { ClosedFsm, type ClosedTables, CompleteStep, IdsMask, NoMask, OwnStep, RowMask } from "./closed.ts"

/** Bounds on the size of a precompiled machine. */
export interface PrecompileOptions {
  /** Maximum number of states, excluding the dead one. Default 100,000. */
  maxStates?: number
  /**
   * Bytes of masks that are precomputed; masks of further states are computed when they are first
   * needed. Default 64 MiB.
   */
  maxMaskBytes?: number
}

const precompileFields = {
  maxStates: "number",
  maxMaskBytes: "number",
} as const satisfies Fields<PrecompileOptions>

/**
 * Returns the closed machine of `machine`, which must come from `bindGrammar`: the same masks,
 * states and completions. Takes 10 to 100 µs per state. Throws GrammarError `limit`, which says
 * what is unbounded, if there are more than `maxStates` states.
 */
export function precompile(machine: TokenMachine, options: PrecompileOptions = {}): ClosedFsm {
  checkOptions(options, precompileFields)
  const { grammar } = machine
  if (grammar === null) throw new RangeError("precompile: the machine is closed already")
  if (grammar.readsTokens) {
    throw new GrammarError(
      "unsupported",
      "",
      "a grammar that names tokens has no closed machine: store its source",
    )
  }
  if (grammar.captures !== null) {
    throw new GrammarError(
      "unsupported",
      "",
      "a grammar with captures has no closed machine: store its source",
    )
  }
  if (!(machine instanceof TokenFsm)) {
    throw new GrammarError(
      "unsupported",
      "",
      "a grammar with budgets of tokens (max_tokens) has no closed machine: store its source",
    )
  }
  if (!grammar.isForced) {
    throw new GrammarError(
      "unsupported",
      "",
      "a grammar that leaves all spelling to the model (no_forcing) has no closed machine: store its source",
    )
  }
  const { states } = machine
  const edges = closeEdges(states, options.maxStates ?? 100_000)
  const tables: ClosedTables = {
    ...edges,
    ...endingsOf(states, edges),
    ...masksOf(machine, edges.order, options.maxMaskBytes ?? 64 << 20),
  }
  return new ClosedFsm(tables, machine.vocabulary, hashOf(grammar.key))
}

/** Returns the name of a grammar in files: SHA-256 of its key. */
export function hashOf(key: string): string {
  return sha256(new TextEncoder().encode(key))
}

type Edges = Pick<ClosedTables, "start" | "edgeOffsets" | "lows" | "highs" | "targets" | "accepting"> & {
  /** By closed state: the state of `States`; the dead one is first. */
  readonly order: readonly number[]
}

function closeEdges(states: States, maxStates: number): Edges {
  states.enter()
  const order = [DeadState]
  /** By state: the closed state; undefined if it has not been reached. */
  const places: number[] = [0]
  const place = (state: number): number => {
    if (places[state] === undefined) {
      if (order.length > maxStates) throw tooMany(states, state, maxStates)
      places[state] = order.push(state) - 1
    }
    return places[state]
  }
  const start = place(states.start)
  const offsets = [0, 0]
  const lows: number[] = []
  const highs: number[] = []
  const targets: number[] = []
  const after = new Int32Array(states.grammar.limits.threads + 1)
  const before = new Int32Array(after.length)
  const byteOf = new Uint8Array(1)
  for (let at = 1; at < order.length; at++) {
    const state = order[at]
    const keepsText = readsText(states, state)
    const count = states.threadCount(state)
    let target = 0
    for (let byte = 0; byte < 256; byte++) {
      let isAlive = false
      let isSame = byte > 0 && !keepsText
      for (let i = 0; i < count; i++) {
        after[i] = lexemes.next(states.lexemeState(state, i), byte)
        isAlive ||= after[i] !== 0
        isSame &&= after[i] === before[i]
        before[i] = after[i]
      }
      // If no text is captured, equal lexeme states lead to the same state.
      if (!isSame) {
        byteOf[0] = byte
        target = isAlive ? place(states.advance(state, byteOf)) : 0
      }
      if (target === 0) continue
      const last = targets.length - 1
      if (last >= offsets[at] && targets[last] === target && highs[last] === byte - 1) highs[last] = byte
      else {
        lows.push(byte)
        highs.push(byte)
        targets.push(target)
      }
    }
    offsets.push(targets.length)
  }
  return {
    order,
    start,
    edgeOffsets: Uint32Array.from(offsets),
    lows: Uint8Array.from(lows),
    highs: Uint8Array.from(highs),
    targets: Uint32Array.from(targets),
    accepting: Uint8Array.from(order, (state) => (states.isAccepting(state) ? 1 : 0)),
  }
}

function readsText(states: States, state: number): boolean {
  for (let i = 0; i < states.threadCount(state); i++) {
    if (states.stacks.captureCount(states.stack(state, i)) > 0) return true
  }
  return false
}

/**
 * Returns the refusal, which says what is unbounded. That is read from the state that was reached
 * last, since in a breadth-first search it is among the farthest.
 */
function tooMany(states: States, state: number, maxStates: number): GrammarError {
  const where = explain(states, state).find(({ path }) => path !== "")?.path ?? ""
  let depth = 0
  for (let i = 0; i < states.threadCount(state); i++) {
    depth = Math.max(depth, states.stacks.depth(states.stack(state, i)))
  }
  const cause = readsText(states, state) ? "differing" : depth > 8 ? "deep" : "counts"
  return limitError({ maxStates }, `maxStates.${cause}`, maxStates + 1, where, { depth })
}

/**
 * Returns the completion and the explanation of each state. Most completions are one byte and the
 * completion of the next state.
 */
function endingsOf(
  states: States,
  edges: Edges,
): Pick<ClosedTables, "steps" | "completions" | "explanationOf" | "explanations"> {
  const { order } = edges
  const { limits } = states.grammar
  const shortTexts = new Completions(states)
  const explanations: Expectation[][] = []
  const known = new Map<string, number>()
  const explanationOf = new Uint32Array(order.length)
  const full: Uint8Array[] = [new Uint8Array(0)]
  let searched = 0
  for (const [at, state] of order.entries()) {
    const explanation = explain(states, state)
    for (const { example, path } of explanation) {
      searched += example.length
      // Each example takes a search, whose cost grows with the square of its length.
      if (example.length > limits.storedEnding) throw limitError(limits, "storedEnding", example.length, path)
      if (searched > limits.storedEndings) throw limitError(limits, "storedEndings", searched, path)
    }
    const key = JSON.stringify(explanation)
    const index = known.get(key) ?? explanations.push(explanation) - 1
    known.set(key, index)
    explanationOf[at] = index
    if (state !== DeadState) full[at] = shortTexts.shortest(state)
  }
  const steps = new Uint16Array(order.length).fill(CompleteStep)
  const completions = new Map<number, Uint8Array>()
  for (let at = 1; at < order.length; at++) {
    const own = full[at]
    if (own.length === 0) continue
    const rest = full[edgeTarget(edges, at, own[0])]
    const isStep = rest.length === own.length - 1 && rest.every((byte, i) => byte === own[i + 1])
    steps[at] = isStep ? own[0] : OwnStep
    if (!isStep) completions.set(at, own)
  }
  return { steps, completions, explanationOf, explanations }
}

function edgeTarget({ edgeOffsets, lows, highs, targets }: Edges, state: number, byte: number): number {
  for (let i = edgeOffsets[state]; i < edgeOffsets[state + 1]; i++) {
    if (lows[i] <= byte && byte <= highs[i]) return targets[i]
  }
  throw new Error(`internal: byte ${byte} completes a text and has no edge`)
}

function masksOf(
  fsm: TokenFsm,
  order: readonly number[],
  maxBytes: number,
): Pick<ClosedTables, "maskOf" | "maskOffsets" | "maskValues"> {
  const words = wordCount(fsm.vocabulary.width)
  const row = new Uint32Array(words)
  const mask = new Int32Array(words + 1)
  /** The kind, then ids or the words of a row, whichever is shorter. */
  const masks = new TupleTable()
  const maskOf = Uint32Array.from(order, (state) => {
    if (state === DeadState || 4 * masks.offsets[masks.count] > maxBytes) return NoMask
    writeRecipe(fsm.mask(state), row)
    return masks.intern(mask, encodeMask(row, mask)) + 1
  })
  return {
    maskOf,
    maskOffsets: Uint32Array.from(masks.offsets.subarray(0, masks.count + 1)),
    maskValues: Uint32Array.from(masks.values.subarray(0, masks.offsets[masks.count])),
  }
}

/** Writes the shorter form of `row` into `mask`, and returns its length. */
function encodeMask(row: Uint32Array, mask: Int32Array): number {
  let length = 1
  mask[0] = IdsMask
  for (let w = 0; w < row.length; w++) {
    for (let word = row[w]; word !== 0; word &= word - 1) {
      if (length === mask.length) {
        mask[0] = RowMask
        mask.set(row, 1)
        return mask.length
      }
      mask[length++] = 32 * w + 31 - Math.clz32(word & -word)
    }
  }
  return length
}
