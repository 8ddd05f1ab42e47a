/** Interned lists of frames: equal stacks are the same integer, that is what makes states recur. */
import type { Frame } from "./frame.ts"
import { grown, PairMap } from "./intern.ts"

/** No frame left: the text is complete. */
export const EmptyStack = 0

export class StackTable {
  private readonly ids = new PairMap()
  /** Top frame by stack; index 0 is unused. */
  readonly top: Frame[] = [undefined as unknown as Frame]
  /** The stack below the top frame. Shape [count]. */
  private below = new Int32Array(16)
  /** Number of frames. Shape [count]. */
  private depths = new Int32Array(16)
  /** Number of frames that need the text read above them. Shape [count]. */
  private captures = new Int32Array(16)
  /** Whether some frame is symbolic. */
  private readonly symbolic: boolean[] = [false]

  get count(): number {
    return this.top.length
  }

  /** `frame` on top of `stack`. A level that may come any number of times lies there once: x* x* = x*. */
  push(stack: number, frame: Frame): number {
    const known = this.ids.get(stack, frame.id)
    if (known >= 0) return known
    if (frame.isIdempotent && stack !== EmptyStack && this.top[stack] === frame) return stack
    const id = this.top.length
    // Each column has room of its own: what throws between two of them leaves the others as they are.
    if (id >= this.below.length) this.below = grown(this.below, 4 * this.below.length)
    if (id >= this.depths.length) this.depths = grown(this.depths, 4 * this.depths.length)
    if (id >= this.captures.length) this.captures = grown(this.captures, 4 * this.captures.length)
    this.below[id] = stack
    this.depths[id] = this.depths[stack] + 1
    this.captures[id] = this.captures[stack] + (frame.needsText ? 1 : 0)
    this.symbolic[id] = frame.isSymbolic || this.symbolic[stack]
    this.top[id] = frame
    this.ids.set(stack, frame.id, id)
    return id
  }

  pop(stack: number): number {
    return this.below[stack]
  }

  /** How many frames need the text that is read above them. */
  captureCount(stack: number): number {
    return this.captures[stack]
  }

  /** Whether what is read depends on a text that is not known. */
  isSymbolic(stack: number): boolean {
    return this.symbolic[stack]
  }

  depth(stack: number): number {
    return this.depths[stack]
  }
}
