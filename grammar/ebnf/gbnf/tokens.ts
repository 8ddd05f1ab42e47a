/**
 * Tokens in a GBNF text: `<think>`, `<[1-3,9]>`; with `!` in front, any other token.
 */
import type { Meaning } from "../notation/dialect.ts"
import type { Refuse } from "../notation/source.ts"
import type { TokenNode } from "../notation/tree.ts"
import { type TokenNames, tokenSpelled } from "../tokennames.ts"

/** Ids are below this if there is no vocabulary. */
const MaxIds = 1 << 20

/**
 * Returns the meaning of `node`, or null after a refusal. Without a vocabulary a name is read as
 * its spelling.
 */
export function readTokens(
  { text, start }: TokenNode,
  tokens: TokenNames | null,
  refuse: Refuse,
): Meaning | null {
  const isComplement = text.startsWith("!")
  const named = text.slice(isComplement ? 1 : 0)
  if (isComplement) needVocabulary(start, tokens, refuse)
  const ids: number[] = []
  if (named.startsWith("<[")) {
    // The reader has refused malformed ids.
    for (const [first, last] of idRanges(named) ?? []) {
      if (!checkId(last, start, tokens, refuse)) return null
      for (let id = first; id <= last; id++) ids.push(id)
    }
    return { kind: "tokens", ids, isComplement }
  }
  if (tokens === null) return { kind: "text", value: named, ignoresCase: false }
  const id = tokenSpelled(named, tokens)
  if (id >= 0) return { kind: "tokens", ids: [id], isComplement }
  refuse("syntax", start, `no token is spelled ${named}`)
  return null
}

/** Returns the ranges of ids of `<[…]>`, inclusive, or null if they are malformed. */
export function idRanges(text: string): [first: number, last: number][] | null {
  const ranges: [number, number][] = []
  for (const part of text.slice(2, -2).split(",")) {
    const range = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part)
    const [first, last] = [Number(range?.[1]), Number(range?.[2] ?? range?.[1])]
    if (range === null || last < first) return null
    ranges.push([first, last])
  }
  return ranges
}

/** Refuses ids of a macro that no token has, and complements of ids if there is no vocabulary. */
export function checkIds(macro: Meaning, start: number, tokens: TokenNames | null, refuse: Refuse): void {
  let ids: readonly number[] = []
  if (macro.kind === "tokens") {
    if (macro.isComplement) needVocabulary(start, tokens, refuse)
    ids = macro.ids
  } else if (macro.kind === "dispatch" && macro.by === "token") {
    needVocabulary(start, tokens, refuse)
    ids = [...macro.excludes, ...macro.triggers.map(({ trigger }) => trigger)]
  }
  for (const id of ids) checkId(id, start, tokens, refuse)
}

function checkId(id: number, start: number, tokens: TokenNames | null, refuse: Refuse): boolean {
  const count = tokens?.width ?? MaxIds
  if (id < count) return true
  refuse("syntax", start, `no token has the id ${id}: the last one is ${count - 1}`)
  return false
}

function needVocabulary(start: number, tokens: TokenNames | null, refuse: Refuse): void {
  if (tokens !== null) return
  const message = "all tokens but some depend on the vocabulary, which is not known here"
  refuse("unsupported", start, message)
}
