/** What a text may go on with, for people: what the threads of a state expect, and the part of a schema that asks for it. */
import { describeSample, type Expectation } from "./frame.ts"
import { shortestCompletion } from "./lexeme/completion.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { EmptyStack } from "./stack.ts"
import type { States } from "./state.ts"

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
