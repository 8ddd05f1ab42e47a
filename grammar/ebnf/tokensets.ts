/**
 * Sets of tokens that are told by what they leave out, and runs of any tokens.
 *
 * Such a set never holds an end id, an id that no token has, or padding. A token may hold half a character; a run may not end
 * there. So a run is a small automaton over what is left of a character (`lexeme/utf8.ts`), whose edges are sets of tokens:
 * those that lead from one rest to another.
 */
import { utf8Leads, utf8Tails } from "../lexeme/utf8.ts"
import type { RuleId, Rules } from "./rules.ts"
import type { Term } from "./terms.ts"
import type { TokenNames } from "./tokennames.ts"

/** What is left of a character once a token has been read from each rest; -1: it cannot be. Shape [rests, V]. */
const endsOf = new WeakMap<TokenNames, Int8Array[]>()
const Rests = utf8Tails.length
const Broken = -1

/** Exactly one token, whole characters, that is not in `excluded`. */
export function anyToken(rules: Rules, tokens: TokenNames, excluded: ReadonlySet<number>): Term {
  return rules.terms.token(tokensBetween(tokens, 0, 0, excluded))
}

/** Any number of tokens that are not in `excluded`, whole characters in all. The rule is declared here. */
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

/** Tokens that lead from one rest of a character to another; control tokens stand between characters. */
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

/** What is left of a character behind `bytes`, read where `rest` was left; -1 if they are not UTF-8 there. */
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
