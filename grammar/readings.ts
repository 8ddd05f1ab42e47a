/**
 * Threads that read the same, as one thread over a union of their stacks (`stack.ts`).
 *
 * In a schema with alternatives, a container has a frame for each of them, and its content reads
 * alike under all. Few readings cost less one by one. With many, those of nested levels would
 * multiply; here they add up, in two steps. First, threads under the same frame are united below
 * it: the alternatives of a level separate again when its frame is reached. Second, if many are
 * left (an object with hundreds of alternatives), threads under different frames are *joined*: the
 * union itself is the stack of the thread, and when the lexeme ends, its followers are those under
 * each of its members.
 *
 * Frames that need the text above them may lie below in a union if all its members wait for as many
 * texts: the threads had the same text, so each member gets its own part of it. On top they stay
 * separate, since each one uses the text differently.
 */
import { checkLimit, type Limits } from "./errors.ts"
import { TripleMap } from "./intern.ts"
import { EmptyStack, type StackTable } from "./stack.ts"

/** Count of threads above which those that can be are united. */
export const ManyThreads = 8
/** Multiple of that count above which threads are joined as well. */
export const JoinedAt = 4

/** (lexeme state, frame, 0) → index of the thread that was met last. */
const places = new TripleMap()

/**
 * Unites threads in `threads` in place and returns how many numbers are left. Shape [used / 3, 3]:
 * lexeme state, stack, text. Linear, except for the unions, which are memoized.
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

/** (lexeme state, text, count of texts that are waited for) → index of a group of stacks. */
const groups = new TripleMap()

/**
 * Joins threads in `threads` in place and returns how many numbers are left. Throws `limit` if more
 * than `limits.threads` stacks would become one.
 */
export function joinReadings(stacks: StackTable, threads: Int32Array, used: number, limits: Limits): number {
  groups.clear()
  /** Index of the thread of each group, and its stacks. */
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

/** Returns whether the top of `stack` reads without knowing the text. */
function canJoin(stacks: StackTable, stack: number): boolean {
  if (stacks.isUnion(stack)) return true
  return stack !== EmptyStack && !stacks.top[stack].needsText && !stacks.isSymbolic(stack)
}
