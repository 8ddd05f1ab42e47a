/**
 * Which lengths a regular expression can still have, in code points.
 *
 * A string must match a pattern and have between `min` and `max` characters. The product of
 * automaton and counter is never built. Instead, the expression's automaton is closed once, and the
 * layers S_k = states that accept in exactly k more characters are computed backwards from S_0, as
 * far as needed, or until a layer repeats (from there they are periodic). A step to state q with n
 * characters read is live iff some k in [min − n, max − n] has q ∈ S_k. Over bytes, a character is
 * counted at its first byte; continuation bytes weigh nothing.
 */
import { checkTime, TimeError } from "../../deadline.ts"
import { fixedBounds, GrammarError, limitError } from "../../errors.ts"
import { owned } from "../../tables.ts"
import { withFewClosest } from "./emptiness.ts"
import { type ExprId, exprs } from "./expr.ts"
import { exprLengths } from "./lengths.ts"
import { machineHasLength } from "./machine.ts"
import { Kind, kindOf } from "./nodes.ts"

/** No upper bound. */
export const Unbounded = 0x7fffffff

/** Thresholds above this many characters are not searched for: no token is that long. */
const MaxThreshold = 1_024

/** Bounds of a forward search for a text of some length: its characters, and the states visited. */
const MaxForward = 256
const MaxLooked = 1_024

/** The closed automaton of one expression with its length layers. */
class Lengths {
  /** States of the automaton, the root first. */
  readonly states: ExprId[] = []
  private readonly index = new Map<ExprId, number>()
  /** Targets of state s by a first byte: `starts[startOffsets[s] .. startOffsets[s + 1])`. */
  private readonly starts: Int32Array
  private readonly startOffsets: Int32Array
  /**
   * States inside a character with their targets by a continuation byte: [state, count, target, …].
   */
  private readonly continuations: Int32Array
  /** Layer k: 1 where the state accepts in exactly k more characters. Shape [k][S]. */
  private readonly layers: Uint8Array[] = []
  /** Layers, by a hash of their content. */
  private readonly seen = new Map<number, number[]>()
  /** Layers from `periodStart` repeat with `period`; 0 = not known yet. */
  private periodStart = 0
  private period = 0

  constructor(root: ExprId) {
    const starts: number[] = []
    const startOffsets = [0]
    const continuations: number[] = []
    this.visit(root)
    for (let s = 0; s < this.states.length; s++) {
      const inside = new Set<number>()
      const first = new Set<number>()
      for (const byte of exprs.classes(this.states[s]).representatives) {
        const target = exprs.derivative(this.states[s], byte)
        if (exprs.isNever(target)) continue
        // No class has live bytes of both sorts, since texts are well-formed UTF-8.
        if ((byte & 0xc0) === 0x80) inside.add(this.visit(target))
        else first.add(this.visit(target))
      }
      starts.push(...first)
      startOffsets.push(starts.length)
      if (inside.size > 0) continuations.push(s, inside.size, ...inside)
    }
    this.starts = Int32Array.from(starts)
    this.startOffsets = Int32Array.from(startOffsets)
    this.continuations = Int32Array.from(continuations)
  }

  /** Returns whether `state` accepts some text of `min` to `max` more characters. */
  can(state: ExprId, min: number, max: number): boolean {
    const s = this.placeOf(state)
    for (let k = min; k <= max; k++) {
      if (this.layer(k)[s] === 1) return true
      if (this.period > 0 && k >= Math.max(min, this.periodStart) + this.period) return false
    }
    return false
  }

  /**
   * Returns a text with the fewest characters, `min` to `max`, of a state that has one. Of each
   * range of bytes it considers the byte that `cheapest` picks, and takes the one of least cost.
   */
  text(state: ExprId, min: number, max: number, costs: ByteCosts): Uint8Array {
    let left = min
    while (left < max && this.layer(left)[this.placeOf(state)] === 0) left++
    const bytes: number[] = []
    for (let at = state; left > 0 || !exprs.nullable(at); ) {
      let [best, next] = [-1, at]
      // This is a copy, since other rows may be computed meanwhile.
      const row = Array.from(exprs.row(at))
      for (let i = 0; i < row.length; i += 2) {
        const place = this.index.get(row[i + 1])
        const byte = costs.cheapest(row[i])
        const isInside = (byte & 0xc0) === 0x80
        if (place === undefined || (left === 0 && !isInside)) continue
        if (this.layer(isInside ? left : left - 1)[place] === 0) continue
        if (best < 0 || costs.costs[byte] < costs.costs[best]) [best, next] = [byte, row[i + 1]]
      }
      if (best < 0) throw new Error(`internal: expression ${at} has no text of ${left} characters`)
      if ((best & 0xc0) !== 0x80) left--
      bytes.push(best)
      at = next
    }
    return Uint8Array.from(bytes)
  }

  private placeOf(state: ExprId): number {
    const place = this.index.get(state)
    if (place === undefined) throw new Error(`internal: expression ${state} is not in this automaton`)
    return place
  }

  /**
   * Returns the least k such that every state accepts in exactly j characters for each j ≥ k; -1 if
   * there is none.
   */
  threshold(): number {
    while (this.period === 0) {
      if (this.layers.length > MaxThreshold) return -1
      this.grow()
    }
    const isFull = (layer: Uint8Array) => layer.every((can) => can === 1)
    if (this.period !== 1 || !isFull(this.layers[this.periodStart])) return -1
    let k = this.periodStart
    while (k > 0 && isFull(this.layers[k - 1])) k--
    return k
  }

  private layer(k: number): Uint8Array {
    while (k >= this.layers.length && this.period === 0) this.grow()
    return this.layers[k < this.layers.length ? k : this.periodStart + ((k - this.periodStart) % this.period)]
  }

  /** Computes one more layer, or finds that it repeats an earlier one. */
  private grow(): void {
    checkTime()
    const { starts, startOffsets, continuations } = this
    const count = this.states.length
    const layer = new Uint8Array(count)
    const before = this.layers.at(-1)
    if (before === undefined) {
      for (let s = 0; s < count; s++) layer[s] = exprs.nullable(this.states[s]) ? 1 : 0
    } else {
      for (let s = 0; s < count; s++) {
        for (let i = startOffsets[s]; i < startOffsets[s + 1]; i++) layer[s] |= before[starts[i]]
      }
    }
    // At most three continuation bytes follow a first byte.
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < continuations.length; at += 2 + continuations[at + 1]) {
        for (let i = 0; i < continuations[at + 1]; i++)
          layer[continuations[at]] |= layer[continuations[at + 2 + i]]
      }
    }
    let hash = 0
    for (let s = 0; s < count; s++) hash = (Math.imul(hash, 0x01000193) ^ layer[s]) | 0
    const alike = this.seen.get(hash) ?? []
    const earlier = alike.find((k) => this.layers[k].every((can, s) => can === layer[s]))
    if (earlier !== undefined) {
      this.periodStart = earlier
      this.period = this.layers.length - earlier
      return
    }
    if ((this.layers.length + 1) * count > fixedBounds.lengthBytes)
      throw limitError(fixedBounds, "lengthBytes", (this.layers.length + 1) * count)
    // If an error keeps a layer out of `seen`, its repetition is found one period later.
    this.layers.push(layer)
    this.seen.set(hash, [...alike, this.layers.length - 1])
    tables.layerBytes += count
  }

  private visit(state: ExprId): number {
    const known = this.index.get(state)
    if (known !== undefined) return known
    if (this.states.length + 1 > fixedBounds.lengthStates)
      throw limitError(fixedBounds, "lengthStates", this.states.length + 1)
    this.index.set(state, this.states.length)
    this.states.push(state)
    return this.states.length - 1
  }
}

const tables = owned(
  "lengths",
  {
    /** Expressions whose automaton has too many states to be counted. */
    uncounted: new Set<ExprId>(),
    /** State → the automaton that met it last. */
    owners: new Map<ExprId, Lengths>(),
    /** Bytes of all layers. */
    layerBytes: 0,
  },
  { bytes: (): number => tables.layerBytes, forget: forgetLengths },
)

/** Forgets all automata with their layers. They are made again on demand. */
function forgetLengths(): void {
  tables.owners = new Map()
  tables.uncounted = new Set()
  tables.layerBytes = 0
}

function lengthsOf(expr: ExprId): Lengths {
  const known = tables.owners.get(expr)
  if (known !== undefined) return known
  // Registers the states once the automaton is complete: making it throws if there are too many.
  const made = withFewClosest(() => new Lengths(expr))
  for (const state of made.states) tables.owners.set(state, made)
  return made
}

/** Returns whether `expr` accepts some text of `min` to `max` characters. */
export function canHaveLength(expr: ExprId, min: number, max: number): boolean {
  if (min > max || max < 0) return false
  if (expr === exprs.anyText) return true
  const { low, high, from, to, givesUp } = exprLengths(expr)
  if (min > high || max < low) return false
  if (Math.max(min, from) <= Math.min(max, to)) return true
  // True if all texts have this length, or if texts are arbitrarily long.
  if (max >= high && (min <= low || (high === Unbounded && hasAtLeast(expr, min)))) return true
  if (givesUp === true) return false
  const known = kindOf(expr) === Kind.Machine ? machineHasLength(expr, min, max) : null
  if (known !== null) return known
  return lengthsOf(expr).can(expr, Math.max(0, min), max)
}

/** Costs of bytes, and the cheapest byte of a range; see `shortest.ts`. */
export interface ByteCosts {
  /** Shape [256]. */
  readonly costs: Uint8Array
  /** Returns the cheapest byte of a range `lo | hi << 8`. */
  cheapest(range: number): number
}

/**
 * Returns a text of `expr`, an intersection, with the fewest characters in `min` to `max`, which
 * must exist; null for other expressions, and if its automaton has too many states. It always
 * closes the automaton, so that the text does not depend on what is cached. Costs a row of
 * derivatives per byte.
 */
export function countedText(expr: ExprId, min: number, max: number, costs: ByteCosts): Uint8Array | null {
  return kindOf(expr) === Kind.And ? (countable(expr)?.text(expr, min, max, costs) ?? null) : null
}

/**
 * Returns true if a short depth-first search finds a text of at least `min` characters. Every state
 * that it meets accepts some text.
 */
function hasAtLeast(expr: ExprId, min: number): boolean {
  if (min > MaxForward) return false
  const open: [state: ExprId, count: number][] = [[expr, 0]]
  for (let looked = 0; looked < MaxLooked; looked++) {
    const next = open.pop()
    if (next === undefined) return false
    const [state, count] = next
    if (count >= min) return true
    for (const byte of exprs.classes(state).representatives) {
      const target = exprs.derivative(state, byte)
      if (!exprs.isNever(target)) open.push([target, (byte & 0xc0) === 0x80 ? count : count + 1])
    }
  }
  return false
}

/**
 * Returns the least k such that `expr`, and every expression that it can become, accepts texts of
 * every length ≥ k; -1 if there is none.
 */
export function lengthThreshold(expr: ExprId): number {
  if (expr === exprs.anyText) return 0
  // If the lengths of texts have an upper bound, there is no such k.
  const { high, isEndless } = exprLengths(expr)
  if (high !== Unbounded || isEndless === true) return -1
  try {
    return countable(expr)?.threshold() ?? -1
  } catch (error) {
    // Its layers may still be too many.
    giveUp(expr, error)
    return -1
  }
}

/**
 * Returns the automaton of `expr`; null if it has too many states, such as that of a pattern with
 * balanced groups.
 */
function countable(expr: ExprId): Lengths | null {
  if (tables.uncounted.has(expr)) return null
  try {
    return lengthsOf(expr)
  } catch (error) {
    giveUp(expr, error)
    return null
  }
}

/**
 * Marks `expr` as uncounted after an error of its automaton's bounds. Throws all other errors
 * again.
 */
function giveUp(expr: ExprId, error: unknown): void {
  if (!(error instanceof GrammarError) || error instanceof TimeError) throw error
  tables.uncounted.add(expr)
}
