/**
 * Control tokens and sets of tokens in a Lark text: `<name>`, `<[7]>`, `<[1-3,9]>`, `<[^1,9]>`,
 * `<[*]>`.
 *
 * A set that lists its tokens holds exactly those. A set given by its complement, or the set of all
 * tokens, holds only tokens that can be part of a text: no end id, no id without a token, and whole
 * characters only, so that a run of them is text (`tokensets.ts`).
 */
import type { Meaning } from "../notation/dialect.ts"
import type { Refuse } from "../notation/source.ts"
import type { TokenNode } from "../notation/tree.ts"
import { type TokenNames, tokenSpelled } from "../tokennames.ts"

/** Ids of a set are below this if there is no vocabulary. */
const MaxId = 1 << 20

/**
 * Returns the meaning of a control token or a set, or null after a refusal. Without a vocabulary a
 * name is read as its spelling.
 */
export function readTokens(node: TokenNode, tokens: TokenNames | null, refuse: Refuse): Meaning | null {
  const { text, start } = node
  if (text.startsWith("<[")) return readTokenSet(node, tokens, refuse)
  if (tokens === null) return { kind: "text", value: text, ignoresCase: false }
  const id = tokenSpelled(text, tokens)
  if (id >= 0) return { kind: "tokens", ids: [id], isComplement: false }
  refuse("syntax", start, `no token is spelled ${text}`)
  return null
}

function readTokenSet({ text, start }: TokenNode, tokens: TokenNames | null, refuse: Refuse): Meaning | null {
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
    return tokens === null ? needsVocabulary(text, fail) : { kind: "tokens", ids: [], isComplement: true }
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
  if (isComplement && tokens === null) return needsVocabulary(text, fail)
  if (isComplement || tokens === null) return { kind: "tokens", ids: [...ids], isComplement }
  const specials = new Set(tokens.specials.values())
  const known = [...ids].filter(
    (id) => tokens.bytes(id).length > 0 || specials.has(id) || tokens.endIds.includes(id),
  )
  if (known.length === 0) return fail(`no token has an id of ${text}`)
  return { kind: "tokens", ids: known, isComplement }
}

function needsVocabulary(text: string, fail: (message: string, kind: "unsupported") => null): null {
  return fail(`${text} depends on the vocabulary, which is not known here`, "unsupported")
}
