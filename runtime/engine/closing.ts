/**
 * Finishing in a budget: with `onLength: "close"` a constrained answer is complete when its tokens are spent.
 *
 * The rule: a token may be drawn only if the rest can still be written with the tokens that are left. Its witness is a
 * plan, one concrete completion kept in hand: along it the need falls by one per token, so the rule can always be kept,
 * and until the budget binds it forbids nothing. A drawn token that breaks the rule is taken out of the mask and the row
 * is drawn again: the same noise over fewer tokens, which is the law conditioned on the rule.
 */

import { sharedLocals } from "../../mask/fsm.ts"
import type { Matcher, TokenMachine } from "../../mask/index.ts"
import { longestToken, spell } from "../../mask/spelling.ts"
import type { TokenTrie } from "../../mask/trie.ts"
import { RequestError } from "../errors.ts"

/** Plans by state, shared by all requests of a machine. */
const plansOf = new WeakMap<TokenMachine, Map<number, readonly number[] | null>>()
const maxPlans = 100_000
/** Tokens of a plan that is made token by token. */
const maxSteps = 4_096

export class Closing {
  /** Whether the rule ever forbade a drawn token. */
  hasBound = false
  private readonly matcher: Matcher
  /** Tokens that complete the text from here, an end of sequence not counted; null: no completion is known. */
  private plan: readonly number[] | null

  constructor(matcher: Matcher) {
    this.matcher = matcher
    this.plan = planOf(matcher)
  }

  /** Tokens that a completion takes; Infinity when none is known. */
  get need(): number {
    return this.plan?.length ?? Number.POSITIVE_INFINITY
  }

  /** Throws RequestError when no completion fits into `left` tokens. */
  check(left: number): void {
    const { need } = this
    if (need <= left) return
    const known = Number.isFinite(need)
      ? `the shortest known answer takes ${need} tokens`
      : "no short answer is known"
    throw new RequestError(
      "max_tokens_too_small",
      `max_tokens: ${left} are too few to close in: ${known}. Raise max_tokens, or let on_length be truncate`,
      "max_tokens",
    )
  }

  /** The next token of the plan, which always fits; −1 when the text is complete. */
  get next(): number {
    return this.plan?.[0] ?? -1
  }

  /** Whether after `token` the text can be completed with `left` more tokens. An end of sequence always fits. */
  fits(token: number, left: number): boolean {
    if (token === this.next || this.matcher.fsm.vocabulary.isEnd(token)) return true
    const ahead = this.matcher.fork()
    if (!ahead.accept(token)) return true
    return (planOf(ahead)?.length ?? Number.POSITIVE_INFINITY) <= left
  }

  /** Whether after each of `tokens` in turn the text can be completed with what is then left. */
  fitsAll(tokens: readonly number[], left: number): boolean {
    const ahead = this.matcher.fork()
    return tokens.every(
      (token, at) =>
        ahead.accept(token) && (planOf(ahead)?.length ?? Number.POSITIVE_INFINITY) <= left - at - 1,
    )
  }

  /** The matcher has accepted `token`. */
  accept(token: number): void {
    const rest = token === this.next ? this.plan!.slice(1) : null
    const fresh = planOf(this.matcher)
    this.plan = rest && (!fresh || rest.length <= fresh.length) ? rest : fresh
  }
}

function planOf(matcher: Matcher): readonly number[] | null {
  const { fsm, state } = matcher
  const plans = plansOf.get(fsm) ?? new Map<number, readonly number[] | null>()
  plansOf.set(fsm, plans)
  const known = plans.get(state)
  if (known !== undefined) return known
  if (plans.size >= maxPlans) plans.clear()
  const plan = makePlan(matcher)
  plans.set(state, plan)
  return plan
}

function makePlan(matcher: Matcher): readonly number[] | null {
  if (matcher.isAccepting()) return []
  const { trie } = sharedLocals(matcher.fsm.vocabulary)
  const plan = spell(trie, matcher.shortest())
  const ahead = matcher.fork()
  if (plan?.every((token) => ahead.accept(token)) && ahead.isAccepting()) return plan
  return plan && makeStepwise(matcher.fork(), trie)
}

/** A plan that is made anew behind each token: where a part may take so many tokens only, the longest one may be refused. */
function makeStepwise(ahead: Matcher, trie: TokenTrie): readonly number[] | null {
  const plan: number[] = []
  while (!ahead.isAccepting()) {
    const rest = ahead.shortest()
    let length = Math.min(rest.length, trie.maxDepth)
    let token = -1
    for (; length > 0; length--) {
      token = longestToken(trie, rest.subarray(0, length), 0)
      if (token >= 0 && ahead.accept(token)) break
    }
    if (length === 0 || plan.push(token) > maxSteps) return null
  }
  return plan
}
