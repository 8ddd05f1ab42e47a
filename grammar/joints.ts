/**
 * Threads that read the same lexeme under different frames, as one thread over a union of their stacks.
 *
 * Where an object has hundreds of alternatives, a value that is the same in all of them is read once: a *joint* lies on top of
 * the union, and when the lexeme ends, what follows is what follows under each of its members. Frames that need the text above
 * them stay apart, since each asks of it what it wants.
 */
import { checkLimit, type Limits } from "./errors.ts"
import { type Expectation, Frame, type Step } from "./frame.ts"
import { TripleMap } from "./intern.ts"
import type { StackTable } from "./stack.ts"

/** Threads are joined above so many times the number above which they are united (`readings.ts`). */
export const JoinedAt = 4

/** The frame on top of a union: who meets it asks the members below. */
class Joint extends Frame {
  follow(): readonly Step[] {
    throw new Error("internal: a joint was asked for what follows it")
  }

  finish(): string {
    throw new Error("internal: a joint was asked to finish")
  }

  expect(): Expectation {
    throw new Error("internal: a joint was asked what it expects")
  }
}

export const joint: Frame = new Joint()

/** (lexeme state, text, texts that are waited for) → which group of stacks. */
const groups = new TripleMap()

/** The stacks whose top frames read what `stack` reads. */
export function jointMembers(stacks: StackTable, stack: number): readonly number[] {
  return stacks.top[stack] === joint ? stacks.members(stacks.pop(stack)) : [stack]
}

/**
 * Joins what can be of the threads in `threads`, in place, and returns how many numbers are left. Shape [used / 3, 3]: lexeme
 * state, stack, text. Throws `limit` where more stacks than `limits.threads` would lie below one joint. Linear, but for the unions.
 */
export function joinReadings(stacks: StackTable, threads: Int32Array, used: number, limits: Limits): number {
  groups.clear()
  /** Where the thread of a group stands, and the stacks below it. */
  const places: number[] = []
  const members: number[][] = []
  let end = 0
  for (let i = 0; i < used; i += 3) {
    const lexemeState = threads[i]
    const stack = threads[i + 1]
    const text = threads[i + 2]
    const frame = stacks.top[stack]
    if (frame !== undefined && !frame.needsText && !stacks.isSymbolic(stack)) {
      const group = groups.get(lexemeState, text, stacks.captureCount(stack))
      if (group >= 0) {
        for (const member of jointMembers(stacks, stack)) members[group].push(member)
        continue
      }
      groups.set(lexemeState, text, stacks.captureCount(stack), members.length)
      places.push(end)
      members.push([...jointMembers(stacks, stack)])
    }
    threads[end] = lexemeState
    threads[end + 1] = stack
    threads[end + 2] = text
    end += 3
  }
  for (const [group, ofGroup] of members.entries()) {
    if (ofGroup.length === 1) continue
    checkLimit(limits, "threads.open", ofGroup.length)
    const union = stacks.uniteAll(ofGroup)
    threads[places[group] + 1] = stacks.isUnion(union) ? stacks.push(union, joint) : union
  }
  return end
}
