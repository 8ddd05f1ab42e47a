/**
 * Threads and states: the pushdown automaton over bytes.
 *
 * A thread is (lexeme state, stack, text): it reads this lexeme, and when that ends, the top frame
 * returns what follows. `text` is what was read since a frame was pushed that needs it (keys,
 * unique items), else 0. A state is an interned, sorted set of threads. It has more than one only
 * if the text so far is ambiguous. If a lexeme may end here, the set has its followers already, so
 * reading a byte depends on lexemes only.
 *
 * Every thread can reach the end: lexemes keep only live states, and frames return only steps that
 * can be finished.
 *
 * Threads that read alike are one over a union of their stacks, in every grammar without budgets
 * (`readings.ts`).
 */
import { FollowerTable } from "./followers.ts"
import type { Step } from "./frame.ts"
import type { Grammar } from "./grammar.ts"
import { TupleTable } from "./intern.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { ManyThreads, Readings } from "./readings.ts"
import { checkLimit, placed } from "./refusal.ts"
import { EmptyStack, StackTable } from "./stack.ts"
import { enter } from "./tables.ts"
import { NoText, Texts } from "./texts.ts"

/** The state without threads: nothing may follow. */
export const DeadState = 0

export class States {
  readonly grammar: Grammar
  readonly stacks = new StackTable()
  readonly texts = new Texts()
  readonly followers: FollowerTable
  /** [lexeme state, stack, text]. Thread 0 is (Dead, empty, none): the text is complete. */
  private readonly threads = new TupleTable()
  /** Sorted thread ids. State 0 has none. */
  private readonly states = new TupleTable()
  /** Lexeme states and stacks of a state's threads, pairwise. */
  private readonly shapes = new TupleTable()
  private readonly key = new Int32Array(3)
  /** Threads of the state that is being interned. */
  private ids = new Int32Array(8)
  /** Lexeme states and stacks of the shape that is being interned. */
  private pairs = new Int32Array(8)
  /** Threads of the state under construction. */
  private found: Readings
  /** Threads of the state before. */
  private before: Readings
  /**
   * Ended lexemes of the state under construction that cannot continue. They are no threads; their
   * followers are added once.
   */
  private readonly ended: Readings
  /** Count of numbers in `found` above which threads are joined. */
  private readonly many: number
  readonly start: number

  /**
   * Makes the states of `grammar`. A state with more than `many` threads has them joined. If `many`
   * is infinite, threads are not united either.
   */
  constructor(grammar: Grammar, many = ManyThreads) {
    this.grammar = grammar
    this.many = 3 * many
    // Budgets are counted along stacks, which is not possible in a union.
    const unites = Number.isFinite(many) && grammar.budgets.length === 0
    this.found = new Readings(this.stacks, unites)
    this.before = new Readings(this.stacks, unites)
    this.ended = new Readings(this.stacks, false)
    this.followers = new FollowerTable(this.stacks, grammar.limits, new Readings(this.stacks, unites))
    this.threads.intern([Dead, EmptyStack, NoText])
    this.states.intern([])
    this.start = this.begin(grammar.start)
  }

  /** Enters the world of the grammar, see `tables.ts`. */
  enter(): void {
    enter(this.grammar.world)
  }

  /** Count of different threads of all states so far. */
  get knownThreads(): number {
    return this.threads.count - 1
  }

  /** Count of the states so far. */
  get count(): number {
    return this.states.count
  }

  get bytes(): number {
    return this.states.bytes + this.threads.bytes + this.texts.bytes
  }

  /** Returns whether the text so far is complete. */
  isAccepting(state: number): boolean {
    return this.states.length(state) > 0 && this.states.at(state, 0) === 0
  }

  /** Returns whether the text so far is complete and nothing may follow. */
  isExhausted(state: number): boolean {
    return this.states.length(state) === 1 && this.states.at(state, 0) === 0
  }

  threadCount(state: number): number {
    return this.states.length(state)
  }

  /** Returns the lexeme state of thread `index`; `Dead` stands for the end of the text. */
  lexemeState(state: number, index: number): number {
    return this.threads.at(this.states.at(state, index), 0)
  }

  stack(state: number, index: number): number {
    return this.threads.at(this.states.at(state, index), 1)
  }

  /** Returns the id of thread `index`; 0 is the end of the text. */
  thread(state: number, index: number): number {
    return this.states.at(state, index)
  }

  threadLexeme(thread: number): number {
    return this.threads.at(thread, 0)
  }

  threadText(thread: number): number {
    return this.threads.at(thread, 2)
  }

  threadStack(thread: number): number {
    return this.threads.at(thread, 1)
  }

  /** Returns the ids of the threads of a state, ascending. */
  threadsOf(state: number): number[] {
    return Array.from(this.states.view(state))
  }

  /** Returns the state of these threads. Adds no followers if their lexemes may end. */
  stateOf(threads: readonly number[]): number {
    return this.states.intern([...new Set(threads)].sort((a, b) => a - b))
  }

  /** Returns `thread` over another stack. */
  threadOn(thread: number, stack: number): number {
    return this.threads.intern([this.threads.at(thread, 0), stack, this.threads.at(thread, 2)])
  }

  /** Returns the state at the beginning of `steps`, over the empty stack. */
  begin(steps: readonly Step[]): number {
    this.enter()
    this.found.clear()
    this.ended.clear()
    for (const step of steps) this.addStep(step, EmptyStack, NoText)
    if (this.found.used > this.many) this.found.join(this.grammar.limits)
    return this.internFound()
  }

  /** Returns a dense id of the lexeme states and stacks of `state`, without texts. */
  shape(state: number): number {
    const count = this.states.length(state)
    if (2 * count > this.pairs.length) this.pairs = new Int32Array(4 * count)
    for (let i = 0; i < count; i++) {
      this.pairs[2 * i] = this.lexemeState(state, i)
      this.pairs[2 * i + 1] = this.stack(state, i)
    }
    return this.shapes.intern(this.pairs, 2 * count)
  }

  /** Returns the state after `bytes[start .. end)`, or `DeadState`. */
  advance(state: number, bytes: Uint8Array, start = 0, end = bytes.length): number {
    this.enter()
    const count = this.states.length(state)
    this.found.clear()
    for (let i = 0; i < count; i++) {
      const thread = this.states.at(state, i)
      this.found.push(this.threads.at(thread, 0), this.threads.at(thread, 1), this.threads.at(thread, 2))
    }
    for (let at = start; at < end; at++) {
      if (this.found.used === 0) return DeadState
      this.readByte(bytes[at])
    }
    return this.internFound()
  }

  /** Returns the state with the threads of both, for tokens that are read as text and by id. */
  unite(state: number, other: number): number {
    return other === DeadState ? state : this.stateOf([...this.threadsOf(state), ...this.threadsOf(other)])
  }

  /**
   * Returns the pointer to what requires the current text, for refusals: that of the value if its
   * container knows it by how it began, else that of what surrounds it. Empty if unknown.
   */
  pathOf(lexemeState: number, stack: number): string {
    const { stacks } = this
    let beganAs = (lexeme: number) => lexemes.leadsTo(lexeme, lexemeState)
    for (let at = stack; at !== EmptyStack; at = stacks.pop(at)) {
      at = stacks.members(at)[0]
      const path = at === EmptyStack ? "" : stacks.top[at].pathOf(beganAs)
      if (path !== "") return path
      beganAs = () => false
    }
    return ""
  }

  /** Replaces the threads in `found` by those after `byte`. */
  private readByte(byte: number): void {
    const { found, before } = this
    this.found = before
    this.before = found
    this.found.clear()
    this.ended.clear()
    const { threads, used } = this.before
    let i = 0
    try {
      for (; i < used; i += 3) {
        const next = lexemes.next(threads[i], byte)
        if (next === Dead) continue
        const stack = threads[i + 1]
        const text = this.stacks.captureCount(stack) > 0 ? this.texts.withByte(threads[i + 2], byte) : NoText
        this.add(next, stack, text)
      }
      if (this.found.used > this.many) this.found.join(this.grammar.limits)
    } catch (error) {
      // These copies are for the closure: captured variables would be slow in the loop.
      const lexemeState = threads[i]
      const stack = threads[i + 1]
      throw placed(error, () => this.pathOf(lexemeState, stack))
    }
  }

  /** Adapts `text` above `below` to `stack`: adds a mark for each new frame that needs it. */
  private marked(text: number, below: number, stack: number): number {
    const outer = this.stacks.captureCount(below)
    return this.texts.withMarks(outer > 0 ? text : NoText, this.stacks.captureCount(stack) - outer)
  }

  /** Adds a thread to `found`, and its followers if its lexeme may end here. */
  private add(lexemeState: number, stack: number, text: number): void {
    const { found } = this
    const isOpen = lexemes.canContinue(lexemeState)
    if (!(isOpen ? found : this.ended).add(lexemeState, stack, text)) return
    if (found.used > 3 * this.grammar.limits.threads) this.checkThreads()
    const tag = lexemes.tags[lexemeState]
    if (tag === 0) return
    if (stack === EmptyStack) {
      this.addDone()
      return
    }
    const frame = this.stacks.top[stack]
    // A union on top has no frame. Its capture count is also that of its members.
    const below = frame === undefined ? stack : this.stacks.pop(stack)
    if (frame?.needsText) {
      const { segment, outer } = this.texts.split(text)
      const rest = this.stacks.captureCount(below) > 0 ? this.texts.withBytes(outer, segment) : NoText
      for (const step of frame.follow(tag, segment)) this.addStep(step, below, rest)
      return
    }
    const followers = this.followers.after(stack, tag)
    for (let i = 0; i < followers.length; i += 2) {
      if (followers[i] === Dead) this.addDone()
      else this.add(followers[i], followers[i + 1], this.marked(text, below, followers[i + 1]))
    }
  }

  /** Throws if more readings are open than allowed after joining them. */
  private checkThreads(): void {
    const { limits } = this.grammar
    this.found.join(limits)
    checkLimit(limits, "threads.open", this.found.used / 3)
  }

  private addStep(step: Step, below: number, text: number): void {
    const followers = this.followers.expand([step], below)
    for (let i = 0; i < followers.length; i += 2) {
      if (followers[i] === Dead) this.addDone()
      else this.add(followers[i], followers[i + 1], this.marked(text, below, followers[i + 1]))
    }
  }

  /** Adds the end of the text, which is thread 0 and sorts first. */
  private addDone(): void {
    this.found.add(Dead, EmptyStack, NoText)
  }

  /** Returns the state of the threads in `found`. */
  private internFound(): number {
    const { threads, used } = this.found
    const count = used / 3
    if (count > this.ids.length) this.ids = new Int32Array(2 * count)
    const { ids, key } = this
    for (let i = 0; i < count; i++) {
      key[0] = threads[3 * i]
      key[1] = threads[3 * i + 1]
      key[2] = threads[3 * i + 2]
      const id = this.threads.intern(key, 3)
      // Insertion sort, since there are few threads, nearly in order.
      let at = i
      for (; at > 0 && ids[at - 1] > id; at--) ids[at] = ids[at - 1]
      ids[at] = id
    }
    return this.states.intern(ids, count)
  }
}
