/** What a text may go on with, for people: what the threads of a state expect, and the part of a schema that asks for it. */
import { describeSample, type Expectation } from "./frame.ts"
import { joint, jointMembers } from "./joints.ts"
import { shortestCompletion } from "./lexeme/completion.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { EmptyStack, type StackTable } from "./stack.ts"

const decoder = new TextDecoder()

/** A lexeme that is read, and the stack under it. `Dead`: the text is complete. */
interface Read {
  readonly lexemeState: number
  readonly stack: number
}

/** What may be written next, each once. Of lexemes that may end here, only what follows them is told. */
export function expectationsOf(stacks: StackTable, reads: readonly Read[]): Expectation[] {
  const expectations = new Map<string, Expectation>()
  for (const { lexemeState, stack } of reads) {
    const isEnd = lexemeState === Dead
    if (!isEnd && lexemes.tags[lexemeState] !== 0) continue
    const sample = isEnd ? "" : decoder.decode(shortestCompletion(lexemeState).bytes)
    for (const member of jointMembers(stacks, stack)) {
      const expectation =
        member === EmptyStack
          ? { what: describeSample(sample), example: sample, path: "" }
          : stacks.top[member].expect(sample)
      expectations.set(`${expectation.what} ${expectation.path}`, expectation)
    }
  }
  return [...expectations.values()]
}

/**
 * The pointer that asks for what is read, for refusals: that of the value where its container tells it by how it began, else that of
 * what is around it. Empty where nothing knows one.
 */
export function pathOf(stacks: StackTable, lexemeState: number, stack: number): string {
  let beganAs = (lexeme: number) => lexemes.leadsTo(lexeme, lexemeState)
  for (let at = stack; at !== EmptyStack; at = stacks.pop(at)) {
    if (stacks.top[at] === joint) at = stacks.pop(at)
    if (stacks.isUnion(at)) at = stacks.members(at)[0]
    const path = at === EmptyStack ? "" : stacks.top[at].pathOf(beganAs)
    if (path !== "") return path
    beganAs = () => false
  }
  return ""
}
