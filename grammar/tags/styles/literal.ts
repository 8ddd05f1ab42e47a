/** Fixed text of a wire form: control tokens of the vocabulary are read by their ids, all else as bytes. */
import type { Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"

/** `text` in its pieces: where it holds the spelling of control tokens, the longest one is a piece of its own. */
function pieces(rules: Rules, text: string): { text: string; token: number | null }[] {
  const names = [...(rules.tokens?.specials ?? [])].filter(([name]) => name !== "" && text.includes(name))
  names.sort(([a], [b]) => b.length - a.length)
  const found: { text: string; token: number | null }[] = []
  let plain = ""
  for (let at = 0; at < text.length; ) {
    const hit = names.find(([name]) => text.startsWith(name, at))
    if (hit === undefined) {
      plain += text[at++]
      continue
    }
    if (plain !== "") found.push({ text: plain, token: null })
    plain = ""
    found.push({ text: hit[0], token: hit[1] })
    at += hit[0].length
  }
  if (plain !== "") found.push({ text: plain, token: null })
  return found
}

/** Exactly `text`. */
export function literalTerm(rules: Rules, text: string): Term {
  const { terms } = rules
  return terms.concat(
    ...pieces(rules, text).map((piece) =>
      piece.token === null ? terms.text(piece.text) : terms.token([piece.token]),
    ),
  )
}

/**
 * `text` without a control token at its end that ends a text in this vocabulary: no such token is ever read, it ends what is
 * written. Null where there is none.
 */
export function beforeEnd(rules: Rules, text: string): string | null {
  const last = pieces(rules, text).at(-1)
  if (last?.token === undefined || last.token === null) return null
  return rules.tokens?.endIds.includes(last.token) ? text.slice(0, -last.text.length) : null
}

/** `text` up to its first control token in this vocabulary, and from there on. */
export function beforeToken(rules: Rules, text: string): [bytes: string, rest: string] {
  const [first] = pieces(rules, text)
  const bytes = first === undefined || first.token !== null ? "" : first.text
  return [bytes, text.slice(bytes.length)]
}
