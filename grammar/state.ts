/**
 * Threads and states: the pushdown automaton over bytes.
 *
 * A thread is (lexeme state, stack, text): reading this lexeme; when it ends, the top frame says what follows. `text`
 * is the lexeme's bytes so far where a frame wants to know them (keys that may not repeat), else 0. A state is an
 * interned, sorted set of threads; more than one only where the text so far is ambiguous. A lexeme that may end here
 * has its followers in the set already, so that reading a byte looks at lexemes alone.
 *
 * Every thread has a way to the end: lexemes keep only live states, frames offer only what can be finished.
 */
import { checkLimit, GrammarError } from "./errors.ts"
import { describeSample, type Expectation, type Step } from "./frame.ts"
import type { Grammar } from "./grammar.ts"
import { PairMap, TupleTable } from "./intern.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { EmptyStack, StackTable } from "./stack.ts"

/** The state without threads: nothing may follow. */
export const DeadState = 0
/** Text of lexemes that nobody asks for. */
const NoText = 0

/** Lexeme state and stack after a lexeme has ended, pairwise. */
export type Followers = Int32Array

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Whether all that `lexemeState` can still read is white space. */
function onlySpaceFollows(lexemeState: number): boolean {
  for (let byte = 0; byte < 256; byte++) {
    if (!" \t\n\r".includes(String.fromCharCode(byte)) && lexemes.next(lexemeState, byte) !== Dead)
      return false
  }
  return true
}

export class States {
  readonly grammar: Grammar
  readonly stacks = new StackTable()
  /** [lexeme state, stack, text]. Thread 0 is (Dead, empty, none): the text is complete. */
  private readonly threads = new TupleTable()
  /** Sorted thread ids. State 0 has none. */
  private readonly states = new TupleTable()
  /** [text before, byte]; id 0 is the empty text. */
  private readonly texts = new TupleTable()
  private readonly followIds = new PairMap()
  private readonly followLists: Followers[] = []
  readonly start: number

  /** Threads of the state under construction: lexeme state, stack, text, three values each. */
  private scratch: number[] = []
  private reading: number[] = []

  constructor(grammar: Grammar) {
    this.grammar = grammar
    this.threads.intern([Dead, EmptyStack, NoText])
    this.states.intern([])
    this.texts.intern([])
    for (const step of grammar.start) this.addStep(step, EmptyStack)
    this.start = this.internScratch()
  }

  /** States met so far. */
  get count(): number {
    return this.states.count
  }

  get bytes(): number {
    return this.states.bytes + this.threads.bytes + this.texts.bytes
  }

  /** Whether the text so far is complete. */
  isAccepting(state: number): boolean {
    return this.states.length(state) > 0 && this.states.at(state, 0) === 0
  }

  /** Whether the text so far is complete and nothing may follow. */
  isExhausted(state: number): boolean {
    return this.states.length(state) === 1 && this.states.at(state, 0) === 0
  }

  threadCount(state: number): number {
    return this.states.length(state)
  }

  /** Lexeme state of thread `index`; `Dead` stands for the end of the text. */
  lexemeState(state: number, index: number): number {
    return this.threads.at(this.states.at(state, index), 0)
  }

  stack(state: number, index: number): number {
    return this.threads.at(this.states.at(state, index), 1)
  }

  /** The state after `bytes[start .. end)`, or `DeadState`. */
  advance(state: number, bytes: Uint8Array, start = 0, end = bytes.length): number {
    const count = this.states.length(state)
    this.scratch.length = 0
    for (let i = 0; i < count; i++) {
      const thread = this.states.at(state, i)
      this.scratch.push(this.threads.at(thread, 0), this.threads.at(thread, 1), this.threads.at(thread, 2))
    }
    for (let at = start; at < end; at++) {
      if (this.scratch.length === 0) return DeadState
      this.readByte(bytes[at])
    }
    return this.internScratch()
  }

  /**
   * What follows under `stack` when its lexeme ends with `tag`; lexeme states and stacks, pairwise. Where that
   * depends on the lexeme's text, the frames that need it are symbolic.
   */
  followers(stack: number, tag: number): Followers {
    const known = this.followIds.get(stack, tag)
    if (known >= 0) return this.followLists[known]
    const followers = this.expand(this.stacks.top[stack].follow(tag, null), this.stacks.pop(stack))
    this.followIds.set(stack, tag, this.followLists.push(followers) - 1)
    return followers
  }

  /** What may be written next, one entry a thread. Lexemes that only white space could prolong are left out. */
  explain(state: number): Expectation[] {
    const expectations = new Map<string, Expectation>()
    for (let i = 0; i < this.states.length(state); i++) {
      const thread = this.states.at(state, i)
      const lexemeState = this.threads.at(thread, 0)
      const stack = this.threads.at(thread, 1)
      const isEnd = lexemeState === Dead
      if (!isEnd && lexemes.tags[lexemeState] !== 0 && onlySpaceFollows(lexemeState)) continue
      const sample = isEnd ? "" : decoder.decode(lexemes.shortest(lexemeState).bytes)
      const expectation =
        stack === EmptyStack
          ? { what: describeSample(sample), example: sample, path: "" }
          : this.stacks.top[stack].expect(sample)
      expectations.set(`${expectation.what} ${expectation.path}`, expectation)
    }
    return [...expectations.values()]
  }

  /** A short completion: bytes after which the text is complete. Empty if it is complete already. */
  shortest(state: number): Uint8Array {
    if (state === DeadState) throw new RangeError("nothing completes a text that was rejected")
    if (this.isAccepting(state)) return new Uint8Array(0)
    let best: Uint8Array | null = null
    for (let i = 0; i < this.states.length(state); i++) {
      const completion = this.finishThread(this.states.at(state, i))
      if (best === null || completion.length < best.length) best = completion
    }
    return best as Uint8Array
  }

  private finishThread(thread: number): Uint8Array {
    const { bytes, tag } = lexemes.shortest(this.threads.at(thread, 0))
    const parts = [decoder.decode(bytes)]
    let text = Uint8Array.from([...this.textBytes(this.threads.at(thread, 2)), ...bytes])
    let last = tag
    for (let stack = this.threads.at(thread, 1); stack !== EmptyStack; stack = this.stacks.pop(stack)) {
      parts.push(this.stacks.top[stack].finish(last, text))
      // What a level ends with is one lexeme to the level below.
      last = 1
      text = new Uint8Array(0)
    }
    // The lexeme may begin inside a character: only the first part can hold broken bytes, so it stays as it is.
    const rest = encoder.encode(parts.slice(1).join(""))
    const completion = new Uint8Array(bytes.length + rest.length)
    completion.set(bytes)
    completion.set(rest, bytes.length)
    return completion
  }

  /** Replaces the threads in `scratch` by those after `byte`. */
  private readByte(byte: number): void {
    const { reading } = this
    this.reading = this.scratch
    this.scratch = reading
    reading.length = 0
    const before = this.reading
    for (let i = 0; i < before.length; i += 3) {
      const next = lexemes.next(before[i], byte)
      if (next === Dead) continue
      const stack = before[i + 1]
      const text =
        stack !== EmptyStack && this.stacks.top[stack].needsText ? this.appended(before[i + 2], byte) : NoText
      this.add(next, stack, text)
    }
  }

  private appended(text: number, byte: number): number {
    return this.texts.intern([text, byte])
  }

  private textBytes(text: number): Uint8Array {
    const bytes: number[] = []
    for (let at = text; at !== NoText; at = this.texts.at(at, 0)) bytes.push(this.texts.at(at, 1))
    return Uint8Array.from(bytes.reverse())
  }

  /** Adds a thread to `scratch`, and whatever follows if its lexeme may end here. */
  private add(lexemeState: number, stack: number, text: number): void {
    const { scratch } = this
    for (let i = 0; i < scratch.length; i += 3) {
      if (scratch[i] === lexemeState && scratch[i + 1] === stack && scratch[i + 2] === text) return
    }
    if (lexemes.canContinue(lexemeState)) {
      scratch.push(lexemeState, stack, text)
      if (scratch.length > 3 * this.grammar.limits.threads) {
        checkLimit(
          this.grammar.limits,
          "threads",
          scratch.length / 3,
          "",
          "readings of the text so far that are still open",
        )
      }
    }
    const tag = lexemes.tags[lexemeState]
    if (tag === 0) return
    if (stack === EmptyStack) {
      this.addDone()
      return
    }
    const frame = this.stacks.top[stack]
    if (frame.needsText) {
      for (const step of frame.follow(tag, this.textBytes(text))) this.addStep(step, this.stacks.pop(stack))
      return
    }
    const followers = this.followers(stack, tag)
    for (let i = 0; i < followers.length; i += 2) {
      if (followers[i] === Dead) this.addDone()
      else this.add(followers[i], followers[i + 1], NoText)
    }
  }

  private addStep(step: Step, below: number): void {
    const [lexemeState, stack] = this.expand([step], below)
    if (lexemeState === Dead) this.addDone()
    else this.add(lexemeState, stack, NoText)
  }

  /** The end of the text is thread 0: it sorts first. */
  private addDone(): void {
    const { scratch } = this
    for (let i = 0; i < scratch.length; i += 3) if (scratch[i] === Dead) return
    scratch.push(Dead, EmptyStack, NoText)
  }

  private expand(steps: readonly Step[], below: number): Followers {
    const followers = new Int32Array(2 * steps.length)
    for (const [i, step] of steps.entries()) {
      let stack = below
      for (const frame of step.frames) stack = this.stacks.push(stack, frame)
      if (this.stacks.depth(stack) > this.grammar.limits.stackDepth) {
        throw new GrammarError(
          "limit",
          "",
          `the text nests deeper than ${this.grammar.limits.stackDepth} levels. Raise limits.stackDepth`,
        )
      }
      followers[2 * i] = step.lexeme
      followers[2 * i + 1] = stack
    }
    return followers
  }

  private internScratch(): number {
    const { scratch } = this
    if (scratch.length === 3) return this.states.intern([this.threads.intern(scratch, 3)])
    const ids: number[] = []
    for (let i = 0; i < scratch.length; i += 3) {
      ids.push(this.threads.intern([scratch[i], scratch[i + 1], scratch[i + 2]]))
    }
    return this.states.intern(ids.sort((a, b) => a - b))
  }
}
