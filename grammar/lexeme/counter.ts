/**
 * Which lengths a regular expression can still have, in code points.
 *
 * A string must match a pattern and have between `min` and `max` characters. The product of automaton and counter is
 * never built: the expression's automaton is closed once, and layers S_k = states that accept in exactly k more
 * characters are computed backwards from S_0, until a layer repeats (from there they are periodic) or nobody asks
 * further. A step to state q with n characters read is live iff some k in [min − n, max − n] has q ∈ S_k.
 * Over bytes, a character is counted at its first byte; continuation bytes weigh nothing.
 */
import { GrammarError } from "../errors.ts"
import { type ExprId, exprs } from "./expr.ts"

/** No upper bound. */
export const Unbounded = 0x7fffffff
const MaxStates = 50_000
const MaxLayerBytes = 32 << 20

/** The closed automaton of one expression with its length layers. */
class Lengths {
  readonly states: ExprId[] = []
  private readonly indexOf: Map<ExprId, Lengths>
  /** Edges by state: targets read by a first byte, and by a continuation byte. */
  private readonly starts: number[][] = []
  private readonly continuations: number[][] = []
  private readonly index = new Map<ExprId, number>()
  /** Bit s of layer k: state s accepts in exactly k more characters. */
  private readonly layers: Uint32Array[] = []
  private readonly seen = new Map<string, number>()
  /** Layers from `periodStart` repeat with `period`; 0 = not known yet. */
  private periodStart = 0
  private period = 0

  constructor(root: ExprId, owners: Map<ExprId, Lengths>) {
    this.indexOf = owners
    this.visit(root)
    for (let s = 0; s < this.states.length; s++) {
      const { representatives } = exprs.classes(this.states[s])
      const starts = new Set<number>()
      const continuations = new Set<number>()
      for (const byte of representatives) {
        const target = exprs.derivative(this.states[s], byte)
        if (exprs.isNever(target)) continue
        const id = this.visit(target)
        // A class may hold both sorts of bytes only if they are equally dead, so the representative decides.
        if ((byte & 0xc0) === 0x80) continuations.add(id)
        else starts.add(id)
      }
      this.starts.push([...starts])
      this.continuations.push([...continuations])
    }
  }

  /** Whether `state` accepts some text of `min` to `max` more characters. */
  can(state: ExprId, min: number, max: number): boolean {
    const s = this.index.get(state)
    if (s === undefined) throw new Error(`internal: expression ${state} is not in this automaton`)
    for (let k = min; k <= max; k++) {
      const layer = this.layer(k)
      if (layer === null) return false
      if ((layer[s >>> 5] >>> (s & 31)) & 1) return true
      if (this.period > 0 && k >= Math.max(min, this.periodStart) + this.period) return false
    }
    return false
  }

  /** The least k such that every state accepts in exactly j characters for each j ≥ k; -1 if there is none. */
  threshold(): number {
    while (this.period === 0) this.grow()
    const { length } = this.states
    const isFull = (layer: Uint32Array) => {
      for (let s = 0; s < length; s++) if (((layer[s >>> 5] >>> (s & 31)) & 1) === 0) return false
      return true
    }
    if (this.period !== 1 || !isFull(this.layers[this.periodStart])) return -1
    let k = this.periodStart
    while (k > 0 && isFull(this.layers[k - 1])) k--
    return k
  }

  /** Layer k, or null when it and all after it are empty. */
  private layer(k: number): Uint32Array | null {
    while (k >= this.layers.length && this.period === 0) this.grow()
    const at = k < this.layers.length ? k : this.periodStart + ((k - this.periodStart) % this.period)
    const layer = this.layers[at]
    return k >= this.periodStart && this.period === 1 && layer.every((word) => word === 0) ? null : layer
  }

  private grow(): void {
    const count = this.states.length
    const layer = new Uint32Array((count + 31) >>> 5)
    const set = (s: number) => {
      layer[s >>> 5] |= 1 << (s & 31)
    }
    const has = (bits: Uint32Array, s: number) => ((bits[s >>> 5] >>> (s & 31)) & 1) === 1
    const before = this.layers.at(-1)
    for (let s = 0; s < count; s++) {
      if (before === undefined ? exprs.nullable(this.states[s]) : this.starts[s].some((t) => has(before, t)))
        set(s)
    }
    // At most three continuation bytes follow a first byte.
    for (let round = 0; round < 3; round++) {
      for (let s = 0; s < count; s++) if (this.continuations[s].some((t) => has(layer, t))) set(s)
    }
    const key = layer.join(",")
    const earlier = this.seen.get(key)
    if (earlier !== undefined) {
      this.periodStart = earlier
      this.period = this.layers.length - earlier
      return
    }
    if ((this.layers.length + 1) * layer.byteLength > MaxLayerBytes) {
      throw new GrammarError(
        "limit",
        "",
        `the lengths of a pattern need more than ${MaxLayerBytes} bytes. Use a smaller repeat count or drop minLength and maxLength`,
      )
    }
    this.seen.set(key, this.layers.length)
    this.layers.push(layer)
  }

  private visit(state: ExprId): number {
    const known = this.index.get(state)
    if (known !== undefined) return known
    if (this.states.length >= MaxStates) {
      throw new GrammarError(
        "limit",
        "",
        `a pattern with a length needs more than ${MaxStates} automaton states. Write a simpler pattern`,
      )
    }
    this.index.set(state, this.states.length)
    this.states.push(state)
    this.indexOf.set(state, this)
    return this.states.length - 1
  }
}

/** State → the automaton in which it was first met. */
const owners = new Map<ExprId, Lengths>()

function lengthsOf(expr: ExprId): Lengths {
  return owners.get(expr) ?? new Lengths(expr, owners)
}

/** Whether `expr` accepts some text of `min` to `max` characters. */
export function canHaveLength(expr: ExprId, min: number, max: number): boolean {
  if (min > max || max < 0) return false
  if (expr === exprs.anyText) return true
  return lengthsOf(expr).can(expr, Math.max(0, min), max)
}

/** The least k such that `expr`, and all that is left of it later, accepts texts of every length ≥ k; -1 if none. */
export function lengthThreshold(expr: ExprId): number {
  return expr === exprs.anyText ? 0 : lengthsOf(expr).threshold()
}
