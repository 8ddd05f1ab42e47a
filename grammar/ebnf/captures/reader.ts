/**
 * Captures: a text is read again, with the rules as they were written, to find the spans that they name.
 *
 * Nothing is kept while decoding, so the pushdown of the masks knows no captures; and it reads rules in another form. Here a
 * text is read byte by byte by threads: what is left to be read of the body of a call, and the state of the lexeme at its
 * head. A call is a part that began at a place; who waits for its end is written at the call, once for all (a graph-structured
 * stack: Tomita 1986; Scott and Johnstone, GLL Parsing, 2010), so left recursion and ambiguity are read as they are. Threads that
 * will go on alike are one, with the better of their spans (`spans.ts`); this is how a tagged automaton decides (Laurikari 2000).
 *
 * Most grammars take a handful of threads a byte. In the worst case a text of n bytes takes n³ steps, so they are bounded.
 */
import { GrammarError } from "../../errors.ts"
import type { Grammar } from "../../grammar.ts"
import { PairMap } from "../../intern.ts"
import { exprLexeme } from "../../lexeme/raw.ts"
import { Dead, lexemes } from "../../lexeme/table.ts"
import { TokenMark, tokenBytes, tokenIds } from "../../lexeme/token.ts"
import { DeadState, States } from "../../state.ts"
import { type Capture, type CaptureReader, countTokens, type Tape, tokenBeginningAt } from "../../tape.ts"
import {
  BranchTerm,
  BudgetTerm,
  CaptureTerm,
  ConcatTerm,
  EmptyTerm,
  ExprTerm,
  LexemeTerm,
  NestedTerm,
  NeverTerm,
  OrTerm,
  RepeatTerm,
  RuleTerm,
  StarTerm,
  type Term,
  type Terms,
} from "../terms.ts"
import { closed, inOrder, isBetter, joined, opened, type Spans } from "./spans.ts"

/** Spans of this name are no captures: they are left out of those around them. */
export const HiddenName = ""

/** Steps of one reading; a second or some of work. */
const MaxSteps = 20_000_000
/** Above all ids: as many calls, rests or threads as there are steps. */
const Shift = 2 ** 25

/** The captures of the texts of some rules. */
export class RuleCaptures implements CaptureReader {
  readonly terms: Terms
  readonly start: Term
  readonly bodyOf: (rule: number) => Term

  constructor(terms: Terms, start: Term, bodyOf: (rule: number) => Term) {
    this.terms = terms
    this.start = start
    this.bodyOf = bodyOf
  }

  /** Throws `limit` where the text can be read in too many ways. */
  read(tape: Tape): readonly Capture[] | null {
    const reading = new Reading(tape, this)
    const spans = reading.read(this)
    if (spans === undefined) return null
    const all = inOrder(spans).map(({ name, start, end }) => ({ name: reading.names[name], start, end }))
    const hidden = all.filter(({ name }) => name === HiddenName)
    return outermost(all.filter(({ name }) => name !== HiddenName)).map(({ name, start, end }) => {
      return { name, start, end, bytes: bytesWithout(tape.bytes, start, end, hidden) }
    })
  }
}

interface Span {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** Of the spans of one name that begin together and lie in each other the outermost: a rule that begins with itself is one. */
function outermost(spans: readonly Span[]): Span[] {
  const last = new Map<string, Span>()
  return spans.filter((span) => {
    const outer = last.get(span.name)
    if (outer !== undefined && outer.start === span.start && outer.end >= span.end) return false
    last.set(span.name, span)
    return true
  })
}

/** What is left to be read, the next part first. Equal ones of one reading are one object. */
interface Rest {
  readonly id: number
  readonly rules: RuleCaptures
  /** `CloseSpan`: nothing is read, a span ends. */
  readonly term: Term
  /** Null: nothing is left, and `term` is nothing as well. */
  readonly next: Rest | null
  /** Rests with one more part in front, by its rules and its term. */
  readonly longer: Map<RuleCaptures, Map<Term, Rest>>
}

const CloseSpan = -1

/** A part that is read from a place on. */
interface Call {
  readonly id: number
  readonly start: number
  /** Tokens that it may take. */
  readonly maxTokens: number
  readonly waiters: Map<number, Waiter>
  /** The best spans of the empty text; undefined: it is none of its texts. */
  empty: Spans | null | undefined
}

/** What goes on when a call ends. */
interface Waiter {
  readonly call: Call
  readonly rest: Rest
  /** With which texts of the part. */
  readonly when: "any" | "empty" | "read"
  spans: Spans | null
}

/** A place at which `rest` is still to be read. */
interface Item {
  readonly call: Call
  readonly rest: Rest
  spans: Spans | null
  isQueued: boolean
}

/** Reads the first part of `rest`. The state is the lexeme's, or that of a nested grammar; `NotBegun`: it is an item's. */
interface Thread {
  readonly call: Call
  readonly rest: Rest
  readonly state: number
  spans: Spans | null
}

const NotBegun = -1

/** One text that is read. */
class Reading {
  readonly names: string[] = []
  private readonly tape: Tape
  /** Bytes that have been read. */
  private place = 0
  private steps = 0
  private callCount = 0
  private restCount = 0
  private readonly nothing: Rest
  /** Dense ids of (rest, state). */
  private readonly threadIds = new PairMap()
  private readonly machines = new Map<Grammar, States>()
  /** What is at this place, by call and rest, by call and thread, and by what is called. */
  private items = new Map<number, Item>()
  private threads = new Map<number, Thread>()
  private calls = new Map<RuleCaptures, Map<Term, Call>>()
  private readonly queue: Item[] = []
  /** What tokens lead to, by the place behind them. */
  private readonly ahead = new Map<number, Thread[]>()

  constructor(tape: Tape, rules: RuleCaptures) {
    this.tape = tape
    this.nothing = this.newRest(rules, EmptyTerm, null)
  }

  /** The spans of the whole text; undefined: it is no text of `rules`. */
  read(rules: RuleCaptures): Spans | null | undefined {
    const root = this.newCall(Number.POSITIVE_INFINITY)
    this.proceed(root, this.with(rules, rules.start, this.nothing), null)
    this.settle()
    while (this.place < this.tape.bytes.length) {
      if (this.threads.size === 0 && this.ahead.size === 0) return undefined
      this.step()
    }
    return this.items.get(root.id * Shift + this.nothing.id)?.spans
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
      const { call, rest, state, spans } = thread
      const machine = this.machineOf(rest)
      if (machine === null) this.addThread(call, rest, lexemes.next(state, byte), spans)
      else this.stepNested(thread, machine, at)
    }
    for (const { call, rest, state, spans } of this.ahead.get(this.place) ?? []) {
      if (state === NotBegun) this.proceed(call, rest, spans)
      else this.addThread(call, rest, state, spans)
    }
    this.ahead.delete(this.place)
    this.settle()
  }

  /** A nested grammar reads a byte, and the token that begins with it by its id. */
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

  /** Reads on from `state`; where the part may end here, what follows it begins. */
  private addThread(call: Call, rest: Rest, state: number, spans: Spans | null): void {
    if (this.keepThread(call, rest, state, spans)) this.endPart(call, rest, state, spans)
  }

  /** False where the state is dead, or an equal thread is as good. */
  private keepThread(call: Call, rest: Rest, state: number, spans: Spans | null): boolean {
    if (state === Dead) return false
    let id = this.threadIds.get(rest.id, state)
    if (id < 0) {
      id = this.threadIds.size
      this.threadIds.set(rest.id, state, id)
    }
    const key = call.id * Shift + id
    const known = this.threads.get(key)
    if (known === undefined) this.threads.set(key, { call, rest, state, spans })
    else if (isBetter(spans, known.spans)) known.spans = spans
    else return false
    return true
  }

  private endPart(call: Call, rest: Rest, state: number, spans: Spans | null): void {
    const machine = this.machineOf(rest)
    const next = rest.next as Rest
    if (machine !== null) {
      if (machine.isAccepting(state)) this.proceed(call, next, spans)
      return
    }
    const tag = lexemes.tags[state]
    if (tag === 0) return
    const { rules, term } = rest
    if (rules.terms.kind(term) !== BranchTerm) this.proceed(call, next, spans)
    else {
      const after = rules.terms.branches[rules.terms.at(term, 1)].rests.get(tag)
      if (after !== undefined) this.proceed(call, this.with(rules, after, next), spans)
    }
  }

  /** `rest` is to be read here, after `spans`. */
  private proceed(call: Call, rest: Rest, spans: Spans | null): void {
    const key = call.id * Shift + rest.id
    let item = this.items.get(key)
    if (item === undefined) {
      item = { call, rest, spans, isQueued: false }
      this.items.set(key, item)
    } else if (isBetter(spans, item.spans)) item.spans = spans
    else return
    if (item.isQueued) return
    item.isQueued = true
    this.queue.push(item)
  }

  /** Follows all that begins or ends here without reading. */
  private settle(): void {
    for (let item = this.queue.pop(); item !== undefined; item = this.queue.pop()) {
      item.isQueued = false
      this.count()
      if (item.rest.next === null) this.endCall(item.call, item.spans)
      else this.begin(item, item.rest.next)
    }
  }

  /** Begins the first part of an item's rest; `next` is what comes behind it. */
  private begin({ call, rest, spans }: Item, next: Rest): void {
    const { rules, term } = rest
    const { terms } = rules
    if (term === CloseSpan) {
      this.proceed(call, next, closed(spans, this.place))
      return
    }
    switch (terms.kind(term)) {
      case NeverTerm:
        return
      case EmptyTerm:
        this.proceed(call, next, spans)
        return
      case ConcatTerm: {
        const tail = this.with(rules, terms.at(term, 2), next)
        this.proceed(call, this.with(rules, terms.at(term, 1), tail), spans)
        return
      }
      case OrTerm:
        for (const member of terms.members(term)) this.proceed(call, this.with(rules, member, next), spans)
        return
      case CaptureTerm: {
        const name = this.nameId(terms.names[terms.at(term, 1)])
        const body = this.with(rules, terms.at(term, 2), this.with(rules, CloseSpan, next))
        this.proceed(call, body, opened(spans, name, this.place))
        return
      }
      case StarTerm:
        this.proceed(call, next, spans)
        this.callPart(rules, terms.at(term, 1), { call, rest, when: "read", spans })
        return
      case RepeatTerm: {
        const less = this.with(rules, terms.oneLess(term), next)
        const body = terms.at(term, 1)
        this.callPart(rules, body, { call, rest: less, when: "read", spans })
        // A body that may be empty may be so any number of times.
        if (terms.at(term, 2) === 0) this.proceed(call, next, spans)
        else this.callPart(rules, body, { call, rest: next, when: "empty", spans })
        return
      }
      case RuleTerm:
        this.beginRule(rules, term, {
          call,
          rest: next,
          when: terms.at(term, 2) === 1 ? "read" : "any",
          spans,
        })
        return
      case BudgetTerm:
        this.callPart(rules, term, { call, rest: next, when: "any", spans })
        return
      case NestedTerm:
        this.beginNested(call, rest, spans)
        return
      case ExprTerm:
        this.addThread(call, rest, exprLexeme(terms.at(term, 1)), spans)
        return
      case LexemeTerm:
        this.beginLexeme(call, rest, spans)
        return
      case BranchTerm:
        this.addThread(call, rest, terms.branches[terms.at(term, 1)].lexeme, spans)
        return
      default:
        throw new Error(`internal: term ${term} is of no kind`)
    }
  }

  /** A rule at the end of a call is read in its place: what recurs there takes no calls. */
  private beginRule(rules: RuleCaptures, term: Term, waiter: Waiter): void {
    const { call, rest, when, spans } = waiter
    const body = rules.bodyOf(rules.terms.at(term, 1))
    if (rest.next === null && when === "any") this.proceed(call, this.with(rules, body, rest), spans)
    else this.callPart(rules, body, waiter)
  }

  private beginLexeme(call: Call, rest: Rest, spans: Spans | null): void {
    const { tape } = this
    const state = rest.rules.terms.at(rest.term, 1)
    const ids = tokenIds(state)
    if (ids === null) {
      this.addThread(call, rest, state, spans)
      return
    }
    const token = tokenBeginningAt(tape, this.place)
    if (token < 0 || !ids.includes(tape.ids[token])) return
    this.addAhead(tape.ends[token], { call, rest: rest.next as Rest, state: NotBegun, spans })
  }

  private beginNested(call: Call, rest: Rest, spans: Spans | null): void {
    const { terms } = rest.rules
    const grammar = terms.grammars[terms.at(rest.term, 1)]
    const isNonEmpty = terms.at(rest.term, 2) === 1
    const inner = grammar.captures
    if (inner instanceof RuleCaptures) {
      const waiter: Waiter = { call, rest: rest.next as Rest, when: isNonEmpty ? "read" : "any", spans }
      this.callPart(inner, inner.start, waiter)
      return
    }
    const machine = this.machineOf(rest) as States
    if (!isNonEmpty || !machine.isAccepting(machine.start)) this.addThread(call, rest, machine.start, spans)
    else this.keepThread(call, rest, machine.start, spans)
  }

  /** Calls a part from here on, or waits for the call that is there. */
  private callPart(rules: RuleCaptures, term: Term, waiter: Waiter): void {
    const { terms } = rules
    let byTerm = this.calls.get(rules)
    if (byTerm === undefined) {
      byTerm = new Map()
      this.calls.set(rules, byTerm)
    }
    let call = byTerm.get(term)
    if (call === undefined) {
      const isBudget = terms.kind(term) === BudgetTerm
      call = this.newCall(isBudget ? terms.at(term, 2) : Number.POSITIVE_INFINITY)
      byTerm.set(term, call)
      this.proceed(call, this.with(rules, isBudget ? terms.at(term, 1) : term, this.nothing), null)
    }
    const key = 4 * (waiter.call.id * Shift + waiter.rest.id) + whens.indexOf(waiter.when)
    const known = call.waiters.get(key)
    if (known === undefined) call.waiters.set(key, waiter)
    else if (isBetter(waiter.spans, known.spans)) known.spans = waiter.spans
    else return
    if (call.empty !== undefined && waiter.when !== "read")
      this.proceed(waiter.call, waiter.rest, joined(waiter.spans, call.empty))
  }

  private endCall(call: Call, spans: Spans | null): void {
    const isEmpty = call.start === this.place
    if (call.maxTokens < countTokens(this.tape, call.start, this.place)) return
    if (isEmpty) call.empty = spans
    for (const waiter of call.waiters.values()) {
      if (waiter.when === (isEmpty ? "read" : "empty")) continue
      this.count()
      this.proceed(waiter.call, waiter.rest, joined(waiter.spans, spans))
    }
  }

  /** The machine of a nested grammar that is read as a whole; null: the first part of `rest` is no such one. */
  private machineOf({ rules, term }: Rest): States | null {
    const { terms } = rules
    if (terms.kind(term) !== NestedTerm) return null
    const grammar = terms.grammars[terms.at(term, 1)]
    let machine = this.machines.get(grammar)
    if (machine === undefined) {
      machine = new States(grammar)
      this.machines.set(grammar, machine)
    }
    return machine
  }

  /** `next` with one more part in front. */
  private with(rules: RuleCaptures, term: Term, next: Rest): Rest {
    let byTerm = next.longer.get(rules)
    if (byTerm === undefined) {
      byTerm = new Map()
      next.longer.set(rules, byTerm)
    }
    let rest = byTerm.get(term)
    if (rest === undefined) {
      rest = this.newRest(rules, term, next)
      byTerm.set(term, rest)
    }
    return rest
  }

  private newRest(rules: RuleCaptures, term: Term, next: Rest | null): Rest {
    return { id: this.restCount++, rules, term, next, longer: new Map() }
  }

  private newCall(maxTokens: number): Call {
    return { id: this.callCount++, start: this.place, maxTokens, waiters: new Map(), empty: undefined }
  }

  private nameId(name: string): number {
    const known = this.names.indexOf(name)
    return known >= 0 ? known : this.names.push(name) - 1
  }

  private count(): void {
    if (++this.steps <= MaxSteps) return
    throw new GrammarError(
      "limit",
      "",
      `captures: after ${this.place} bytes, reading the text again takes more than ${MaxSteps} steps. Make the rules around captures less ambiguous`,
    )
  }
}

const whens: readonly Waiter["when"][] = ["any", "empty", "read"]

/** The bytes from `start` to `end` without hidden spans, and without marks of tokens. */
function bytesWithout(bytes: Uint8Array, start: number, end: number, hidden: readonly Span[]): Uint8Array {
  const kept: number[] = []
  for (let at = start; at < end; at++) {
    const isHidden = hidden.some((span) => at >= span.start && at < span.end)
    if (!isHidden && bytes[at] !== TokenMark) kept.push(bytes[at])
  }
  return Uint8Array.from(kept)
}
