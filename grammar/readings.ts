/**
 * Threads that read alike, as one thread over a union of their stacks (`stack.ts`).
 *
 * In a schema with alternatives, a container has a frame for each of them, and its content reads
 * alike under all. Kept apart, the readings of nested levels would multiply; united they add up.
 * Threads under the same frame are united below it as they are added: the alternatives of a level
 * separate again when its frame is reached. If many are left (an object with hundreds of
 * alternatives), threads under different frames are *joined*: the union itself is the stack of the
 * thread, and when the lexeme ends, its followers are those under each of its members.
 *
 * Members of a union wait for as many texts: the threads had the same text, so each member gets its
 * own part of it. A frame on top that needs the text above it is not joined, since each one uses
 * the text in its own way.
 */
import { grown, TripleMap } from "./intern.ts"
import type { Limits } from "./limits.ts"
import { checkLimit } from "./refusal.ts"
import { EmptyStack, type StackTable } from "./stack.ts"

/** Threads that are left in one state above which they are joined. */
export const ManyThreads = 32
/** Room for five threads. So small an array costs a fraction, see `intern.ts`. */
const FirstRoom = 15
/** More threads than this are found in a map. */
const FewThreads = 8

/** Threads that are collected, those that read alike as one. */
export class Readings {
  /** Lexeme state, stack and text of each thread. Shape [used / 3, 3]. */
  threads = new Int32Array(FirstRoom)
  used = 0
  private readonly stacks: StackTable
  /** Whether threads are united. Otherwise only equal ones are one. */
  private readonly unites: boolean
  /** (lexeme state, frame or stack, text) → index of the thread that was added last. */
  private readonly places = new TripleMap()
  /** Length of the part of `threads` that is in `places`. */
  private placed = 0

  constructor(stacks: StackTable, unites: boolean) {
    this.stacks = stacks
    this.unites = unites
  }

  clear(): void {
    this.used = 0
    this.placed = 0
  }

  /** Adds a thread. Returns false if those that are there read all that it reads. */
  add(lexemeState: number, stack: number, text: number): boolean {
    const place = this.find(lexemeState, stack, text)
    if (place < 0) {
      this.push(lexemeState, stack, text)
      return true
    }
    const { threads } = this
    const earlier = threads[place + 1]
    threads[place + 1] = this.stacks.unite(earlier, stack)
    return threads[place + 1] !== earlier
  }

  /** Adds a thread that reads like none that is there. */
  push(lexemeState: number, stack: number, text: number): void {
    if (this.used === this.threads.length) this.threads = grown(this.threads, 2 * this.used)
    const { threads } = this
    threads[this.used++] = lexemeState
    threads[this.used++] = stack
    threads[this.used++] = text
  }

  /**
   * Joins the threads that read the same lexeme. Throws `limit` if more than `limits.threads`
   * stacks would become one.
   */
  join(limits: Limits): void {
    const { stacks, threads, places } = this
    if (!this.unites) return
    places.clear()
    /** Stacks by the index of their thread. */
    const joined = new Map<number, number[]>()
    let end = 0
    for (let i = 0; i < this.used; i += 3) {
      const [lexemeState, stack, text] = threads.subarray(i, i + 3)
      if (this.canJoin(stack)) {
        const captures = stacks.captureCount(stack)
        const place = places.get(lexemeState, captures, text)
        const members = joined.get(place)
        if (members !== undefined) {
          members.push(...stacks.members(stack))
          continue
        }
        places.set(lexemeState, captures, text, end)
        joined.set(end, [...stacks.members(stack)])
      }
      threads[end++] = lexemeState
      threads[end++] = stack
      threads[end++] = text
    }
    for (const [place, members] of joined) {
      if (members.length === 1) continue
      checkLimit(limits, "threads.open", members.length)
      threads[place + 1] = stacks.uniteAll(members)
    }
    this.used = end
    this.placed = 0
  }

  /** Returns the index of a thread that reads alike, or -1. */
  private find(lexemeState: number, stack: number, text: number): number {
    const { threads, used, places } = this
    if (used <= 3 * FewThreads) {
      for (let i = 0; i < used; i += 3)
        if (threads[i] === lexemeState && threads[i + 2] === text && this.readsAlike(threads[i + 1], stack))
          return i
      return -1
    }
    if (this.placed === 0) places.clear()
    for (; this.placed < used; this.placed += 3) {
      const i = this.placed
      places.set(threads[i], this.keyOf(threads[i + 1]), threads[i + 2], i)
    }
    const place = places.get(lexemeState, this.keyOf(stack), text)
    return place >= 0 && this.readsAlike(threads[place + 1], stack) ? place : -1
  }

  /** Returns whether both stacks are the same but below their top frame. */
  private readsAlike(stack: number, other: number): boolean {
    if (stack === other) return true
    const { stacks } = this
    if (stack === EmptyStack || other === EmptyStack || !this.unites) return false
    return (
      stacks.frameId(stack) === stacks.frameId(other) &&
      stacks.captureCount(stack) === stacks.captureCount(other)
    )
  }

  private keyOf(stack: number): number {
    return this.unites ? this.stacks.frameId(stack) : stack
  }

  /** Returns whether the top of `stack` reads without knowing the text. */
  private canJoin(stack: number): boolean {
    const { stacks } = this
    if (stacks.isUnion(stack)) return true
    return stack !== EmptyStack && !stacks.top[stack].needsText && !stacks.isSymbolic(stack)
  }
}
