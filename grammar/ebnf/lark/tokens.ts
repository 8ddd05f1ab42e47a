/**
 * Control tokens and sets of tokens in a Lark text: `<name>`, `<[7]>`, `<[1-3,9]>`, `<[^1,9]>`, `<[*]>`.
 *
 * A set that says what it holds holds just that. One that says what it leaves out, or nothing, holds tokens that somebody could
 * have meant: no end id, no id without a token, and whole characters only, so that a run of them is text (`tokensets.ts`).
 */
import type { RuleId, Rules } from "../rules.ts"
import type { Term } from "../terms.ts"
import type { TokenNames } from "../tokennames.ts"
import { anyToken, anyTokens } from "../tokensets.ts"
import type { Refuse } from "./literals.ts"
import type { Place } from "./tree.ts"

type TokenNode = Place & { readonly text: string }

/** Ids of a set, or all but these. */
interface TokenSet {
  readonly ids: ReadonlySet<number>
  readonly isComplement: boolean
}

/** Ids that a set may name where nothing is known of the vocabulary. */
const MaxId = 1 << 20

/** Reads a set. What is wrong is refused; null after that. */
export function readTokenSet(
  { text, start }: TokenNode,
  tokens: TokenNames | null,
  refuse: Refuse,
): TokenSet | null {
  const inner = text.slice(2, -2)
  const fail = (message: string, kind: "syntax" | "unsupported" = "syntax") => {
    refuse(kind, start, message)
    return null
  }
  if (!text.endsWith("]>")) return fail(`${text}: a set of tokens ends with ]>`)
  const isComplement = inner.startsWith("^")
  const parts = (isComplement ? inner.slice(1) : inner).split(",")
  if (parts.includes("*")) {
    if (isComplement) return fail("<[^*]> holds no token")
    if (parts.length > 1) return fail("the wildcard * stands alone: it holds all tokens")
    return tokens === null ? needsVocabulary(text, fail) : { ids: new Set(), isComplement: true }
  }
  const last = (tokens?.width ?? MaxId) - 1
  const ids = new Set<number>()
  for (const part of parts) {
    const range = /^([0-9]+)(?:-([0-9]+))?$/.exec(part)
    if (range === null)
      return fail(part === "" ? "a set of tokens has an empty range" : `${part} is no id and no range of ids`)
    const [from, to] = [Number(range[1]), Number(range[2] ?? range[1])]
    if (to < from) return fail(`the range of ids ends at ${to}, below its beginning ${from}`)
    if (to > last) return fail(`the id ${to} is above the last one, ${last}`)
    for (let id = from; id <= to; id++) ids.add(id)
  }
  if (isComplement) return tokens === null ? needsVocabulary(text, fail) : { ids, isComplement }
  if (tokens !== null) {
    const specials = new Set(tokens.specials.values())
    const known = [...ids].filter(
      (id) => tokens.bytes(id).length > 0 || specials.has(id) || tokens.endIds.includes(id),
    )
    if (known.length === 0) return fail(`no token has an id of ${text}`)
    return { ids: new Set(known), isComplement }
  }
  return { ids, isComplement }
}

function needsVocabulary(text: string, fail: (message: string, kind: "unsupported") => null): null {
  return fail(`${text} depends on the vocabulary, which is not known here`, "unsupported")
}

/** What reads a control token or one token of a set. The text has been checked. */
export function tokenTerm(node: TokenNode, rules: Rules): Term {
  const { terms, tokens } = rules
  if (!node.text.startsWith("<[")) return rules.special(node.text) ?? terms.never
  const set = readTokenSet(node, tokens, ignore)
  if (set === null) return terms.never
  if (set.isComplement && tokens !== null) return anyToken(rules, tokens, set.ids)
  return terms.token([...set.ids])
}

/** The rule of any number of tokens of a set by complement, whole characters in all; null for another set. */
export function tokensRule(node: TokenNode, rules: Rules): RuleId | null {
  const { tokens } = rules
  if (tokens === null || !node.text.startsWith("<[")) return null
  const set = readTokenSet(node, tokens, ignore)
  return set?.isComplement === true ? anyTokens(rules, tokens, set.ids) : null
}

function ignore(): void {}
