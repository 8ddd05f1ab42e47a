/**
 * What may follow a text: its next bytes, and descriptions of what the threads of a state expect,
 * with the part of a schema that requires it.
 */
import type { Expectation } from "./frame.ts"
import { shortestCompletion } from "./lexeme/completion.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { EmptyStack } from "./stack.ts"
import { DeadState, type States } from "./state.ts"
import { describeText } from "./wording.ts"

const decoder = new TextDecoder()

/**
 * Returns what may be written next in `state`, without duplicates. A scalar of JSON that may end
 * here is represented by what follows it.
 */
export function explain(states: States, state: number): Expectation[] {
  states.enter()
  const { stacks } = states
  const expectations = new Map<string, Expectation>()
  for (let i = 0; i < states.threadCount(state); i++) {
    const lexemeState = states.lexemeState(state, i)
    const isEnd = lexemeState === Dead
    const mayEnd = !isEnd && lexemes.tags[lexemeState] !== 0
    if (mayEnd && !lexemes.canContinue(lexemeState)) continue
    const sample = isEnd ? "" : decoder.decode(shortestCompletion(lexemeState).bytes)
    for (const member of stacks.members(states.stack(state, i))) {
      const known =
        member === EmptyStack
          ? states.grammar.expect?.(sample, lexemeState)
          : stacks.top[member].expect(sample, lexemeState)
      // More digits of a number go without saying; more of other texts does not.
      if (mayEnd && known) continue
      const expectation = known ?? { what: describeText(lexemeState, sample), example: sample, path: "" }
      expectations.set(`${expectation.what} ${expectation.path}`, expectation)
    }
  }
  return [...expectations.values()]
}

/** Returns the first `most` of the bytes that may come next in `state`, ascending. */
export function nextBytes(states: States, state: number, most = 256): number[] {
  states.enter()
  const bytes: number[] = []
  for (let byte = 0; byte < 256 && bytes.length < most; byte++)
    if (mayFollow(states, state, byte)) bytes.push(byte)
  return bytes
}

function mayFollow(states: States, state: number, byte: number): boolean {
  let isRead = false
  for (let i = 0; i < states.threadCount(state); i++) {
    if (lexemes.next(states.lexemeState(state, i), byte) === Dead) continue
    if (states.stacks.captureCount(states.stack(state, i)) === 0) return true
    isRead = true
  }
  // A byte that ends a key or an item may be refused because of the text.
  return isRead && states.advance(state, Uint8Array.of(byte)) !== DeadState
}
