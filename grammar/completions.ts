/**
 * The short completion of a state: bytes after which the text is complete. The fewest bytes end the
 * lexeme of a thread. Then each frame of its stack adds what it still needs, from the top down; of
 * a union, the member that needs least.
 */
import { concatenate } from "./bytes.ts"
import { placed } from "./errors.ts"
import { type Completion, leastBytes, shortestCompletion } from "./lexeme/completion.ts"
import { EmptyStack } from "./stack.ts"
import type { States } from "./state.ts"
import { NoText } from "./texts.ts"

const noBytes = new Uint8Array(0)
const encoder = new TextEncoder()

export class Completions {
  private readonly states: States
  /** By stack, see `finishLength`; made on demand. */
  private finishLengths: Map<number, number> | null = null

  constructor(states: States) {
    this.states = states
  }

  /**
   * Returns a lower bound on the bytes of any completion; 0 if the text is complete. Costs a look
   * at the threads with their stacks.
   */
  least(state: number): number {
    this.states.enter()
    if (this.states.isAccepting(state)) return 0
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < this.states.threadCount(state); i++)
      least = Math.min(least, this.leastBytes(this.states.thread(state, i)))
    return Number.isFinite(least) ? least : 0
  }

  /**
   * Returns a short completion: bytes after which the text is complete. Empty if it is complete
   * already.
   */
  shortest(state: number): Uint8Array {
    this.states.enter()
    if (this.states.threadCount(state) === 0)
      throw new RangeError("nothing completes a text that was rejected")
    if (this.states.isAccepting(state)) return noBytes
    let best: Uint8Array | null = null
    const threads = Array.from({ length: this.states.threadCount(state) }, (_, i) => {
      const thread = this.states.thread(state, i)
      return { thread, least: this.leastBytes(thread) }
    })
    // Skips the threads that are certainly longer.
    for (const { thread, least } of threads.sort((a, b) => a.least - b.least)) {
      if (best !== null && least > best.length) break
      const completion = this.finishThread(thread)
      // Among equally long ones the smaller one wins, so that the order of the threads does not
      // matter.
      if (best === null || isBefore(completion, best)) best = completion
    }
    return best as Uint8Array
  }

  /** Returns a lower bound on the bytes of any completion of a thread. */
  private leastBytes(thread: number): number {
    const { stacks } = this.states
    let least = leastBytes(this.states.threadLexeme(thread))
    let stack = this.states.threadStack(thread)
    for (; stack !== EmptyStack && !stacks.isUnion(stack); stack = stacks.pop(stack))
      least += stacks.top[stack].leastBytes
    return least
  }

  private finishThread(thread: number): Uint8Array {
    const lexemeState = this.states.threadLexeme(thread)
    try {
      return concatenate([...this.finishing(thread, shortestCompletion(lexemeState))])
    } catch (error) {
      throw placed(error, () => this.states.pathOf(lexemeState, this.states.threadStack(thread)))
    }
  }

  /**
   * Yields the bytes that finish a thread: those of `completion`, which end its lexeme, then what
   * each frame adds, from the top down.
   */
  *finishing(thread: number, { bytes, tag }: Completion): Generator<Uint8Array> {
    const { stacks, texts } = this.states
    // The first part may begin inside a character. What frames add are whole characters.
    yield bytes
    let stack = this.states.threadStack(thread)
    let text = texts.withBytes(
      this.states.threadText(thread),
      stacks.captureCount(stack) > 0 ? bytes : noBytes,
    )
    for (let last = tag; stack !== EmptyStack; last = 1) {
      if (stacks.isUnion(stack)) stack = this.nearest(stack, text, last)
      if (stack === EmptyStack) break
      const frame = stacks.top[stack]
      stack = stacks.pop(stack)
      const { segment, outer } = frame.needsText ? texts.split(text) : { segment: noBytes, outer: text }
      const rest = frame.finish(last, segment)
      const part = typeof rest === "string" ? encoder.encode(rest) : rest
      yield part
      text = stacks.captureCount(stack) > 0 ? texts.withBytes(texts.withBytes(outer, segment), part) : NoText
    }
  }

  /**
   * Returns the member of a union that needs the fewest bytes to finish, if it is read with `text`.
   * If members need texts, only their top frames count. `tag` is how the lexeme above ended.
   */
  private nearest(union: number, text: number, tag = 1): number {
    const { stacks } = this.states
    let best = EmptyStack
    let least = Number.POSITIVE_INFINITY
    const isFree = stacks.captureCount(union) === 0
    for (const member of stacks.members(union)) {
      let length = 0
      if (isFree && tag === 1) length = this.finishLength(member)
      else {
        length = this.topLength(member, text, tag)
        if (isFree) length += this.finishLength(stacks.pop(member))
      }
      if (length < least) [best, least] = [member, length]
    }
    return best
  }

  /** Returns how many bytes finish the top frame of `stack`, which is read with `text`. */
  private topLength(stack: number, text: number, tag: number): number {
    const { stacks, texts } = this.states
    if (stack === EmptyStack) return 0
    const frame = stacks.top[stack]
    return frame.finish(tag, frame.needsText ? texts.split(text).segment : noBytes).length
  }

  /** Returns how many bytes finish `stack`, in which no frame needs a text. */
  private finishLength(stack: number): number {
    const { stacks } = this.states
    if (stack === EmptyStack) return 0
    this.finishLengths ??= new Map()
    let length = this.finishLengths.get(stack)
    if (length === undefined) {
      if (stacks.isUnion(stack)) length = this.finishLength(this.nearest(stack, NoText))
      else {
        const own = stacks.top[stack].finish(1, noBytes)
        length = own.length + this.finishLength(stacks.pop(stack))
      }
      this.finishLengths.set(stack, length)
    }
    return length
  }
}

/** Returns whether `a` is shorter, or as long and smaller at the first byte that differs. */
function isBefore(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return a.length < b.length
  const at = a.findIndex((byte, i) => byte !== b[i])
  return at >= 0 && a[at] < b[at]
}
