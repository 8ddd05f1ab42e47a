/**
 * Threads that read the same, as one thread over a union of their stacks (`stack.ts`).
 *
 * Containers in a schema with alternatives have a frame for each; what is inside them is read alike
 * under all of them. Where few readings are open they cost less one by one. Where many are, those
 * of nested levels would multiply, and here they add up, in two steps. Threads under the same frame
 * are united below it: the alternatives of a level come apart again when its frame is reached.
 * Where many are left, an object with hundreds of alternatives, threads under different frames are
 * *joined*: the union itself is the stack of the thread, and when the lexeme ends, what follows is
 * what follows under each of its members.
 *
 * Frames that need the text above them may lie below in a union, as long as all its members wait
 * for as many texts: the threads had the same text, so each member gets its own part of it. On top
 * they stay apart, since each asks of the text what it wants.
 */
import { checkLimit, type Limits } from "./errors.ts"
import { TripleMap } from "./intern.ts"
import { EmptyStack, type StackTable } from "./stack.ts"

/** Above so many threads those that can be are united. */
export const ManyThreads = 8
/** Above so many times that number they are joined as well. */
export const JoinedAt = 4

/** (lexeme state, frame, 0) → where the thread stands that was met last. */
const places = new TripleMap()

/**
 * Unites what can be of the threads in `threads`, in place, and returns how many numbers are left.
 * Shape [used / 3, 3]: lexeme state, stack, text. Linear, but for the unions, which are memoised.
 */
export function uniteReadings(stacks: StackTable, threads: Int32Array, used: number): number {
  places.clear()
  let end = 0
  for (let i = 0; i < used; i += 3) {
    const lexemeState = threads[i]
    const stack = threads[i + 1]
    const text = threads[i + 2]
    if (stack !== EmptyStack) {
      const frame = stacks.frameId(stack)
      const place = places.get(lexemeState, frame, 0)
      const earlier = place < 0 ? EmptyStack : threads[place + 1]
      if (
        place >= 0 &&
        threads[place + 2] === text &&
        stacks.captureCount(earlier) === stacks.captureCount(stack)
      ) {
        threads[place + 1] = stacks.unite(earlier, stack)
        continue
      }
      places.set(lexemeState, frame, 0, end)
    }
    threads[end] = lexemeState
    threads[end + 1] = stack
    threads[end + 2] = text
    end += 3
  }
  return end
}

/** (lexeme state, text, texts that are waited for) → which group of stacks. */
const groups = new TripleMap()

/**
 * Joins what can be of the threads in `threads`, as `uniteReadings` unites them. Throws `limit`
 * where more stacks than `limits.threads` would be one.
 */
export function joinReadings(stacks: StackTable, threads: Int32Array, used: number, limits: Limits): number {
  groups.clear()
  /** Where the thread of a group stands, and its stacks. */
  const places: number[] = []
  const members: number[][] = []
  let end = 0
  for (let i = 0; i < used; i += 3) {
    const lexemeState = threads[i]
    const stack = threads[i + 1]
    const text = threads[i + 2]
    if (canJoin(stacks, stack)) {
      const group = groups.get(lexemeState, text, stacks.captureCount(stack))
      if (group >= 0) {
        for (const member of stacks.members(stack)) members[group].push(member)
        continue
      }
      groups.set(lexemeState, text, stacks.captureCount(stack), members.length)
      places.push(end)
      members.push([...stacks.members(stack)])
    }
    threads[end] = lexemeState
    threads[end + 1] = stack
    threads[end + 2] = text
    end += 3
  }
  for (const [group, ofGroup] of members.entries()) {
    if (ofGroup.length === 1) continue
    checkLimit(limits, "threads.open", ofGroup.length)
    threads[places[group] + 1] = stacks.uniteAll(ofGroup)
  }
  return end
}

/** Whether what lies on top of `stack` reads without knowing the text. */
function canJoin(stacks: StackTable, stack: number): boolean {
  if (stacks.isUnion(stack)) return true
  return stack !== EmptyStack && !stacks.top[stack].needsText && !stacks.isSymbolic(stack)
}
