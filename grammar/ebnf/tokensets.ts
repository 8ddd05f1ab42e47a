/**
 * Sets of tokens that are given by what they exclude, and runs of any tokens.
 *
 * Such a set never holds an end id, an unused id, or padding. A token may end inside a character; a
 * run may not. So a run is a small automaton over the unread rest of a character
 * (`lexeme/utf8.ts`). Its edges are sets of tokens: those that lead from one rest to another.
 */
import { utf8Leads, utf8Tails } from "../lexeme/utf8.ts"
import type { RuleId, Rules } from "./rules.ts"
import type { Term } from "./terms.ts"
import type { TokenNames } from "./tokennames.ts"

/**
 * The rest of a character after a token, by the rest before it; -1 if the token is not UTF-8 there.
 * Shape [rests, V].
 */
const endsOf = new WeakMap<TokenNames, Int8Array[]>()
const Rests = utf8Tails.length
const Broken = -1

/** Returns the term of exactly one token of whole characters that is not in `excluded`. */
export function anyToken(rules: Rules, tokens: TokenNames, excluded: ReadonlySet<number>): Term {
  return rules.terms.token(tokensBetween(tokens, 0, 0, excluded))
}

/**
 * Declares and returns the rule for any number of tokens that are not in `excluded` and that
 * together are whole characters.
 */
export function anyTokens(rules: Rules, tokens: TokenNames, excluded: ReadonlySet<number>): RuleId {
  const ids = Array.from({ length: Rests }, (_, rest) =>
    rules.declare(`tokens behind rest ${rest} of a character`),
  )
  for (let rest = 0; rest < Rests; rest++) {
    rules.define(ids[rest], ids, () => {
      const ways: Term[] = rest === 0 ? [rules.terms.empty] : []
      for (let next = 0; next < Rests; next++) {
        const between = rules.terms.token(tokensBetween(tokens, rest, next, excluded))
        ways.push(rules.terms.concat(between, rules.use(ids[next])))
      }
      return rules.terms.or(ways)
    })
  }
  return ids[0]
}

/**
 * Returns the tokens that lead from one rest of a character to another. Control tokens stand
 * between characters.
 */
function tokensBetween(
  tokens: TokenNames,
  from: number,
  to: number,
  excluded: ReadonlySet<number>,
): number[] {
  const ends = endsFrom(tokens, from)
  const ids: number[] = []
  for (let id = 0; id < tokens.width; id++) if (ends[id] === to && !excluded.has(id)) ids.push(id)
  return ids
}

function endsFrom(tokens: TokenNames, from: number): Int8Array {
  let all = endsOf.get(tokens)
  if (all === undefined) {
    all = []
    endsOf.set(tokens, all)
  }
  all[from] ??= computeEnds(tokens, from)
  return all[from]
}

function computeEnds(tokens: TokenNames, from: number): Int8Array {
  const ends = new Int8Array(tokens.width).fill(Broken)
  for (let id = 0; id < tokens.width; id++) {
    const bytes = tokens.bytes(id)
    if (bytes.length > 0) ends[id] = restAfter(from, bytes)
  }
  if (from === 0) for (const id of tokens.specials.values()) ends[id] = 0
  for (const id of tokens.endIds) ends[id] = Broken
  return ends
}

/**
 * Returns the rest of a character after `bytes`, which begin after `rest`; -1 if they are not UTF-8
 * there.
 */
function restAfter(rest: number, bytes: Uint8Array): number {
  let at = rest
  for (const byte of bytes) {
    if (at !== 0) {
      const [low, high, next] = utf8Tails[at]
      if (byte < low || byte > high) return Broken
      at = next
    } else if (byte >= 0x80) {
      const lead = utf8Leads.find(([low, high]) => byte >= low && byte <= high)
      if (lead === undefined) return Broken
      at = lead[3]
    }
  }
  return at
}
