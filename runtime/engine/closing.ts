/**
 * Completes answers under a rule: with `onLength: "close"` a constrained answer is complete when
 * its budget ends; with banned words it contains none of them.
 *
 * The rule: a token may be drawn only if the rest can still be written with the tokens that are
 * left, and without a banned word. A plan, one concrete completion, proves that this is possible.
 * Each token of the plan lowers the number of missing tokens by one, so the rule can always be
 * kept, and it forbids nothing as long as the budget is large. A drawn token that breaks the rule
 * is removed from the mask and the row is drawn again, with the same noise over fewer tokens: that
 * gives the distribution conditioned on the rule.
 */

import type { Matcher, TokenMachine } from "../../mask/index.ts"
import { sharedLocals } from "../../mask/local.ts"
import { longestToken, spell } from "../../mask/spelling.ts"
import type { TokenTrie } from "../../mask/trie.ts"
import { RequestError } from "../errors.ts"
import { type BannedWords, Found } from "../guides/bannedwords.ts"

/** Cached plans by state, shared by all requests of a machine. */
const plansOf = new WeakMap<TokenMachine, Map<number, readonly number[] | null>>()
const maxPlans = 100_000
/** Maximum number of tokens of a plan that is made token by token. */
const maxSteps = 4_096

/**
 * Why a token may not be drawn: the rest would not fit into the budget, or the text would contain a
 * banned word.
 */
export type Misfitting = "budget" | "words"

export interface ClosingRules {
  /** Whether the answer must be complete when its budget ends. */
  readonly isBudgeted: boolean
  readonly bans?: BannedWords | null
  /** The state of the banned words' automaton after the text. */
  readonly node?: number
}

/** The context length, and the number of its tokens that the prompt takes. */
export interface ContextBound {
  readonly contextLength: number
  readonly promptTokens: number
}

export class Closing {
  private readonly matcher: Matcher
  private readonly isBudgeted: boolean
  private readonly bans: BannedWords | null
  private node: number
  /**
   * Tokens that complete the text from here, without the end of sequence; null if no completion is
   * known.
   */
  private plan: readonly number[] | null

  constructor(matcher: Matcher, { isBudgeted, bans = null, node = 0 }: ClosingRules = { isBudgeted: true }) {
    this.matcher = matcher
    this.isBudgeted = isBudgeted
    this.bans = bans
    this.node = node
    this.plan = planOf(matcher, bans, node)
  }

  /** Number of tokens that a completion takes; Infinity if none is known. */
  get need(): number {
    return this.plan?.length ?? Number.POSITIVE_INFINITY
  }

  /**
   * Throws RequestError if no completion fits into `left` tokens. `context`: the context, if it is
   * what limits `left`; null if the budget is.
   */
  check(left: number, context: ContextBound | null = null): void {
    const { need } = this
    if (need <= left) return
    if (context) throw this.overflow(left, context)
    const known = Number.isFinite(need)
      ? `the shortest known answer takes ${need} tokens`
      : "no short answer is known"
    throw new RequestError(
      "max_tokens_too_small",
      `max_tokens: ${left} are too few to close in: ${known}. Raise max_tokens, or let on_length be truncate`,
      "max_tokens",
    )
  }

  /**
   * Returns the error for a prompt that must be shorter, since a larger budget would not help.
   * Clients that get this error shorten the prompt by themselves.
   */
  private overflow(left: number, { contextLength, promptTokens }: ContextBound): RequestError {
    const answerTokens = Number.isFinite(this.need) ? this.need : left + 1
    return new RequestError(
      "context_length_exceeded",
      `${promptTokens} prompt tokens leave ${left} of the context of ${contextLength} tokens, and the answer takes at least ${answerTokens}: shorten the prompt, or let on_length be truncate`,
      "prompt",
      { contextLength, promptTokens, isCounted: true, maxTokens: null, answerTokens },
    )
  }

  /** The next token of the plan, which always fits; −1 if the text is complete. */
  get next(): number {
    return this.plan?.[0] ?? -1
  }

  /**
   * Returns whether the text can be completed with `left` more tokens after `token`. An end of
   * sequence always fits.
   */
  fits(token: number, left: number): boolean {
    return this.misfitting(token, left) === null
  }

  /** Returns why `token` may not be drawn if `left` more tokens may follow it; null if it may. */
  misfitting(token: number, left: number): Misfitting | null {
    if (token === this.next || this.matcher.fsm.vocabulary.isEnd(token)) return null
    const ahead = this.matcher.fork()
    return ahead.accept(token) ? this.misfittingAt(ahead, this.nodeBehind(this.node, token), left) : null
  }

  private misfittingAt(ahead: Matcher, node: number, left: number): Misfitting | null {
    const plan = node === Found ? null : planOf(ahead, this.bans, node)
    if (plan === null) return this.bans === null ? "budget" : "words"
    return this.isBudgeted && plan.length > left ? "budget" : null
  }

  /** Returns whether the text can be completed with the tokens left after each of `tokens`. */
  fitsAll(tokens: readonly number[], left: number): boolean {
    const ahead = this.matcher.fork()
    let { node } = this
    return tokens.every((token, at) => {
      node = this.nodeBehind(node, token)
      return ahead.accept(token) && this.misfittingAt(ahead, node, left - at - 1) === null
    })
  }

  /** Records that the matcher has accepted `token`. */
  accept(token: number): void {
    const rest = token === this.next ? this.plan!.slice(1) : null
    const node = this.nodeBehind(this.node, token)
    // A banned word is only written if the budget left no other way: its last token had no
    // alternative.
    this.node = node === Found ? 0 : node
    const fresh = planOf(this.matcher, this.bans, this.node)
    this.plan = rest && (!fresh || rest.length <= fresh.length) ? rest : fresh
  }

  private nodeBehind(node: number, token: number): number {
    return this.bans?.after(node, this.matcher.fsm.vocabulary.bytes(token)) ?? 0
  }
}

function planOf(matcher: Matcher, bans: BannedWords | null, node: number): readonly number[] | null {
  if (bans) return makePlan(matcher, bans, node)
  const { fsm, state } = matcher
  const plans = plansOf.get(fsm) ?? new Map<number, readonly number[] | null>()
  plansOf.set(fsm, plans)
  const known = plans.get(state)
  if (known !== undefined) return known
  if (plans.size >= maxPlans) plans.clear()
  const plan = makePlan(matcher, null, 0)
  plans.set(state, plan)
  return plan
}

function makePlan(matcher: Matcher, bans: BannedWords | null, node: number): readonly number[] | null {
  if (matcher.isAccepting()) return []
  const { trie } = sharedLocals(matcher.fsm.vocabulary)
  const bytes = completionOf(matcher, bans, node)
  const plan = bytes && spell(trie, bytes)
  if (!plan) return null
  const ahead = matcher.fork()
  if (plan.every((token) => ahead.accept(token)) && ahead.isAccepting()) return plan
  return makeStepwise(matcher.fork(), trie, bans, node)
}

function completionOf(matcher: Matcher, bans: BannedWords | null, node: number): Uint8Array | null {
  return bans ? bans.completion(matcher.state, node) : matcher.shortest()
}

/**
 * Makes a plan that is computed again after each token: in a part with a token budget the longest
 * token may be refused.
 */
function makeStepwise(
  ahead: Matcher,
  trie: TokenTrie,
  bans: BannedWords | null,
  start: number,
): readonly number[] | null {
  const plan: number[] = []
  for (let node = start; !ahead.isAccepting(); ) {
    const rest = completionOf(ahead, bans, node)
    let length = Math.min(rest?.length ?? 0, trie.maxDepth)
    let token = -1
    for (; length > 0; length--) {
      token = longestToken(trie, rest!.subarray(0, length), 0)
      if (token >= 0 && ahead.accept(token)) break
    }
    if (length === 0 || plan.push(token) > maxSteps) return null
    if (bans) node = bans.after(node, ahead.fsm.vocabulary.bytes(token))
  }
  return plan
}
