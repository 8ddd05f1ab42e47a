/**
 * Threads that differ only below their frames, as one thread over a union of stacks.
 *
 * Containers in a schema with alternatives have a frame for each; what is inside them is read alike under all of them. Where
 * few readings are open they cost less one by one. Where many are, those of nested levels would multiply, and here they add
 * up: the alternatives of a level come apart again when its frame is reached. Frames that need the text above them may lie in
 * a union too, as long as all its members wait for as many texts: the threads had the same text, so each member gets its own
 * part of it.
 */
import { TripleMap } from "./intern.ts"
import type { StackTable } from "./stack.ts"

/** Above so many threads those that can be are united. */
export const ManyThreads = 8

/** (lexeme state, frame, 0) → where the thread stands that was met last. */
const places = new TripleMap()

/**
 * Unites what can be of the threads in `threads`, in place, and returns how many numbers are left. Shape [used / 3, 3]: lexeme
 * state, stack, text. Linear, but for the unions, which are memoised.
 */
export function uniteReadings(stacks: StackTable, threads: Int32Array, used: number): number {
  places.clear()
  let end = 0
  for (let i = 0; i < used; i += 3) {
    const lexemeState = threads[i]
    const stack = threads[i + 1]
    const text = threads[i + 2]
    const frame = stacks.top[stack]
    if (frame !== undefined) {
      const place = places.get(lexemeState, frame.id, 0)
      if (place >= 0 && threads[place + 2] === text && stacks.canUniteBoth(threads[place + 1], stack)) {
        threads[place + 1] = stacks.unite(threads[place + 1], stack)
        continue
      }
      places.set(lexemeState, frame.id, 0, end)
    }
    threads[end] = lexemeState
    threads[end + 1] = stack
    threads[end + 2] = text
    end += 3
  }
  return end
}
