/**
 * The states of a machine and the tokens between them as a graph, for pictures and for tests.
 *
 * States are found breadth first, so a graph that is cut holds the states nearest to the start. A
 * constraint with finitely many states has a whole graph if the bounds allow it; any other is cut:
 * an open object remembers every name, and a schema that refers to itself nests without end.
 */
import { type TimedWork, TimeError, withinTime } from "../grammar/deadline.ts"
import { GrammarError } from "../grammar/errors.ts"
import { checkOptions, type Fields } from "../grammar/options.ts"
import { DeadState } from "../grammar/state.ts"
import { countAllowed, isAllowed } from "./bits.ts"
import type { TokenMachine } from "./machine.ts"
import { writeRecipe } from "./recipe.ts"

/** Bounds on the size of a graph, and on the time that it takes. */
export interface GraphOptions {
  /** Maximum number of states. Default 1,000. */
  maxStates?: number
  /** Maximum number of tokens on all edges together. Default 4,000,000. */
  maxTokens?: number
  /** Maximum time for the mask of one state, in milliseconds. Default: no bound. */
  maskMs?: number
}

/** A state of a graph. */
export interface GraphState {
  /** The state of the machine. */
  readonly state: number
  /** Whether the text may end here. */
  readonly isAccepting: boolean
  /**
   * Whether tokens may follow here that are on no edge, because a bound was reached: one of the
   * options, or a limit of the grammar.
   */
  readonly isCut: boolean
}

/** The tokens that lead from one state to another. There is one edge for a pair of states. */
export interface GraphEdge {
  /** Index in `states`. */
  readonly from: number
  /** Index in `states`. */
  readonly to: number
  /** Token ids, ascending, at least one. */
  readonly tokens: Int32Array
}

/** The states of a machine, in the order in which a breadth-first walk finds them. */
export interface StateGraph {
  /** The start is first. */
  readonly states: readonly GraphState[]
  /** By `from`, ascending. */
  readonly edges: readonly GraphEdge[]
  /** Whether no state is cut: these are all states that any text reaches. */
  readonly isWhole: boolean
}

const graphFields = {
  maxStates: "number",
  maxTokens: "number",
  maskMs: "number",
} as const satisfies Fields<GraphOptions>

const maskWork: TimedWork = { what: "finding the tokens that may come next takes", option: "maskMs" }

/**
 * Returns the states of `machine` and the tokens between them, without end ids that end the text.
 * Costs about 1 µs per token on an edge. Throws GrammarError `limit` if a mask takes too long.
 */
export function walkStates(machine: TokenMachine, options: GraphOptions = {}): StateGraph {
  checkOptions(options, graphFields)
  const { maxStates = 1_000, maxTokens = 4_000_000, maskMs = Number.POSITIVE_INFINITY } = options
  if (!(maxStates >= 1)) throw new RangeError(`maxStates (${maxStates}) is below 1: give at least 1`)
  const { vocabulary } = machine
  const row = new Uint32Array(vocabulary.words)
  const order = [machine.start]
  const places = new Map([[machine.start, 0]])
  const states: GraphState[] = []
  const edges: GraphEdge[] = []
  let tokenCount = 0
  for (let from = 0; from < order.length; from++) {
    const state = order[from]
    const left = maxTokens - tokenCount
    const targets = unlessLimited(() => targetsOf(machine, state, row, left, maskMs))
    let isCut = targets === null
    for (const [target, tokens] of targets ?? []) {
      tokenCount += tokens.length
      const to = places.get(target) ?? (order.length < maxStates ? order.push(target) - 1 : -1)
      if (to < 0) isCut = true
      else {
        places.set(target, to)
        edges.push({ from, to, tokens: Int32Array.from(tokens) })
      }
    }
    states.push({ state, isAccepting: machine.isAccepting(state), isCut })
  }
  return { states, edges, isWhole: states.every(({ isCut }) => !isCut) }
}

/** Returns null if `find` meets a limit of the grammar, such as the depth of its nesting. */
function unlessLimited<T>(find: () => T): T | null {
  try {
    return find()
  } catch (error) {
    if (error instanceof GrammarError && error.kind === "limit" && !(error instanceof TimeError)) return null
    throw error
  }
}

/**
 * Returns the tokens that `state` allows by the state that they lead to, or null if they are more
 * than `most`. Overwrites `row`.
 */
function targetsOf(
  machine: TokenMachine,
  state: number,
  row: Uint32Array,
  most: number,
  maskMs: number,
): Map<number, number[]> | null {
  writeRecipe(
    withinTime(maskMs, () => machine.mask(state), maskWork),
    row,
  )
  if (countAllowed(row) > most) return null
  const targets = new Map<number, number[]>()
  for (let token = 0; token < machine.vocabulary.width; token++) {
    if (!isAllowed(row, token)) continue
    const target = machine.next(state, token)
    // An end id is in the mask, and leads nowhere unless the grammar names it.
    if (target === DeadState) continue
    const tokens = targets.get(target)
    if (tokens === undefined) targets.set(target, [token])
    else tokens.push(token)
  }
  return targets
}
