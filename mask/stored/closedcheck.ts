/**
 * Checks that tables from a file are a machine: every index is in bounds, every state has a way to
 * the end, every completion is one, and every mask holds only tokens that may occur in a text.
 * Linear in the tables.
 *
 * It does not check that a stored mask agrees with the edges, which would take a walk for each
 * mask; the checksum covers that.
 */
import { DeadState } from "../../grammar/state.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { type ClosedTables, CompleteStep, IdsMask, NoMask, nextState, OwnStep, RowMask } from "./closed.ts"

/** Returns what is wrong with `tables`, or null. */
export function checkTables(tables: ClosedTables, vocabulary: Vocabulary): string | null {
  return checkEdges(tables) ?? checkEndings(tables) ?? checkMasks(tables, vocabulary)
}

function checkEdges({ start, edgeOffsets, lows, highs, targets, accepting }: ClosedTables): string | null {
  const stateCount = accepting.length
  if (stateCount === 0 || start >= stateCount) return `start ${start} is not one of the ${stateCount} states`
  if (!areOffsets(edgeOffsets, targets.length)) return "offsets of edges do not ascend to the number of edges"
  if (edgeOffsets[1] !== 0) return "the dead state has edges"
  for (let state = 1; state < stateCount; state++) {
    for (let i = edgeOffsets[state], next = 0; i < edgeOffsets[state + 1]; i++) {
      if (lows[i] < next || highs[i] < lows[i]) return `the edges of state ${state} do not ascend`
      next = highs[i] + 1
      if (targets[i] === DeadState || targets[i] >= stateCount) {
        return `state ${state} leads to ${targets[i]}, of ${stateCount} states`
      }
    }
    if (accepting[state] > 1) return `accepting of state ${state} is neither 0 nor 1`
  }
  return accepting[DeadState] === 0 ? null : "the dead state accepts"
}

/** Completions follow edges, so if all of them end, every state has a way to the end. */
function checkEndings(tables: ClosedTables): string | null {
  const { accepting, steps, completions, explanationOf, explanations } = tables
  const stateCount = accepting.length
  for (const [state, bytes] of completions) {
    if (state >= stateCount || steps[state] !== OwnStep)
      return `a completion of state ${state}, which has none`
    let at = state
    for (let i = 0; i < bytes.length && at !== DeadState; i++) at = nextState(tables, at, bytes[i])
    if (accepting[at] !== 1) return `the completion of state ${state} does not complete it`
  }
  /**
   * 1 if the completion ends; the number of a state + 2 if it was reached on the way from that
   * state.
   */
  const seen = new Uint32Array(stateCount)
  for (let state = 1; state < stateCount; state++) {
    if ((accepting[state] === 1) !== (steps[state] === CompleteStep)) {
      return `state ${state} and its completion differ in whether it accepts`
    }
    let at = state
    for (; seen[at] === 0 && steps[at] < CompleteStep; at = nextState(tables, at, steps[at]))
      seen[at] = state + 2
    const isEnd = steps[at] === CompleteStep || (steps[at] === OwnStep && completions.has(at))
    if (at === DeadState || (seen[at] !== 1 && !isEnd)) return `state ${state} has no way to the end`
    for (at = state; seen[at] === state + 2; at = nextState(tables, at, steps[at])) seen[at] = 1
    seen[at] = 1
  }
  for (const index of explanationOf) {
    if (index >= explanations.length) return `explanation ${index} is not one of the ${explanations.length}`
  }
  return null
}

function checkMasks(tables: ClosedTables, vocabulary: Vocabulary): string | null {
  const { maskOf, maskOffsets, maskValues, accepting } = tables
  const maskCount = maskOffsets.length - 1
  if (!areOffsets(maskOffsets, maskValues.length))
    return "offsets of masks do not ascend to the number of mask words"
  /** 1 if the mask holds the end ids. */
  const hasEnds = new Uint8Array(maskCount)
  for (let mask = 0; mask < maskCount; mask++) {
    const values = maskValues.subarray(maskOffsets[mask], maskOffsets[mask + 1])
    const row = rowOf(values, vocabulary)
    if (row === null) return `mask ${mask} is neither ascending ids nor a row of ${vocabulary.words} words`
    for (let w = 0; w < row.length; w++) {
      if ((row[w] & ~vocabulary.freeRow[w]) !== 0) return `mask ${mask} allows a token that writes nothing`
    }
    const ends = vocabulary.endIds.filter((id) => ((row[id >>> 5] >>> (id & 31)) & 1) === 1).length
    if (ends !== 0 && ends !== vocabulary.endIds.length) return `mask ${mask} holds only some of the end ids`
    hasEnds[mask] = ends === 0 ? 0 : 1
  }
  for (let state = 0; state < maskOf.length; state++) {
    if (maskOf[state] === NoMask) continue
    if (maskOf[state] > maskCount) return `mask ${maskOf[state]} is not one of the ${maskCount}`
    if (state !== DeadState && hasEnds[maskOf[state] - 1] !== accepting[state]) {
      return `the mask of state ${state} and the state differ in whether it accepts`
    }
  }
  return null
}

function rowOf(values: Uint32Array, { words, width }: Vocabulary): Uint32Array | null {
  if (values.length === 0) return null
  if (values[0] === RowMask) return values.length === words + 1 ? values.subarray(1) : null
  if (values[0] !== IdsMask) return null
  const row = new Uint32Array(words)
  for (let i = 1, next = 0; i < values.length; i++) {
    if (values[i] < next || values[i] >= width) return null
    next = values[i] + 1
    row[values[i] >>> 5] |= 1 << (values[i] & 31)
  }
  return row
}

/** Returns whether `offsets` ascend from 0 to `count`. */
function areOffsets(offsets: Uint32Array, count: number): boolean {
  if (offsets[0] !== 0 || offsets[offsets.length - 1] !== count) return false
  for (let i = 1; i < offsets.length; i++) if (offsets[i] < offsets[i - 1]) return false
  return true
}
