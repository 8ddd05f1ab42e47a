/**
 * Which threads can keep their budgets: those from which some tokens lead out of all counted parts.
 *
 * There are three proofs, the cheapest first. A thread is *short* if its completion has no more
 * bytes than tokens are left, since each byte can be a token of its own. It is *planned* if the
 * longest token with which its completion begins leads to a thread that is out of all counted
 * parts, short or planned. It is *found* if a search over all tokens succeeds; this proof is exact,
 * but the search gives up if it takes too long. Each proof gives a next token after which one of
 * the proofs holds again, so a thread that is kept never reaches a dead end. All three depend on
 * the thread alone: the result does not depend on earlier calls.
 */

import { BudgetFrame } from "../../grammar/budget.ts"
import { concatenate } from "../../grammar/bytes.ts"
import { Completions } from "../../grammar/completions.ts"
import { GrammarError } from "../../grammar/errors.ts"
import { type Completion, shortestCompletion } from "../../grammar/lexeme/completion.ts"
import { endingsByTag } from "../../grammar/lexeme/endings.ts"
import { nonEmptyLexeme } from "../../grammar/lexeme/nonempty.ts"
import { tokenBytes, tokenIds } from "../../grammar/lexeme/token.ts"
import type { States } from "../../grammar/state.ts"
import { longestToken } from "../spelling.ts"
import type { TokenTrie } from "../trie.ts"
import type { Vocabulary } from "../vocabulary.ts"
import type { Counter } from "./counter.ts"

/** Maximum number of trie nodes that one search visits. */
const MaxNodes = 20_000

/** The threads after one token. */
interface Successors {
  readonly threads: readonly number[]
  /**
   * Number of trie nodes that were visited; Infinity if there were too many, in which case the
   * threads are incomplete.
   */
  readonly cost: number
}

const noText = new Uint8Array(0)

export class Needs {
  /** Whether every byte that a text may have is a token. */
  readonly spellsBytes: boolean
  private readonly states: States
  private readonly shortTexts: Completions
  private readonly counter: Counter
  private readonly trie: TokenTrie
  private readonly vocabulary: Vocabulary
  private readonly maxNodes: number
  /** These three are by thread. */
  private readonly live = new Map<number, boolean>()
  private readonly planned = new Map<number, boolean>()
  private readonly successors = new Map<number, Successors>()
  /** By lexeme state. */
  private readonly completions = new Map<number, Completion | null>()

  constructor(
    states: States,
    counter: Counter,
    trie: TokenTrie,
    vocabulary: Vocabulary,
    maxNodes = MaxNodes,
  ) {
    this.states = states
    this.shortTexts = new Completions(states)
    this.counter = counter
    this.trie = trie
    this.vocabulary = vocabulary
    this.maxNodes = maxNodes
    this.spellsBytes = spellsBytes(trie)
  }

  /** Returns whether `thread`, which is between two tokens, can keep its budgets. */
  isLive(thread: number): boolean {
    if (this.isFree(thread)) return true
    if (this.isSpent(thread)) return false
    let isLive = this.live.get(thread)
    if (isLive === undefined) {
      isLive = this.isShort(thread) || this.isPlanned(thread) || this.isFound(thread)
      this.live.set(thread, isLive)
    }
    return isLive
  }

  /**
   * Returns a shortest completion of a lexeme state with at least one byte; null if it would take
   * too long to find.
   */
  completion(lexemeState: number): Completion | null {
    let completion = this.completions.get(lexemeState)
    if (completion === undefined) {
      completion = withinLimits(() => shortestCompletion(nonEmptyLexeme(lexemeState)))
      this.completions.set(lexemeState, completion)
    }
    return completion
  }

  private isFree(thread: number): boolean {
    return this.leftsOf(thread).length === 0
  }

  /**
   * Returns whether a budget has no token left. What it covers has at least one byte to read, so it
   * needs a token.
   */
  private isSpent(thread: number): boolean {
    return this.leftsOf(thread).includes(0)
  }

  private leftsOf(thread: number): readonly number[] {
    return this.counter.stacks.lefts(this.states.threadStack(thread))
  }

  private isShort(thread: number): boolean {
    if (!this.spellsBytes) return false
    let length = 0
    for (const part of this.parts(thread) ?? [null]) {
      if (part === null) return false
      if (typeof part !== "number") length += part.length
      else if (length > part) return false
    }
    return true
  }

  /** Returns the first token of a plan; −1 if there is none. */
  private planToken(thread: number): number {
    const parts = this.parts(thread)?.filter((part) => typeof part !== "number")
    return parts === undefined ? -1 : longestToken(this.trie, concatenate(parts), 0)
  }

  /**
   * Returns the pieces of a completion up to the end of the lowest budget, and at the end of each
   * budget what is left of it. Null if they would be too long, or take too long to find.
   */
  private parts(thread: number): (Uint8Array | number)[] | null {
    const { states } = this
    const completion = this.completionOf(thread)
    if (completion === null) return null
    const parts: (Uint8Array | number)[] = []
    let budgetCount = this.leftsOf(thread).length
    let stack = states.threadStack(thread)
    return withinLimits(() => {
      for (const part of this.shortTexts.finishing(thread, completion)) {
        // The lexeme's own part comes before that of the first frame.
        const isFirst = parts.push(part) === 1
        if (isFirst) continue
        const frame = states.stacks.top[stack]
        stack = states.stacks.pop(stack)
        if (!(frame instanceof BudgetFrame)) continue
        parts.push(frame.left)
        if (--budgetCount === 0) break
      }
      return parts
    })
  }

  /**
   * Returns the shortest way to end the lexeme of a thread. It has at least one byte to read, or
   * the thread would not exist.
   */
  private completionOf(thread: number): Completion | null {
    const { states } = this
    const lexemeState = states.threadLexeme(thread)
    const frame = states.stacks.top[states.threadStack(thread)]
    if (!frame.readsTag) return this.completion(lexemeState)
    return withinLimits(() => {
      let best: Completion | null = null
      let least = Number.POSITIVE_INFINITY
      for (const completion of endingsByTag(nonEmptyLexeme(lexemeState))) {
        const length = completion.bytes.length + frame.finish(completion.tag, noText).length
        if (length < least) [best, least] = [completion, length]
      }
      return best
    })
  }

  private isPlanned(thread: number): boolean {
    const { planned } = this
    /** Maps each thread to the one before it in the plan. */
    const before = new Map<number, number>([[thread, thread]])
    const open = [thread]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      let isPlanned = planned.get(at)
      if (isPlanned === undefined) {
        const token = this.planToken(at)
        for (const after of token < 0 ? [] : this.threadsAfter(at, token)) {
          if (this.isFree(after) || (!this.isSpent(after) && this.isShort(after))) isPlanned = true
          else if (!this.isSpent(after) && !before.has(after)) {
            before.set(after, at)
            open.push(after)
          }
        }
      }
      if (isPlanned !== true) continue
      for (let on = at; ; on = before.get(on) as number) {
        planned.set(on, true)
        if (on === thread) return true
      }
    }
    for (const at of before.keys()) planned.set(at, false)
    return false
  }

  private threadsAfter(thread: number, token: number): number[] {
    const { states, counter, vocabulary } = this
    const alone = states.stateOf([thread])
    const isNamed = states.grammar.readsTokens && tokenIds(states.threadLexeme(thread)) !== null
    if (!vocabulary.hasColumn(token)) return []
    return threadsOf(states, counter.after(alone, isNamed ? tokenBytes(token) : vocabulary.bytes(token)))
  }

  /**
   * Returns whether some tokens lead to a thread that is out of all budgets, short or planned.
   * Searches level by level, the shortest paths first. A level is examined as a whole, so that a
   * search from the next thread on the path finds the same threads.
   */
  private isFound(thread: number): boolean {
    const met = new Set([thread])
    let level = [thread]
    let cost = 0
    while (level.length > 0) {
      const next: number[] = []
      let isFound = false
      for (const at of level) {
        const successors = this.successorsOf(at)
        cost += successors.cost
        if (cost > this.maxNodes) return false
        for (const after of successors.threads) {
          if (met.has(after)) continue
          met.add(after)
          if (this.isFree(after)) isFound = true
          else if (this.isSpent(after)) continue
          else if (this.isShort(after) || this.isPlanned(after)) isFound = true
          else next.push(after)
        }
      }
      if (isFound) return true
      level = next
    }
    return false
  }

  private successorsOf(thread: number): Successors {
    let successors = this.successors.get(thread)
    if (successors === undefined) {
      successors = this.findSuccessors(thread)
      this.successors.set(thread, successors)
    }
    return successors
  }

  private findSuccessors(thread: number): Successors {
    const { states, counter, trie, vocabulary, maxNodes } = this
    const alone = states.stateOf([thread])
    const ends = new Set<number>()
    // If the thread captures a text, nearly every token leads to a different thread.
    if (states.stacks.captureCount(states.threadStack(thread)) > 0)
      return { threads: [], cost: Number.POSITIVE_INFINITY }
    const cost = counter.walk(trie, alone, 0, (_token, end) => ends.add(end), maxNodes)
    if (cost > maxNodes) return { threads: [], cost: Number.POSITIVE_INFINITY }
    const threads = new Set<number>()
    for (const end of ends) for (const after of threadsOf(states, counter.settled(end))) threads.add(after)
    // All tokens of a set lead to the same threads.
    const named = tokenIds(states.threadLexeme(thread))?.find((id) => vocabulary.hasColumn(id))
    if (named !== undefined)
      for (const after of threadsOf(states, counter.after(alone, tokenBytes(named)))) threads.add(after)
    return { threads: [...threads], cost: cost + 1 }
  }
}

export function threadsOf(states: States, state: number): number[] {
  return Array.from({ length: states.threadCount(state) }, (_, i) => states.thread(state, i))
}

/** Returns the result of `find`; null if it would be too long, or take too long to find. */
export function withinLimits<T>(find: () => T): T | null {
  try {
    return find()
  } catch (error) {
    if (error instanceof GrammarError && error.kind === "limit") return null
    throw error
  }
}

/** Returns whether each byte that UTF-8 text may have is a token. */
function spellsBytes(trie: TokenTrie): boolean {
  for (let byte = 0; byte < 0xf5; byte++) {
    if (byte === 0xc0 || byte === 0xc1) continue
    const node = trie.child(0, byte)
    if (node === 0 || trie.token(node) < 0) return false
  }
  return true
}
