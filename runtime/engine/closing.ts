/**
 * Finishing in a budget: with `onLength: "close"` a constrained answer is complete when its tokens are spent.
 *
 * The rule: a token may be drawn only if the rest can still be written with the tokens that are left. Its witness is a
 * plan, one concrete completion kept in hand: along it the need falls by one per token, so the rule can always be kept,
 * and until the budget binds it forbids nothing. A drawn token that breaks the rule is taken out of the mask and the row
 * is drawn again: the same noise over fewer tokens, which is the law conditioned on the rule.
 */

import { TokenBytes, TokenMark, tokenAt } from "../../grammar/lexeme/token.ts"
import type { Matcher, TokenMachine } from "../../mask/index.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { RequestError } from "../errors.ts"

/** Plans by state, shared by all requests of a machine. */
const plansOf = new WeakMap<TokenMachine, Map<number, readonly number[] | null>>()
const maxPlans = 100_000
const spellersOf = new WeakMap<Vocabulary, Speller>()

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
  const { vocabulary } = matcher.fsm
  const speller = spellersOf.get(vocabulary) ?? new Speller(vocabulary)
  spellersOf.set(vocabulary, speller)
  const plan = speller.spell(matcher.shortest())
  const ahead = matcher.fork()
  return plan?.every((token) => ahead.accept(token)) && ahead.isAccepting() ? plan : null
}

/** Bytes → tokens, the longest first. Not what the tokenizer would write, but what the vocabulary can. */
class Speller {
  private readonly ids = new Map<string, number>()
  private readonly maxBytes: number

  constructor(vocabulary: Vocabulary) {
    this.maxBytes = vocabulary.maxTokenBytes
    for (let id = vocabulary.width - 1; id >= 0; id--) {
      const bytes = vocabulary.bytes(id)
      if (bytes.length > 0) this.ids.set(latin1(bytes), id)
    }
  }

  /** Null when the vocabulary cannot write the bytes. */
  spell(bytes: Uint8Array): number[] | null {
    const text = latin1(bytes)
    const tokens: number[] = []
    for (let at = 0; at < text.length; ) {
      if (bytes[at] === TokenMark) {
        tokens.push(tokenAt(bytes, at))
        at += TokenBytes
        continue
      }
      let length = Math.min(this.maxBytes, text.length - at)
      while (length > 0 && !this.ids.has(text.slice(at, at + length))) length--
      if (length === 0) return null
      tokens.push(this.ids.get(text.slice(at, at + length))!)
      at += length
    }
    return tokens
  }
}

/** One unit a byte, so that bytes can be keys. */
function latin1(bytes: Uint8Array): string {
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
