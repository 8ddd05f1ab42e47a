/**
 * States as text, for debugging: the threads of a state, what each reads, and the frames below it.
 *
 * Each thread is one line: the bytes that its lexeme may read next, the tag with which the lexeme
 * may end here, a shortest text to the end of everything, and its frames from the top down.
 */
import { concatenate } from "./bytes.ts"
import { Completions } from "./completions.ts"
import type { Frame } from "./frame.ts"
import { shortestCompletion } from "./lexeme/completion.ts"
import { printBytes } from "./lexeme/expr/print.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { EmptyStack, type StackTable } from "./stack.ts"
import type { States } from "./state.ts"

/** Returns a line for `state`, and one for each of its threads. */
export function printState(states: States, state: number): string {
  states.enter()
  const count = states.threadCount(state)
  const title = `state ${state}, ${count} ${count === 1 ? "thread" : "threads"}`
  const lines = Array.from({ length: count }, (_, i) => `  ${printThread(states, states.thread(state, i))}`)
  return [title, ...lines].join("\n")
}

/**
 * Returns what a thread reads, its shortest end, its stack, and the texts that frames wait for,
 * that of the top frame first.
 */
export function printThread(states: States, thread: number): string {
  const [lexemeState, stack] = [states.threadLexeme(thread), states.threadStack(thread)]
  if (lexemeState === Dead) return "end"
  const texts: string[] = []
  let text = states.threadText(thread)
  for (let i = states.stacks.captureCount(stack); i > 0; i--) {
    const { segment, outer } = states.texts.split(text)
    texts.push(`, read ${quoted(segment)}`)
    text = outer
  }
  const end = concatenate([...new Completions(states).finishing(thread, shortestCompletion(lexemeState))])
  return `${printLexeme(lexemeState)}${texts.join("")}, ends ${quoted(end)} ▸ ${printStack(states.stacks, stack)}`
}

/** Returns the bytes that a lexeme state reads next, and the tag with which it may end. */
export function printLexeme(lexemeState: number): string {
  const ranges: string[] = []
  const isRead = (byte: number) => byte < 256 && lexemes.next(lexemeState, byte) !== Dead
  for (let low = 0; low < 256; low++) {
    if (!isRead(low)) continue
    let high = low
    while (isRead(high + 1)) high++
    ranges.push(printBytes(low, high))
    low = high
  }
  const tag = lexemes.tags[lexemeState]
  return `[${ranges.join(" ")}]${tag === 0 ? "" : ` or tag ${tag}`}`
}

/** Returns the frames of a stack from the top down. The members of a union stand in brackets. */
export function printStack(stacks: StackTable, stack: number): string {
  if (stack === EmptyStack) return "end"
  if (stacks.isUnion(stack)) {
    const members = stacks.members(stack).map((member) => printStack(stacks, member))
    return `(${members.join(" | ")})`
  }
  return `${printFrame(stacks.top[stack])} ▸ ${printStack(stacks, stacks.pop(stack))}`
}

/**
 * Returns the class of a frame and the pointer of the schema that governs what is read above it.
 */
export function printFrame(frame: Frame): string {
  const path = frame.pathOf(() => false)
  return path === "" ? frame.constructor.name : `${frame.constructor.name}(${path})`
}

function quoted(bytes: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(bytes))
}
