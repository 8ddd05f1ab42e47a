/**
 * Captures: reads a text again, with the rules as they were written, to find the spans that the
 * rules name.
 *
 * Nothing is recorded while decoding: the pushdown of the masks knows no captures, and it reads the
 * rules in another form. Here a text is read byte by byte by threads. Each has the state of a
 * lexeme and the rest that is to be read after it. Threads with the same future are one thread,
 * with the better of their spans (`spans.ts`), as in a tagged automaton (Laurikari 2000). The rests
 * of recursive rules are unbounded, so such rules are called: the threads that wait for the end of
 * a rule that began at a place are listed once, at the call (a graph-structured stack: Tomita 1986;
 * Scott and Johnstone, GLL Parsing, 2010). So left recursion and ambiguity need no special
 * treatment.
 *
 * Most grammars take a handful of threads for each byte. In the worst case a text of n bytes takes
 * n³ steps, so the steps are bounded.
 */
import { type Limits, limitError } from "../../errors.ts"
import type { Grammar } from "../../grammar.ts"
import { PairMap } from "../../intern.ts"
import { exprLexeme } from "../../lexeme/raw.ts"
import { Dead, lexemes } from "../../lexeme/table.ts"
import { TokenMark, tokenBytes, tokenIds } from "../../lexeme/token.ts"
import { DeadState, States } from "../../state.ts"
import { currentWorld, enter } from "../../tables.ts"
import { type Capture, type CaptureReader, countTokens, type Tape, tokenBeginningAt } from "../../tape.ts"
import { Kind, type Term, type Terms } from "../terms.ts"
import { CloseSpan, MustNotRead, MustRead, type Rest, Rests } from "./rests.ts"
import { CapturingRules } from "./rules.ts"
import { inOrder, SpanLists, type Spans } from "./spans.ts"

/** Spans of this name are not captures: they are cut out of the captures around them. */
export const HiddenName = ""

/**
 * Greater than all ids of calls, rests and threads: each of them takes a step, and steps are
 * bounded.
 */
const Shift = 2 ** 25

/** Reads the captures of the texts of some rules. */
export class RuleCaptures implements CaptureReader {
  readonly rules: CapturingRules
  private readonly limits: Limits
  private readonly world = currentWorld()

  constructor(terms: Terms, start: Term, bodyOf: (rule: number) => Term, limits: Limits) {
    this.rules = new CapturingRules(terms, start, bodyOf)
    this.limits = limits
  }

  /** Returns the captures of a text. Throws `limit` if it can be read in too many ways. */
  read(tape: Tape): readonly Capture[] | null {
    enter(this.world)
    const reading = new Reading(tape, this.rules, this.limits)
    const spans = reading.read()
    if (spans === undefined) return null
    const all = inOrder(spans).map(({ name, start, end }) => ({ name: reading.names[name], start, end }))
    const isShown = Uint8Array.from(tape.bytes, (byte) => (byte === TokenMark ? 0 : 1))
    for (const { name, start, end } of all) if (name === HiddenName) isShown.fill(0, start, end)
    return outermost(all.filter(({ name }) => name !== HiddenName)).map(({ name, start, end }) => {
      const bytes = tape.bytes.subarray(start, end).filter((_, i) => isShown[start + i] === 1)
      return { name, start, end, bytes }
    })
  }
}

interface Span {
  readonly name: string
  readonly start: number
  readonly end: number
}

/**
 * Removes spans that lie in another span of the same name and start: a rule that begins with itself
 * is captured once.
 */
function outermost(spans: readonly Span[]): Span[] {
  const last = new Map<string, Span>()
  return spans.filter((span) => {
    const outer = last.get(span.name)
    if (outer !== undefined && outer.start === span.start && outer.end >= span.end) return false
    last.set(span.name, span)
    return true
  })
}

/** A part that is read from a place on. */
interface Call {
  readonly id: number
  readonly start: number
  /** Most tokens that the part may take. */
  readonly maxTokens: number
  readonly waiters: Map<number, Waiting>
  /** The best spans of the empty text; undefined if the part does not match it. */
  empty: Spans | null | undefined
}

/** A rest that is to be read in `call` after `spans`. */
interface Waiting {
  readonly call: Call
  readonly rest: Rest
  spans: Spans | null
}

/** A rest that is to be read at the current place. */
interface Item extends Waiting {
  isQueued: boolean
}

/**
 * Reads the first part of its rest. The state is that of a lexeme or of a nested grammar, or
 * `NotBegun`.
 */
interface Thread extends Waiting {
  readonly state: number
}

const NotBegun = -1

/** The reading of one text. */
class Reading {
  readonly names: string[] = []
  private readonly tape: Tape
  private readonly rules: CapturingRules
  private readonly limits: Limits
  private readonly maxSteps: number
  private readonly rests: Rests
  private readonly lists = new SpanLists()
  /** Number of bytes that have been read. */
  private place = 0
  private steps = 0
  private callCount = 0
  /** Dense ids of (rest, state). */
  private readonly threadIds = new PairMap()
  private readonly machines = new Map<Grammar, States>()
  /**
   * The items, threads and calls at this place: by call and rest, by call and thread, and by the
   * called part.
   */
  private items = new Map<number, Item>()
  private threads = new Map<number, Thread>()
  private calls = new Map<CapturingRules, Map<Term, Call>>()
  private readonly queue: Item[] = []
  /** Threads that tokens lead to, by the place after the token. */
  private readonly ahead = new Map<number, Thread[]>()

  constructor(tape: Tape, rules: CapturingRules, limits: Limits) {
    this.tape = tape
    this.rules = rules
    this.limits = limits
    this.maxSteps = Math.min(limits.captureSteps, Shift)
    this.rests = new Rests(rules)
  }

  /** Returns the spans of the whole text; undefined if the rules do not match it. */
  read(): Spans | null | undefined {
    const { nothing } = this.rests
    const root = this.newCall(Number.POSITIVE_INFINITY)
    this.proceed(root, this.rests.with(this.rules, this.rules.start, nothing), null)
    this.settle()
    while (this.place < this.tape.bytes.length) {
      if (this.threads.size === 0 && this.ahead.size === 0) return undefined
      this.step()
    }
    return this.items.get(root.id * Shift + nothing.id)?.spans
  }

  /** Reads one byte. */
  private step(): void {
    const at = this.place++
    const byte = this.tape.bytes[at]
    const before = this.threads
    this.threads = new Map()
    this.items = new Map()
    this.calls = new Map()
    for (const thread of before.values()) {
      this.count()
      const rest = this.rests.afterByte(thread.rest)
      if (rest === null) continue
      const machine = this.machineOf(rest)
      if (machine === null) this.addThread(thread.call, rest, lexemes.next(thread.state, byte), thread.spans)
      else this.stepNested({ ...thread, rest }, machine, at)
    }
    for (const { call, rest, state, spans } of this.ahead.get(this.place) ?? []) {
      if (state === NotBegun) this.proceed(call, rest, spans)
      else this.addThread(call, rest, state, spans)
    }
    this.ahead.delete(this.place)
    this.settle()
  }

  /** Reads one byte in a nested grammar, and also the token that begins with it, by its id. */
  private stepNested({ call, rest, state, spans }: Thread, machine: States, at: number): void {
    const { tape } = this
    const token = tokenBeginningAt(tape, at)
    if (token >= 0 && machine.grammar.readsTokens) {
      const next = machine.advance(state, tokenBytes(tape.ids[token]))
      if (next !== DeadState) this.addAhead(tape.ends[token], { call, rest, state: next, spans })
    }
    if (tape.bytes[at] === TokenMark) return
    this.addThread(call, rest, machine.advance(state, tape.bytes, at, at + 1), spans)
  }

  private addAhead(place: number, thread: Thread): void {
    const known = this.ahead.get(place)
    if (known === undefined) this.ahead.set(place, [thread])
    else known.push(thread)
  }

  /** Adds a thread that goes on from `state`. If the part may end here, what follows it begins. */
  private addThread(call: Call, rest: Rest, state: number, spans: Spans | null): void {
    // `Dead` is the dead state of lexemes and of grammars.
    if (state === Dead) return
    let id = this.threadIds.get(rest.id, state)
    if (id < 0) {
      id = this.threadIds.size
      this.threadIds.set(rest.id, state, id)
    }
    const key = call.id * Shift + id
    const known = this.threads.get(key)
    if (known === undefined) this.threads.set(key, { call, rest, state, spans })
    else if (this.lists.isBetter(spans, known.spans)) known.spans = spans
    else return
    this.endPart({ call, rest, state, spans }, rest.next as Rest)
  }

  /** Goes on after the part that a thread reads, if it may end here. */
  private endPart({ call, rest, state, spans }: Thread, next: Rest): void {
    const machine = this.machineOf(rest)
    if (machine !== null) {
      if (machine.isAccepting(state)) this.proceed(call, next, spans)
      return
    }
    const tag = lexemes.tags[state]
    if (tag === 0) return
    const { rules, term } = rest
    if (rules.terms.kind(term) !== Kind.Branch) this.proceed(call, next, spans)
    else {
      const after = rules.terms.branches[rules.terms.at(term, 1)].rests.get(tag)
      if (after !== undefined) this.proceed(call, this.rests.with(rules, after, next), spans)
    }
  }

  private proceed(call: Call, rest: Rest, spans: Spans | null): void {
    const key = call.id * Shift + rest.id
    let item = this.items.get(key)
    if (item === undefined) {
      item = { call, rest, spans, isQueued: false }
      this.items.set(key, item)
    } else if (this.lists.isBetter(spans, item.spans)) item.spans = spans
    else return
    if (item.isQueued) return
    item.isQueued = true
    this.queue.push(item)
  }

  /** Follows everything that begins or ends here without reading a byte. */
  private settle(): void {
    for (let item = this.queue.pop(); item !== undefined; item = this.queue.pop()) {
      item.isQueued = false
      this.count()
      if (item.rest.next === null) this.endCall(item.call, item.spans)
      else this.begin(item, item.rest.next)
    }
  }

  /** Begins the first part of an item's rest; `next` is what comes after it. */
  private begin({ call, rest, spans }: Item, next: Rest): void {
    const { rules, term } = rest
    if (term < 0) {
      if (term === CloseSpan) this.proceed(call, next, this.lists.closed(spans, this.place))
      // A mark that is met at the place where it was put: nothing has been read in between.
      if (term === MustNotRead) this.proceed(call, next, spans)
      return
    }
    const { terms } = rules
    const goOn = (first: Term, then: Rest) => this.proceed(call, this.rests.with(rules, first, then), spans)
    switch (terms.kind(term)) {
      case Kind.Never:
        return
      case Kind.Empty:
        this.proceed(call, next, spans)
        return
      case Kind.Concat:
        goOn(terms.at(term, 1), this.rests.with(rules, terms.at(term, 2), next))
        return
      case Kind.Or:
        for (const member of terms.members(term)) goOn(member, next)
        return
      case Kind.Capture: {
        const name = this.nameId(terms.names[terms.at(term, 1)])
        const body = this.rests.with(rules, terms.at(term, 2), this.rests.with(rules, CloseSpan, next))
        this.proceed(call, body, this.lists.opened(spans, name, this.place))
        return
      }
      case Kind.Star:
      case Kind.Repeat:
        this.beginLoop({ call, rest, spans }, next)
        return
      case Kind.Rule: {
        const behind = terms.at(term, 2) === 1 ? this.rests.with(rules, MustRead, next) : next
        this.beginRule(rules, terms.at(term, 1), { call, rest: behind, spans })
        return
      }
      case Kind.Budget:
        this.callPart(rules, term, { call, rest: next, spans })
        return
      case Kind.Nested:
        this.beginNested({ call, rest, spans }, next)
        return
      case Kind.Expr:
        this.addThread(call, rest, exprLexeme(terms.at(term, 1)), spans)
        return
      case Kind.Lexeme:
        this.beginLexeme({ call, rest, spans }, terms.at(term, 1), next)
        return
      case Kind.Branch:
        this.addThread(call, rest, terms.branches[terms.at(term, 1)].lexeme, spans)
        return
      default:
        throw new Error(`internal: term ${term} is of no kind that is read`)
    }
  }

  private beginLoop({ call, rest, spans }: Waiting, next: Rest): void {
    const { rules, term } = rest
    const { terms } = rules
    const beginBody = (mark: Term, then: Rest) =>
      this.proceed(call, this.rests.with(rules, terms.at(term, 1), this.rests.with(rules, mark, then)), spans)
    const isStar = terms.kind(term) === Kind.Star
    beginBody(MustRead, isStar ? rest : this.rests.with(rules, terms.oneLess(term), next))
    // A body that may be empty may be empty any number of times.
    if (isStar || terms.at(term, 2) === 0) this.proceed(call, next, spans)
    else beginBody(MustNotRead, next)
  }

  /** Begins a nested grammar: by its rules if it captures something, else as a whole. */
  private beginNested({ call, rest, spans }: Waiting, next: Rest): void {
    const { rules, term } = rest
    const grammar = rules.terms.grammars[rules.terms.at(term, 1)]
    if (rules.terms.at(term, 2) === 1) {
      const behind = this.rests.with(rules, MustRead, next)
      this.proceed(call, this.rests.with(rules, rules.terms.nested(grammar), behind), spans)
    } else if (grammar.captures instanceof RuleCaptures) {
      const inner = grammar.captures.rules
      this.callPart(inner, inner.start, { call, rest: next, spans })
    } else this.addThread(call, rest, (this.machineOf(rest) as States).start, spans)
  }

  /** Begins a rule: in its place if it does not recur or ends the call, else by a call. */
  private beginRule(rules: CapturingRules, rule: number, waiting: Waiting): void {
    const { call, rest, spans } = waiting
    const body = rules.bodyOf(rule)
    if (rest.next !== null && rules.isRecursive(rule)) this.callPart(rules, body, waiting)
    else this.proceed(call, this.rests.with(rules, body, rest), spans)
  }

  private beginLexeme({ call, rest, spans }: Waiting, lexemeState: number, next: Rest): void {
    const { tape } = this
    const ids = tokenIds(lexemeState)
    if (ids === null) {
      this.addThread(call, rest, lexemeState, spans)
      return
    }
    const token = tokenBeginningAt(tape, this.place)
    const behind = this.rests.afterByte(next)
    if (token < 0 || behind === null || !ids.includes(tape.ids[token])) return
    this.addAhead(tape.ends[token], { call, rest: behind, state: NotBegun, spans })
  }

  /** Calls a part from this place on, or waits for the existing call. */
  private callPart(rules: CapturingRules, term: Term, waiting: Waiting): void {
    const { terms } = rules
    let byTerm = this.calls.get(rules)
    if (byTerm === undefined) {
      byTerm = new Map()
      this.calls.set(rules, byTerm)
    }
    let call = byTerm.get(term)
    if (call === undefined) {
      const isBudget = terms.kind(term) === Kind.Budget
      call = this.newCall(isBudget ? terms.at(term, 2) : Number.POSITIVE_INFINITY)
      byTerm.set(term, call)
      const body = isBudget ? terms.at(term, 1) : term
      this.proceed(call, this.rests.with(rules, body, this.rests.nothing), null)
    }
    const key = waiting.call.id * Shift + waiting.rest.id
    const known = call.waiters.get(key)
    if (known === undefined) call.waiters.set(key, waiting)
    else if (this.lists.isBetter(waiting.spans, known.spans)) known.spans = waiting.spans
    else return
    if (call.empty !== undefined)
      this.proceed(waiting.call, waiting.rest, this.lists.joined(waiting.spans, call.empty))
  }

  private endCall(call: Call, spans: Spans | null): void {
    const isEmpty = call.start === this.place
    if (call.maxTokens < countTokens(this.tape, call.start, this.place)) return
    if (isEmpty) call.empty = spans
    for (const waiting of call.waiters.values()) {
      this.count()
      const rest = isEmpty ? waiting.rest : this.rests.afterByte(waiting.rest)
      if (rest !== null) this.proceed(waiting.call, rest, this.lists.joined(waiting.spans, spans))
    }
  }

  /**
   * Returns the machine of a nested grammar that is read as a whole; null if the first part of
   * `rest` is something else.
   */
  private machineOf({ rules, term }: Rest): States | null {
    const { terms } = rules
    if (terms.kind(term) !== Kind.Nested) return null
    const grammar = terms.grammars[terms.at(term, 1)]
    let machine = this.machines.get(grammar)
    if (machine === undefined) {
      machine = new States(grammar)
      this.machines.set(grammar, machine)
    }
    return machine
  }

  private newCall(maxTokens: number): Call {
    return { id: this.callCount++, start: this.place, maxTokens, waiters: new Map(), empty: undefined }
  }

  private nameId(name: string): number {
    const known = this.names.indexOf(name)
    return known >= 0 ? known : this.names.push(name) - 1
  }

  private count(): void {
    const steps = ++this.steps + this.lists.steps
    if (steps <= this.maxSteps) return
    throw limitError(this.limits, "captureSteps", steps, "", { place: this.place, most: this.maxSteps })
  }
}
