/** What a text may go on with: its next bytes, and in words what the threads of a state expect, with the part of a schema that asks for it. */
import { describeSample, type Expectation } from "./frame.ts"
import { shortestCompletion } from "./lexeme/completion.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { EmptyStack } from "./stack.ts"
import { DeadState, type States } from "./state.ts"

const decoder = new TextDecoder()

/** What may be written next in `state`, each once. Of lexemes that may end here, only what follows them is told. */
export function explain(states: States, state: number): Expectation[] {
  const { stacks } = states
  const expectations = new Map<string, Expectation>()
  for (let i = 0; i < states.threadCount(state); i++) {
    const lexemeState = states.lexemeState(state, i)
    const isEnd = lexemeState === Dead
    if (!isEnd && lexemes.tags[lexemeState] !== 0) continue
    const sample = isEnd ? "" : decoder.decode(shortestCompletion(lexemeState).bytes)
    for (const member of stacks.members(states.stack(state, i))) {
      const expectation =
        member === EmptyStack
          ? { what: describeSample(sample), example: sample, path: "" }
          : stacks.top[member].expect(sample)
      expectations.set(`${expectation.what} ${expectation.path}`, expectation)
    }
  }
  return [...expectations.values()]
}

/** The bytes that may come next in `state`, ascending: the first `most` of them. */
export function nextBytes(states: States, state: number, most = 256): number[] {
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
  // A byte that ends a key or an item may be refused for what the text is.
  return isRead && states.advance(state, Uint8Array.of(byte)) !== DeadState
}
