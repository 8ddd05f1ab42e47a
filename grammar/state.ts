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
 * Threads that read alike can be one over a union of their stacks (`readings.ts`). Grammars of
 * rules (`Grammar.unites`) unite threads as they are added, since most of their readings are alike.
 * JSON has few readings, so a state unites its threads only if there are many.
 */
import { checkLimit, placed } from "./errors.ts"
import { FollowerTable } from "./followers.ts"
import type { Step } from "./frame.ts"
import type { Grammar } from "./grammar.ts"
import { grown, TripleMap, TupleTable } from "./intern.ts"
import { Dead, lexemes } from "./lexeme/table.ts"
import { JoinedAt, joinReadings, ManyThreads, uniteReadings } from "./readings.ts"
import { EmptyStack, StackTable } from "./stack.ts"
import { NoText, Texts } from "./texts.ts"

/** The state without threads: nothing may follow. */
export const DeadState = 0
/** Room for five threads. So small an array costs a fraction, see `intern.ts`. */
const FewThreads = 15

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
  /**
   * Ended lexemes of the state under construction that cannot continue, with their stacks and
   * texts. They are not threads any more, and their followers are added once. Null if threads are
   * not united as they are added.
   */
  private readonly passed: TripleMap | null
  /** A count of numbers in `scratch` above which threads are united. */
  private readonly many: number
  readonly start: number

  /** Threads of the state under construction: lexeme state, stack, text. Shape [used / 3, 3]. */
  private scratch = new Int32Array(FewThreads)
  private used = 0
  private reading = new Int32Array(FewThreads)

  /** Makes the states of `grammar`. A state with more than `many` threads has them united. */
  constructor(grammar: Grammar, many = ManyThreads) {
    this.grammar = grammar
    this.followers = new FollowerTable(this.stacks, grammar)
    this.passed = grammar.unites ? new TripleMap() : null
    // Budgets are counted along stacks, which is not possible in a union.
    this.many = grammar.budgets.length > 0 ? Number.POSITIVE_INFINITY : 3 * many
    this.threads.intern([Dead, EmptyStack, NoText])
    this.states.intern([])
    this.start = this.begin(grammar.start)
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
    this.used = 0
    this.passed?.clear()
    for (const step of steps) this.addStep(step, EmptyStack, NoText)
    if (this.used > this.many) this.uniteScratch()
    return this.internScratch()
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
    const count = this.states.length(state)
    this.used = 0
    this.passed?.clear()
    for (let i = 0; i < count; i++) {
      const thread = this.states.at(state, i)
      this.push(this.threads.at(thread, 0), this.threads.at(thread, 1), this.threads.at(thread, 2))
    }
    for (let at = start; at < end; at++) {
      if (this.used === 0) return DeadState
      this.readByte(bytes[at])
    }
    return this.internScratch()
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

  /** Replaces the threads in `scratch` by those after `byte`. */
  private readByte(byte: number): void {
    const before = this.scratch
    const end = this.used
    this.scratch = this.reading
    this.reading = before
    this.used = 0
    this.passed?.clear()
    let i = 0
    try {
      for (; i < end; i += 3) {
        const next = lexemes.next(before[i], byte)
        if (next === Dead) continue
        const stack = before[i + 1]
        const text = this.stacks.captureCount(stack) > 0 ? this.texts.withByte(before[i + 2], byte) : NoText
        this.add(next, stack, text)
      }
      if (this.used > this.many) this.uniteScratch()
    } catch (error) {
      // These copies are for the closure: captured variables would be slow in the loop.
      const lexemeState = before[i]
      const stack = before[i + 1]
      throw placed(error, () => this.pathOf(lexemeState, stack))
    }
  }

  /** Adapts `text` above `below` to `stack`: adds a mark for each new frame that needs it. */
  private marked(text: number, below: number, stack: number): number {
    const outer = this.stacks.captureCount(below)
    return this.texts.withMarks(outer > 0 ? text : NoText, this.stacks.captureCount(stack) - outer)
  }

  private push(lexemeState: number, stack: number, text: number): void {
    if (this.used === this.scratch.length) this.scratch = grown(this.scratch, 2 * this.used)
    const { scratch } = this
    scratch[this.used++] = lexemeState
    scratch[this.used++] = stack
    scratch[this.used++] = text
  }

  /** Adds a thread to `scratch`, and its followers if its lexeme may end here. */
  private add(lexemeState: number, stack: number, text: number): void {
    const { scratch, used } = this
    for (let i = 0; i < used; i += 3) {
      if (scratch[i] === lexemeState && scratch[i + 1] === stack && scratch[i + 2] === text) return
    }
    if (this.passed !== null) {
      const at = this.placeBeside(lexemeState, stack, text)
      if (at >= 0) {
        // The followers of both were added with the first of them; those of this one are added
        // below.
        const both = this.stacks.unite(scratch[at], stack)
        if (both === scratch[at]) return
        scratch[at] = both
      } else if (lexemes.canContinue(lexemeState)) this.push(lexemeState, stack, text)
      else if (!this.passed.add(lexemeState, stack, text)) return
    } else if (lexemes.canContinue(lexemeState)) {
      this.push(lexemeState, stack, text)
    }
    if (this.used > 3 * this.grammar.limits.threads) this.checkThreads()
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

  /**
   * Unites the threads in `scratch` that can be united, and joins them if many are left, unless the
   * grammar unites as threads are added.
   */
  private uniteScratch(): void {
    const { stacks, scratch } = this
    this.used = uniteReadings(stacks, scratch, this.used)
    if (this.passed === null && this.used > JoinedAt * this.many)
      this.used = joinReadings(stacks, scratch, this.used, this.grammar.limits)
  }

  /** Throws if more readings are open than allowed after uniting them. */
  private checkThreads(): void {
    if (this.used > this.many) this.uniteScratch()
    checkLimit(this.grammar.limits, "threads.open", this.used / 3)
  }

  /**
   * Returns the index in `scratch` of the stack of a thread that reads the same lexeme under the
   * same frame, or -1.
   */
  private placeBeside(lexemeState: number, stack: number, text: number): number {
    const { scratch, used, stacks } = this
    const frame = stacks.top[stack]
    if (frame === undefined || text !== NoText || !stacks.canUnite(stack)) return -1
    for (let i = 0; i < used; i += 3) {
      if (scratch[i] !== lexemeState || scratch[i + 2] !== NoText) continue
      if (stacks.top[scratch[i + 1]] === frame && stacks.canUnite(scratch[i + 1])) return i + 1
    }
    return -1
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
    const { scratch, used } = this
    for (let i = 0; i < used; i += 3) if (scratch[i] === Dead) return
    this.push(Dead, EmptyStack, NoText)
  }

  private internScratch(): number {
    const { scratch, used } = this
    if (used === 3) {
      this.key[0] = this.threads.intern(scratch, 3)
      return this.states.intern(this.key, 1)
    }
    const count = used / 3
    if (count > this.ids.length) this.ids = new Int32Array(2 * count)
    const { ids } = this
    for (let i = 0; i < count; i++) {
      this.key[0] = scratch[3 * i]
      this.key[1] = scratch[3 * i + 1]
      this.key[2] = scratch[3 * i + 2]
      const id = this.threads.intern(this.key, 3)
      // Insertion sort, since there are few threads, nearly in order.
      let at = i
      for (; at > 0 && ids[at - 1] > id; at--) ids[at] = ids[at - 1]
      ids[at] = id
    }
    return this.states.intern(ids, count)
  }
}
